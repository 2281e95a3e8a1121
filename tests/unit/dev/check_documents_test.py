"""tools/dev/check_documents.py must find what it is there to find."""

import pathlib
import subprocess
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

    def found(self, check, files):
        self.write(files)
        return list(check(self.root))

    def test_finds_links_to_headings_that_do_not_exist(self):
        home = "# A page\n## `--by`, and *more*\n## Twice\n## Twice\n"
        good = ("[a](docs/page.md#a-page) [b](docs/page.md#--by-and-more) [c](#own)\n# Own\n"
                "[d](docs/page.md#twice-1) [e](https://x.org/page.md#none)\n"
                "```\n[f](#in-a-block)\n```\n")
        self.assertEqual([], self.found(check_documents.missing_anchors,
                                        {"docs/page.md": home, "README.md": good}))
        self.assertEqual(["README.md:1: docs/page.md has no heading #twice-2"],
                         self.found(check_documents.missing_anchors,
                                    {"README.md": "[a](docs/page.md#twice-2)\n"}))
        self.assertEqual(["README.md:2: README.md has no heading #none"],
                         self.found(check_documents.missing_anchors,
                                    {"README.md": "# Own\n[a](#none)\n"}))

    def test_finds_wide_lines_of_prose(self):
        wide = "a " * 51 + "\n"
        self.assertEqual([], self.found(check_documents.wide_lines, {
            "README.md": "x" * 100 + f"\n| {wide}```\n{wide}```\n" + "[x]:" + "y" * 120 + "\n"}))
        self.assertEqual(["README.md:2: 102 columns"],
                         self.found(check_documents.wide_lines, {"README.md": f"one\n{wide}"}))

    def test_finds_avoided_words(self):
        self.assertEqual([], self.found(check_documents.avoided_words, {
            "README.md": "`instructions_known` is told in `told`\n".replace("is told in", "in")
                         + "```\nwhoever\n```\nthe threshold, those which\n"}))
        for text in ("It is told.\n", "Held by us\n", "| whoever |\n", "lines, of\nwhich two\n",
                     "is taken out of it\n"):
            self.assertEqual(1, len(self.found(check_documents.avoided_words,
                                               {"README.md": text})), text)

    def overview(self, text):
        return self.found(check_documents.wrong_overview, {
            check_documents.OVERVIEW: text, "inject/agent.h": "class Agent {};\n"})

    def test_accepts_an_overview_whose_files_and_classes_exist(self):
        self.assertEqual([], self.overview(
            "`Agent` (`inject/agent.h`)\n## Where\n| question | file |\n| --- | --- |\n"
            "| the agent | `inject/agent.h` |\n"))

    def test_finds_what_the_overview_names_in_vain(self):
        self.assertEqual(["there is no docs/design/overview.md"],
                         list(check_documents.wrong_overview(self.root)))
        for text, problem in (("`agent.h`\n", "there is no file agent.h"),
                              ("`Ring` (`inject/agent.h`)\n", "inject/agent.h has no Ring"),
                              ("## Where\n| a metric | somewhere |\n",
                               "an answer names no file: | a metric | somewhere |")):
            self.assertEqual([f"docs/design/overview.md: {problem}"], self.overview(text))

    def test_finds_options_that_the_reference_does_not_name(self):
        for reference, missing in (("`-o`, `--output`, `--nvtx`, `--format`\n", []),
                                   ("`-o`, `--output`, `--format`\n", ["--nvtx of utlz run"]),
                                   ("`-o`, `--output`, `--nvtx`\n", ["--format of utlz report"])):
            self.options("nothing\n")
            self.write({"docs/reference/commands.md": reference})
            self.assertEqual(
                [f"docs/reference/commands.md: does not name {option}" for option in missing],
                list(check_documents.undocumented_options(self.root, str(self.root / "utlz"))))

    def sessions(self, document):
        self.write({"utlz": UTLZ, "README.md": document, "data/a.utlz": ""})
        (self.root / "utlz").chmod(0o755)
        return list(check_documents.stale_sessions(self.root, str(self.root / "utlz")))

    def test_accepts_sessions_that_are_excerpts_of_what_is_printed(self):
        self.assertEqual([], self.sessions(
            "```console\n$ utlz run data/a.utlz\n  -o,--output FILE\n\n```\n"
            "```text\n  --nvtx\n```\n```\nno session\n```\n"
            "```console\n$ utlz run other.utlz\nnot checked\n$ ls\nnot checked\n```\n"))

    def test_finds_sessions_that_utlz_does_not_print(self):
        for document, line in (
                ("```console\n$ utlz run data/a.utlz\n  --nvt\n```\n",
                 "3: utlz no longer prints:   --nvt"),
                # In another order.
                ("```console\n$ utlz run data/a.utlz\n  --nvtx\n  -o,--output FILE\n```\n",
                 "4: utlz no longer prints:   -o,--output FILE"),
                ("```console\n$ utlz run data/a.utlz\n```\n```text\nmore\n```\n",
                 "5: utlz no longer prints: more")):
            self.assertEqual([f"README.md:{line}"], self.sessions(document))

    def run_main(self, *arguments):
        return subprocess.run(
            [sys.executable, "-B", check_documents.__file__, str(self.root), *arguments],
            capture_output=True, text=True, check=False)

    def test_says_what_it_skips_where_nothing_is_built_and_fails_for_every_problem(self):
        overview = {check_documents.OVERVIEW: "# Overview\n", "utlz": UTLZ}
        self.write({"README.md": "`utlz run --none`\n", **overview})
        (self.root / "utlz").chmod(0o755)
        skipped = self.run_main(str(self.root / "none"))
        self.assertEqual((0, "options and sessions were not checked: no utlz is built\n"),
                         (skipped.returncode, skipped.stdout))
        utlz = str(self.root / "utlz")
        for document in ("`utlz run --none`\n", "`tools/none.h`\n", "[a](#none)\n",
                         "a " * 51 + "\n", "told\n", "```console\n$ utlz run README.md\nnone\n```\n"):
            self.write({"README.md": document})
            self.assertEqual(1, self.run_main(utlz).returncode, document)
        self.write({"README.md": "fine\n", check_documents.OVERVIEW: "`none.h`\n"})
        self.assertEqual(1, self.run_main(utlz).returncode)
        self.write({check_documents.OVERVIEW: "# Overview\n"})
        self.assertEqual(0, self.run_main(utlz).returncode)
        self.write({"docs/reference/commands.md": "`--nvtx`\n"})
        self.assertEqual(1, self.run_main(utlz).returncode)


if __name__ == "__main__":
    unittest.main()
