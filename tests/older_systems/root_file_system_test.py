"""An installed utlz in the root file system of a Debian release, by wheel, by tarball and by package.

UTLZ_TEST_ROOTFS names the folder of root file systems; debootstrap makes the one that is missing.
Each test begins with a fresh one: what it writes lies in a layer of its own and is gone afterwards.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SKIPPED = 77
RELEASE = os.environ["UTLZ_RELEASE"]
BUILD = pathlib.Path(os.environ["UTLZ_BUILD"])
SOURCE = pathlib.Path(os.environ["UTLZ_SOURCE"])
FAKES = pathlib.Path(os.environ["UTLZ_FAKES"])
KEEP_FOLDER = os.environ.get("UTLZ_TEST_ROOTFS", "")
DEBIAN = "http://deb.debian.org/debian"
# What the Python package needs to be installed; everything else is the release's minimum.
PACKAGES = "python3,python3-venv"
GEMM = "_Z4gemmPfPKfS1_i"
FIRST_REPORT_LIMIT_S = 30

# Of tests/e2e only what follows a process: no stage and no programs of its.
os.environ.update(UTLZ_E2E_STAGE="", UTLZ_E2E_FAKES="", UTLZ_E2E_PROGRAMS="")
sys.path.insert(0, str(SOURCE / "tests/e2e"))
from attaching import Followed, Program  # pylint: disable=wrong-import-position


def reason_to_skip():
    if not KEEP_FOLDER:
        return "UTLZ_TEST_ROOTFS names no folder for root file systems, and making them takes minutes"
    if os.geteuid() != 0:
        return "only root can enter a root file system"
    for program in ("debootstrap", "unshare", "chroot"):
        if shutil.which(program) is None:
            return f"there is no {program} here"
    return None


def base_system():
    """The release's root file system, made where it is not kept yet."""
    root = pathlib.Path(KEEP_FOLDER) / RELEASE
    if not (root / "usr/bin/python3").exists():
        root.mkdir(parents=True, exist_ok=True)
        subprocess.run(["debootstrap", "--variant=minbase", f"--include={PACKAGES}", RELEASE, root,
                        DEBIAN], check=True, stdout=subprocess.DEVNULL)
    return root


def mount(kind, source, target, *options):
    subprocess.run(["mount", "-t", kind, *options, source, target], check=True)


