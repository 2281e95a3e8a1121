"""utlz run --preload, and what utlz ps says of agents."""

import array
import os
import pathlib
import socket
import struct
import unittest

from attaching import AttachTest
from harness import FAKES, UTLZ

TRACING = 1
REFUSED = 5
USER_CHANGED = 9
LIBRARY_NOT_TAKEN = 10
OTHER_RELEASE = 11

GEMM = "_Z4gemmPfPKfS1_i"


class Preloaded(AttachTest):

    def start_preloaded(self, *arguments):
        return self.start(*arguments, prefix=[str(UTLZ), "run", "--preload", "--"])

    def test_attach_wakes_it(self):
        program = self.start_preloaded()
        self.assertEqual(self.agent_thread(program.pid), "utlz-inactive")
        program.do("launch 10")
        for attachment in (1, 2):
            report, tool = self.record(program, [f"launch {attachment}"])
            self.assertEqual(self.launches_by_name(report), {GEMM: attachment})
            self.assertIn("agent activated", tool.said)
        self.assertEqual(program.quit(), 0)

    def test_nothing_is_traced_until_then(self):
        program = self.start_preloaded()
        maps = self.maps(program.pid)
        self.assertNotIn("libcupti", maps)
        self.assertEqual(program.quit(), 0)

    def test_exit_status_is_the_command_s(self):
        completed = self.utlz("run", "--preload", "--", self.program("ending"), "status",
                              environment=self.test_environment)
        self.assertEqual(completed.returncode, 42, completed.stderr)

    def test_other_options_make_no_sense(self):
        completed = self.utlz("run", "--preload", "-o", "x.utlz", "--", "true")
        self.assertEqual(completed.returncode, 125)
        self.assertIn("--preload", completed.stderr)
        for option in ("--price-per-hour=3", "--alert=temperature=70", "--nvtx"):
            completed = self.utlz("run", "--preload", option, "--", "true")
            self.assertEqual(completed.returncode, 125, option)


class Tool:
    """Any program that connects to a preloaded agent's listener (proto/attach_control.h)."""

    def __init__(self, pid, user=None):
        names = [line.split()[-1] for line in
                 pathlib.Path(f"/proc/{pid}/net/unix").read_text().splitlines()
                 if f"@utlz-preloaded-{pid}-" in line]
        self.connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.connection.settimeout(30)
        if user is not None:
            os.seteuid(user)
        try:
            self.connection.connect("\0" + names[0][1:])
        finally:
            if user is not None:
                os.seteuid(0)

    def ask(self, *libraries, named=False, version=1):
        """The answer's state and reason; none where the agent hangs up."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        request = struct.pack("=4I6Q", 0x43545455, version, 2, named, *[0] * 6)
        files = [os.open(library, os.O_RDONLY) for library in libraries]
        try:
            self.connection.sendmsg([request], [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                                                 array.array("i", [theirs.fileno(), *files]))])
            answer = self.connection.recv(64)
        except (BrokenPipeError, ConnectionResetError):
            return None
        finally:
            for file in files:
                os.close(file)
            for end in (ours, theirs, self.connection):
                end.close()
        return struct.unpack_from("=2I", answer, 8) if answer else None


class PreloadedListener(AttachTest):
    """Who may activate a preloaded agent may not therefore run code in its process."""

    def start_preloaded(self, **options):
        return self.start(prefix=[str(UTLZ), "run", "--preload", "--"], **options)

    def test_loads_no_library_that_a_tool_brings(self):
        library = self.cupti_copy("brought")
        program = self.start_preloaded()
        self.assertEqual(Tool(program.pid).ask(library, named=True),
                         (REFUSED, LIBRARY_NOT_TAKEN))
        self.assertNotIn("libcupti", self.maps(program.pid))
        # One for where there is none is dropped. The collector that comes along is none.
        self.assertNotEqual(Tool(program.pid).ask(library)[0], TRACING)
        self.assertNotIn(str(library), self.maps(program.pid))
        report, _ = self.record(program, ["launch 3"])
        self.assertEqual(self.launches_by_name(report), {GEMM: 3})
        self.assertNotIn(str(library), self.maps(program.pid))
        self.assertEqual(program.quit(), 0)

    @unittest.skipIf(os.geteuid() != 0, "needs root, to be another user")
    def test_user_that_a_service_works_as_for_a_while_is_a_stranger(self):
        library = self.cupti_copy("brought")
        program = self.start_preloaded()
        for user in (65534, 1001):
            program.do(f"user {user}")
            for options in ({}, {"named": True}):
                self.assertIsNone(Tool(program.pid, user).ask(library, **options))
            self.assertEqual(Tool(program.pid).ask(), (REFUSED, USER_CHANGED))
            program.do("user 0")
        self.assertNotIn("libcupti", self.maps(program.pid))
        report, _ = self.record(program, ["launch 3"])  # root through the socket pair
        self.assertEqual(self.launches_by_name(report), {GEMM: 3})
        self.assertEqual(program.quit(), 0)

    def test_request_of_another_release_is_refused(self):
        program = self.start_preloaded()
        self.assertEqual(Tool(program.pid).ask(version=2), (REFUSED, OTHER_RELEASE))
        self.assertEqual(program.quit(), 0)

    def test_its_user_wakes_it_without_the_right_to_trace(self):
        if os.geteuid() == 0:
            # A tool of root's that may not trace the process, whose capabilities are more.
            without = ["setpriv", "--bounding-set=-sys_ptrace", "--inh-caps=-sys_ptrace"]
        else:
            without = []
        program = self.start_preloaded()
        program.do("launch 10")
        tool = self.attach(program.pid, prefix=without)
        tool.wait_for("tracing")
        program.do("launch 2")
        self.assertEqual(self.launches_by_name(self.finish(tool)), {GEMM: 2})
        if without:
            tool = self.attach("--cupti", FAKES / "libcupti.so.13", program.pid, prefix=without)
            self.assertEqual(tool.end(), 1)
            self.assertIn("utlz run --preload --cupti", tool.said)
        self.assertEqual(program.quit(), 0)


class Listing(AttachTest):

    def ps(self, pid):
        completed = self.utlz("ps", environment=self.test_environment)
        self.assertEqual(completed.returncode, 0, completed.stderr)
        rows = [line.split() for line in completed.stdout.splitlines()]
        return next((row for row in rows if row and row[0] == str(pid)), None)

    def test_agent_absent_active_inactive(self):
        program = self.start()
        self.assertIn("absent", self.ps(program.pid))
        tool = self.attach(program.pid)
        tool.wait_for("tracing")
        self.assertIn("active", self.ps(program.pid))
        self.finish(tool)
        self.assertIn("inactive", self.ps(program.pid))
        self.assertIn(self.program("on_command")[:20], " ".join(self.ps(program.pid)))


if __name__ == "__main__":
    unittest.main()
