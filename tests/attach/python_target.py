"""python_target.py PROGRAM CONTROL_DESCRIPTOR: a Python that is attached to.

The programs whose names begin with "stand-in" do with the state in python_stand_in.cc what CPython
3.14 does with its own; any Python 3.9 may run them. Nothing but the last line may be printed.
"""

import _thread
import contextlib
import ctypes
import mmap
import os
import socket
import struct
import sys
import threading
import time

# target_control.h
READY, STOP, PROGRESS = 0, 8, 16
control = mmap.mmap(int(sys.argv[2]), 0)
os.dup2(1, 2)


def stopped():
    return control[STOP] != 0


def ready():
    control[READY:READY + 4] = struct.pack("i", 1)


def progress():
    value, = struct.unpack_from("Q", control, PROGRESS)
    struct.pack_into("Q", control, PROGRESS, value + 1)


def busy():
    ready()
    while not stopped():
        progress()


def sleep():
    ready()
    while not stopped():
        time.sleep(0.01)
        progress()


def lock():
    """The main thread executes nothing, the other one has no wait."""
    held = threading.Lock()
    held.acquire()
    entered = []

    def watch(frame, event, called):
        if event == "c_call":
            entered.append(called)

    def spin():
        while not entered:
            pass
        ready()
        while not stopped():
            progress()
        held.release()

    threading.Thread(target=spin).start()
    # Between this report and the wait, the interpreter looks for nothing.
    sys.setprofile(watch)
    held.acquire()
    sys.setprofile(None)


def stand_in(enabled=1):
    library = ctypes.CDLL(os.environ["UTLZ_STAND_IN_LIBRARY"])
    library.StandInPath.restype = library.StandInTake.restype = ctypes.c_char_p
    library.StandInForge.argtypes = [ctypes.c_uint64]
    library.StandInStart(enabled)
    return library


def run(script):
    namespace = {}
    exec(script, namespace)  # pylint: disable=exec-used
    assert "load" not in namespace, namespace


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def stand_in_told():
    """Looks for a request when it is told to, and not before."""
    library = stand_in()
    ready()
    while not stopped():
        if library.StandInWasTold() and library.StandInIsAsked():
            run(read(library.StandInTake()))
        progress()
    return 0 if library.StandInKeptEvents() else 1


def stand_in_looks():
    """Looks so often that it need not be told, and never hears of it."""
    library = stand_in()
    ready()
    while not stopped():
        path = library.StandInTake()
        if path:
            run(read(path))
        progress()
    return 1 if hasattr(ctypes.CDLL(None), "kUtlzProbe") else 0


def stand_in_lies():
    """The number that it names is that of its output, which is no socket."""
    library = stand_in()
    ready()
    while not library.StandInIsAsked():
        pass
    script = read(library.StandInTake())
    assert "b'%d' % number" in script, script
    run(script.replace("b'%d' % number", "b'1'"))
    while not stopped():
        progress()


def stand_in_forestalled():
    """Another process finds the tool's socket before the script runs, and answers in its stead."""
    library = stand_in()
    ready()
    while not library.StandInIsAsked():
        pass
    path = os.path.dirname(library.StandInPath().decode()) + "/socket"
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        talk = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        talk.connect(path)
        os.write(write_end, b".")
        with contextlib.suppress(OSError):  # the tool may have hung up
            talk.send(b"0")
            talk.recv(1)
        os._exit(0)
    os.close(write_end)
    os.read(read_end, 1)
    os.close(read_end)
    run(read(library.StandInTake()))
    os.waitpid(child, 0)
    while not stopped():
        progress()


def stand_in_late():
    """Takes the request, and runs the script once the tool has given up."""
    library = stand_in()
    start = _thread.start_new_thread
    raised = []

    def start_observed(function, arguments):
        def observed():
            try:
                function(*arguments)
                raised.append(None)
            except BaseException as error:  # pylint: disable=broad-except
                raised.append(error)

        start(observed, ())

    ready()
    while not library.StandInIsAsked():
        pass
    path = library.StandInTake().decode()
    script = read(path)
    while os.path.exists(path):
        pass
    _thread.start_new_thread = start_observed
    run(script)
    _thread.start_new_thread = start
    while not raised:
        pass
    while not stopped():
        progress()
    return 0 if raised == [None] else 1


def stand_in_deaf():
    """Answers no request; none may be left in the end."""
    library = stand_in()
    busy()
    return library.StandInIsAsked()


def stand_in_disabled():
    stand_in(enabled=0)
    busy()


def stand_in_forged():
    """The main thread's state is said to lie where nothing is mapped, or only code."""
    library = stand_in()
    library.StandInForge(0x1000)
    busy()


def stand_in_ends():
    """Takes the request, and ends."""
    library = stand_in()
    ready()
    while not stopped() and not library.StandInTake():
        pass
    os._exit(0)


names = set(globals())
status = globals()[sys.argv[1].replace("-", "_")]() or 0
left = set(globals()) - names - {"status", "names", "left"}
for thread in threading.enumerate():
    if thread is not threading.current_thread():
        thread.join()
print(f"{sys.argv[1]} ended with {status or len(left)}", flush=True)
sys.exit(status or len(left))
