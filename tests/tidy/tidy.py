#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tidy.py ROOT: the rules of the house that no compiler knows, over all C++ sources git knows of or would add.

Each complaint reads `file:line: rule: what to do`. The rules are in `complaints`; self_test.py plants a violation
of each and demands that it is found.
"""

import posixpath
import re
import subprocess
import sys
from pathlib import Path

from cpp import blank, bodies, includes

SPDX = "// SPDX-License-Identifier: Apache-2.0"
FILE_LINES_MAX = 399
BODY_LINES_MAX = 69

# What each part of libtwinkle may include, besides itself.
KNOWS = {
    "base": set(),
    "observe": {"base"},
    "mesh": {"base", "observe"},
    "data": {"mesh", "base", "observe"},
    "flow": {"data", "mesh", "base", "observe"},
    "place": {"flow", "data", "mesh", "base", "observe"},
    "sim": {"place", "flow", "data", "mesh", "base", "observe"},
}

REAL = r"actors/src/runtime/real_[^/]*"  # the real sides of the seams
BATON = r"actors/src/sim/baton[^/]*"
BENCH = r"tools/bench/.*"
TESTS = r"tests/.*"
INTEROP = r"(actors|examples|tests)/.*interop.*"

# Library: what its includes look like, where they may be, what to do.
LIBRARIES = [
    ("caf", r"caf/", rf"actors/src/.*/caf_[^/]*|{BENCH}|{INTEROP}", "CAF belongs in actors/src/*/caf_*"),
    ("asio", r"boost/asio", rf"actors/src/.*|{BENCH}|{INTEROP}", "Asio belongs in actors/src"),
    ("torch", r"(torch|ATen|c10|caffe2)/", r"actors/src/torch/.*", "libtorch belongs in actors/src/torch"),
    ("toml", r"toml\+\+/", r"libtwinkle/src/place/cluster_file\.cpp", "TOML belongs in cluster_file.cpp"),
    ("doctest", r"doctest/", rf"actors/include/twinkle/testing/.*|{TESTS}|examples/.*",
     "doctest belongs in tests, and in twinkle/testing"),
    ("json", r"boost/json", r"(?!.*/include/).*", "JSON belongs in sources, not in public headers"),
]

# Rule: what is banned, where it is allowed, what to do.
BANNED = [
    ("clock", r"_clock::now\b|\bclock_gettime\b|\bgettimeofday\b|\btime\s*\(\s*(nullptr|NULL|0|&)",
     rf"{REAL}|{BENCH}", "ask the clock seam (context, or the clock you are given)"),
    ("thread", r"\bstd::(jthread|thread|async)\b(?!::id)", rf"{REAL}|{BATON}|{BENCH}|{TESTS}",
     "run bodies through the executor seam"),
    ("sleep", r"\bthis_thread::sleep_\w+|(?<![\w.>:])(u|nano)?sleep\s*\(", rf"{REAL}|{BENCH}",
     "wait for an event or a deadline of the clock seam; a test that sleeps to pass is a bug"),
    ("random", r"\brandom_device\b|\bmt19937|\bdefault_random_engine\b|\bstd::\w+_distribution\b"
     r"|\bstd::(random_)?shuffle\b|(?<![\w.>])s?rand\s*\(", rf"{REAL}|{BENCH}",
     "use twinkle/base/random.hpp with a seed, or the chooser seam"),
    ("environment", r"\bgetenv\b", rf"{REAL}|{BENCH}", "take an option; the environment is read in one place"),
    ("property", r"\brc::check\b", r"tests/for_all\.hpp", "use for_all, which fails the test where the property fails"),
]


def resolve(path, name, files):
    """The file of ours that `#include name` in `path` means, or None."""
    for folder in (posixpath.dirname(path), "libtwinkle/include", "actors/include", "libtwinkle/src", "actors/src",
                   "tests"):
        candidate = posixpath.normpath(posixpath.join(folder, name))
        if candidate in files:
            return candidate
    return None


def part_of(path):
    """The part of libtwinkle that `path` belongs to, or None."""
    match = re.match(r"libtwinkle/(?:include/twinkle|src)/(\w+)/", path)
    return match and match[1]


def include_complaints(path, line, name, files):
    target = resolve(path, name, files)
    for rule, pattern, allowed, advice in LIBRARIES:
        if target is None and re.match(pattern, name) and not re.fullmatch(allowed, path):
            yield line, rule, f"<{name}> has no place here: {advice}"
    if path.startswith("libtwinkle/"):
        if name.startswith(("twinkle/", "actors/")) and target is None:
            yield line, "wall", f"{name} is not of libtwinkle: the core knows nothing above it"
        elif target and not target.startswith("libtwinkle/"):
            yield line, "wall", f"{target} is above libtwinkle: the core knows nothing above it"
        elif target:
            here, there = part_of(path), part_of(target)
            if here != there and there not in KNOWS.get(here, set()):
                yield line, "wall", f"{here} may not know {there}: sim -> place -> flow -> data -> mesh -> base"
    if "/include/" in path and target and "/src/" in target:
        yield line, "wall", f"{target} is private: a public header includes public ones only"


def file_complaints(path, text, files):
    lines = text.splitlines()
    code = blank(text)
    if not lines or lines[0] != SPDX:
        yield 1, "licence", f"start the file with: {SPDX}"
    if len(lines) > FILE_LINES_MAX:
        yield len(lines), "file length", f"{len(lines)} lines: split it, {FILE_LINES_MAX} are the most"
    if path.endswith(".hpp") and not re.search(r"^#pragma once$", code, re.MULTILINE):
        yield 1, "pragma", "add #pragma once"
    for first, last in bodies(code):
        if last - first - 1 > BODY_LINES_MAX:
            yield first, "function length", f"{last - first - 1} lines: split it, {BODY_LINES_MAX} are the most"
    for rule, pattern, allowed, advice in BANNED:
        if not re.fullmatch(allowed, path):
            for match in re.finditer(pattern, code):
                yield code.count("\n", 0, match.start()) + 1, rule, f"no `{match[0].strip()}` here: {advice}"
    for line, name in includes(text, code):
        yield from include_complaints(path, line, name, files)


def complaints(files, test_parts):
    """files: path -> text of all sources; test_parts: the folders of tests/ that are built."""
    included = set()
    for path, text in files.items():
        included.update(resolve(path, name, files) for _, name in includes(text, blank(text)))
        yield from ((path, *complaint) for complaint in file_complaints(path, text, files))
    for path in files:
        if re.match(r"(libtwinkle|actors)/src/.*\.hpp$", path) and path not in included:
            yield path, 1, "dead file", "nobody includes it: delete it, or use it"
        test = re.fullmatch(r"tests/(.+)/[^/]+\.cpp", path)
        if test and test[1] not in test_parts:
            yield path, 1, "dead test", f"no target builds tests/{test[1]}: add it in tests/CMakeLists.txt"


def read_sources(root):
    listed = subprocess.run(
        ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", "*.cpp", "*.hpp"],
        check=True, capture_output=True, text=True).stdout
    paths = sorted(path for path in set(listed.split("\0")) if path and (Path(root) / path).is_file())
    return {path: (Path(root) / path).read_text(encoding="utf-8") for path in paths}


def main():
    root = sys.argv[1]
    files = read_sources(root)
    if not files:
        sys.exit("tidy: found no sources")
    built = (Path(root) / "tests/CMakeLists.txt").read_text(encoding="utf-8")
    found = sorted(complaints(files, set(re.findall(r"[\w/]+", built))))
    for path, line, rule, advice in found:
        print(f"{path}:{line}: {rule}: {advice}")
    print(f"tidy: {len(files)} files, {len(found)} complaints")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
