#!/usr/bin/env python3
"""Holds a linked file to what it promises: exports, libraries beside libc's, version of libc.

    check_binary.py FILE [--exports NAME...] [--optional-exports NAME...] [--needed NAME...]
                    [--glibc MAXIMUM]
"""

import argparse
import os
import sys

from elf_file import ElfFile

# libc's family: on every Linux machine of the architecture that has a C library at all.
LIBC_FAMILY = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1",
               "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def check_versions(elf, maximum):
    limit = tuple(int(part) for part in maximum.split("."))
    return [f"needs GLIBC_{'.'.join(map(str, version))}, newer than {maximum}"
            for version in sorted(elf.versions("GLIBC")) if version > limit]


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
        problems += check_versions(elf, arguments.glibc)
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--exports", nargs="*", help="exactly these")
    parser.add_argument("--optional-exports", nargs="*", default=[])
    parser.add_argument("--needed", nargs="*", default=[], help="at most these, beside libc's own")
    parser.add_argument("--glibc", help="newest version allowed, as 2.34")
    arguments = parser.parse_args()
    if not os.path.isfile(arguments.file):
        sys.exit(f"{arguments.file} was not built")
    problems = problems_of(ElfFile(arguments.file), arguments)
    for problem in problems:
        print(f"{arguments.file}: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
