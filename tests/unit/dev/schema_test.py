#!/usr/bin/env python3
"""proto/schema reads a .proto file, and writes what others need of it."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[3] / "proto/schema"
sys.path.insert(0, str(SCRIPTS))
import schema  # pylint: disable=wrong-import-position
import write_frame_visitor  # pylint: disable=wrong-import-position
import write_report_files  # pylint: disable=wrong-import-position

PROTO = """// Of the file.
syntax = "proto3";
package utlz;

enum Colour {
  COLOUR_UNKNOWN = 0;
  COLOUR_DARK_RED = 7;  // nearly brown
}

// A box.
message Box {
  reserved 3, 4;
  optional uint32 wide_mm = 1;  // outside
  // Each of
  // its sides.
  repeated Side sides = 2;
  message Side {
    Colour colour = 5;
  }
}
"""


class SchemaTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def read(self, text):
        path = self.folder / "box.proto"
        path.write_text(text, encoding="utf-8")
        return schema.read(path)

    def test_reads_types_fields_and_comments(self):
        colour, box = self.read(PROTO)
        self.assertEqual([(value.name, value.number, value.comment) for value in colour.fields],
                         [("COLOUR_UNKNOWN", 0, ""), ("COLOUR_DARK_RED", 7, "nearly brown")])
        self.assertEqual((box.name, box.comment), ("Box", "A box."))
        wide, sides = box.fields
        self.assertEqual((wide.name, wide.number, wide.label, wide.type, wide.comment),
                         ("wide_mm", 1, "optional", "uint32", "outside"))
        self.assertEqual((sides.label, sides.type, sides.comment),
                         ("repeated", "Side", "Each of its sides."))
        self.assertEqual([field.name for field in box.types[0].fields], ["colour"])

    def test_stops_at_what_it_does_not_know(self):
        with self.assertRaisesRegex(ValueError, r"box\.proto:3: .*map<string, int32> a = 1;"):
            self.read('syntax = "proto3";\nmessage Box {\n  map<string, int32> a = 1;\n}\n')

    def test_writes_field_numbers_for_c(self):
        self.read(PROTO)
        header = self.folder / "box_fields.h"
        subprocess.run([sys.executable, "-B", SCRIPTS / "write_field_numbers.py",
                        self.folder / "box.proto", header], check=True)
        text = header.read_text(encoding="utf-8")
        for line in ("enum Colour : uint32_t {", "  kColourDarkRed = 7,", "namespace Side {",
                     "inline constexpr uint32_t kWideMm = 1;",
                     "inline constexpr uint32_t kColour = 5;"):
            self.assertIn(line, text.splitlines())

    def test_frames_name_their_messages(self):
        types = self.read("enum FrameType {\n  FRAME_PADDING = 0;\n  // From agents.\n\n"
                          "  FRAME_BOX = 3;  // Box, for now\n}\n")
        self.assertEqual(list(write_frame_visitor.cases(types)),
                         ["    case FRAME_BOX:\n      return visitor(Box());\n"])
        with self.assertRaisesRegex(ValueError, "FRAME_BOX"):
            list(write_frame_visitor.cases(self.read("enum FrameType {\n  FRAME_BOX = 3;\n}\n")))


class ReportFilesTest(unittest.TestCase):

    def types(self):
        texts = schema.Field("names", 3, "of each", "string", "repeated")
        inner = schema.Type("message", "BoxSummary", "", [
            schema.Field("wide_mm", 1, "outside", "uint32", "optional"),
            schema.Field("value", 2, "`null` = unknown", "double", "repeated"), texts], [])
        outer = schema.Type("message", "Summary", "", [
            schema.Field("boxes", 1, "what was packed", "BoxSummary", "repeated"),
            schema.Field("source", 2, "", "CounterSource", "optional")], [])
        source = schema.Type("enum", "CounterSource", "", [
            schema.Field("SOURCE_TIME_ONLY", 1, "")], [])
        return {each.name: each for each in (inner, outer, source)}

    def test_tables_take_the_comments_and_prose_stays(self):
        table = write_report_files.TABLE
        written = write_report_files.document_of(
            f"# Title\n\n## The report\n\nProse.\n\n{table}| `old` | string | gone |\n\nMore.\n\n"
            f"## `boxes[]`\n\n{table}", self.types())
        self.assertEqual(
            written,
            f"# Title\n\n## The report\n\nProse.\n\n{table}"
            "| `boxes` | list of objects | what was packed |\n| `source` | source | |\n\nMore.\n\n"
            f"## `boxes[]`\n\n{table}| `wide_mm` | integer | outside |\n"
            "| `value` | list of number | `null` = unknown |\n"
            "| `names` | list of string | of each |\n")

    def test_a_message_without_a_table_is_refused(self):
        with self.assertRaisesRegex(ValueError, r"boxes\[\]"):
            write_report_files.document_of(f"## The report\n\n{write_report_files.TABLE}",
                                           self.types())

    def test_types_are_optional_but_for_the_lists_of_the_report(self):
        text = write_report_files.typescript_of(self.types())
        for line in ("  boxes: Box[];", "  source?: CounterSource;", "export interface Box {",
                     "  wide_mm?: number;", "  value?: (number | null)[];",
                     '  "time_only";'):
            self.assertIn(line, text.splitlines())


if __name__ == "__main__":
    unittest.main()
