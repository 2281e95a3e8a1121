"""Processes that share a core and work in turns, so that each meets the host as the others do.

A virtual machine's core changes its speed within seconds, and differs from the core beside it. In
turns of some milliseconds on one core all ways meet the same speeds.
"""

import pathlib
import random
import socket
import struct
import time

TURN = struct.Struct("!q")
END = -1
DONE = b"."


class Turns:
    """In a process: its turns, by their number, until the conductor ends them."""

    def __init__(self, path):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(path)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._socket.close()

    def __iter__(self):
        while (message := self._socket.recv(TURN.size)) and (turn := TURN.unpack(message)[0]) != END:
            yield turn
            self._socket.sendall(DONE)


class Conductor:
    """Gives a number of processes their turns, one after the other, for some seconds since all are
    there. One that ends early is left out."""

    def __init__(self, path, processes, wait_s):
        self._path, self._processes = path, processes
        self._listener = socket.socket(socket.AF_UNIX)
        pathlib.Path(path).unlink(missing_ok=True)
        self._listener.bind(path)
        self._listener.listen(processes)
        self._listener.settimeout(wait_s)

    def conduct(self, seconds):
        """How many turns each had."""
        connected = []
        try:
            while len(connected) < self._processes:
                connected.append(self._listener.accept()[0])
        except TimeoutError:
            pass  # that one failed, as its own status says
        finally:
            self._listener.close()
            pathlib.Path(self._path).unlink(missing_ok=True)
        generator = random.Random(1)
        until, turn = time.monotonic() + seconds, 0
        while connected and time.monotonic() < until:
            ended = [one for one in connected if not self._give(one, turn)]
            connected = [one for one in connected if one not in ended]
            for one in ended:
                one.close()
            generator.shuffle(connected)  # so that none always follows the same one
            turn += 1
        for one in connected:
            self._tell(one, END)
            one.close()
        return turn

    @staticmethod
    def _tell(one, turn):
        try:
            one.sendall(TURN.pack(turn))
        except OSError:
            return False
        return True

    def _give(self, one, turn):
        return self._tell(one, turn) and one.recv(1) == DONE
