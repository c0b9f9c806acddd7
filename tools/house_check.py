#!/usr/bin/env python3
"""Checks that the rooms of src/ hold: who may include whom, and how large files, functions and classes are.

    tools/house_check.py             exit code 1 when a rule is broken that tools/house_open.txt does not name
    tools/house_check.py --list      all that is above a limit, largest first

Rules
    include   a room includes only the rooms docs/architecture.md allows it (ROOMS below is that table)
    file      at most 500 lines
    function  at most 80 lines, unless a comment directly above it says why ("Long because ...")
    class     at most 30 data members

tools/house_open.txt names what is still above a limit, one a line with its size. The list may only become shorter and its
sizes smaller: what is named there and has been mended, or has grown, is an error too.

Functions and classes are found by their braces after comments and strings are taken out; the code is laid out by
clang-format, which makes that safe.
"""
import argparse
import pathlib
import re
import sys

# room: rooms it may include; "room/file.hpp" allows that one header alone.
ROOMS = {
    "base": [],
    "solve": ["base"],
    "laws": ["base"],
    "model": ["base", "laws"],
    "integrate": ["base", "solve"],
    "engine": ["base", "laws", "solve", "model", "integrate/dynamics.hpp"],
    "fem": ["base", "solve", "model/flexible.hpp", "model/reduced_body.hpp"],
    "shapes": ["base", "model"],
    "impulse": ["base", "solve", "model/model.hpp", "model/crowd.hpp"],
    "contact": ["base", "laws", "solve", "model", "engine", "integrate", "shapes", "impulse"],
    "analysis": ["base", "solve", "integrate", "impulse", "contact"],
    "record": ["base"],
    "view": ["base", "model", "shapes/shape.hpp", "record"],
    "study": ["base", "solve", "model", "engine", "integrate", "shapes", "impulse", "contact", "analysis", "fem", "record"],
    "app": ["base", "laws", "solve", "model", "engine", "integrate", "shapes", "impulse", "contact", "analysis", "fem", "record", "view", "study"],
    "api": ["base", "solve", "model", "engine", "integrate", "shapes", "impulse", "contact", "analysis", "fem", "record", "view", "study", "app"],
}
MOST_LINES, MOST_FUNCTION, MOST_MEMBERS = 500, 80, 30
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
NOT_A_MEMBER = re.compile(r"^\s*(using|typedef|friend|template|static_assert|enum|struct|class|union|static|public|private|protected)\b")


def blanked(text):
    """The text with comments, strings and preprocessor lines turned into spaces, line by line."""
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#(?:\\\n|[^\n])*',
        re.S | re.M)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def without_angles(text):
    """The text without template arguments: <...> after a name, innermost first."""
    before = None
    while before != text:
        before = text
        text = re.sub(r"(?<=\w)<[^<>;]*>", "", text)
    return text


def members_of(statement):
    """How many data members a statement at class level declares."""
    text = re.sub(r"^(\s*(public|private|protected)\s*:)+", "", statement)
    text = re.sub(r"\[\[.*?\]\]", "", text)
    if not text.strip() or NOT_A_MEMBER.match(text) or "operator" in text:
        return 0
    text = without_angles(text)
    depth, plain = 0, []
    for i, c in enumerate(text):  # initialisers are of no interest
        if c in "{(":
            depth += 1
        if depth == 0:
            plain.append(c)
        elif depth == 1 and c == "(":
            plain.append(c)
        if c in "})":
            depth -= 1
    flat = "".join(plain)
    flat = re.sub(r"=[^,]*", "", flat)
    if "(" in flat:
        return 0
    return flat.count(",") + 1


