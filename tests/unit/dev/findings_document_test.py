#!/usr/bin/env python3
"""docs/reference/findings.md lists the rules of the diagnosis in order, each with its threshold;
docs/guide/findings.md has a section for each, with what to type."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
SOURCE = (ROOT / "collector/diagnosis/rules.cc").read_text(encoding="utf-8")
DOCUMENT = (ROOT / "docs/reference/findings.md").read_text(encoding="utf-8")
GUIDE = (ROOT / "docs/guide/findings.md").read_text(encoding="utf-8")
REST = (ROOT / "collector/diagnosis/findings.cc").read_text(encoding="utf-8")
TESTS = "\n".join(path.read_text(encoding="utf-8")
                  for path in (ROOT / "tests/unit/diagnosis").glob("*findings_test.cc"))


def rules():
    """(name, threshold) of each rule of the table in the source."""
    table = SOURCE[SOURCE.index("constexpr Rule kRules[]"):]
    for name, threshold in re.findall(r'^    \{"(\w+)", (0\.\d+),', table, re.MULTILINE):
        yield name, float(threshold)


def strings_in(entry):
    """The strings of a C++ initializer; literals that follow each other are one."""
    for literals in re.findall(r'(?:"(?:[^"\\]|\\.)*"\s*)+', entry):
        yield "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals)).replace('\\"', '"')


def lines_to_type():
    """{name: what to type} of each rule, and of what remains."""
    table = SOURCE[SOURCE.index("constexpr Rule kRules[]"):]
    table = table[:table.index("\n};")]
    entries = [*re.split(r"^    (?=\{\")", table, flags=re.MULTILINE)[1:],
               REST[REST.index("static constexpr Rule kRule = "):].partition("};")[0]]
    return {name: line for name, *_, line in map(strings_in, entries)}


def sections(document):
    """{heading: text} of the parts of a document."""
    parts = re.split(r"^## (.*)\n", document, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


class FindingsDocumentTest(unittest.TestCase):

    def test_lists_every_rule_and_its_threshold(self):
        lines = re.findall(r"^\| `(\w+)` \|.*\| ([^|]+) \| [^|]+ \|$", DOCUMENT, re.MULTILINE)
        self.assertGreater(len(lines), 10)
        self.assertEqual([name for name, _ in lines], [name for name, _ in rules()])
        for (name, threshold), (_, said) in zip(rules(), lines):
            # By bytes; remarks.
            if name not in ("memory_leak", "bandwidth_bound_matrix", "memory_bound_products"):
                self.assertEqual(said, f"{threshold * 100:.0f} %", name)

    def test_the_guide_has_a_section_for_each_finding_and_no_other(self):
        names = [*(name for name, _ in rules()), "remaining"]
        self.assertEqual(list(lines_to_type()), names)
        self.assertEqual(list(sections(GUIDE)), names)

    def test_each_section_says_what_it_means_how_to_confirm_it_and_what_to_type(self):
        for name, text in sections(GUIDE).items():
            for part in ("**Means.** ", "**Confirm.** ", "**Type.**"):
                self.assertEqual(text.count(part), 1, f"{name}: {part}")
            self.assertIn(f"\n{lines_to_type()[name]}\n", text, name)

    def test_each_rule_has_a_load_that_triggers_it_and_one_that_nearly_does(self):
        for name, _ in rules():
            uses = re.findall(rf'EXPECT_(?:EQ|NE)\((?:(?!;).)*"{name}"(?:(?!;).)*;|'
                              rf'ASSERT_NE\((?:(?!;).)*"{name}"(?:(?!;).)*;|'
                              rf'FindingSummary\* finding = Finding\(\w+, "{name}"\);',
                              TESTS, re.DOTALL)
            silent = [use for use in uses if use.startswith("EXPECT_EQ")]
            self.assertTrue(silent, f"{name}: no load that it is silent on")
            self.assertGreater(len(uses), len(silent), f"{name}: no load that makes it speak")


if __name__ == "__main__":
    unittest.main()
