# SPDX-License-Identifier: Apache-2.0
"""The same binary, meshes and seed give the same metrics bit for bit: free, on one core, and beside a busy loop."""
import json
import pathlib
import subprocess
import sys

SORT = pathlib.Path(sys.argv[1]) / "examples" / "grpo_sort"
if not SORT.exists():
    sys.exit(77)


def run(name, *arguments, before=()):
    out = pathlib.Path(name)
    subprocess.run([*before, SORT, "--steps", "12", "--out", out, *arguments], check=True, stdout=subprocess.DEVNULL,
                   timeout=300)
    steps = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    assert len(steps) == 12
    for step in steps:
        del step["seconds"]
    return [json.dumps(step) for step in steps], (out / "model.safetensors").read_bytes()


for staleness in ("0", "1"):
    free = run(f"free{staleness}", "--staleness", staleness)
    assert any(f'"staleness_max": {staleness}' in step for step in free[0])
    alone = run(f"alone{staleness}", "--staleness", staleness, before=("taskset", "-c", "0"))
    assert free == alone, "one core gives another result"
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        beside = run(f"beside{staleness}", "--staleness", staleness)
    finally:
        busy.kill()
        busy.wait()
    assert free == beside, "a busy machine gives another result"
    print("ok, staleness", staleness)

digests = [[json.loads(step)["rows_digest"] for step in run(f"dp{dp}", "--sampler-dp", dp)[0]] for dp in ("4", "2", "1")]
assert digests[0] == digests[1] == digests[2], "another dp of the sampler trains other rows"
assert len(set(digests[0])) == 12
other = run("seed2", "--seed", "2")
assert other[0] != run("seed1")[0], "another seed gives the same run"
print("ok, digests")
