# SPDX-License-Identifier: Apache-2.0
"""`twinkle launch`: what starts where, whose output is whose, who is told to stop, and that nobody stays behind."""
import json
import os
import pathlib
import pty
import select
import signal
import socket
import subprocess
import sys
import time

signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whatever this was started under
TWINKLE = pathlib.Path(sys.argv[1]) / "tools" / "twinkle"
PROGRAM = "./pipeline.py"

pathlib.Path(PROGRAM).write_text(f"#!{sys.executable}\n" + '''
import os, signal, subprocess, sys

what, node = sys.argv[1], sys.argv[sys.argv.index("--node") + 1]
heard = [signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP]
blocked_before = signal.pthread_sigmask(signal.SIG_BLOCK, heard)

def say(text):
    print(text, flush=True)

def stop(code, times=1):
    say("ready")
    for time in range(times):
        say("heard " + signal.Signals(signal.sigwait(heard)).name)
    sys.exit(code)

if what == "arguments":
    say(" ".join(sys.argv[1:]))
    print("to stderr", file=sys.stderr)
    sys.stdout.write("no end")
elif what == "many":
    for line in range(3000):
        print(node, line, "." * 100)
elif what == "long":
    say("x" * 300000)
    sys.stdout.write("y" * (5 << 19))
elif what == "apart":
    say(f"{os.getpgid(0) == os.getpid()} {sys.stdin.read()!r} {len(blocked_before)}")
elif what == "stop":
    stop(130)
elif what == "twice":
    stop(130, 2)
elif what == "deaf" or what == "deafens" and node != "a":
    if what == "deafens":
        open("meeting", "w").close()
    say("ready")
    while signal.sigwait(heard):
        say("heard")
elif what == "leaves":
    subprocess.Popen(["sleep", "1000"], pass_fds=[int(sys.argv[2])], start_new_session=False)
elif what == "endless":
    while True:
        say("more")
elif what == "late" and node == "a":
    stop(4)
elif what == "late":
    say("ready")
    say("heard " + signal.Signals(signal.sigwait(heard)).name)
    open("meeting").read()
    say(f"pending {len(signal.sigpending())}")
elif node != "a":
    open("meeting", "w").close()
    stop(0)
else:
    open("meeting").read()
    what = what.replace("deafens", "SIGTERM")
    signal.pthread_sigmask(signal.SIG_UNBLOCK, heard)
    sys.exit(int(what)) if what.isdigit() else os.kill(os.getpid(), signal.Signals[what])
''')
os.chmod(PROGRAM, 0o755)
if not os.path.exists("meeting"):
    os.mkfifo("meeting")  # who opens it waits for the other


def cluster(name, **hosts):
    """A file of nodes on hosts."""
    nodes = [f'[[node]]\nname = "{node}"\nhost = "{host}"\nport = {7000 + 2 * at}\n'
             for at, (node, host) in enumerate(hosts.items())]
    pathlib.Path(name).write_text("".join(nodes))
    return name


HERE = cluster("here.toml", a="127.0.0.1", bb="localhost")
SPREAD = cluster("spread.toml", far="192.0.2.7", a=socket.gethostname(), away="192.0.2.8", b=socket.gethostname(), off="192.0.2.7")


def run(*arguments, file=HERE, options=()):
    return subprocess.run([TWINKLE, "launch", file, *options, "--", *arguments], capture_output=True, text=True,
                          timeout=120)


def start(*arguments, options=(), **more):
    return subprocess.Popen([TWINKLE, "launch", HERE, *options, "--", *arguments], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, **more)


def read_until(process, *wanted):
    """Lines, until each of `wanted` was one."""
    missing = list(wanted)
    seen = []
    while missing:
        line = process.stdout.readline()
        assert line, (missing, seen, process.stderr.read())
        seen.append(line.rstrip("\n"))
        if seen[-1] in missing:
            missing.remove(seen[-1])
    return seen


