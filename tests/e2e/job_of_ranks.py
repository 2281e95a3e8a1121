"""A job of four ranks on four GPUs of one host, started as torchrun starts them."""

import subprocess

from harness import TIME_LIMIT_S
from service import ServiceTest

RANKS = 4


class JobOfRanksTest(ServiceTest):
    def setUp(self):
        super().setUp()
        self.test_environment = self.environment("devices=4")

    def variables(self, rank, environment=None):
        """What torchrun sets for a process."""
        return {**(environment or self.test_environment), "RANK": str(rank),
                "LOCAL_RANK": str(rank), "WORLD_SIZE": str(RANKS)}

    def launcher(self, *arguments):
        """A command that starts all ranks and waits for them, as torchrun does."""
        return [self.program("ranks"), "launch", str(RANKS), *map(str, arguments)]

    def start_rank(self, rank, prefix, *arguments, environment=None):
        process = subprocess.Popen(
            [*prefix, self.program("ranks"), *map(str, arguments)],
            env=self.variables(rank, environment), cwd=self.folder, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        process.kill()
        process.communicate()

    def wait_for_all(self, processes):
        """All must start before any is waited for."""
        for process in processes:
            output, said = process.communicate(timeout=TIME_LIMIT_S)
            self.assertEqual(process.returncode, 0, output + said)
