"""tools/dev/install_packages, with apt and dpkg replaced by scripts that keep a log."""

import os
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[3] / "tools/dev/install_packages"

DPKG_QUERY = """#!/bin/bash
for name; do :; done
grep -qx "$name" "$FAKES/installed" && echo -n installed
"""

# Fails as often as $FAKES/failures has lines, as if another apt held the lock; never has a package
# that is listed in $FAKES/unavailable.
APT_GET = """#!/bin/bash
echo "$*" >> "$FAKES/log"
if [[ -s "$FAKES/failures" ]]; then sed -i 1d "$FAKES/failures"; exit 100; fi
for name; do if grep -qx -- "$name" "$FAKES/unavailable"; then exit 100; fi; done
"""


class InstallPackagesTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.fakes = pathlib.Path(folder.name)
        for name, text in (("dpkg-query", DPKG_QUERY), ("apt-get", APT_GET),
                           ("id", "#!/bin/bash\necho 0\n")):
            (self.fakes / name).write_text(text)
            (self.fakes / name).chmod(0o755)
        for name in ("installed", "failures", "unavailable", "log"):
            (self.fakes / name).write_text("")
        self.every = [line.split()[1] for line in (SCRIPT.parent / "packages").read_text()
                      .splitlines() if line and not line.startswith("#")]

    def installed(self, *without):
        names = [name for name in self.every if name not in without]
        (self.fakes / "installed").write_text("\n".join(names) + "\n")

    def run_script(self, *arguments, **environment):
        return subprocess.run(
            [SCRIPT, *arguments], capture_output=True, text=True, check=False,
            env={**os.environ, "FAKES": str(self.fakes), "UTLZ_RETRY_SECONDS": "0",
                 "UTLZ_SKIP_PACKAGES": "0", "PATH": f"{self.fakes}:{os.environ['PATH']}",
                 **environment})

    def installs(self):
        return [line.split("--no-install-recommends ")[1]
                for line in (self.fakes / "log").read_text().splitlines() if " install " in line]

    def test_leaves_apt_alone_where_nothing_is_missing(self):
        self.installed()
        self.assertEqual(0, self.run_script("build", "test", "--", "browser").returncode)
        self.assertEqual("", (self.fakes / "log").read_text())

    def test_installs_exactly_what_is_missing(self):
        self.installed("cmake", "libgtest-dev", "chromium")
        self.assertEqual(0, self.run_script("build", "test").returncode)
        self.assertEqual(["cmake libgtest-dev"], self.installs())

    def test_tries_again_while_another_apt_holds_the_lock(self):
        self.installed("cmake")
        (self.fakes / "failures").write_text("busy\n" * 7)
        self.assertEqual(0, self.run_script("build").returncode)
        self.assertEqual(["cmake", "cmake"], self.installs())

    def test_fails_where_a_needed_package_cannot_be_had(self):
        self.installed("cmake")
        (self.fakes / "unavailable").write_text("cmake\n")
        self.assertNotEqual(0, self.run_script("build").returncode)

    def test_goes_on_without_an_optional_package_and_says_so(self):
        self.installed("chromium", "tmux")
        (self.fakes / "unavailable").write_text("chromium\n")
        done = self.run_script("build", "--", "browser", "terminal")
        self.assertEqual(0, done.returncode)
        self.assertIn("no chromium here", done.stderr)
        self.assertEqual(["chromium", "tmux"], self.installs())

    def test_prints_the_list_and_stops_where_there_is_no_apt(self):
        # Only what the script itself calls.
        tools = self.fakes / "tools"
        tools.mkdir()
        for name in ("bash", "env", "awk", "dirname", "realpath"):
            path = subprocess.run(["which", name], capture_output=True, text=True, check=True)
            (tools / name).symlink_to(path.stdout.strip())
        done = self.run_script("build", PATH=str(tools))
        self.assertEqual(1, done.returncode)
        self.assertIn("  libprotobuf-dev\n", done.stderr)
        self.assertNotIn("chromium", done.stderr)
        self.assertEqual(0, self.run_script("build", PATH=str(tools),
                                            UTLZ_SKIP_PACKAGES="1").returncode)

    def test_refuses_a_group_that_the_list_does_not_have(self):
        self.assertEqual(2, self.run_script("build", "nonsense").returncode)


if __name__ == "__main__":
    unittest.main()
