"""What a linked file asks of the machine that it runs on, read with readelf."""

import re
import subprocess


class ElfFile:

    def __init__(self, path):
        self.path = path

    def _readelf(self, *options):
        return subprocess.run(["readelf", "--wide", *options, self.path], check=True,
                              capture_output=True, text=True).stdout

    def needed(self):
        """Names of the shared libraries that it is linked with."""
        return set(re.findall(r"\(NEEDED\).*\[(.+)\]", self._readelf("--dynamic")))

    def run_paths(self):
        return re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.+)\]", self._readelf("--dynamic"))

    def exports(self):
        """Names of the symbols that others can bind to."""
        names = set()
        for line in self._readelf("--dyn-syms").splitlines():
            fields = line.split()
            # Num: Value Size Type Bind Vis Ndx Name
            if (len(fields) >= 8 and fields[0].rstrip(":").isdigit() and fields[6] != "UND"
                    and fields[4] in ("GLOBAL", "WEAK", "UNIQUE")):
                names.add(fields[7].split("@")[0])
        return names

    def versions(self, family):
        """Versions of one family that it needs, as tuples: ("GLIBC") -> {(2, 34), …}."""
        text = self._readelf("--version-info")
        return {tuple(int(part) for part in version.split("."))
                for version in re.findall(rf"Name: {family}_([0-9.]+)", text)}

    def imports(self):
        """Names of the symbols that it takes from others."""
        names = set()
        for line in self._readelf("--dyn-syms").splitlines():
            fields = line.split()
            if len(fields) >= 8 and fields[0].rstrip(":").isdigit() and fields[6] == "UND":
                names.add(fields[7].split("@")[0])
        return names

    def is_position_independent(self):
        return re.search(r"Type:\s+DYN ", self._readelf("--file-header")) is not None

    def machine(self):
        return re.search(r"Machine:\s+(.+)", self._readelf("--file-header")).group(1).strip()

    def binds_at_start(self):
        """All addresses are looked up before any code runs, so that the table can be locked."""
        return re.search(r"\((?:BIND_NOW|FLAGS|FLAGS_1)\).*\b(?:BIND_NOW|NOW)\b|\(BIND_NOW\)",
                         self._readelf("--dynamic")) is not None

    def has_text_relocations(self):
        return re.search(r"\(TEXTREL\)|\bTEXTREL\b", self._readelf("--dynamic")) is not None

    def segments(self):
        """Flags by type of segment: "GNU_STACK" -> ["RW"]."""
        found = {}
        for line in self._readelf("--program-headers").splitlines():
            match = re.match(r"\s+([A-Z_]+)\s+0x\w+ 0x\w+ 0x\w+ 0x\w+ 0x\w+ ([RWE ]{3})", line)
            if match:
                found.setdefault(match.group(1), []).append(match.group(2).replace(" ", ""))
        return found

    def first_instruction(self, function):
        """Of an exported function, as the disassembler writes it."""
        text = subprocess.run(["objdump", "--no-show-raw-insn", f"--disassemble={function}",
                               self.path], check=True, capture_output=True, text=True).stdout
        match = re.search(rf"<{re.escape(function)}(?:@@\w+)?>:\n\s*\w+:\s+(\w+)", text)
        return match.group(1) if match else None

    def contains(self, text):
        with open(self.path, "rb") as file:
            return text.encode() in file.read()
