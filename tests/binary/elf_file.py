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
