# SPDX-License-Identifier: Apache-2.0
"""grpo_sort on three nodes gives what it gives on one machine, goes on without half of its samplers, and ends with one
clear message without its model; a small pipeline keeps its memory, descriptors and threads over many steps."""
import json
import os
import pathlib
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent / "shared"))
from three_nodes import Run, alone  # noqa: E402

BUILD = pathlib.Path(sys.argv[1])
SORT = BUILD / "examples" / "grpo_sort"
WIDE = BUILD / "tests" / "wide_rows"
SOAK_STEPS = int(os.environ.get("TWINKLE_SOAK_STEPS", "1500"))
if not SORT.exists():
    sys.exit(77)
HERE = pathlib.Path.cwd()


def trained(steps):
    return [(step["rows"], step["rows_digest"], step["staleness_max"]) for step in steps]


# A model of four data ranks, two on each of two nodes.
expected = alone(SORT, "alone", "--steps", "6", "--model-dp", "4")
run = Run(SORT, "three", [0, 6, 2], "--steps", "6", "--model-dp", "4")
assert run.end() == {"a": 0, "b": 0, "c": 0}, run.everything()
assert run.metrics() == expected, (run.metrics()[0], expected[0])
assert (run.out / "model.safetensors").read_bytes() == (HERE / "alone" / "model.safetensors").read_bytes()
seconds = [json.loads(line)["seconds"] for line in (run.out / "metrics.jsonl").read_text().splitlines()]
assert all(step["sampler"] > 0 and step["model"] > 0 and step["no_body"] < step["step"] for step in seconds), seconds
print("ok, three nodes give what one does, to the last bit, and say how long they worked")

# Half of the samplers are gone in the middle of the run.
expected = alone(SORT, "whole", "--steps", "6")
for how in (signal.SIGKILL, signal.SIGSTOP):
    run = Run(SORT, "sampler_" + how.name, [0, 2, 4], "--steps", "6", "--silence", "2")
    run.await_steps(2)
    run.nodes["b"].send_signal(how)
    assert run.end(but="b") == {"a": 0, "c": 0}, run.everything()
    assert "node 'b' was lost" in run.said("a"), run.everything()
    assert trained(run.metrics()) == trained(expected), run.everything()
    print(f"ok, half of the samplers gone by {how.name}: the same rows are trained")

# A node is gone with rows that others have not fetched yet: these are lost by name, and no step is.
for how in (signal.SIGKILL, signal.SIGSTOP):
    lost = 0
    for attempt in range(10):  # it may be hit between two steps, when it has none
        run = Run(WIDE, "lossy_" + how.name, [0, 1, 5], "--steps", "100", "--rows", "32", "--lossy", "1", "--silence", "2")
        run.await_steps(10)
        run.nodes["b"].send_signal(how)
        assert run.end(but="b") == {"a": 0, "c": 0}, run.everything()
        assert "node 'b' was lost" in run.said("a"), run.everything()
        steps = run.metrics()
        assert len(steps) == 100 and all(step["rows"] + step["tombstones"] == 32 for step in steps), steps
        lost = sum(step["tombstones"] for step in steps)
        if lost:
            break
    assert lost, "ten nodes are gone, and none had rows that nobody else had"
    print(f"ok, a node gone by {how.name} with {lost} rows that nobody else had")

# The model is gone.
for how in (signal.SIGKILL, signal.SIGSTOP):
    run = Run(SORT, "model_" + how.name, [0, 4, 2], "--steps", "1000", "--silence", "2", "--stop-patience", "5")
    run.await_steps(2)
    began = time.monotonic()
    run.nodes["c"].send_signal(how)
    assert run.end(but="c") == {"a": 1, "b": 1}, run.everything()
    took = time.monotonic() - began
    faults = [line for line in run.said("a").splitlines() if line.startswith("fault")]
    assert len(faults) == 1 and "node 'c'" in faults[0], run.everything()
    assert "node 'c' was lost" in run.said("a"), run.everything()
    assert took < 60, took
    print(f"ok, the model gone by {how.name}: {faults[0]}")


def held(process):
    """What a process holds: KiB of memory, descriptors, threads."""
    folder = pathlib.Path("/proc") / str(process.pid)
    status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines() if ":" in line)
    return int(status["VmRSS"].split()[0]), len(os.listdir(folder / "fd")), int(status["Threads"])


# Half a megabyte of rows a step, and as much of weights.
run = Run(WIDE, "soak", [0, 3, 3], "--steps", str(SOAK_STEPS), "--rows", "32", "--width", "4096")
run.await_steps(SOAK_STEPS // 5)
before = {node: held(process) for node, process in run.nodes.items()}
run.await_steps(SOAK_STEPS - SOAK_STEPS // 20)
after = {node: held(process) for node, process in run.nodes.items()}
assert run.end() == {"a": 0, "b": 0, "c": 0}, run.everything()
for node in "bc":
    assert "it keeps 0 bytes" in run.said(node), run.everything()
for node in run.nodes:
    (memory, files, threads), (memory_then, files_then, threads_then) = after[node], before[node]
    assert memory < memory_then * 1.2 + 30000 and files <= files_then and threads <= threads_then, (before, after)
print(f"ok, {SOAK_STEPS} steps: (KiB, descriptors, threads) were {before}, are {after}")
