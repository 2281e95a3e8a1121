#!/usr/bin/env python3
"""Holds a linked file to what it promises: exports, libraries beside libc's, version of libc, size.

    check_binary.py FILE [--exports NAME...] [--optional-exports NAME...] [--needed NAME...]
                    [--glibc MAXIMUM] [--stripped-size MAXIMUM] [--hardened]
                    [--guarded-entry FUNCTION] [--not-in-it TEXT]
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

from elf_file import ElfFile

# libc's family: on every Linux machine of the architecture that has a C library at all.
LIBC_FAMILY = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1",
               "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def check_versions(elf, maximum):
    limit = tuple(int(part) for part in maximum.split("."))
    return [f"needs GLIBC_{'.'.join(map(str, version))}, newer than {maximum}"
            for version in sorted(elf.versions("GLIBC")) if version > limit]


# Where a jump from elsewhere may land, if the compiler marks such places.
LANDING_PLACES = {"Advanced Micro Devices X86-64": {"endbr64"},
                  "AArch64": {"bti", "paciasp", "hint"}}


def check_hardening(elf):
    """What the linked file shows of UtlzCompiler.cmake's hardening.

    Not the mark of control-flow protection (IBT, SHSTK): the linker gives it only where every part has it,
    and neither the C library's start files nor the static libraries of Debian 12 do. --guarded-entry
    looks at the code itself.
    """
    problems = []
    segments = elf.segments()
    if not elf.is_position_independent():
        problems.append("is not position independent")
    if not elf.binds_at_start():
        problems.append("binds lazily (no BIND_NOW)")
    if "GNU_RELRO" not in segments:
        problems.append("has no GNU_RELRO: its addresses stay writable")
    if "E" in "".join(segments.get("GNU_STACK", ["E"])):
        problems.append("has an executable stack, or does not say")
    if any("W" in flags and "E" in flags for flags in segments.get("LOAD", [])):
        problems.append("has memory that can be written and executed")
    if elf.has_text_relocations():
        problems.append("has relocations in its code (TEXTREL)")
    imports = elf.imports()
    if "__stack_chk_fail" not in imports:
        problems.append("has no stack protector")
    if not any(re.fullmatch(r"__\w+_chk", name) for name in imports):
        problems.append("calls no checked functions (_FORTIFY_SOURCE)")
    return problems


def check_entry(elf, function):
    allowed = LANDING_PLACES.get(elf.machine())
    first = elf.first_instruction(function)
    if allowed is None or first in allowed:
        return []
    return [f"{function} begins with {first}: compiled without control-flow protection"]


def bytes_of(text):
    """Of a number with a K or an M for a unit of 1024."""
    factor = {"K": 1 << 10, "M": 1 << 20}[text[-1]]
    return int(text[:-1]) * factor


def check_size(path, maximum):
    with tempfile.TemporaryDirectory() as folder:
        stripped = os.path.join(folder, "stripped")
        subprocess.run(["strip", "-o", stripped, path], check=True)
        size = os.path.getsize(stripped)
    print(f"{path}: {size} bytes when stripped")
    return [f"has {size} bytes when stripped, more than {maximum}"] if size > bytes_of(maximum) else []


def problems_of(elf, arguments):
    problems = []
    if arguments.exports is not None:
        exports = elf.exports()
        for name in sorted(exports - set(arguments.exports) - set(arguments.optional_exports)):
            problems.append(f"exports {name}, which no one may bind to")
        for name in sorted(set(arguments.exports) - exports):
            problems.append(f"does not export {name}")
    for name in sorted(elf.needed() - LIBC_FAMILY - set(arguments.needed)):
        problems.append(f"needs {name}")
    for path in elf.run_paths():
        problems.append(f"has the run path {path}, which belongs to the machine that built it")
    if arguments.glibc:
        newest = max(elf.versions("GLIBC"), default=())
        print(f"{elf.path}: needs GLIBC_{'.'.join(map(str, newest))}")
        problems += check_versions(elf, arguments.glibc)
    if arguments.hardened:
        problems += check_hardening(elf)
    if arguments.guarded_entry:
        problems += check_entry(elf, arguments.guarded_entry)
    if arguments.not_in_it and elf.contains(arguments.not_in_it):
        problems.append(f"names {arguments.not_in_it}, the folder that it was built in")
    if arguments.stripped_size:
        problems += check_size(elf.path, arguments.stripped_size)
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--exports", nargs="*", help="exactly these")
    parser.add_argument("--optional-exports", nargs="*", default=[])
    parser.add_argument("--needed", nargs="*", default=[], help="at most these, beside libc's own")
    parser.add_argument("--glibc", help="newest version allowed, as 2.34")
    parser.add_argument("--hardened", action="store_true", help="as cmake/UtlzCompiler.cmake says")
    parser.add_argument("--guarded-entry", help="begins as control-flow protection wants it")
    parser.add_argument("--not-in-it", help="a text that the file must not hold")
    parser.add_argument("--stripped-size", help="at most so many bytes without symbols, as 12M")
    arguments = parser.parse_args()
    if not os.path.isfile(arguments.file):
        sys.exit(f"{arguments.file} was not built")
    problems = problems_of(ElfFile(arguments.file), arguments)
    for problem in problems:
        print(f"{arguments.file}: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
