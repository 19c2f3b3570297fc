#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/bench/bench_start.py BUILD: how long three nodes of this machine take from the start of their processes to the
first step of a pipeline that loads nothing, and one process alone, in turns; medians of 20, in seconds."""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "end_to_end" / "shared"))
from three_nodes import Run  # noqa: E402

program = pathlib.Path(sys.argv[1]).resolve() / "tests" / "wide_rows"
small = ["--width", "16", "--rows", "8"]

def first_step(process):
    said = ""
    for line in process.stdout:
        said += line
        if line.startswith("step 1 "):
            return time.monotonic()
    process.wait()
    sys.exit("no step was made:\n" + said)

def three():
    run = Run(program, "start", [0, 2, 4], "--steps", "1", *small, only=[])
    began = time.monotonic()
    for node in "bc":
        run.start(node)
    leader = subprocess.Popen([*run.command, "--node", "a"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    took = first_step(leader) - began
    leader.communicate()
    if leader.returncode != 0 or run.end() != {"b": 0, "c": 0}:
        sys.exit("a node failed:\n" + run.everything())
    return took

def alone():
    began = time.monotonic()
    process = subprocess.Popen([program, "run", "--steps", "1", *small], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
    took = first_step(process) - began
    process.communicate()
    return took

with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    pairs = [(three(), alone()) for _ in range(20)]
print(f"three nodes {statistics.median(a for a, _ in pairs):.3f} s, one process {statistics.median(b for _, b in pairs):.3f} s")
