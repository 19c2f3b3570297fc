# SPDX-License-Identifier: Apache-2.0
"""kill -9 in the middle of training, and --resume: the metrics and the weights, bit for bit, of a run that was not killed."""
import json
import pathlib
import shutil
import signal
import subprocess
import sys

SORT = pathlib.Path(sys.argv[1]) / "examples" / "grpo_sort"
if not SORT.exists():
    sys.exit(77)


def results(folder):
    steps = [json.loads(line) for line in (pathlib.Path(folder) / "metrics.jsonl").read_text().splitlines()]
    assert len(steps) == 14, len(steps)
    for step in steps:
        del step["seconds"]
    return [json.dumps(step) for step in steps], (pathlib.Path(folder) / "model.safetensors").read_bytes()


def kill_behind(step, *arguments):
    run = subprocess.Popen([SORT, *arguments], stdout=subprocess.PIPE, text=True)
    for line in run.stdout:
        if line.startswith(f"step {step} "):
            run.send_signal(signal.SIGKILL)
            break
    run.stdout.read()
    assert run.wait(timeout=60) == -signal.SIGKILL


for staleness in ("0", "1"):
    how = ("--steps", "14", "--save-every", "2", "--staleness", staleness)
    for folder in ("whole", "killed"):
        shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([SORT, *how, "--out", "whole"], check=True, stdout=subprocess.DEVNULL, timeout=300)
    kill_behind(5, *how, "--out", "killed")
    kill_behind(9, *how, "--resume", "killed")
    said = subprocess.run([SORT, *how, "--resume", "killed"], check=True, capture_output=True, text=True,
                          timeout=300).stdout
    resumed = int(said.split("resumed killed/checkpoint at step ")[1].split()[0])
    assert 6 <= resumed <= 10, said
    assert results("killed") == results("whole"), "the run that was killed has other results"
    print(f"ok, staleness {staleness}, resumed the last time at step {resumed}")
