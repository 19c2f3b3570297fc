# SPDX-License-Identifier: Apache-2.0
"""Nodes that are processes of this machine, for the tests: a cluster file, a run of it, what each said."""
import json
import pathlib
import random
import socket
import subprocess
import time

PATIENCE = 300
TAKEN = set()


def free_port():
    """One behind which another is free, too; none that the machine might give to a connection meanwhile."""
    given = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = random.randrange(min(10000, given // 2), given - 1, 2)
        with socket.socket() as first, socket.socket() as second:
            try:
                first.bind(("127.0.0.1", port))
                second.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
        if port not in TAKEN:
            TAKEN.add(port)
            return port


class Run:
    """The nodes a, b, … with so many devices each; all cpus are on a, which leads."""

    def __init__(self, program, name, devices, *options, only=None):
        self.names = "abcdef"[:len(devices)]
        self.out = pathlib.Path.cwd() / name
        self.ports = {node: free_port() for node in self.names}
        text = f'name = "{name}"\n'
        for node, count in zip(self.names, devices):
            text += (f'[[node]]\nname = "{node}"\nhost = "127.0.0.1"\nport = {self.ports[node]}\n'
                     f'devices = {count}\ncpus = {4 if node == "a" else 0}\n')
        self.file = pathlib.Path.cwd() / f"{name}.toml"
        self.file.write_text(text)
        self.command = [program, "run", "--cluster", self.file, *options]
        if "--silence" not in options:  # of processes that share a machine with much else
            self.command += ["--silence", "30"]
        self.nodes = {}
        for node in self.names if only is None else only:
            self.start(node)

    def start(self, node, *options):
        out = ["--out", self.out] if node == "a" else []
        with open(self.log(node), "w") as log:
            self.nodes[node] = subprocess.Popen([*self.command, "--node", node, *out, *options], stdout=log,
                                                stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)

    def log(self, node):
        return self.out.with_name(f"{self.out.name}.{node}.log")

    def said(self, node):
        return self.log(node).read_text()

    def everything(self):
        return "\n".join(f"--- {node}\n{self.said(node)}" for node in self.nodes)

    def await_text(self, node, text, times=1):
        until = time.monotonic() + PATIENCE
        while self.said(node).count(text) < times:
            assert self.nodes[node].poll() is None and time.monotonic() < until, self.everything()
            time.sleep(0.02)

    def await_steps(self, count):
        self.await_text("a", "\nstep ", count)

    def end(self, but=""):
        """The codes of all nodes that end by themselves."""
        codes = {}
        try:
            for node, process in self.nodes.items():
                if node not in but:
                    codes[node] = process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise AssertionError("a node did not end:\n" + self.everything())
        finally:
            for process in self.nodes.values():
                process.kill()
                process.wait()
        return codes

    def metrics(self):
        return metrics(self.out)


def metrics(folder):
    """Of each step, all that does not depend on time."""
    steps = [json.loads(line) for line in (pathlib.Path(folder) / "metrics.jsonl").read_text().splitlines()]
    return [{key: value for key, value in step.items() if "second" not in key} for step in steps]


def alone(program, name, *options):
    """The metrics of the same on one machine."""
    out = pathlib.Path.cwd() / name
    run = subprocess.run([program, *options, "--out", out], capture_output=True, text=True, timeout=PATIENCE)
    assert run.returncode == 0, run.stdout + run.stderr
    return metrics(out)
