#!/usr/bin/env python3
"""Runs the test programs of a build folder, one process a suite: under the sanitizers a process for each test (as ctest
does) would spend most of its time starting.

    tools/test_suites.py build/sanitize --leave-out tests/long_under_sanitizers.txt

A sanitizer ends the process at its first finding. The test it happened in has failed; the rest of its suite is run
again without it, so that one finding hides no other. What is found when a process ends (leaks) counts as one more failed
test, named after the suite. What the processes wrote is in BUILD/suites/; the last line is `N passed, N failed`.

The file of --leave-out names tests that take too long, with the reason; the report says how many they are, and a room
that would be left without any test is an error. --room takes some rooms only.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import time

Outcome = collections.namedtuple("Outcome", "program suite passed failed seconds log")


def tests_of(program):
    """{suite: [test, ...]} as the program lists them."""
    listed = subprocess.run([program, "--gtest_list_tests"], capture_output=True, text=True, check=True).stdout
    suites, suite = {}, None
    for line in listed.splitlines():
        name = line.split("#")[0].rstrip()
        if line.startswith("  ") and suite:
            suites[suite].append(name.strip())
        elif name.endswith("."):
            suite = name[:-1]
            suites[suite] = []
    return suites


def left_out(path):
    """Names and patterns (gtest's * and ?) of the file: one a line, a comment behind #."""
    if not path:
        return []
    lines = (line.split("#")[0].strip() for line in pathlib.Path(path).read_text().splitlines())
    return [line for line in lines if line]


def matches(name, pattern):
    return re.fullmatch("".join({"*": ".*", "?": "."}.get(c, re.escape(c)) for c in pattern), name) is not None


def run_suite(program, suite, tests, folder, limit):
    """All tests of a suite, again without those that ended the process."""
    log = folder / f"{program.name}.{suite.replace('/', '-')}.log"
    begun, passed, failed, todo = time.time(), {}, {}, list(tests)
    with open(log, "w") as out:
        while todo:
            command = [program, "--gtest_color=no", "--gtest_filter=" + ":".join(f"{suite}.{test}" for test in todo)]
            out.flush()
            start = out.tell()
            try:
                code = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, timeout=limit).returncode
            except subprocess.TimeoutExpired:
                code = f"more than {limit} s"
            text = log.read_bytes()[start:].decode(errors="replace")
            out.seek(0, os.SEEK_END)
            ended, begun_test = set(), None
            for line in text.splitlines():
                # A test may leave a line unfinished before these words.
                if word := re.search(r"\[ RUN      \] (\S+)", line):
                    begun_test = word[1]
                if word := re.search(r"\[ +(OK|FAILED|SKIPPED) +\] ([^\s,]+).* \((\d+) ms\)", line):
                    (failed if word[1] == "FAILED" else passed)[word[2]] = "failed" if word[1] == "FAILED" else int(word[3]) / 1000
                    ended.add(word[2])
            if begun_test and begun_test not in ended:
                failed[begun_test] = f"ended the process ({code})"
                ended.add(begun_test)
            elif code != 0 and not any(name in failed for name in ended):
                failed[f"{suite} (as its process ended)"] = f"exit code {code}"
            rest = [test for test in todo if f"{suite}.{test}" not in ended]
            if len(rest) == len(todo):
                for test in rest:
                    failed[f"{suite}.{test}"] = f"was not run (exit code {code})"
                break
            todo = rest
    return Outcome(program.name, suite, passed, failed, time.time() - begun, log)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--leave-out", metavar="FILE")
    parser.add_argument("--open-defects", metavar="FILE", help="left out too, and counted apart")
    parser.add_argument("--room", action="append", help="contact: the program test_contact (may be repeated)")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=float, default=600, help="seconds a suite may take")
    options = parser.parse_args()

    programs = sorted(p for p in options.build.resolve().glob("test_*") if p.is_file() and os.access(p, os.X_OK))
    if options.room:
        programs = [p for p in programs if p.name.removeprefix("test_") in options.room]
    if not programs:
        sys.exit(f"{options.build} holds no test programs")
    folder = options.build.resolve() / "suites"
    folder.mkdir(exist_ok=True)

    lists = {"take too long": (options.leave_out, left_out(options.leave_out)),
             "are open defects": (options.open_defects, left_out(options.open_defects))}
    unmatched = {pattern for _, patterns in lists.values() for pattern in patterns}
    jobs, away, nothing_left = [], collections.Counter(), []
    for program in programs:
        kept_of_program = 0
        for suite, tests in tests_of(program).items():
            kept = []
            for test in tests:
                hits = [(why, p) for why, (_, patterns) in lists.items() for p in patterns
                        if matches(f"{suite}.{test}", p)]
                unmatched -= {p for _, p in hits}
                if hits:
                    away[hits[0][0]] += 1
                else:
                    kept.append(test)
            kept_of_program += len(kept)
            if kept:
                jobs.append((program, suite, kept))
        if not kept_of_program:
            nothing_left.append(program.name)

    outcomes = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for outcome in pool.map(lambda job: run_suite(*job, folder, options.limit), jobs):
            outcomes.append(outcome)
            for test, what in outcome.failed.items():
                print(f"failed: {outcome.program} {test}: {what}; {outcome.log}", flush=True)

    for program in programs:
        own = [o for o in outcomes if o.program == program.name]
        print(f"{program.name:16} {sum(len(o.passed) for o in own):5} passed {sum(len(o.failed) for o in own):3} failed"
              f" {sum(o.seconds for o in own):7.1f} s")
    longest = sorted(((s, t) for o in outcomes for t, s in o.passed.items()), reverse=True)[:10]
    print("longest:", ", ".join(f"{test} {seconds:.0f} s" for seconds, test in longest if seconds >= 1) or "none over 1 s")
    for why, count in away.items():
        print(f"{count} more {why} and were not run ({lists[why][0]})")
    for program in nothing_left:
        print(f"failed: every test of {program} is left out")
    stale = sorted(unmatched) if not options.room else []
    for pattern in stale:
        print(f"failed: no test is called {pattern}, which is left out")
    good = sum(len(o.passed) for o in outcomes)
    bad = sum(len(o.failed) for o in outcomes) + len(nothing_left) + len(stale)
    print(f"{good} passed, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