class Scan:
    """Functions and classes of one file."""

    def __init__(self, path, name):
        raw = path.read_text(encoding="utf-8")
        self.name = name
        self.lines = raw.splitlines()
        self.functions, self.classes = [], []
        self.walk(blanked(raw))

    def walk(self, text):
        scopes = []  # [kind, name, first line, members]
        begin, line, parens = 0, 1, 0
        for i, c in enumerate(text):
            if c == "\n":
                line += 1
            elif c in "([":
                parens += 1
            elif c in ")]":
                parens -= 1
            elif c == "{":
                scopes.append(self.opened(text[begin:i], scopes, line, parens) + [parens])
                if scopes[-1][0] in ("namespace", "class", "function"):
                    begin, parens = i + 1, 0
            elif c == "}":
                if not scopes:
                    continue
                kind, name, first, members, parens = scopes.pop()
                if kind == "function":
                    self.functions.append((name, first, line - first + 1))
                if kind == "class":
                    self.classes.append((name, first, members))
                if kind in ("namespace", "class", "function"):
                    begin = i + 1
            elif c == ";" and parens == 0:
                if scopes and scopes[-1][0] == "class":
                    scopes[-1][3] += members_of(text[begin:i])
                if not scopes or scopes[-1][0] in ("namespace", "class"):
                    begin = i + 1

    def opened(self, head, scopes, line, parens):
        inside = scopes[-1][0] if scopes else "namespace"
        if inside not in ("namespace", "class") or parens:
            return ["block", "", line, 0]
        flat = without_angles(re.sub(r"^(\s*(public|private|protected)\s*:)+", "", head))
        if re.search(r"\bnamespace\b", flat):
            return ["namespace", "", line, 0]
        found = re.search(r"\b(?:class|struct|union)\s+(?:\[\[.*?\]\]\s*)?([\w:]+)", flat)
        if found and "(" not in flat.split(found[0])[0] and not re.search(r"\)\s*(const|noexcept|override)?\s*$", flat):
            return ["class", found[1], line, 0]
        if re.search(r"\benum\b", flat) or "(" not in flat:
            return ["block", "", line, 0]
        if re.search(r"=\s*$", flat) or re.search(r"=[^=()]*\[", flat):
            return ["block", "", line, 0]
        called = re.search(r"([\w:~]+|operator\s*\S+?)\s*\(", flat)
        first = line - head.lstrip().count("\n")
        return ["function", called[1] if called else "?", first, 0]

    def has_reason(self, first):
        above = []
        i = first - 2
        while i >= 0 and self.lines[i].lstrip().startswith("//"):
            above.append(self.lines[i])
            i -= 1
        return any("Long because" in text for text in above)


def look(root):
    """Everything above a limit: {(rule, place): size}, and the forbidden includes."""
    found, forbidden = {}, []
    for path in sorted((root / "src").rglob("*.[ch]pp")):
        name = str(path.relative_to(root))
        room = path.relative_to(root / "src").parts[0]
        raw = path.read_text(encoding="utf-8")
        for include in INCLUDE.findall(raw):
            other = include.split("/")[0]
            if "/" not in include or other == room:
                continue
            if other not in ROOMS.get(room, []) and include not in ROOMS.get(room, []):
                forbidden.append(f"{name} includes {include}: `{room}` may not use `{other}`")
        scan = Scan(path, name)
        if len(scan.lines) > MOST_LINES:
            found["file", name] = len(scan.lines)
        for function, first, length in scan.functions:
            if length > MOST_FUNCTION and not scan.has_reason(first):
                key = ("function", f"{name} {function}")
                found[key] = max(length, found.get(key, 0))
        for kind, _, members in scan.classes:
            if members > MOST_MEMBERS:
                found["class", f"{name} {kind}"] = members
    for path in sorted((root / "viewer" / "src").rglob("*.ts")):
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > MOST_LINES:
            found["file", str(path.relative_to(root))] = lines
    return found, forbidden


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print all that is above a limit")
    root = pathlib.Path(__file__).resolve().parent.parent
    options = parser.parse_args()
    found, wrong = look(root)
    if options.list:
        for (rule, place), size in sorted(found.items(), key=lambda item: (item[0][0], -item[1])):
            print(f"{rule} {size} {place}")
        return 0
    known = {}
    for line in (root / "tools" / "house_open.txt").read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            rule, size, place = line.split(" ", 2)
            known[rule, place] = int(size)
    for key, size in sorted(found.items()):
        if key not in known:
            wrong.append(f"{key[1]}: {key[0]} of {size} is above the limit")
        elif size > known[key]:
            wrong.append(f"{key[1]}: {key[0]} has grown from {known[key]} to {size}")
    for key in sorted(known.keys() - found.keys()):
        wrong.append(f"tools/house_open.txt: {key[1]} ({key[0]}) is within the limit now: take the line out")
    for text in wrong:
        print(text)
    print(f"rooms: {len(found)} above a limit, all known" if not wrong else f"rooms: {len(wrong)} rules broken")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
