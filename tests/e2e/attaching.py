"""A program in mid-run, and `utlz attach` to it: both are followed by what they say."""

import json
import os
import pathlib
import signal
import subprocess
import threading
import time

from harness import TIME_LIMIT_S, UTLZ, EndToEndTest, Run


# The timeout of poll, an int.
INFINITE_POLL = 0xffffffff
# A soak is so many times longer than the usual test.
TIMES = max(1, int(os.environ.get("UTLZ_ATTACH_ATTACHMENTS", "20")) // 20)


class Followed:
    """A process whose one output is read line by line; one that hangs is killed, which ends it."""

    def __init__(self, arguments, stream, **options):
        self.process = subprocess.Popen(
            arguments, stdout=subprocess.PIPE, text=True, bufsize=1,
            **({"stderr": subprocess.STDOUT} if stream == "stderr" else {}), **options)
        self.said = ""
        self._guard = threading.Timer(TIME_LIMIT_S * TIMES, self.process.kill)
        self._guard.daemon = True
        self._guard.start()

    def line(self):
        line = self.process.stdout.readline()
        self.said += line
        return line

    def wait_for(self, text):
        """The first line with this text in it. An output that ends without it is a failure."""
        while line := self.line():
            if text in line:
                return line
        raise AssertionError(f"never said {text!r}:\n{self.said}")

    def end(self):
        """Reads on to the end; the exit status."""
        while self.line():
            pass
        self._guard.cancel()
        status = self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream:
                stream.close()
        return status

    def close(self):
        if self.process.stdout.closed:
            return
        if self.process.stdin:
            self.process.stdin.close()  # under utlz run the program outlives what is killed here
        self.process.kill()
        self.end()


class Program(Followed):
    """tests/programs/on_command.cc"""

    def __init__(self, path, environment, folder, *arguments, prefix=()):
        super().__init__([*prefix, path, *arguments], "stdout", env=environment, cwd=folder,
                         stdin=subprocess.PIPE)
        self.answer()

    @property
    def pid(self):
        return self.process.pid

    def answer(self):
        line = self.line()
        if not line:
            raise AssertionError(f"the program ended with {self.process.wait()}:\n{self.said}")
        return json.loads(line)

    def do(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.answer()

    def quit(self, command="quit"):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.end()


class AttachTest(EndToEndTest):

    def setUp(self):
        super().setUp()
        self.test_environment = self.environment("instant=1")
        self.profiles = 0

    def start(self, *arguments, prefix=(), environment=None):
        program = Program(self.program("on_command"), environment or self.test_environment,
                          self.folder, *arguments, prefix=prefix)
        self.addCleanup(program.close)
        return program

    def attach(self, *arguments, duration=1000, counters="none", prefix=()):
        """Begins to attach. Recordings of a thousand seconds end by a signal."""
        self.profiles += 1
        tool = Followed(
            [*prefix, str(UTLZ), "attach", f"--counters={counters}",
             "--overhead-budget=unlimited", "--stop-limit=5000", "-o", str(self.folder / f"{self.profiles}.utlz"), "--duration", str(duration),
             *map(str, arguments)],
            "stderr", env=self.test_environment, cwd=self.folder, stdin=subprocess.DEVNULL)
        tool.profile = self.folder / f"{self.profiles}.utlz"
        self.addCleanup(tool.close)
        return tool

    def finish(self, tool):
        """Ends a recording as Ctrl-C does; its report."""
        tool.process.send_signal(signal.SIGINT)
        return self.result(tool)

    def result(self, tool):
        self.assertEqual(tool.end(), 0, tool.said)
        return self.report(Run(subprocess.CompletedProcess([], 0, "", tool.said), tool.profile))

    def record(self, program, commands):
        """One whole attachment during which the program does as told; what the profile shows."""
        tool = self.attach(program.pid)
        tool.wait_for("tracing")
        for command in commands:
            program.do(command)
        report = self.finish(tool)
        self.assertIn("the agent is inactive", tool.said)
        return report, tool

    def wait_until_done(self, other_client, tool):
        """Another client of CUPTI's ends its trace, ours goes on, and then the program ends."""
        tool.wait_for("waiting for another profiler in it")
        self.assertGreater(other_client.do("end the window")["done"], 0)
        tool.wait_for(" seen;")
        self.assertEqual(other_client.quit(), 0, other_client.said)
        tool.wait_for("every process has ended")

    def thread_names(self, pid):
        """In the order in which the threads were made."""
        return [self.thread_name(pid, thread)
                for thread in sorted(os.listdir(f"/proc/{pid}/task"), key=int)]

    def thread_name(self, pid, thread):
        return pathlib.Path(f"/proc/{pid}/task/{thread}/comm").read_text().strip()

    def agent_thread(self, pid):
        names = self.thread_names(pid)
        return next((name for name in names if name in ("utlz-inactive", "utlz-active")), None)

    def agent_sockets(self, pid):
        return [name for name in os.listdir(f"/proc/{pid}/fd") if int(name) >= 128]

    def context_switches(self, pid, threads):
        return {thread: [line for line in
                         pathlib.Path(f"/proc/{pid}/task/{thread}/status").read_text().splitlines()
                         if "ctxt_switches" in line] for thread in threads}

    def waits_without_end(self, pid, thread):
        """Whether nothing but an event wakes the thread: it is in a call that has no deadline."""
        number, *arguments = pathlib.Path(
            f"/proc/{pid}/task/{thread}/syscall").read_text().split()
        if number == "running":
            return False
        wait = {"x86_64": {7: (2, INFINITE_POLL), 271: (2, 0), 202: (3, 0)},  # poll, ppoll, futex
                "aarch64": {73: (2, 0), 98: (3, 0)}}[os.uname().machine].get(int(number))
        if wait is None:
            return False
        index, endless = wait
        mask = 0xffffffff if endless == INFINITE_POLL else 0xffffffffffffffff
        return int(arguments[index], 16) & mask == endless

    def wait_until_all_wait_without_end(self, pid, threads):
        deadline = time.monotonic() + TIME_LIMIT_S / 2  # before the program is killed
        while not all(self.waits_without_end(pid, thread) for thread in threads):
            self.assertLess(time.monotonic(), deadline, "a thread is active, or wakes by itself")
            time.sleep(0.01)

    def children(self, pid):
        return [int(word) for word in
                pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

    def left_behind(self, pid):
        """What a growing agent would have more of: threads, descriptors, mappings of its own."""
        mappings = [line.split(maxsplit=5)[5] for line in self.maps(pid).splitlines()
                    if line.count(" ") > 4 and "/memfd:" in line]
        return (len(self.thread_names(pid)),
                len(list(pathlib.Path(f"/proc/{pid}/fd").iterdir())), mappings)

    def maps(self, pid):
        return pathlib.Path(f"/proc/{pid}/maps").read_text()
