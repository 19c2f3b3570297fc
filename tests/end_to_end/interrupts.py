# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C: the step ends and what was written is whole; a second one leaves at once; a body that never returns is named."""
import json
import pathlib
import signal
import subprocess
import sys

PROGRAM = pathlib.Path(sys.argv[1]) / "tests" / "toy_program"


def start(*arguments):
    return subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def read_until(process, wanted):
    lines = []
    for line in process.stdout:
        lines.append(line)
        if wanted in line:
            return lines
    raise AssertionError(f"no '{wanted}' in:\n{''.join(lines)}")


def finish(process):
    rest, _ = process.communicate(timeout=60)
    return rest, process.returncode


def one_interrupt_ends_with_the_step():
    run = start("--steps", "1000000", "--harm", "slow-train", "--out", "stopped")
    read_until(run, "step 3 ")
    run.send_signal(signal.SIGINT)
    rest, code = finish(run)
    assert code == 130, (code, rest)
    assert "stopping at the end of the step" in rest, rest
    lines = pathlib.Path("stopped/metrics.jsonl").read_text().splitlines()
    steps = [json.loads(line)["step"] for line in lines]
    assert steps == list(range(1, len(steps) + 1)) and len(steps) >= 3, steps
    assert f"trained {16 * len(steps)}," in rest, rest
    assert f"judge  weight before" in rest and f"(version {len(steps)})" in rest, rest


def a_second_interrupt_leaves_at_once():
    run = start("--steps", "1000000", "--harm", "forever")
    read_until(run, "judge")  # version 0 is graded: the sampler is about to hang
    run.send_signal(signal.SIGINT)
    read_until(run, "interrupted")
    run.send_signal(signal.SIGINT)
    _, code = finish(run)
    assert code == 130, code


def a_body_that_never_returns_is_named():
    run = start("--steps", "1000000", "--harm", "forever", "--stop-patience", "1")
    read_until(run, "judge")
    run.send_signal(signal.SIGINT)
    rest, code = finish(run)
    assert code == 1, (code, rest)
    assert "abandoned  toy_program/sampler[dp=1]@local:gpu1 in sample, which did not end" in rest, rest


for story in (one_interrupt_ends_with_the_step, a_second_interrupt_leaves_at_once, a_body_that_never_returns_is_named):
    story()
    print("ok", story.__name__)
