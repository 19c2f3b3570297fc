# SPDX-License-Identifier: Apache-2.0
"""Pipelines on three nodes, as real processes: they give what they give in one process, keep nothing in the end, hear from
strangers without being disturbed, and say what is wrong when nodes cannot come together."""
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "shared"))
from three_nodes import Run, alone, free_port  # noqa: E402

signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whatever this was started under
BUILD = pathlib.Path(sys.argv[1])
ROOT = pathlib.Path(__file__).parents[2]
TOY = BUILD / "tests" / "toy_program"
WIDE = BUILD / "tests" / "wide_rows"


def kept_nothing(run):
    for node in run.names[1:]:
        assert f"node '{node}' joined" in run.said(node) and "it keeps 0 bytes" in run.said(node), run.everything()


# Samplers and a model of two data ranks, which straddle two nodes each.
expected = alone(TOY, "toy_alone")
run = Run(TOY, "toy", [0, 5, 1])
assert run.end() == {"a": 0, "b": 0, "c": 0}, run.everything()
assert run.metrics() == expected, (run.metrics(), expected)
kept_nothing(run)
print("ok, three nodes give what one does")

# Whoever is there first: a node may be told of workers before it has a place for them.
for turn in range(12):
    run = Run(WIDE, "order", [0, 2, 4], "--steps", "1", "--width", "16", "--rows", "8", only=[])
    for node in ("bca", "cab", "abc", "bac")[turn % 4]:
        run.start(node)
    assert run.end() == {"a": 0, "b": 0, "c": 0}, run.everything()
print("ok, nodes may be started in any order")

# Megabytes a step from node to node.
expected = alone(WIDE, "wide_alone", "--steps", "30")
run = Run(WIDE, "wide", [0, 3, 3], "--steps", "30")
assert run.end() == {"a": 0, "b": 0, "c": 0}, run.everything()
assert run.metrics() == expected, (run.metrics()[0], expected[0])
kept_nothing(run)
print("ok, wide rows arrive whole, and nothing is kept of them")


def insult(port, seed):
    """Random bytes, half a frame, and silence."""
    noise = random.Random(seed)
    for _ in range(5):
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=5) as stranger:
                stranger.sendall(noise.randbytes(noise.choice([1, 7, 40, 4000, 100000])))
        except OSError:
            pass  # it hung up
    silent = socket.create_connection(("127.0.0.1", port), timeout=5)
    return silent


run = Run(WIDE, "strangers", [0, 3, 3], "--steps", "60")
run.await_steps(3)
ports = list(run.ports.values()) + [run.ports["a"] + 1]
silent = [insult(port, seed) for seed, port in enumerate(ports)]
assert run.end() == {"a": 0, "b": 0, "c": 0}, run.everything()
assert run.metrics()[:30] == expected, run.everything()
for each in silent:
    each.close()
print("ok, random bytes on every port change nothing")

# Under TLS, and with a certificate of another authority.
for folder in ("ours", "theirs"):
    if not pathlib.Path(folder).exists():
        subprocess.run([ROOT / "tools" / "certificates", folder, "a", "b", "c"], check=True, capture_output=True)


def shows(node, folder="ours"):
    return ["--tls-authority", "ours/authority.pem", "--tls-certificate", f"{folder}/{node}.pem", "--tls-key",
            f"{folder}/{node}.key"]


run = Run(WIDE, "tls", [0, 3, 3], "--steps", "30", only="")
for node in "abc":
    run.start(node, *shows(node))
assert run.end() == {"a": 0, "b": 0, "c": 0}, run.everything()
assert run.metrics() == expected, run.everything()
kept_nothing(run)
run = Run(WIDE, "rogue", [0, 3, 3], "--join-within", "8", "--silence", "5", only="")
run.start("a", *shows("a"))
run.start("b", *shows("b"))
run.start("c", *shows("c", "theirs"))
codes = run.end()
assert codes["a"] == 1 and codes["c"] == 1, run.everything()
assert "'c' on 127.0.0.1: nobody came" in run.said("a"), run.everything()
assert "certificate" in run.said("c"), run.said("c")
run = Run(WIDE, "plain", [0, 3, 3], "--join-within", "4", "--silence", "2", only="")
run.start("a", *shows("a"))
run.start("b")
codes = run.end()
assert codes["a"] == 1 and codes["b"] == 1, run.everything()
assert "'b' on 127.0.0.1: nobody came" in run.said("a"), run.everything()
assert "node 'b' did not get through to 'a', which leads," in run.said("b"), run.everything()
print("ok, under TLS the same, and nobody takes part without a certificate of ours")

# Ctrl-C at any node ends the run with its step, or before it has begun.
for node, number in (("b", signal.SIGINT), ("a", signal.SIGINT), ("c", signal.SIGHUP)):
    run = Run(TOY, "interrupted", [0, 4, 2], "--steps", "100000000")
    run.await_steps(2)
    run.nodes[node].send_signal(number)
    assert run.end() == {"a": 130, "b": 130, "c": 130}, run.everything()
