"""Control groups of a test's own, where this machine lets it make some."""

import pathlib
import re
import subprocess
import unittest


class ControlGroups:
    """A folder of the unified hierarchy, below the test's own control group. All that is in it ends
    with the test."""

    def __init__(self, test, name):
        self.mount = self.find_mount()
        own = re.search(r"^0::(/.*)$", pathlib.Path("/proc/self/cgroup").read_text("utf-8"), re.M)
        if not self.mount or not own:
            raise unittest.SkipTest("no unified hierarchy of control groups is mounted here")
        self.own = self.mount / own[1].strip("/")
        self.path = "/" + str((self.own / name).relative_to(self.mount))
        test.addCleanup(self.remove)
        self.made = []
        try:
            with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as nobody:
                self.move(nobody.pid, "")  # what may be made may still take no process
        except OSError as error:
            raise unittest.SkipTest(f"no control group can be made here: {error}") from error

    @staticmethod
    def find_mount():
        for line in pathlib.Path("/proc/self/mountinfo").read_text("utf-8").splitlines():
            place, _, kind = line.partition(" - ")
            if kind.startswith("cgroup2 "):
                return pathlib.Path(place.split()[4])
        return None

    def folder(self, group):
        """Of a group below this one; made with those above it."""
        folder = self.mount / self.path.strip("/")
        for part in ("", *pathlib.PurePath(group).parts):
            folder = folder / part
            if folder not in self.made:
                folder.mkdir()
                self.made.append(folder)
        return folder

    def move(self, pid, group):
        (self.folder(group) / "cgroup.procs").write_text(f"{pid}\n", "utf-8")

    def remove(self):
        for folder in reversed(self.made):
            folder.rmdir()  # refused while a process is in it
