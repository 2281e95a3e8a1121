"""tools/dev/check_documents.py must find what it is there to find."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools/dev"))
import check_documents  # pylint: disable=wrong-import-position

UTLZ = """#!/bin/sh
case "$1" in
  run) echo "  -o,--output FILE"; echo "  --nvtx";;
  report) echo "  --format WORD";;
  *) echo "Subcommands:"; echo "  run  Runs"; echo "  report  Shows";;
esac
"""


class CheckDocumentsTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write(self, files):
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def missing(self, files):
        self.write(files)
        return list(check_documents.missing_paths(self.root))

    def options(self, document):
        self.write({"utlz": UTLZ, "README.md": document,
                    "bench/load.py": "import argparse\nparser = argparse.ArgumentParser()\n"
                                     "parser.add_argument('--pairs')\nparser.parse_args()\n"})
        (self.root / "utlz").chmod(0o755)
        return list(check_documents.wrong_options(self.root, str(self.root / "utlz")))

    def test_accepts_paths_that_exist_or_are_made_from_what_does(self):
        self.assertEqual([], self.missing({
            "README.md": "See `inject/a.cc`, docs/page.md, `proto/*.proto` and [it](docs/page.md#x).\n",
            "docs/page.md": "[home](../README.md) `data/capture.1` https://x.org/docs/none.md\n",
            "inject/a.cc": "// proto/b.pb.h, inject/version.h and build/release/tools/none\n"
                           'const char* text = "tools/none";\n',
            "inject/version.h.in": "", "proto/b.proto": "", "data/capture.1.gz": ""}))

    def test_finds_paths_that_do_not_exist(self):
        for name, text, line in (("README.md", "one\n`tools/none.h`\n", 2),
                                 ("docs/page.md", "[it](none.md)\n", 1),
                                 ("inject/a.cc", "int x;  // as tools/none.h says.\n", 1),
                                 ("inject/b.h", "/* like\n * tools/none.h */\n", 2),
                                 ("bench/a.py", '"""For tools/none.h."""\n', 1),
                                 ("tests/CMakeLists.txt", "x()\n# See tools/none.h\n", 2)):
            self.assertEqual(1, len(self.missing({name: text})), name)
            self.assertIn(f"{name}:{line}: ", self.missing({name: text})[0])
            (self.root / name).unlink()

    def test_accepts_options_that_programs_have(self):
        self.assertEqual([], self.options(
            "# How\n`utlz run --nvtx -- a.out --other` `utlz-run -o x` `x --pause` `-fexceptions`\n"
            "```\npython3 bench/load.py --pairs 3 \\\n  --pairs 4  # not --others\n```\n"
            "## utlz run, utlz report\n| `--nvtx`, `--format X` |\n"))

    def test_finds_options_that_programs_do_not_have(self):
        for document, problem in (
                ("`utlz run --format x`\n", "README.md:1: utlz run has no --format"),
                ("`utlz-run -p`\n", "README.md:1: utlz run has no -p"),
                ("`utlz watch`\n", "README.md:1: utlz has no watch"),
                ("```\nutlz run \\\n  --nvt\n```\n", "README.md:3: utlz run has no --nvt"),
                ("`bench/load.py --pair 3`\n", "README.md:1: bench/load.py has no --pair"),
                ("## utlz run\n`--format`\n", "README.md:2: run has no --format")):
            self.assertEqual([problem], self.options(document))


if __name__ == "__main__":
    unittest.main()
