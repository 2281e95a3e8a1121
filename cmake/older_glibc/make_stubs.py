"""Makes stand-ins for the C library's shared files that have no symbol newer than a version.

    make_stubs.py --maximum 2.28 --output FOLDER -- COMPILER [ARGUMENT...]

A linker that finds these first binds to the old versions of functions, and reports what an older
library lacks as an undefined symbol. Names, versions and sizes come from the files of the compiler's
own C library; the stand-ins hold no code and are never loaded.
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

# Where they were in glibc 2.28, programs must still ask for these two. Newer systems have empty ones.
SEPARATE_LIBRARIES = ("libpthread.so.0", "libdl.so.2")
LOADERS = {"x86_64": "ld-linux-x86-64.so.2", "aarch64": "ld-linux-aarch64.so.1"}

Symbol = collections.namedtuple("Symbol", "name version kind is_weak address size")


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def file_of(compiler, name):
    path = output_of(*compiler, f"-print-file-name={name}").strip()
    if not pathlib.Path(path).is_file():
        sys.exit(f"make_stubs: the compiler knows no {name}; "
                 "configure with -DUTLZ_OLDER_GLIBC=OFF to link with this machine's C library")
    return path


def version_of(text):
    return tuple(int(part) for part in text.split("."))


def parse_symbols(text):
    """Versioned symbols of the GLIBC family in the output of readelf --dyn-syms."""
    for line in text.splitlines():
        # Num: Value Size Type Bind Vis Ndx Name
        fields = line.split()
        if len(fields) != 8 or fields[6] in ("UND", "ABS", "Ndx"):
            continue
        match = re.fullmatch(r"(\w+)@+GLIBC_([0-9.]+)", fields[7])
        if match and fields[3] in ("FUNC", "IFUNC", "OBJECT"):
            kind = "object" if fields[3] == "OBJECT" else "function"
            yield Symbol(match[1], match[2], kind, fields[4] == "WEAK", int(fields[1], 16),
                         int(fields[2], 0))


def newest_within(symbols, maximum):
    """One symbol a name: that of the newest version up to `maximum`, such as "2.28"."""
    chosen = {}
    for symbol in symbols:
        if version_of(symbol.version) > version_of(maximum):
            continue
        other = chosen.get(symbol.name)
        if other is None or version_of(other.version) < version_of(symbol.version):
            chosen[symbol.name] = symbol
    return sorted(chosen.values())


def assembly_of(symbols):
    lines = [".text"]
    for symbol in symbols:
        if symbol.kind == "function":
            lines += [f".{'weak' if symbol.is_weak else 'globl'} {symbol.name}",
                      f".type {symbol.name}, %function", f"{symbol.name}: .long 0"]
    # Names of one object keep one address: a program that has a copy of `environ` then takes the
    # others along.
    objects = collections.defaultdict(list)
    for symbol in symbols:
        if symbol.kind == "object":
            objects[symbol.address].append(symbol)
    lines.append(".data")
    for aliases in objects.values():
        lines.append(".balign 32")
        for symbol in aliases:
            lines += [f".{'weak' if symbol.is_weak else 'globl'} {symbol.name}",
                      f".type {symbol.name}, %object", f".size {symbol.name}, {symbol.size}",
                      f"{symbol.name}:"]
        lines.append(f".zero {max(symbol.size for symbol in aliases)}")
    lines.append('.section .note.GNU-stack, "", %progbits')
    return "\n".join(lines) + "\n"


def version_script_of(symbols):
    names = collections.defaultdict(list)
    for symbol in symbols:
        names[symbol.version].append(symbol.name)
    return "".join(f"GLIBC_{version} {{ {'; '.join(names[version])}; }};\n"
                   for version in sorted(names, key=version_of))


def make_library(compiler, path, symbols):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "stub.s"
        script = pathlib.Path(folder) / "stub.map"
        source.write_text(assembly_of(symbols), encoding="ascii")
        script.write_text(version_script_of(symbols), encoding="ascii")
        versions = [f"-Wl,--version-script={script}"] if symbols else []
        subprocess.run([*compiler, "-shared", "-nostdlib", f"-Wl,-soname,{path.name}", *versions,
                        "-o", path, source], check=True)


def symbols_of_file(compiler, name, maximum):
    text = output_of("readelf", "--wide", "--dyn-syms", file_of(compiler, name))
    return newest_within(parse_symbols(text), maximum)


def make_stubs(compiler, maximum, output):
    output.mkdir(parents=True, exist_ok=True)
    machine = output_of(*compiler, "-dumpmachine").split("-")[0]
    loader = LOADERS[machine]
    for name in ("libc.so.6", "libm.so.6", loader):
        make_library(compiler, output / name, symbols_of_file(compiler, name, maximum))
    for name in SEPARATE_LIBRARIES:
        make_library(compiler, output / name, [])
    nonshared = file_of(compiler, "libc_nonshared.a")
    (output / "libc.so").write_text(
        f'GROUP ( "{output / "libc.so.6"}" "{nonshared}" AS_NEEDED ( "{output / loader}" ) )\n',
        encoding="utf-8")
    for name in ("libm.so.6", *SEPARATE_LIBRARIES):
        link = output / name.removesuffix(pathlib.Path(name).suffix)
        link.write_text(f'INPUT ( "{output / name}" )\n', encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--maximum", required=True)
    parser.add_argument("--output", required=True, type=pathlib.Path)
    parser.add_argument("compiler", nargs="+")
    arguments = parser.parse_args()
    make_stubs(arguments.compiler, arguments.maximum, arguments.output.resolve())


if __name__ == "__main__":
    main()
