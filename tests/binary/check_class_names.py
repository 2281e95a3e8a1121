#!/usr/bin/env python3
"""Refuses two types of one name in one namespace: a program with both has whichever the linker takes.

    check_class_names.py ROOT
"""

import collections
import pathlib
import re
import sys

# What one file is linked from.
PROGRAMS = {
    "the program": ("collector", "cupti", "proto", "tools"),
    "the agent": ("cupti", "inject", "proto"),
}

# Comments, literals and preprocessor lines: braces and names in them mean nothing.
IGNORED = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^()\\ ]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Za-z_])\'(?:\\.|[^\'\\\n])+\''
    r'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', re.DOTALL | re.MULTILINE)
TOKEN = re.compile(r"[A-Za-z_]\w*|::|\[\[.*?\]\]|[^\s\w]")
TYPE_KEYWORDS = ("class", "struct", "union", "enum")


def tokens_of(text):
    return TOKEN.findall(IGNORED.sub(" ", text))


def after_parentheses(tokens, index):
    depth = 0
    while index < len(tokens):
        depth += {"(": 1, ")": -1}.get(tokens[index], 0)
        index += 1
        if depth == 0:
            break
    return index


def qualified_name(tokens, index):
    """The name that begins here, `a::b` as one, and the index behind it."""
    name = ""
    while index < len(tokens) and (re.match(r"\w", tokens[index]) or tokens[index] == "::"):
        if name and not name.endswith("::") and tokens[index] != "::":
            break
        name += tokens[index]
        index += 1
    return name, index


def defined_type(tokens, index):
    """The name of the type whose definition begins with the keyword at `index`, or None."""
    index += 1
    while index < len(tokens):
        if tokens[index].startswith("[[") or tokens[index] in ("class", "struct"):
            index += 1
        elif tokens[index] == "alignas":
            index = after_parentheses(tokens, index + 1)
        else:
            break
    name, index = qualified_name(tokens, index)
    if not name:
        return None
    if index < len(tokens) and tokens[index] == "final":
        index += 1
    if index < len(tokens) and tokens[index] == ":":
        while index < len(tokens) and tokens[index] not in "{;()":
            index += 1
    return name if index < len(tokens) and tokens[index] == "{" else None


def types_of_cpp(text):
    """Full names of the types that a file defines in namespaces that other files can name."""
    tokens = tokens_of(text)
    scopes = []  # of every open brace: a namespace's name, "" where it has none, or None for others
    opening = None  # what the next brace opens
    for index, token in enumerate(tokens):
        if token == "{":
            scopes.append(opening)
            opening = None
        elif token == "}":
            if scopes:
                scopes.pop()
        elif token == ";":
            opening = None
        elif None in scopes or "" in scopes:
            if token == "namespace":
                opening = ""
        elif token == "namespace":
            opening = qualified_name(tokens, index + 1)[0]
        elif token in TYPE_KEYWORDS and tokens[index - 1] != "enum":
            name = defined_type(tokens, index)
            if name:
                yield "::".join(scopes + [name])


def types_of_proto(text):
    package = re.search(r"^package ([\w.]+);", text, re.MULTILINE)
    scope = package.group(1).replace(".", "::") + "::" if package else ""
    for match in re.finditer(r"^(?:message|enum) (\w+)", text, re.MULTILINE):
        yield scope + match.group(1)


def files_of(root, folders):
    for folder in folders:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in (".h", ".cc", ".proto") and "node_modules" not in file.parts:
                yield file


def problems_in(root):
    for program, folders in PROGRAMS.items():
        files_by_type = collections.defaultdict(set)
        for file in files_of(root, folders):
            types_of = types_of_proto if file.suffix == ".proto" else types_of_cpp
            for name in types_of(file.read_text(encoding="utf-8")):
                files_by_type[name].add(file.relative_to(root).as_posix())
        for name, files in sorted(files_by_type.items()):
            if len(files) > 1:
                yield f"{program} has two types {name}: {' and '.join(sorted(files))}"


def main():
    problems = list(problems_in(pathlib.Path(sys.argv[1]).resolve()))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
