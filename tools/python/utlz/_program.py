"""The program utlz: where it lies, and the commands of the same names."""

import os
import pathlib
import shutil
import sys
from typing import NoReturn

_BUNDLED = pathlib.Path(__file__).resolve().parent / "_data" / "bin" / "utlz"


def program_path() -> str:
    """The program that was installed with this package, else the one in the PATH."""
    if _BUNDLED.is_file():
        return str(_BUNDLED)
    found = shutil.which("utlz")
    if found is None:
        raise FileNotFoundError(
            "there is no program utlz in this package or in the PATH; install utlz's wheel, or "
            "name the program: utlz.load(file, program=...)")
    return found


def _become(name: str) -> NoReturn:
    """Ends this interpreter in favour of the program, which goes by this name."""
    if not _BUNDLED.is_file():
        sys.exit(f"{name}: {_BUNDLED} is missing; reinstall utlz")
    os.execv(_BUNDLED, [name, *sys.argv[1:]])


def utlz() -> NoReturn:
    """The command utlz."""
    _become("utlz")


def utlz_run() -> NoReturn:
    """The command utlz-run."""
    _become("utlz-run")


def utlz_attach() -> NoReturn:
    """The command utlz-attach."""
    _become("utlz-attach")
