"""frames_probe.cc's library, by ctypes, for tests that run in each interpreter.

The first argument of a script that imports this names the library.
"""
import ctypes
import os
import sys

MOST_FRAMES = 64
LIBRARY = os.path.abspath(sys.argv.pop(1))


class Frame(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint64), ("instruction", ctypes.c_uint64),
                ("module", ctypes.c_uint64)]


class Stack(ctypes.Structure):
    _fields_ = [("hash", ctypes.c_uint64), ("frame_count", ctypes.c_uint32),
                ("is_cut", ctypes.c_bool), ("frames", Frame * MOST_FRAMES)]


probe = ctypes.CDLL(LIBRARY)  # releases the lock in each call
probe.frames_probe_walk.restype = ctypes.c_uint64
probe.frames_probe_walk_new.restype = ctypes.c_uint64
probe.frames_probe_lost.restype = ctypes.c_uint64
probe.frames_probe_file.restype = ctypes.c_char_p
probe.frames_probe_name.restype = ctypes.c_char_p
for name in ("frames_probe_read_code", "frames_probe_module_code"):
    getattr(probe, name).argtypes = [ctypes.c_uint64]
probe.frames_probe_line.argtypes = [ctypes.c_uint64, ctypes.c_uint64]
status = probe.frames_probe_open(int(sys.version_info >= (3, 14)))
if status != 0:
    raise SystemExit("the interpreter was refused: %d" % status)
INSTRUCTIONS = probe.frames_probe_code_instructions()


def walk():
    """Hash and reason."""
    why = ctypes.c_int()
    return probe.frames_probe_walk(ctypes.byref(why)), why.value


def own_frames(frame):
    """What the interpreter says: code, offset, line, file, name."""
    rows = []
    while frame is not None:
        code = frame.f_code
        rows.append((id(code), frame.f_lasti, frame.f_lineno, code.co_filename, code.co_qualname))
        frame = frame.f_back
    return rows
