# SPDX-License-Identifier: Apache-2.0
"""kill -9 anywhere, and --resume: the steps and weights of a run that was not killed; what cannot be resumed is refused."""
import json
import pathlib
import shutil
import signal
import subprocess
import sys

PROGRAM = pathlib.Path(sys.argv[1]) / "tests" / "toy_program"
STEPS = ("--steps", "24", "--save-every", "3")


def results(folder):
    steps = [json.loads(line) for line in (pathlib.Path(folder) / "metrics.jsonl").read_text().splitlines()]
    for step in steps:
        del step["seconds"]
    return steps, (pathlib.Path(folder) / "model.safetensors").read_bytes()


def killed_behind(line, *arguments):
    """Runs it until it prints `line`, then kills it. False if it came to its end before."""
    run = subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for said in run.stdout:
        if line in said:
            run.send_signal(signal.SIGKILL)
            break
    run.stdout.read()
    return run.wait(timeout=60) == -signal.SIGKILL


def run(*arguments, code=0):
    done = subprocess.run([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
    assert done.returncode == code, (done.returncode, done.stdout)
    return done.stdout


for folder in ("whole", "killed", "stopped", "none"):
    shutil.rmtree(folder, ignore_errors=True)
run(*STEPS, "--out", "whole")
want = results("whole")
assert len(want[0]) == 24

assert killed_behind("step 5 ", *STEPS, "--harm", "slow-train", "--out", "killed")
kills = 1 + sum(killed_behind(f"step {step} ", *STEPS, "--harm", "slow-train", "--resume", "killed") for step in (9, 10, 17))
said = run(*STEPS, "--harm", "slow-train", "--resume", "killed")
assert "resumed killed/checkpoint at step " in said, said
assert "saved   killed/checkpoint (step 24)" in said, said
assert results("killed") == want, "the run that was killed has other results"
print(f"ok, killed {kills} times")

said = run(*STEPS, "--harm", "slow-train", "--resume", "killed")
assert "step 24" in said and results("killed") == want, said
print("ok, resumed behind its end")

stopped = subprocess.Popen([PROGRAM, *STEPS, "--harm", "slow-train", "--out", "stopped"], stdout=subprocess.PIPE,
                           text=True)
for line in stopped.stdout:
    if line.startswith("step 7 "):
        stopped.send_signal(signal.SIGINT)
        break
rest = stopped.stdout.read()
assert stopped.wait(timeout=60) == 130, rest
last = len(results("stopped")[0])
assert f"saved   stopped/checkpoint (step {last})" in rest, rest
assert f"resumed stopped/checkpoint at step {last}" in run(*STEPS, "--harm", "slow-train", "--resume", "stopped")
assert results("stopped") == want
print("ok, interrupted: nothing that was trained is trained again")

for words, arguments in (
        (["there is no checkpoint in 'none/checkpoint'"], ["--resume", "none"]),
        (["--steps is '24' there and '25' here"], ["--steps", "25", "--harm", "slow-train", "--resume", "killed"]),
        (["--seed is 1 there and 2 here"], [*STEPS, "--seed", "2", "--harm", "slow-train", "--resume", "killed"]),
        (["--harm is 'slow-train' there and '' here"], [*STEPS, "--resume", "killed"])):
    said = run(*arguments, code=1)
    for word in words:
        assert word in said, said
assert "leave one of them out" in run("--out", "a", "--resume", "killed", code=2)
assert results("killed") == want, "a run that was refused changed what is there"

metrics = pathlib.Path("killed/metrics.jsonl")
metrics.write_text("\n".join(metrics.read_text().splitlines()[:7]) + "\n")
assert "has 7 of the 24 steps" in run(*STEPS, "--harm", "slow-train", "--resume", "killed", code=1)
state = next(pathlib.Path("killed/checkpoint").glob("*.state.safetensors"))
state.write_bytes(state.read_bytes()[:-1])
assert f"'{state.name}' has" in run(*STEPS, "--harm", "slow-train", "--resume", "killed", code=1)
print("ok, what cannot be resumed is refused")
