# SPDX-License-Identifier: Apache-2.0
"""The swarm under 2,000 seeds, and one seed in five processes: the same history to the last event."""
import os
import pathlib
import subprocess
import sys

BUILD = pathlib.Path(sys.argv[1])
SEEDS = os.environ.get("TWINKLE_SEEDS", "2000")

clean = {key: value for key, value in os.environ.items() if not key.startswith("TWINKLE_")}
run = subprocess.run([BUILD / "tests" / "twinkle-swarm-tests", "-tc=swarm:*"], env=clean | {"TWINKLE_SEEDS": SEEDS},
                     capture_output=True, text=True, timeout=1100)
assert run.returncode == 0 and "3 passed" in run.stdout, run.stdout
print(f"ok, three graphs under {SEEDS} seeds")

simulate = [BUILD / "tests" / "toy_program", "simulate", "--seed", "7", "--seeds", "20", "--faults", "swarm", "--nodes", "3"]
said = [subprocess.run(simulate, env=clean, capture_output=True, text=True, timeout=300) for _ in range(5)]
for each in said:
    assert each.returncode == 0 and each.stdout.count("history") == 20, each.stdout + each.stderr
    assert each.stdout == said[0].stdout, "two processes disagree"
assert len({line.split("history ")[1] for line in said[0].stdout.splitlines() if "history" in line}) == 20, said[0].stdout
print("ok, five processes agree on 20 histories")
