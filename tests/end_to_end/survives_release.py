# SPDX-License-Identifier: Apache-2.0
"""A sampler that throws every few bodies, and one that hangs for good: the run ends well, trains each row once, in the
order of a run in which nothing went wrong, and says what happened."""
import json
import pathlib
import re
import subprocess
import sys

BUILD = pathlib.Path(sys.argv[1])
SORT = BUILD / "tests" / "brittle_sort"
if not SORT.exists():
    sys.exit(77)
DATA = pathlib.Path(__file__).parents[2] / "examples" / "data" / "sort_train.jsonl"
STEPS = 12


def run(folder, *arguments):
    done = subprocess.run([SORT, "--data", DATA, "--steps", str(STEPS), "--out", folder, *arguments],
                          capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    steps = [json.loads(line) for line in (pathlib.Path(folder) / "metrics.jsonl").read_text().splitlines()]
    return done.stdout, [(step["rows"], step["rows_digest"], step["staleness_max"]) for step in steps]


said, whole = run("whole")
assert "setback" not in said, said
assert len(whole) == STEPS and all(rows == 256 and staleness == 0 for rows, _, staleness in whole), whole

said, thrown = run("throws", "--harm", "throw", "--each", "7")
assert thrown == whole, (thrown, whole)
setbacks = re.findall(r"^setback brittle_sort/sampler\[dp=\d\]@local:gpu\d in sample, rows \[\d+,\d+\): this sampler "
                      r"breaks now and then", said, re.MULTILINE)
count = int(re.search(r"^setbacks  (\d+), 0 rows lost$", said, re.MULTILINE)[1])
assert count == len(setbacks) >= 7, said
print(f"ok, {count} bodies threw")

said, hung = run("hangs", "--harm", "hang", "--each", "20")
assert hung == whole, (hung, whole)
assert "no answer at the deadline" in said, said
left = re.findall(r"^abandoned  brittle_sort/sampler\[dp=\d\]@local:gpu\d in sample, which did not end$", said,
                  re.MULTILINE)
assert left, said
print(f"ok, {len(left)} bodies hung for good")
