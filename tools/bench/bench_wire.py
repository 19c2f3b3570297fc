#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/bench/bench_wire.py BUILD: what three nodes send one another for each byte that a pipeline has to move between
them, where those who make its rows and those who train on them have other meshes. Rows go one way and weights the other,
each once to a node. The bytes are those that this machine received by IP, headers, acknowledgements and control messages
too, so nothing else may use its network. Of a run of 320 steps and one of 20 only the difference counts: 300 steps; rows
that were made ahead when a run ends may be a step's more or less, so the third digit means nothing."""
import os
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "end_to_end" / "shared"))
from three_nodes import Run  # noqa: E402

PROGRAM = pathlib.Path(sys.argv[1]).resolve() / "tests" / "wide_rows"
ROWS, WIDTH = 64, 16384  # 4 MiB of rows a step, 1 MiB of weights


def received():
    names, values = [line.split() for line in pathlib.Path("/proc/net/netstat").read_text().splitlines()
                     if line.startswith("IpExt:")]
    return int(values[names.index("InOctets")])


def of_run(steps, makers, dp, tp):
    before = received()
    run = Run(PROGRAM, f"wire{steps}", [0, makers, 4], "--steps", str(steps), "--rows", str(ROWS), "--width", str(WIDTH),
              "--makers", str(makers), "--dp", str(dp), "--tp", str(tp))
    assert run.end() == {"a": 0, "b": 0, "c": 0}, run.everything()
    return received() - before


def needed(first, end):
    """Of steps: the numbers of a row are as many as `wide_rows` makes of its number."""
    rows = sum(WIDTH + number % 7 for number in range(first * ROWS, end * ROWS))
    return 4 * (rows + (end - first) * WIDTH * 16)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for meshes in [(4, 2, 2), (4, 4, 1), (2, 4, 1), (1, 1, 4)]:
        ratio = (of_run(320, *meshes) - of_run(20, *meshes)) / needed(20, 320)
        print("dp {} on one node, dp {} x tp {} on another: ".format(*meshes) + f"{ratio:.3f} bytes on the wire for each needed")