class RootFileSystem(unittest.TestCase):
    """A root file system with the fakes in it, as if it had a GPU's driver and CUPTI."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="utlz-rootfs-")
        self.addCleanup(folder.cleanup)
        layers = pathlib.Path(folder.name)
        mount("tmpfs", "layers", layers)
        self.addCleanup(subprocess.run, ["umount", layers], check=True)
        self.root = layers / "root"
        for name in ("upper", "work", "root"):
            (layers / name).mkdir()
        mount("overlay", "root", self.root, "-o", f"lowerdir={base_system()},"
              f"upperdir={layers / 'upper'},workdir={layers / 'work'}")
        self.addCleanup(subprocess.run, ["umount", "--recursive", self.root], check=True)
        mount("proc", "proc", self.root / "proc")
        subprocess.run(["mount", "--bind", "/dev", self.root / "dev"], check=True)
        self.copy_fakes()
        self.environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8"}

    def copy_fakes(self):
        folder = self.root / "fakes"
        (folder / "toolkit").mkdir(parents=True)
        (folder / "toolkit/lib64").symlink_to("..")
        for name in ("libcuda.so.1", "libcupti.so.13", "on_command", "training_steps"):
            shutil.copy(FAKES / name, folder / name)

    def command(self, *arguments, network=True):
        return [*(() if network else ("unshare", "--net")), "chroot", str(self.root),
                *map(str, arguments)]

    def inside(self, *arguments, given=None, fakes=True, network=True,
               scenario=",instant=1"):
        """What a command prints; its errors too if it fails."""
        (self.root / "root/.utlz_fake").write_text(f"gpu=/root/gpu{scenario}\n")
        done = subprocess.run(self.command(*arguments, network=network), input=given, text=True,
                              capture_output=True, check=False, timeout=300,
                              env=self.with_fakes(scenario) if fakes else self.environment)
        self.assertEqual(0, done.returncode, f"{arguments}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def with_fakes(self, scenario=",instant=1"):
        return {**self.environment, "LD_LIBRARY_PATH": "/fakes", "CUDA_HOME": "/fakes/toolkit",
                "UTLZ_FAKE": f"gpu=/root/gpu{scenario}"}

    def make_environment(self):
        """A wheel and a virtual environment to install it into."""
        subprocess.run([sys.executable, "-B", SOURCE / "tools/dev/make_wheel.py", BUILD,
                        self.root / "root"], check=True, stdout=subprocess.DEVNULL)
        self.inside("python3", "-m", "venv", "/opt/environment")

    def install_wheel(self):
        """The folder of the commands."""
        wheel = next((self.root / "root").glob("utlz-*.whl")).name
        self.inside("/opt/environment/bin/pip", "install", "--no-index", f"/root/{wheel}",
                    network=False)
        return "/opt/environment/bin"

    def install_tarball(self):
        packages = self.root / "packages"
        subprocess.run(["cpack", "--config", BUILD / "CPackConfig.cmake", "-G", "TGZ", "-B",
                        packages], check=True, stdout=subprocess.DEVNULL)
        archive = next(packages.glob("utlz-*.tar.gz"))
        subprocess.run(["tar", "-x", "-C", self.root / "opt", "-f", archive], check=True)
        return f"/opt/{archive.name.removesuffix('.tar.gz')}/bin"

    def install_package(self):
        """The .deb, into the system itself."""
        packages = self.root / "packages"
        subprocess.run(["cpack", "--config", BUILD / "CPackConfig.cmake", "-G", "DEB", "-B",
                        packages], check=True, stdout=subprocess.DEVNULL)
        [package] = packages.glob("utlz_*.deb")
        self.inside("dpkg", "--install", f"/packages/{package.name}")
        return "/usr/bin"

    def launches_in(self, commands, profile):
        report = json.loads(self.inside(f"{commands}/utlz", "report", "--format", "json", profile))
        return {kernel["mangled_name"]: kernel["launches"] for kernel in report["kernels"]}

    def check_demonstration(self, commands):
        text = self.inside(f"{commands}/utlz", "demo", fakes=False)
        self.assertIn("NVIDIA H200", text.splitlines()[0])
        self.assertIn("GPU was busy", text)

    def check_exceptions(self, commands):
        """A wrong option is an exception inside, which must find the one who catches it."""
        done = subprocess.run(self.command(f"{commands}/utlz", "report", "--bogus"), check=False,
                              capture_output=True, text=True, env=self.environment)
        self.assertEqual(2, done.returncode, done.stderr)

    def check_run(self, commands):
        self.inside(f"{commands}/utlz-run", "--counters=none", "-o", "/root/run.utlz", "--",
                    "/fakes/on_command", given="launch 300\nquit\n")
        self.assertEqual({GEMM: 300}, self.launches_in(commands, "/root/run.utlz"))

    def check_counters(self, commands):
        """The sampler starts, as a process of its own, and reads counters."""
        self.inside(f"{commands}/utlz", "run", "--counters=sample", "--overhead-budget=unlimited",
                    "--cupti=/fakes/libcupti.so.13", "-o", "/root/counted.utlz", "--",
                    "/fakes/training_steps", "4", scenario="")
        report = json.loads(self.inside(f"{commands}/utlz", "report", "--format", "json",
                                        "/root/counted.utlz"))
        self.assertGreater(report["capture"].get("samples", 0), 0, report["run"].get("notices"))

    def check_attach(self, commands):
        profile = "/root/attached.utlz"
        self.attach(self.command(f"{commands}/utlz-attach"), profile)
        self.assertEqual({GEMM: 300}, self.launches_in(commands, profile))

    def attach(self, tool_command, profile):
        """Records the 300 launches of a program that has run for a while."""
        program = Program("/fakes/on_command", self.with_fakes(), "/",
                          prefix=("chroot", str(self.root)))
        self.addCleanup(program.close)
        program.do("launch 50")
        tool = Followed(
            [*tool_command, "--counters=none", "--duration", "1000", "--overhead-budget=unlimited",
             "-o", profile, str(program.pid)],
            "stderr", env=self.with_fakes(), stdin=subprocess.DEVNULL)
        self.addCleanup(tool.close)
        tool.wait_for("tracing")
        program.do("launch 300")
        tool.wait_for(" seen;")
        tool.process.send_signal(signal.SIGINT)
        self.assertEqual(0, tool.end(), tool.said)
        self.assertEqual(0, program.quit())

    def check_everything(self, commands):
        self.check_demonstration(commands)
        self.check_exceptions(commands)
        self.check_run(commands)
        self.check_counters(commands)
        self.check_attach(commands)

    def test_tarball(self):
        self.check_everything(self.install_tarball())

    def test_attach_from_outside(self):
        """As to a program in a container: its C library is another than utlz's own."""
        profile = self.root / "root/outside.utlz"
        self.attach([BUILD / "bin/utlz", "attach"], profile)
        report = subprocess.run([BUILD / "bin/utlz", "report", "--format", "json", profile],
                                check=True, capture_output=True, text=True).stdout
        self.assertEqual([(GEMM, 300)], [(kernel["mangled_name"], kernel["launches"])
                                         for kernel in json.loads(report)["kernels"]])

    def test_package(self):
        commands = self.install_package()
        self.check_demonstration(commands)
        self.check_run(commands)

    def test_wheel(self):
        self.make_environment()
        commands = self.install_wheel()
        self.check_everything(commands)
        program = ("import sys, utlz; profile = utlz.load(sys.argv[1]); "
                   "print(profile.kernels[0].launches, profile.families[0].name)")
        self.assertEqual("300 matrix product\n",
                         self.inside(f"{commands}/python", "-c", program, "/root/run.utlz"))

    def test_first_report_of_a_wheel_comes_soon(self):
        self.make_environment()
        begin = time.monotonic()
        commands = self.install_wheel()
        self.check_demonstration(commands)
        duration_s = time.monotonic() - begin
        print(f"{RELEASE}: {duration_s:.1f} s from `pip install` to the first report",
              file=sys.stderr)
        self.assertLess(duration_s, FIRST_REPORT_LIMIT_S)


def main():
    reason = reason_to_skip()
    if reason is not None:
        print(reason)
        return SKIPPED
    if os.environ.get("UTLZ_OWN_MOUNTS") != "1":
        # Mounts in a namespace of our own vanish with it, whatever happens; and among processes of
        # our own there is no other profiler, for which utlz would make way.
        os.environ["UTLZ_OWN_MOUNTS"] = "1"
        os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", "--pid", "--fork",
                              "--kill-child", "--mount-proc", sys.executable, "-B", *sys.argv])
    unittest.main(argv=sys.argv)
    return 0


if __name__ == "__main__":
    sys.exit(main())
