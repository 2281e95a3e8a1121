#!/usr/bin/env python3
"""Writes a C++ header that makes the message of a frame by its type.

    write_frame_visitor.py PROFILE_PROTO HEADER

The comment of each value of FrameType begins with the name of its message.
"""
import pathlib
import re
import sys

import schema

HEADER = """// Made from proto/profile.proto by proto/schema/write_frame_visitor.py.
#ifndef UTLZ_PROTO_PROFILE_FRAMES_H_
#define UTLZ_PROTO_PROFILE_FRAMES_H_

#include <cstdint>

#include "proto/summary.pb.h"

namespace utlz {

// What `visitor` returns for an empty message of the kind that frames of this type hold; false if
// this release does not know the type.
template <typename Visitor>
bool VisitFrame(uint16_t type, Visitor&& visitor) {
  switch (type) {
%s    default:
      return false;
  }
}

}  // namespace utlz

#endif  // UTLZ_PROTO_PROFILE_FRAMES_H_
"""


def cases(types):
    frames = next(each for each in types if each.name == "FrameType")
    for frame in frames.fields:
        message = re.match(r"\w+", frame.comment)
        if message:
            yield f"    case {frame.name}:\n      return visitor({message.group()}());\n"
        elif frame.number != 0:
            raise ValueError(f"{frame.name} has no comment that names its message")


def main():
    source, header = sys.argv[1:]
    pathlib.Path(header).write_text(HEADER % "".join(cases(schema.read(source))), encoding="utf-8")


if __name__ == "__main__":
    main()
