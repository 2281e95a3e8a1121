#!/usr/bin/env python3
"""Packs a built utlz as a Python wheel.

    make_wheel.py BUILD-FOLDER OUTPUT-FOLDER

The wheel holds the installed folder as utlz/_data, the Python package beside it, and three commands
that become the program. It says of itself which systems it is for by what its files ask for. The
same build gives the same bytes: names are sorted and times are fixed.
"""

import argparse
import base64
import hashlib
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = SOURCE / "tools/python/utlz"
OLDEST_GLIBC = (2, 28)  # the oldest that is tried; files that need less claim no more
MACHINES = {62: "x86_64", 183: "aarch64"}
FIRST_ZIP_DATE = (1980, 1, 1, 0, 0, 0)
# Found by man and by shells below the folder of the commands, not in the package.
SHARED = ("bash-completion", "fish", "man", "zsh")
COMMANDS = {"utlz": "utlz", "utlz-run": "utlz_run", "utlz-attach": "utlz_attach"}


def version_of_project():
    text = (SOURCE / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"project\(utlz VERSION ([0-9.]+)", text)[1]


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def machine_of(path):
    with open(path, "rb") as file:
        return MACHINES[struct.unpack_from("<H", file.read(20), 18)[0]]


def glibc_of(path):
    """The newest version of the C library that a file asks for."""
    text = subprocess.run(["readelf", "--wide", "--version-info", path], check=True,
                          capture_output=True, text=True).stdout
    versions = re.findall(r"Name: GLIBC_([0-9.]+)", text)
    return max((tuple(map(int, version.split("."))) for version in versions), default=(0,))


def tag_of(files):
    binaries = [path for path in files if is_elf(path)]
    machines = {machine_of(path) for path in binaries}
    if len(machines) != 1:
        sys.exit(f"make_wheel: files of more than one architecture: {sorted(machines)}")
    newest = max(OLDEST_GLIBC, *(glibc_of(path)[:2] for path in binaries))
    return f"py3-none-manylinux_{newest[0]}_{newest[1]}_{machines.pop()}"


def install(build, prefix):
    environment = {name: value for name, value in os.environ.items() if name != "DESTDIR"}
    subprocess.run(["cmake", "--install", build, "--strip", "--prefix", prefix], check=True,
                   stdout=subprocess.DEVNULL, env=environment)


def files_below(folder):
    """Regular files. A wheel has no links: what would be one is a command."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def metadata(version):
    return (f"Metadata-Version: 2.1\nName: utlz\nVersion: {version}\n"
            "Summary: A GPU profiler that attributes FLOPs and bytes to kernels on live jobs\n"
            "License: Apache-2.0\nLicense-File: LICENSE\nLicense-File: THIRD_PARTY_LICENSES\n"
            "Requires-Python: >=3.8\n"
            "Provides-Extra: pandas\nRequires-Dist: pandas; extra == \"pandas\"\n"
            "Description-Content-Type: text/markdown\n\n"
            + (SOURCE / "README.md").read_text(encoding="utf-8"))


def contents_of(prefix, version, tag):
    """(name in the wheel, bytes, whether it is a program)."""
    for path in files_below(prefix):
        name = path.relative_to(prefix)
        if name.parts[0] == "share" and name.parts[1] in SHARED:
            yield f"utlz-{version}.data/data/{name}", path.read_bytes(), False
        else:
            yield f"utlz/_data/{name}", path.read_bytes(), is_elf(path)
    for path in files_below(PACKAGE):
        if "__pycache__" not in path.parts:
            yield f"utlz/{path.relative_to(PACKAGE)}", path.read_bytes(), False
    info = f"utlz-{version}.dist-info"
    commands = "".join(f"{name} = utlz._program:{function}\n" for name, function in COMMANDS.items())
    yield f"{info}/METADATA", metadata(version).encode(), False
    yield f"{info}/entry_points.txt", f"[console_scripts]\n{commands}".encode(), False
    yield f"{info}/WHEEL", (f"Wheel-Version: 1.0\nGenerator: utlz {version}\n"
                            f"Root-Is-Purelib: false\nTag: {tag}\n").encode(), False
    for name in ("LICENSE", "THIRD_PARTY_LICENSES"):
        yield f"{info}/{name}", (prefix / "share/doc/utlz" / name).read_bytes(), False


def record_of(contents, name_of_record):
    lines = []
    for name, data, _ in contents:
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(data)}\n")
    return "".join(lines) + f"{name_of_record},,\n"


def write_wheel(path, contents):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data, is_program in contents:
            entry = zipfile.ZipInfo(name, FIRST_ZIP_DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix: the next line's permissions count
            entry.external_attr = (0o100755 if is_program else 0o100644) << 16
            archive.writestr(entry, data)


def make_wheel(build, output):
    version = version_of_project()
    with tempfile.TemporaryDirectory() as folder:
        prefix = pathlib.Path(folder)
        install(build, prefix)
        tag = tag_of(files_below(prefix))
        contents = sorted(contents_of(prefix, version, tag))
    record = f"utlz-{version}.dist-info/RECORD"
    contents.append((record, record_of(contents, record).encode(), False))
    output.mkdir(parents=True, exist_ok=True)
    path = output / f"utlz-{version}-{tag}.whl"
    write_wheel(path, contents)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    arguments = parser.parse_args()
    print(make_wheel(arguments.build, arguments.output))


if __name__ == "__main__":
    main()
