#!/usr/bin/env python3
"""Runs a script in an interpreter of a version, or exits with 77 where there is none.

    run_in_python.py VERSION [--preload LIBRARY] SCRIPT...

The interpreter is what UTLZ_PYTHON314 names (with the version's digits), pythonVERSION in PATH, or
pyenv's.
"""
import glob
import os
import shutil
import subprocess
import sys

SKIPPED = 77


def interpreter(version):
    chosen = os.environ.get("UTLZ_PYTHON" + version.replace(".", ""))
    if chosen:
        return chosen
    root = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    made = sorted(glob.glob(f"{root}/versions/{version}.*/bin/python{version}"))
    # A shim of pyenv's is there for versions that are not.
    found = [path for path in [shutil.which(f"python{version}")] if path and "shims" not in path]
    return (found + made + [None])[0]


def main():
    version, script = sys.argv[1], sys.argv[2:]
    environment = dict(os.environ)
    if script[0] == "--preload":
        environment["LD_PRELOAD"] = script[1]
        environment["ASAN_OPTIONS"] = "detect_leaks=0"  # the interpreter's are its own
        script = script[2:]
    python = interpreter(version)
    if python is None:
        print(f"skipped: no python{version} here (UTLZ_PYTHON{version.replace('.', '')} names one)")
        return SKIPPED
    environment["UTLZ_TEST_PYTHON"] = python
    return subprocess.run([python, *script], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