def finish(process):
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def gone(lifeline):
    """Whoever holds the other end is gone when this returns."""
    assert os.read(lifeline, 1) == b""
    os.close(lifeline)


def prefixes():
    """each node's lines are behind its name, whole, in order, on the stream where they were printed"""
    done = run(PROGRAM, "arguments", "--steps", "two words")
    assert done.returncode == 0, done
    assert sorted(done.stdout.splitlines()) == [
        f"a   arguments --steps two words --cluster {HERE} --node a", "a   no end",
        f"bb  arguments --steps two words --cluster {HERE} --node bb", "bb  no end"], done
    assert sorted(done.stderr.splitlines()) == ["a   to stderr", "bb  to stderr"], done
    done = run(PROGRAM, "many")
    assert len(done.stdout.splitlines()) == 6000 and done.returncode == 0, done.stdout[-1000:]
    for node, prefix in (("a", "a   "), ("bb", "bb  ")):
        told = [line for line in done.stdout.splitlines() if line.startswith(prefix)]
        assert told == [f"{prefix}{node} {line} " + "." * 100 for line in range(3000)], told[:5]


def long_lines():
    """a long line stays whole, and one without an end is cut"""
    lines = [line[4:] for line in run(PROGRAM, "long").stdout.splitlines() if line.startswith("bb  ")]
    told = [(line[:1], len(line)) for line in lines]
    assert told == [("x", 300000), ("y", 1 << 20), ("y", 1 << 20), ("y", 1 << 19)], told


def surroundings():
    """a node has a process group of its own, nothing to read, and signals and environment as they were"""
    done = run(PROGRAM, "apart")
    assert sorted(done.stdout.splitlines()) == ["a   True '' 0", "bb  True '' 0"], done
    ask = ["sh", "-c", "grep SigIgn /proc/self/status; env | grep -v ^_= | sort", "sh"]
    wanted = subprocess.run(ask, capture_output=True, text=True, timeout=60, check=True).stdout
    told = [line[4:] for line in run(*ask).stdout.splitlines() if line.startswith("a   ")]
    assert told == wanted.splitlines(), (told, wanted)


def one_fails():
    """when one fails, the others are told to stop, and its code is that of all"""
    for what, code, words in [("3", 3, "ended with code 3"), ("SIGKILL", 137, "was killed by signal 9"),
                              ("SIGTERM", 143, "was killed by signal 15"), ("130", 130, "ended with code 130")]:
        done = run(PROGRAM, what, options=["--patience", "600"])
        assert done.returncode == code, done
        assert done.stderr == f"twinkle: node 'a' {words}; ending the others\n", done
        assert done.stdout == "bb  ready\nbb  heard SIGTERM\n", done
    done = run("sh", "-c", "exit 5", file=cluster("one.toml", a="localhost"))
    assert (done.returncode, done.stderr) == (5, "twinkle: node 'a' ended with code 5\n"), done


def patience():
    """who does not stop is killed, and named"""
    done = run(PROGRAM, "deafens", options=["--patience", "0"])
    assert done.returncode == 143, done
    assert done.stderr.splitlines() == ["twinkle: node 'a' was killed by signal 15; ending the others",
                                        "twinkle: node 'bb' did not end within 0 s; killed"], done


def signals():
    """a signal is handed on once each time, and a node that stops for it has not failed"""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP):
        launched = start(PROGRAM, "stop")
        read_until(launched, "a   ready", "bb  ready")
        launched.send_signal(number)
        code, out, err = finish(launched)
        heard = [f"a   heard {number.name}", f"bb  heard {number.name}"]
        assert (code, sorted(out.splitlines()), err) == (130, heard, "")
    launched = start(PROGRAM, "twice")
    read_until(launched, "a   ready", "bb  ready")
    launched.send_signal(signal.SIGINT)
    seen = read_until(launched, "a   heard SIGINT", "bb  heard SIGINT")
    assert len(seen) == 2, seen
    launched.send_signal(signal.SIGINT)
    code, out, err = finish(launched)
    assert (code, sorted(out.splitlines()), err) == (130, ["a   heard SIGINT", "bb  heard SIGINT"], "")


