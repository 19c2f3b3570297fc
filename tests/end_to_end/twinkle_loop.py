# SPDX-License-Identifier: Apache-2.0
"""The loop as calls and as streams: the same rows, in the same order, through the same places."""
import subprocess
import sys
from pathlib import Path

program = Path(sys.argv[1]) / "examples" / "twinkle_loop"


def rows(*arguments):
    ran = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    return [line for line in ran.stdout.splitlines() if "sampled by" in line], ran.stdout


for count in ("6", "13"):
    called, printed = rows("--rows", count)
    streamed, _ = rows("--rows", count, "--as", "streams")
    assert called == streamed, (called, streamed)
    assert len(called) == 2 * int(count), called
    assert [line.split()[0] for line in called] == [f"0:{row}/{child}" for row in range(int(count)) for child in (0, 1)]
    ranks = [line for line in printed.splitlines() if line.startswith("# ")]
    assert len(ranks) == 8 and ranks[0].split(" had ")[1] == ranks[4].split(" had ")[1], ranks

few = subprocess.run([program, "--rows", "1"], capture_output=True, text=True, timeout=120)
assert few.returncode == 0, few.stderr  # one prompt makes a row for each data rank of the model
neither = subprocess.run([program, "--as", "neither"], capture_output=True, text=True, timeout=120)
assert neither.returncode == 1 and "it is calls or streams" in neither.stderr, neither
print("twinkle_loop: the same rows as calls and as streams")
