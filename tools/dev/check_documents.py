#!/usr/bin/env python3
"""Holds documents and comments to the tree, and documents to the programs' own --help.

    check_documents.py ROOT UTLZ

Every path of the repository that a document or a comment names must exist; every option that a
document gives to utlz, or to a script of the repository, must be in its --help.
"""

import ast
import functools
import pathlib
import re
import subprocess
import sys

FOLDERS = ("proto", "cupti", "inject", "collector", "tools", "tests", "bench", "docs", "cmake", "data")
COMMENT_MARKS = {
    **dict.fromkeys((".cc", ".h", ".c", ".cu", ".in", ".proto", ".ts", ".tsx", ".mjs", ".ptx"),
                    r"(?:^|\s)(?://|/?\*)(.*)"),
    **dict.fromkeys((".txt", ".cmake", ".py", ""), r"(?:^|\s)#(.*)"),
}
PATH = re.compile(r"(?<![\w./…{}@~-])(?:%s)/[\w./*+-]*[\w/*]" % "|".join(FOLDERS))
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]+)")
CODE_SPAN = re.compile(r"`([^`]+)`")
OPTION = re.compile(r"(?<![\w-])--?[a-z][\w-]*")
# utlz starts it itself; it has no --help.
HIDDEN_COMMANDS = ("sampler",)


def comments_of(path, text):
    """(line, comment) of a source file."""
    mark = re.compile(COMMENT_MARKS[path.suffix])
    for number, line in enumerate(text.splitlines(), 1):
        match = mark.search(line)
        if match:
            yield number, match.group(1)
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                for line in (ast.get_docstring(node) or "").splitlines():
                    yield getattr(node, "lineno", 1), line


def files_in(root, suffixes):
    yield from (file for file in root.iterdir() if file.is_file() and file.suffix in suffixes)
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            if file.is_file() and file.suffix in suffixes and "node_modules" not in file.parts:
                yield file


def exists(root, name):
    """Whether the tree has it, what it is generated from, or files that begin so."""
    patterns = (name, re.sub(r"\.pb\.h$", ".proto", name), name + ".*")
    return any(any(root.glob(pattern)) for pattern in patterns)


def named_paths(root):
    """(file, line, path, whether it exists), for documents and comments."""
    for file in files_in(root, COMMENT_MARKS):
        for number, comment in comments_of(file, file.read_text(encoding="utf-8")):
            for name in PATH.findall(comment):
                yield file, number, name, exists(root, name)
    for file in files_in(root, (".md",)):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            for name in PATH.findall(LINK.sub("", line)):
                yield file, number, name, exists(root, name)
            for name in LINK.findall(line):
                yield file, number, name, (file.parent / name).exists()


def missing_paths(root):
    for file, number, name, is_there in named_paths(root):
        if not is_there:
            yield f"{file.relative_to(root)}:{number}: there is no {name}"


class Programs:
    """The options that utlz's commands and the tree's scripts say they have."""

    def __init__(self, root, utlz):
        self.root = root
        self.utlz = utlz
        listed = self._help([utlz]).partition("Subcommands:")[2]
        self.commands = (*re.findall(r"^  (\w+)", listed, re.MULTILINE), *HIDDEN_COMMANDS)

    @staticmethod
    @functools.lru_cache(maxsize=None)
    def _run(command):
        done = subprocess.run([*command, "--help"], capture_output=True, text=True, check=False)
        return done.stdout if done.returncode == 0 else ""

    def _help(self, command):
        return self._run(tuple(command))

    def options_of_command(self, command):
        return () if command in HIDDEN_COMMANDS else OPTION.findall(self._help([self.utlz, command]))

    def options_of_script(self, name):
        script = self.root / name
        # One without options has no --help either; one that does not exist is told elsewhere.
        help_text = self._help([sys.executable, "-B", str(script)])
        return OPTION.findall(help_text or (script.read_text() if script.is_file() else ""))


def commands_in(lines):
    """(line, command line) of the code spans and blocks of a Markdown file."""
    in_block = False
    continued = ""
    for number, line in enumerate(lines, 1):
        if line.startswith("```"):
            in_block = not in_block
            continued = ""
        elif in_block:
            continued += line.partition("# ")[0]
            if continued.endswith("\\"):
                continued = continued[:-1]
            else:
                yield number, continued
                continued = ""
        else:
            for span in CODE_SPAN.findall(line):
                yield number, span


def command_of(words):
    """(the script or "utlz", utlz's command or None) that a command line calls."""
    for index, word in enumerate(words):
        if re.match(r"(bench|tests|tools)/.*\.py$", word):
            return word, None
        match = re.match(r"(?:.*/)?utlz(?:-(run|attach))?$", word)
        if match:
            following = words[index + 1].rstrip(",") if index + 1 < len(words) else ""
            command = match.group(1) or following
            return "utlz", command if re.fullmatch(r"[a-z]+", command) else None
    return None, None


def problems_of(words, programs, headed):
    """What is wrong with one command line, in a section whose heading names the commands `headed`."""
    # What follows -- is the profiled command's own.
    own = words[:words.index("--")] if "--" in words else words
    options = [option for option in OPTION.findall(" ".join(own)) if option not in ("-h", "--help")]
    program, command = command_of(own)
    if program == "utlz" and command is not None:
        if command not in programs.commands:
            yield f"utlz has no {command}"
            return
        owner, known = f"utlz {command}", programs.options_of_command(command)
    elif program not in (None, "utlz"):
        owner, known = program, programs.options_of_script(program)
    elif headed and own[:1] and own[0].startswith("-"):
        owner = " or ".join(headed)
        known = [option for name in headed for option in programs.options_of_command(name)]
    else:
        return
    yield from (f"{owner} has no {option}" for option in options if option not in known)


def wrong_options(root, utlz):
    programs = Programs(root, utlz)
    for file in files_in(root, (".md",)):
        lines = file.read_text(encoding="utf-8").splitlines()
        headings = [[name for name in re.findall(r"utlz (\w+)", line) if name in programs.commands]
                    if line.startswith("#") else None for line in lines]
        for number, command in commands_in(lines):
            headed = next((names for names in reversed(headings[:number]) if names is not None), [])
            for problem in problems_of(command.split(), programs, headed):
                yield f"{file.relative_to(root)}:{number}: {problem}"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    problems = [*missing_paths(root), *wrong_options(root, sys.argv[2])]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