def fails_while_stopping():
    """who was told to stop is not told again when another fails meanwhile"""
    launched = start(PROGRAM, "late", options=["--patience", "600"])
    read_until(launched, "a   ready", "bb  ready")
    launched.send_signal(signal.SIGINT)
    read_until(launched, "a   heard SIGINT", "bb  heard SIGINT")
    assert launched.stderr.readline() == "twinkle: node 'a' ended with code 4; ending the others\n"
    with open("meeting", "w", encoding="utf-8"):
        pass
    assert finish(launched) == (4, "bb  pending 0\n", "")


def deaf_to_signals():
    """after a second signal patience is short, too"""
    launched = start(PROGRAM, "deaf", options=["--patience", "0"])
    read_until(launched, "a   ready", "bb  ready")
    launched.send_signal(signal.SIGINT)
    read_until(launched, "a   heard", "bb  heard")
    launched.send_signal(signal.SIGINT)
    code, _, err = finish(launched)
    assert code == 137, (code, err)
    assert err.splitlines() == [f"twinkle: node '{node}' did not end within 0 s; killed" for node in ("a", "bb")], err


def no_terminal():
    """under nohup the end of the terminal is nobody's end"""
    launched = start(PROGRAM, "stop", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    read_until(launched, "a   ready", "bb  ready")
    launched.send_signal(signal.SIGHUP)
    launched.send_signal(signal.SIGINT)
    code, out, err = finish(launched)
    assert (code, sorted(out.splitlines()), err) == (130, ["a   heard SIGINT", "bb  heard SIGINT"], "")


def nobody_reads_on():
    """while nobody reads what nodes print, signals and patience go on"""
    for reads, writes in (os.pipe(), pty.openpty()):
        launched = subprocess.Popen([TWINKLE, "launch", HERE, "--patience", "0", "--", PROGRAM, "endless"], stdout=writes,
                                    stderr=subprocess.PIPE, text=True)
        until = time.monotonic() + 120
        while select.select([], [writes], [], 0)[1]:
            assert time.monotonic() < until, "there is room for more and more"
            time.sleep(0.01)
        launched.send_signal(signal.SIGINT)
        launched.send_signal(signal.SIGTERM)
        assert launched.wait(timeout=120) == 137
        lines = launched.stderr.read().splitlines()
        assert lines == [f"twinkle: node '{node}' did not end within 0 s; killed" for node in ("a", "bb")], lines
        launched.stderr.close()
        os.close(reads)
        os.close(writes)


def killed():
    """when it is killed itself, its nodes are gone"""
    lifeline, held = os.pipe()
    launched = start(PROGRAM, "deaf", pass_fds=[held])
    os.close(held)
    read_until(launched, "a   ready", "bb  ready")
    launched.kill()
    gone(lifeline)
    finish(launched)


def left_behind():
    """what a node leaves running ends with it"""
    lifeline, held = os.pipe()
    launched = start(PROGRAM, "leaves", str(held), pass_fds=[held])
    os.close(held)
    assert finish(launched) == (0, "", "")
    gone(lifeline)


def nobody_reads():
    """output that cannot be written ends the run"""
    launched = start(PROGRAM, "endless", options=["--patience", "0"])
    read_until(launched, "a   more")
    launched.stdout.close()
    assert launched.wait(timeout=120) == 1
    assert launched.stderr.readline() == "twinkle: the nodes' output could not be written; ending them\n"
    launched.stderr.close()


def elsewhere():
    """what is to be typed on other hosts is printed first, by host"""
    wanted = "".join(f"{where}\n" + "".join(f"  ./run 'two words' --cluster {SPREAD} --node {node}\n" for node in nodes)
                     for where, nodes in (("here", ["a", "b"]), ("on 192.0.2.7", ["far", "off"]),
                                          ("on 192.0.2.8", ["away"])))
    done = run("./run", "two words", file=SPREAD, options=["--dry-run"])
    assert (done.returncode, done.stdout, done.stderr) == (0, wanted, ""), done
    done = run("echo", file=SPREAD, options=["--host", "192.0.2.8"])
    assert done.stdout.startswith(f"on 192.0.2.7\n  echo --cluster {SPREAD} --node far\n"), done
    assert done.stdout.endswith(f"--node b\naway  --cluster {SPREAD} --node away\n") and done.returncode == 0, done


def dry_runs():
    """a dry run tells programs all commands, and starts nothing"""
    done = run("./run", file=SPREAD, options=["--dry-run", "--json", "--host", "192.0.2.8"])
    commands = json.loads(done.stdout)["commands"]
    assert [(each["node"], each["host"], each["here"]) for each in commands] == [
        ("far", "192.0.2.7", False), ("a", socket.gethostname(), False), ("away", "192.0.2.8", True),
        ("b", socket.gethostname(), False), ("off", "192.0.2.7", False)], commands
    assert commands[2]["words"] == ["./run", "--cluster", SPREAD, "--node", "away"], commands
    done = run("./run", file=cluster("far.toml", far="192.0.2.7"), options=["--dry-run"])
    assert (done.returncode, done.stdout) == (0, "on 192.0.2.7\n  ./run --cluster far.toml --node far\n"), done


def refused(code, *words, arguments=(PROGRAM, "0"), **more):
    done = run(*arguments, **more)
    assert (done.returncode, done.stdout) == (code, ""), done
    lines = done.stderr.splitlines()
    assert len(lines) == len(words) and all(word in line for word, line in zip(words, lines)), (words, done)


def refusals():
    """what is wrong is told before anything starts"""
    pathlib.Path("wrong.toml").write_text('[[node]]\nname = "a b"\n[[node]]\nname = "c"\nport = 0\ngpus = 2\n')
    wrong = ["wrong.toml:1: node 'a b': its name", "wrong.toml:5: node 'c': port is 0",
             "wrong.toml:6: node 'c': unknown key"]
    refused(1, *wrong, file="wrong.toml")
    refused(1, *wrong, file="wrong.toml", options=["--dry-run"])
    done = run(PROGRAM, file="wrong.toml", options=["--dry-run", "--json"])
    assert done.returncode == 1 and len(json.loads(done.stdout)["errors"]) == 3, done
    refused(1, "cannot read 'none.toml'", file="none.toml")
    pathlib.Path("mixed.toml").write_text('[[node]]\nname = "a"\nhost = "192.0.2.7"\n[[node]]\nname = "b"\n')
    refused(1, "mixed.toml: node 'a' leads and has no port;",
            "mixed.toml: node 'b' is on localhost, which is whichever machine reads it, and 'a' on 192.0.2.7;", file="mixed.toml")
    refused(1, f"nothing to start here: this machine, '{socket.gethostname()}', is none of the hosts 192.0.2.7;",
            file="far.toml")
    refused(1, "no node is on host 'x'; the hosts are 127.0.0.1, localhost", options=["--host", "x"])
    refused(1, "cannot run './none': No such file", arguments=["./none", "run"])
    refused(1, "cannot run './here.toml': Permission denied", arguments=["./here.toml"])
    refused(2, "-- has no command behind it", "Run with --help", arguments=[])
    refused(2, "--json requires --dry-run", "Run with --help", options=["--json"])
    refused(2, "--patience", "Run with --help", options=["--patience", "-1"])
    done = subprocess.run([TWINKLE, "launch", HERE, "./run", "--steps", "3"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "-- is missing" in done.stderr and "not expected: ./run" in done.stderr, done
    done = subprocess.run([TWINKLE, "launch", "--", "./run"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "FILE is required" in done.stderr, done


for check in (prefixes, long_lines, surroundings, one_fails, patience, signals, fails_while_stopping, deaf_to_signals,
              no_terminal, killed, left_behind, nobody_reads, nobody_reads_on, elsewhere, dry_runs, refusals):
    check()
    print("ok", check.__doc__, flush=True)
