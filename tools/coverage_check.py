#!/usr/bin/env python3
"""Checks docs/coverage.md against the tree.

    tools/coverage_check.py                  every row's files, models and tests exist; every id stands once
    tools/coverage_check.py --spec DIR       also: the ids are those defined in the specification files DIR/*.md
    tools/coverage_check.py --summary        counts by source and status

A row is  | id | title | status | where | proof | notes |.  In `where` and `proof` everything in backticks is checked:
a path must exist, `Suite.Name` must be a test somewhere under tests/. A row that is `done` needs files and a proof, a
`part` row needs files, a `planned` row has neither. Exit code 1 when anything is wrong.
"""
import argparse
import pathlib
import re
import sys

STATUSES = ("done", "part", "planned")
PREFIX = "EVX|EV|E|PV|P|AF|AV|A|SV|S|VV|V|YV|Y"
ID = re.compile(rf"^(?:{PREFIX})-\d+b?$")
TEST = re.compile(r"\bTEST(?:_F|_P)?\(\s*(\w+)\s*,\s*(\w+)\s*\)")


def rows(text):
    """(line number, cells) of every table row whose first cell looks like an id."""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("|"):
            continue
        cells = [c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]]
        if cells and re.match(r"^[A-Z]+-\d", cells[0]):
            yield number, cells


def tests_in(root):
    names = set()
    for path in sorted((root / "tests").rglob("*_test.cpp")):
        for suite, name in TEST.findall(path.read_text(encoding="utf-8")):
            names.add(f"{suite}.{name}")
    return names


def spec_ids(folder):
    """Ids that a specification file defines: headings, bold openings, first cells of tables."""
    one = rf"(?:{PREFIX})-\d+b?"
    opening = re.compile(rf"^\s*(?:#{{2,5}}\s+|\*\*|\|\s*)({one})((?:\s*(?:,|\.\.|…)\s*{one})*)(?=[\s|*])")
    found = {}
    for path in sorted(folder.glob("*.md")):
        for line in path.read_text(encoding="utf-8").splitlines():
            match = opening.match(line)
            if not match:
                continue
            ids = [match[1]] + re.findall(one, match[2])
            if ".." in match[2] or "…" in match[2]:
                prefix, first = ids[0].split("-")
                ids = [f"{prefix}-{k}" for k in range(int(first), int(ids[-1].split("-")[1]) + 1)]
            for i in ids:
                found.setdefault(i, path.name)
    return found


def check_row(cells, root, tests):
    """Complaints about one row."""
    if len(cells) != 6:
        return [f"{len(cells)} cells instead of 6 (id, title, status, where, proof, notes)"]
    _, title, status, where, proof, _ = cells
    problems = []
    if not title:
        problems.append("no title")
    if status not in STATUSES:
        return problems + [f"status `{status}` is none of {', '.join(STATUSES)}"]
    files, proofs = re.findall(r"`([^`]+)`", where), re.findall(r"`([^`]+)`", proof)
    if status == "planned" and (files or proofs):
        problems.append("planned, yet it names files or proofs")
    if status != "planned" and not files:
        problems.append(f"{status}, yet it names no file")
    if status == "done" and not proofs:
        problems.append("done, yet it names no proof")
    for token in files + proofs:
        if "/" in token:
            if not (root / token).exists():
                problems.append(f"`{token}` does not exist")
        elif re.fullmatch(r"\w+\.\w+", token):
            if token not in tests:
                problems.append(f"no test `{token}` under tests/")
        else:
            problems.append(f"`{token}` is neither a path nor a test")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--spec", type=pathlib.Path, help="folder of the specification files")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--summary", action="store_true", help="print counts by source and status")
    options = parser.parse_args()

    page = options.root / "docs" / "coverage.md"
    tests = tests_in(options.root)
    complaints, seen, counts = [], {}, {}
    for number, cells in rows(page.read_text(encoding="utf-8")):
        i = cells[0]
        if not ID.match(i):
            complaints.append(f"{page.name}:{number}: `{i}` is no id")
            continue
        if i in seen:
            complaints.append(f"{page.name}:{number}: {i} stands already on line {seen[i]}")
        seen[i] = number
        complaints += [f"{page.name}:{number}: {i}: {p}" for p in check_row(cells, options.root, tests)]
        if len(cells) == 6:
            by = counts.setdefault(i.split("-")[0], dict.fromkeys(STATUSES, 0))
            by[cells[2]] = by.get(cells[2], 0) + 1
    if not seen:
        complaints.append(f"{page.name}: no rows")

    if options.spec is not None:
        wanted = spec_ids(options.spec)
        if not wanted:
            complaints.append(f"no ids found in {options.spec}")
        complaints += [f"{page.name}: {i} of {wanted[i]} is missing" for i in wanted if i not in seen]
        complaints += [f"{page.name}:{seen[i]}: {i} is not in the specification" for i in seen if i not in wanted]

    for c in complaints:
        print(c, file=sys.stderr)
    if options.summary:
        for prefix, by in counts.items():
            print(f"{prefix:>4} " + "  ".join(f"{by[s]:4d} {s}" for s in STATUSES))
    total = {s: sum(by.get(s, 0) for by in counts.values()) for s in STATUSES}
    print(f"coverage: {len(seen)} ids: " + ", ".join(f"{total[s]} {s}" for s in STATUSES)
          + (f"; {len(complaints)} wrong" if complaints else ""))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
