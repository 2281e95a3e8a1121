"""Whether the walk takes an interpreter that it knows, and refuses each other for its reason.

    refusal_test.py LIBRARY

Runs in each interpreter that is found. LIBRARY is frames_probe.cc's.
"""
import ctypes
import sys
import sysconfig

OTHER_VERSION, FREE_THREADED, DEBUG_BUILD, JIT_BUILD = 2, 3, 4, 5


def expected():
    """By what the interpreter says of its build."""
    if not (3, 11) <= sys.version_info[:2] <= (3, 14):
        return OTHER_VERSION
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return FREE_THREADED
    if hasattr(sys, "gettotalrefcount"):
        return DEBUG_BUILD
    if "experimental-jit" in (sysconfig.get_config_var("CONFIG_ARGS") or ""):
        return JIT_BUILD
    return 0


got = ctypes.CDLL(sys.argv[1]).frames_probe_open(0)
if got != expected():
    sys.exit("reason %d, not %d" % (got, expected()))
