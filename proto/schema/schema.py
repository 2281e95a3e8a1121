"""Reads the .proto files of this folder: their messages, enumerations and comments.

It knows the part of the language that they use, and stops at anything else.
"""
import dataclasses
import pathlib
import re

FIELD = re.compile(r"(?:(optional|repeated) )?([\w.]+) (\w+) = (\d+);$")
VALUE = re.compile(r"(\w+) = (\d+);$")
BEGIN = re.compile(r"(message|enum) (\w+) \{$")
WITHOUT_MEANING_HERE = re.compile(r"(syntax|package|import|reserved) ?.*;$")


@dataclasses.dataclass
class Field:
    """A field of a message, or a value of an enumeration."""
    name: str
    number: int
    comment: str  # the lines before it and the words after it
    type: str = ""
    label: str = ""  # "optional", "repeated" or neither


@dataclasses.dataclass
class Type:
    """A message or an enumeration."""
    kind: str  # "message" or "enum"
    name: str
    comment: str
    fields: list
    types: list  # messages inside


def read(path):
    """The messages and enumerations of a file, in its order."""
    root = Type("file", "", "", [], [])
    open_types, comment = [root], []
    for number, line in enumerate(pathlib.Path(path).read_text(encoding="utf-8").splitlines(), 1):
        code, _, words = (part.strip() for part in line.strip().partition("//"))
        if words and not code:
            comment.append(words)
            continue
        text = " ".join(comment + [words] if words else comment)
        comment = []
        begin, field, value = BEGIN.match(code), FIELD.match(code), VALUE.match(code)
        if begin:
            open_types.append(Type(begin.group(1), begin.group(2), text, [], []))
            open_types[-2].types.append(open_types[-1])
        elif code == "}":
            open_types.pop()
        elif value and open_types[-1].kind == "enum":
            open_types[-1].fields.append(Field(value.group(1), int(value.group(2)), text))
        elif field and open_types[-1].kind == "message":
            open_types[-1].fields.append(Field(field.group(3), int(field.group(4)), text,
                                               field.group(2), field.group(1) or ""))
        elif code and not WITHOUT_MEANING_HERE.match(code):
            raise ValueError(f"{path}:{number}: this script does not know how to read: {code}")
    return root.types
