#!/usr/bin/env python3
"""Writes a C++ header with the field numbers and enumerations of a .proto file.

    write_field_numbers.py PROTO HEADER

The agent writes messages without protobuf, and has their numbers from this header.
"""
import pathlib
import sys

import schema


def constant(name):
    """frame_process or FRAME_PROCESS: kFrameProcess."""
    return "k" + "".join(word.capitalize() for word in name.split("_"))


def lines_of(types):
    for each in types:
        yield f"enum {each.name} : uint32_t {{" if each.kind == "enum" else f"namespace {each.name} {{"
        for field in each.fields:
            name = constant(field.name)
            yield (f"  {name} = {field.number}," if each.kind == "enum"
                   else f"inline constexpr uint32_t {name} = {field.number};")
        yield from lines_of(each.types)
        yield "};" if each.kind == "enum" else "}"


def main():
    source, header = (pathlib.Path(argument) for argument in sys.argv[1:])
    guard = f"UTLZ_PROTO_{header.stem.upper()}_H_"
    header.write_text("\n".join([
        f"// Made from proto/{source.name} by proto/schema/write_field_numbers.py.",
        f"#ifndef {guard}", f"#define {guard}", "", "#include <cstdint>", "",
        "namespace utlz::wire {", *lines_of(schema.read(source)), "}  // namespace utlz::wire", "",
        f"#endif  // {guard}", ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
