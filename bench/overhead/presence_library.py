"""presence_cupti.c as a library, and whether it did in a process what was asked of it."""

import ctypes
import os
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent


def build_presence_library(folder):
    library = folder / "libpresence_cupti.so"
    subprocess.run([os.environ.get("CC", "gcc"), "-O2", "-shared", "-fPIC", "-o", library,
                    HERE / "presence_cupti.c", "-ldl"], check=True)
    return library


def end_recording():
    """Where presence_cupti.c is in this process: stops it, and says what it did."""
    path = os.environ.get("PRESENCE_MODE") and os.environ.get("CUDA_INJECTION64_PATH")
    if not path:
        return None
    library = ctypes.CDLL(path)
    library.PresenceRecordedBytes.restype = ctypes.c_uint64
    stopped = library.PresenceStop()
    return {"stopped": stopped, "status": library.PresenceStatus(),
            "version": library.PresenceVersion(), "recorded_bytes": library.PresenceRecordedBytes()}


def presence_error(kind, presence):
    """Why this was no run with CUPTI in it as the way says, or None."""
    if not presence or presence["status"] != 0 or presence["stopped"] != 0:
        return f"CUPTI was not there as the way says: {presence}"
    if kind in ("cupti-recorded", "cupti-both") and presence["recorded_bytes"] == 0:
        return "CUPTI recorded no kernel"
    return None
