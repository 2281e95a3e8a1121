#!/usr/bin/env python3
"""Writes what documents and types the JSON report, from summary.proto and its comments.

    write_report_files.py [--check]

The tables of docs/reference/report_json.md stand below its headings, which name the place of a
message in the report; what else stands there is written by hand. summary_types.ts is for the HTML
page. With --check, nothing is written, and the exit status is 1 if a file would change.
"""
import pathlib
import re
import sys

import schema

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs/reference/report_json.md"
TYPES = ROOT / "tools/report_html/web/src/summary_types.ts"
TABLE = "| field | type | meaning |\n|---|---|---|\n"
JSON_TYPES = {"string": "string", "bool": "boolean", "double": "number", "float": "number"} | {
    integer: "integer" for integer in ("int32", "int64", "uint32", "uint64")}
JSON_ENUMS = {"CounterSource": "source", "Bound": "bound"}


def read_types():
    """The messages and enumerations of the report by name."""
    files = (schema.read(ROOT / "proto" / name) for name in ("profile.proto", "summary.proto"))
    return {each.name: each for types in files for each in types}


def places(types, message="Summary", path=""):
    """Where in the report a message stands, as headings name it, and its name."""
    yield path, message
    for field in types[message].fields:
        if field.type in types and types[field.type].kind == "message":
            place = f"{path}.{field.name}" if path else field.name
            yield from places(types, field.type, place + "[]" * (field.label == "repeated"))


def table_of(message):
    rows = ""
    for field in message.fields:
        kind = JSON_TYPES.get(field.type) or JSON_ENUMS.get(field.type, "object")
        if field.label == "repeated":
            kind = "list of objects" if kind == "object" else f"list of {kind}"
        rows += f"| `{field.name}` | {kind} | {field.comment}".rstrip() + " |\n"
    return TABLE + rows


def document_of(text, types):
    """The document with its tables anew."""
    for path, name in places(types):
        heading = f"## `{path}`\n" if path else "## The report\n"
        before, found, after = text.partition(heading)
        prose, has_table, rest = after.partition(TABLE)
        if not found or not has_table or "\n## " in prose:
            raise ValueError(f"{DOCUMENT}: below '{heading.strip()}' there is no table")
        rows = re.match(r"(\|.*\n)*", rest).end()
        text = before + found + prose + table_of(types[name]) + rest[rows:]
    return text


def type_name(name):
    return name.removesuffix("Summary") or name


def typescript_of(types):
    """Interfaces with the names of the messages, "Summary" left off, as the JSON has them."""
    names = dict.fromkeys(name for _, name in places(types))
    enums = [name for name in JSON_ENUMS
             if any(field.type == name for used in names for field in types[used].fields)]
    text = ("// Made from proto/summary.proto by proto/schema/write_report_files.py.\n"
            "// The report's data. What is absent is unknown, never zero.\n")
    for name in enums:
        words = (value.name.partition("_")[2].lower() for value in types[name].fields)
        text += f"\nexport type {name} =\n  " + " | ".join(f'"{word}"' for word in words) + ";\n"
    for name in names:
        text += f"\nexport interface {type_name(name)} {{\n"
        for field in types[name].fields:
            kind = JSON_TYPES.get(field.type, type_name(field.type)).replace("integer", "number")
            kind = "(number | null)" if "`null`" in field.comment else kind
            repeated = field.label == "repeated"
            optional = "" if repeated and name == "Summary" else "?"
            text += f"  {field.name}{optional}: {kind}{'[]' * repeated};\n"
        text += "}\n"
    return text


def main():
    types = read_types()
    written = {DOCUMENT: document_of(DOCUMENT.read_text(encoding="utf-8"), types),
               TYPES: typescript_of(types)}
    changed = [path for path, text in written.items()
               if not path.is_file() or path.read_text(encoding="utf-8") != text]
    for path in changed:
        if "--check" in sys.argv:
            print(f"{path.relative_to(ROOT)} is not what summary.proto says: "
                  "run proto/schema/write_report_files.py")
        else:
            path.write_text(written[path], encoding="utf-8")
    return 1 if changed and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
