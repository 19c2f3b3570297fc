# SPDX-License-Identifier: Apache-2.0
"""The policy learns: the demo's reward rises for three seeds, and greedy accuracy over 400 steps."""
import json
import pathlib
import re
import subprocess
import sys

SORT = pathlib.Path(sys.argv[1]) / "examples" / "grpo_sort"
if not SORT.exists():
    sys.exit(77)


def run(*arguments):
    return subprocess.run([SORT, "--out", "run", *arguments], check=True, capture_output=True, text=True,
                          timeout=900).stdout


for seed in ("1", "2", "3"):
    run("--steps", "120", "--seed", seed)
    rewards = [json.loads(line)["reward_mean"] for line in pathlib.Path("run/metrics.jsonl").read_text().splitlines()]
    early = sum(rewards[1:20]) / 19
    late = sum(rewards[100:120]) / 20
    print(f"seed {seed}: mean reward of steps 2-20 {early:.3f}, of steps 101-120 {late:.3f}, gain {late - early:.3f}")
    assert late - early >= 0.25

said = run("--steps", "400", "--seed", "1")
before, after = map(float, re.search(r"greedy_accuracy before (\S+) \(version 0\), after (\S+) \(version 400\)", said).groups())
print(f"greedy accuracy on held-out prompts: {before:.3f} -> {after:.3f}")
assert after - before >= 0.35
