#!/usr/bin/env python3
"""Checks documents and comments against the tree, and documents against the programs' --help.

    check_documents.py ROOT [UTLZ]

- Every path of the repository that a document or a comment names must exist, and every heading that
  a link names.
- Every option that a document gives to utlz, or to a script of the repository, must be in its --help.
  Every option of utlz must be in the reference. A shown session of utlz must be what it prints.
  Without a built UTLZ these are skipped.
- Lines of prose are at most 100 columns wide and avoid a few words.
- The overview's files exist and contain the classes that it names beside them.
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
ANCHOR_LINK = re.compile(r"\]\((?!\w+:)([^)#\s]*)#([^)\s]+)\)")
LINK_TARGET = re.compile(r"\]\([^)]*\)")
CODE_SPAN = re.compile(r"`([^`]+)`")
OPTION = re.compile(r"(?<![\w-])--?[a-z][\w-]*")
LINE_LIMIT = 100
# Words that hide who does what.
AVOIDED = re.compile(r"\b(told|held|whoever|of which|taken out)\b", re.IGNORECASE)
OVERVIEW = "docs/design/overview.md"
FILE_NAME = re.compile(r"[\w./+-]+\.(?:cc|h|c|proto|py|md|txt|json|ts|tsx|map)")
# `Class` (`path`), as the overview names a stage.
CLASS_IN_FILE = re.compile(r"`([A-Z]\w+)(?:\(\))?`\s+\(`([^`]+)`\)")
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


def documents(root):
    """(path, [(line, text, whether it stands in a code block)]) of every Markdown file."""
    for file in files_in(root, (".md",)):
        lines = []
        in_block = False
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            is_fence = line.lstrip().startswith("```")
            lines.append((number, line, in_block or is_fence))
            in_block ^= is_fence
        yield file, lines


def anchors_of(lines):
    """The names by which GitHub links to the headings of a document."""
    anchors = set()
    for _, line, in_block in lines:
        if in_block or not re.match(r"#{1,6} ", line):
            continue
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line.lstrip("#").strip())
        slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        count = 0
        while (slug if count == 0 else f"{slug}-{count}") in anchors:
            count += 1
        anchors.add(slug if count == 0 else f"{slug}-{count}")
    return anchors


def missing_anchors(root):
    pages = {file.resolve(): lines for file, lines in documents(root)}
    for file, lines in pages.items():
        for number, line, in_block in lines:
            for name, anchor in [] if in_block else ANCHOR_LINK.findall(line):
                target = (file.parent / name).resolve() if name else file
                if target in pages and anchor not in anchors_of(pages[target]):
                    yield (f"{file.relative_to(root)}:{number}: "
                           f"{target.relative_to(root)} has no heading #{anchor}")


def wide_lines(root):
    for file, lines in documents(root):
        for number, line, in_block in lines:
            is_table = line.lstrip().startswith("|")
            if len(line) > LINE_LIMIT and not in_block and not is_table and " " in line.strip():
                yield f"{file.relative_to(root)}:{number}: {len(line)} columns"


def avoided_words(root):
    for file, lines in documents(root):
        prose = [LINK_TARGET.sub("]", CODE_SPAN.sub("``", "" if in_block else line))
                 for _, line, in_block in lines]
        # Words may be parted by the end of a line.
        for match in AVOIDED.finditer("\n".join(prose).replace("of\nwhich", "of which")
                                      .replace("taken\nout", "taken out")):
            yield f"{file.relative_to(root)}: avoid \"{match.group().lower()}\": {context(match)}"


def context(match):
    text = match.string
    return text[max(0, match.start() - 30):match.end() + 30].replace("\n", " ").strip()


def wrong_overview(root):
    """What the overview names and the tree does not have."""
    file = root / OVERVIEW
    if not file.is_file():
        yield f"there is no {OVERVIEW}"
        return
    text = file.read_text(encoding="utf-8")
    for name in CODE_SPAN.findall(text):
        if FILE_NAME.fullmatch(name) and not (root / name).is_file():
            yield f"{OVERVIEW}: there is no file {name}"
    for name, path in CLASS_IN_FILE.findall(text):
        if (root / path).is_file() and not re.search(rf"\b{name}\b", (root / path).read_text()):
            yield f"{OVERVIEW}: {path} has no {name}"
    for line in text.partition("## Where")[2].partition("\n## ")[0].splitlines():
        if line.startswith("| ") and not line.startswith("| ---") and "`" not in line:
            if "question" not in line.lower():
                yield f"{OVERVIEW}: an answer names no file: {line}"


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
        # One without options has no --help either; missing_paths() reports one that is missing.
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


def sessions_in(lines):
    """(line, command or None for the one before, shown output) of ```console and ```text blocks."""
    kind = None
    for number, line, _ in lines:
        if line.startswith("```"):
            kind = line[3:].strip() if kind is None else None
            if kind == "text":
                yield number, None, None
        elif kind == "console" and line.startswith("$ "):
            yield number, line[2:], None
        elif kind in ("console", "text"):
            yield number, None, line.rstrip()


def stale_sessions(root, utlz):
    """Lines of shown sessions of utlz that it does not print, in this order, of the tree's files."""
    for file, lines in documents(root):
        rest = None
        for number, command, shown in sessions_in(lines):
            if command is not None:
                words = command.split()
                rest = None
                if words[0] == "utlz" and any((root / word).is_file() for word in words[1:]):
                    done = subprocess.run([utlz, *words[1:]], cwd=root, capture_output=True,
                                          text=True, check=False)
                    rest = [line.rstrip() for line in done.stdout.splitlines()]
            elif shown and rest is not None:
                if shown in rest:
                    rest = rest[rest.index(shown) + 1:]
                else:
                    yield f"{file.relative_to(root)}:{number}: utlz no longer prints: {shown}"


def undocumented_options(root, utlz):
    """Options of utlz's commands that the reference does not name."""
    pages = [root / "docs/reference" / name for name in ("commands.md", "alerts.md")]
    if not pages[0].is_file():
        return
    named = set(OPTION.findall("\n".join(page.read_text() for page in pages if page.is_file())))
    programs = Programs(root, utlz)
    for command in programs.commands:
        for option in sorted({*programs.options_of_command(command)} - {*named, "-h", "--help"}):
            yield f"docs/reference/commands.md: does not name {option} of utlz {command}"


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
    problems = [*missing_paths(root), *missing_anchors(root), *wide_lines(root),
                *avoided_words(root), *wrong_overview(root)]
    if len(sys.argv) > 2 and pathlib.Path(sys.argv[2]).is_file():
        problems += [*wrong_options(root, sys.argv[2]), *undocumented_options(root, sys.argv[2]),
                     *stale_sessions(root, sys.argv[2])]
    else:
        print("options and sessions were not checked: no utlz is built")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