for node in "ab":
    run = Run(TOY, "called_off", [0, 4, 2], "--join-within", "200", only="ab")
    run.await_text("a", "node 'b' on 127.0.0.1 is there")
    run.nodes[node].send_signal(signal.SIGINT)
    assert run.end() == {"a": 130, "b": 130}, run.everything()
    assert all("interrupted before all nodes were there" in run.said(each) for each in "ab"), run.everything()
print("ok, Ctrl-C at one node ends the run everywhere")

# The one that leads is started again, while another waits for it.
run = Run(TOY, "led_again", [0, 5, 1], "--join-within", "200", only="ab")
run.await_text("a", "node 'b' on 127.0.0.1 is there")
run.nodes["a"].kill()
run.nodes["a"].wait()
run.start("a")
run.start("c")
assert run.end() == {"a": 0, "b": 0, "c": 0}, run.everything()
print("ok, nodes wait for a leader that is started again")

# What users get wrong.
run = Run(TOY, "missing", [0, 4, 2], "--join-within", "8", "--silence", "5", only="ab")
codes = run.end()
assert codes == {"a": 1, "b": 1}, run.everything()
missing = "the cluster 'missing' is not complete after 8 s:\n  - 'c' on 127.0.0.1: nobody came; start it with --node c"
assert missing in run.said("a") and "'a' turned this node away: " + missing in run.said("b"), run.everything()

run = Run(TOY, "nobody", [0, 4, 2], "--join-within", "3", "--silence", "2", only="b")
assert run.end() == {"b": 1}, run.everything()
assert "node 'b' did not get through to 'a', which leads, at 127.0.0.1:" in run.said("b"), run.said("b")
assert "connection refused" in run.said("b"), run.said("b")

run = Run(TOY, "different", [0, 4, 2], "--join-within", "10", "--silence", "5", only="ab")
run.start("c", "--steps", "7")
codes = run.end()
assert codes["a"] == 1 and codes["c"] == 1, run.everything()
assert "'a' turned this node away: its graph is not that of 'a'" in run.said("c"), run.said("c")
assert "  - 'c' on 127.0.0.1: it was turned away" in run.said("a"), run.said("a")

run = Run(TOY, "older", [0, 4, 2], "--join-within", "10", "--silence", "5", only="ab")
older = pathlib.Path("strange.toml")
older.write_text(run.file.read_text().replace('"older"', '"strange"'))
done = subprocess.run([TOY, "run", "--cluster", older, "--node", "c"], capture_output=True, text=True, timeout=120)
why = "it belongs to the cluster 'strange', and 'a' to 'older'; give every node the same cluster file"
assert done.returncode == 1 and "'a' turned this node away: " + why in done.stderr, done
assert run.end() == {"a": 1, "b": 1}, run.everything()
assert "  - 'c' on 127.0.0.1: it was turned away, for " + why in run.said("a"), run.said("a")

run = Run(TOY, "port", [0, 4, 2], only="")
with socket.socket() as taken:
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    taken.bind(("127.0.0.1", run.ports["b"]))
    taken.listen()
    run.start("b")
    assert run.end() == {"b": 1}, run.everything()
    assert f"node 'b' cannot listen on 127.0.0.1:{run.ports['b']}" in run.said("b"), run.said("b")

run.start("x")
assert run.end()["x"] == 1 and "has no node 'x'; it has a, b, c" in run.said("x"), run.said("x")

for host, words, options in (
        ("192.0.2.7", "there are no certificates, so that anybody there could take part; give all nodes certificates "
         "(--tls-authority, --tls-certificate and --tls-key), or say that the network is trusted (--insecure)", []),
        ("127.0.0.1", "the cluster 'cluster' has no node 'z'; it has a", ["--node", "z"]),
        ("0x7f000001", "node 'a' cannot listen: '0x7f000001' is 127.0.0.1 on this machine, where no other can come; write "
         "its address instead", ["--node", "a", "--insecure"])):
    text = f'[[node]]\nname = "a"\nhost = "{host}"\nport = 7000\ncpus = 4\ndevices = 6\n'
    pathlib.Path("elsewhere.toml").write_text(text)
    done = subprocess.run([TOY, "run", "--cluster", "elsewhere.toml", *(options or ["--node", "a"])], capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 1 and words in done.stderr, done
print("ok, mistakes are told where they are made")

# Two nodes that a launcher of ranks tells of each other.
port = free_port()
ranks = []
for rank in range(2):
    told = {"RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "SLURM_PROCID": "7"}
    ranks.append(subprocess.Popen([TOY, "run", "--cluster", "env"], env={**os.environ, **told}, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True))
for rank, process in enumerate(ranks):
    said = process.communicate(timeout=120)[0]
    assert process.returncode == 0 and f"remark  RANK is {rank} and SLURM_PROCID is 7; RANK is taken" in said, said
print("ok, a launcher's variables do in place of a file")
