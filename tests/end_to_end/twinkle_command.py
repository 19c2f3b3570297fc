# SPDX-License-Identifier: Apache-2.0
"""The command `twinkle`: what it answers to programs and to people, what it refuses, and what is bad usage."""
import json
import os
import pathlib
import subprocess
import sys

TWINKLE = pathlib.Path(sys.argv[1]) / "tools" / "twinkle"


def run(*arguments):
    return subprocess.run([TWINKLE, *arguments], capture_output=True, text=True, timeout=60)


def ask(*arguments):
    done = run(*arguments, "--json")
    assert done.returncode == 0 and done.stderr == "", (arguments, done)
    return json.loads(done.stdout)


def shown(wanted, *arguments):
    done = run(*arguments)
    assert (done.returncode, done.stdout, done.stderr) == (0, wanted, ""), (arguments, done)


def refused(errors, *arguments):
    """To programs and to people; each of `errors` is a text that has to be there, in this order."""
    done = run(*arguments, "--json")
    assert done.returncode == 1 and done.stderr == "", (arguments, done)
    told = json.loads(done.stdout)
    assert list(told) == ["errors"] and len(told["errors"]) == len(errors), (arguments, told)
    assert all(wanted in said for wanted, said in zip(errors, told["errors"])), (arguments, errors, told)
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (1, ""), (arguments, done)
    assert done.stderr.splitlines() == told["errors"], (arguments, done)


def misused(words, *arguments):
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, ""), (arguments, done)
    assert all(word in done.stderr for word in words), (arguments, words, done.stderr)


def file(name, text):
    pathlib.Path(name).write_bytes(text.encode())
    return name


def cluster(nodes, *groups):
    """A file of nodes with devices and cpus, and of groups as lines of keys."""
    text = "".join(f'[[node]]\nname = "n{at}"\ndevices = {devices}\ncpus = {cpus}\n' for at, (devices, cpus) in
                   enumerate(nodes))
    return file("cluster.toml", text + "".join(f"[[group]]\n{group}\n" for group in groups))


def slices_of_ulysses():
    """case K-M1: ulysses groups share data ranks, and representatives are in data-rank order"""
    mesh = ask("mesh", "--fsdp", "4", "--dp", "2", "--ulysses", "2", "--rows", "7")
    assert mesh["world_size"] == 8
    assert mesh["data_ranks"] == [0, 2, 0, 2, 1, 3, 1, 3]
    assert mesh["slices"] == [[0, 2], [2, 4], [4, 6], [6, 7]]
    assert mesh["representatives"] == [0, 4, 1, 5]
    assert mesh["coordinates"] == [{"fsdp": fsdp, "dp": dp} for fsdp in range(4) for dp in range(2)]
    assert list(mesh) == ["world_size", "coordinates", "data_ranks", "representatives", "groups", "slices"]


def even_slices():
    """case K-M2: slices differ by one row at most, the longer ones first"""
    for rows, ranks, counts in [(10, 3, [4, 3, 3]), (10, 4, [3, 3, 2, 2]), (5, 4, [2, 1, 1, 1]), (9, 4, [3, 2, 2, 2]),
                                (2, 3, [1, 1, 0]), (0, 2, [0, 0])]:
        slices = ask("mesh", "--dp", str(ranks), "--rows", str(rows))["slices"]
        assert [end - first for first, end in slices] == counts, (rows, ranks, slices)
    most = 2**64 - 1
    assert ask("mesh", "--dp", "2", "--rows", str(most))["slices"] == [[0, 2**63], [2**63, most]]


def meshes_without_dp():
    """case K-M3: a mesh without dp has data ranks"""
    assert ask("mesh", "--fsdp", "4")["representatives"] == [0, 1, 2, 3]
    tensor = ask("mesh", "--tp", "4")
    assert tensor["data_ranks"] == [0, 0, 0, 0]
    assert tensor["representatives"] == [0]
    assert tensor["coordinates"] == [{"dp": 0, "tp": at} for at in range(4)]
    assert tensor["groups"] == {"dp": [[0], [1], [2], [3]], "tp": [[0, 1, 2, 3]]}
    assert ask("mesh") == {"world_size": 1, "coordinates": [{"dp": 0}], "data_ranks": [0], "representatives": [0],
                           "groups": {"dp": [[0]]}}


def expert_views():
    """case K-M6: the expert view nests ep, ep_fsdp, etp within each pipeline stage"""
    def places(*arguments):
        return [tuple(each[axis] for axis in ("pp", "ep", "ep_fsdp", "etp")) for each in ask("mesh", *arguments)["expert"]]

    assert places("--dp", "8", "--ep", "2", "--etp", "2") == [
        (0, ep, fsdp, etp) for ep in range(2) for fsdp in range(2) for etp in range(2)]
    assert max(places("--pp", "2", "--dp", "8", "--ep", "4")) == (1, 3, 1, 0)
    assert max(places("--dp", "8", "--ep", "2")) == (0, 1, 3, 0)
    assert [at[0] for at in places("--fsdp", "2", "--pp", "2", "--ep", "1")] == [0, 1, 0, 1]
    assert "expert" not in ask("mesh", "--dp", "8", "--etp", "2")
    refused(["ep 2 x etp 1 x ep_fsdp 3 is 6 ranks, but a pipeline stage has 8"], "mesh", "--dp", "8", "--ep", "2",
            "--ep-fsdp", "3")


def meshes():
    """a mesh is drawn, and wrong sizes are refused or misused"""
    shown("""\
device mesh pp 2 x dp 2 x tp 2: 8 ranks, 2 data ranks
  pp 0 dp 0  tp 0: rank 0 (data 0)  tp 1: rank 1 (data 0)
  pp 0 dp 1  tp 0: rank 2 (data 1)  tp 1: rank 3 (data 1)
  pp 1 dp 0  tp 0: rank 4 (data 0)  tp 1: rank 5 (data 0)
  pp 1 dp 1  tp 0: rank 6 (data 1)  tp 1: rank 7 (data 1)
expert view pp 2 x ep 2 x ep_fsdp 2 x etp 1: 8 ranks
  pp 0 ep 0 ep_fsdp 0  etp 0: rank 0
  pp 0 ep 0 ep_fsdp 1  etp 0: rank 1
  pp 0 ep 1 ep_fsdp 0  etp 0: rank 2
  pp 0 ep 1 ep_fsdp 1  etp 0: rank 3
  pp 1 ep 0 ep_fsdp 0  etp 0: rank 4
  pp 1 ep 0 ep_fsdp 1  etp 0: rank 5
  pp 1 ep 1 ep_fsdp 0  etp 0: rank 6
  pp 1 ep 1 ep_fsdp 1  etp 0: rank 7
representatives  4,6
groups
  along pp  0,4 1,5 2,6 3,7
  along dp  0,2 1,3 4,6 5,7
  along tp  0,1 2,3 4,5 6,7
slices of 7 rows  [0,4) [4,7)
""", "mesh", "--dp", "2", "--pp", "2", "--tp", "2", "--ep", "2", "--rows", "7")
    large = ask("mesh", "--dp", "16384", "--tp", "4", "--world-size", "65536", "--ep", "4")
    assert large["data_ranks"] == [rank // 4 for rank in range(65536)]
    assert large["coordinates"][-1] == {"dp": 16383, "tp": 3} and len(large["expert"]) == 65536
    refused(["dp_size is 0; it must be 1 or more"], "mesh", "--dp", "0")
    refused(["dp_size is 0, tp_size is 0; each must be 1 or more"], "mesh", "--dp", "0", "--tp", "0")
    refused(["world_size is 0"], "mesh", "--world-size", "0")
    refused(["dp 2 x tp 2 is 4 ranks, but world_size is 8"], "mesh", "--dp", "2", "--tp", "2", "--world-size", "8")
    refused(["ulysses_size 3 does not divide dp x fsdp = 4"], "mesh", "--dp", "4", "--ulysses", "3")
    refused(["9223372036854775807; it must be at most 1048576"], "mesh", "--cp", "9223372036854775807")
    refused(["make more than 1048576 ranks"], "mesh", "--dp", "1048576", "--tp", "1048576")
    refused(["vpp_size is 0"], "mesh", "--vpp", "0")
    misused(["not expected: --dq 2"], "mesh", "--dq", "2")
    misused(["--dp", "'-1'"], "mesh", "--dp", "-1")
    misused(["--dp", "'9223372036854775808'"], "mesh", "--dp", "9223372036854775808")
    misused(["--rows", "'18446744073709551616'"], "mesh", "--rows", "18446744073709551616")
    misused(["--tp", "missing"], "mesh", "--tp")
    misused(["--dp"], "mesh", "--dp", "2", "--dp", "4")
    for text in ("", "two", "2.0", "0x2", "+2", " 2", "2,3"):
        misused(["--dp", f"'{text}'"], "mesh", "--dp", text)


def balanced_parts():
    """case K-D6: parts are balanced with equal or free counts"""
    def costs(text, parts, *more):
        return ask("split", "--costs", text, "--parts", str(parts), *more)["costs"]

    assert ask("split", "--costs", "10,1,1,1,1,10", "--parts", "2", "--equal-counts") == {
        "parts": [[0, 1, 3], [2, 4, 5]], "costs": [12, 12], "oversize": []}
    assert costs("100,1,1,1", 2, "--equal-counts") == [101, 2]
    assert costs("100,1,1,1", 2) == [100, 3]
    many = ask("split", "--costs", ",".join(str(row % 17) for row in range(206)), "--parts", "4", "--equal-counts")
    assert [len(part) for part in many["parts"]] == [52, 52, 51, 51]
    assert sorted(sum(many["parts"], [])) == list(range(206))


def caps():
    """case K-D7: a cap is never broken, and a row above it is alone and named"""
    packed = ask("split", "--costs", "600,600,600,100", "--parts", "2", "--cap", "1000")
    assert len(packed["parts"]) >= 3 and max(packed["costs"]) <= 1000 and packed["oversize"] == [], packed
    assert ask("split", "--costs", "10,1500,20", "--parts", "1", "--cap", "1000") == {
        "parts": [[0, 2], [1]], "costs": [30, 1500], "oversize": [1]}


def splits():
    """a split is told in text, and costs that are none are misused"""
    shown("""\
split: 3 rows, cost 1530, parts 2
  part 0: cost 30, rows 0,2
  part 1: cost 1500, rows 1 (above the cap)
""", "split", "--costs", "10,1500,20", "--parts", "1", "--cap", "1000")
    thousands = ask("split", "--costs", ",".join(map(str, range(9000))), "--parts", "100")
    assert len(thousands["parts"]) == 100 and sum(thousands["costs"]) == 9000 * 8999 // 2
    assert ask("split", "--costs", str(2**64 - 1), "--parts", "1")["costs"] == [2**64 - 1]
    assert ask("split", "--costs", "", "--parts", "0", "--cap", "9") == {"parts": [], "costs": [], "oversize": []}
    refused(["0 rows are fewer than the 1 parts"], "split", "--costs", "", "--parts", "1")
    refused(["2 rows are fewer than the 3 parts"], "split", "--costs", "1,2", "--parts", "3", "--cap", "9")
    refused([f"1 rows are fewer than the {2**64 - 1} parts"], "split", "--costs", "1", "--parts", str(2**64 - 1))
    refused(["0 parts; there must be 1 or more"], "split", "--costs", "1", "--parts", "0")
    refused(["the cap is 0"], "split", "--costs", "1", "--parts", "1", "--cap", "0")
    refused(["2^64 or more"], "split", "--costs", f"{2**64 - 1},1", "--parts", "1")
    misused(["--costs is required"], "split", "--parts", "1")
    misused(["--costs is required", "not expected: --cost 1"], "split", "--cost", "1", "--parts", "1")
    misused(["--parts is required"], "split", "--costs", "1")
    misused(["--equal-counts", "--cap"], "split", "--costs", "1", "--parts", "1", "--cap", "1", "--equal-counts")
    misused(["--costs, row 1", "''"], "split", "--costs", "1,,2", "--parts", "1")
    misused(["--costs, row 2", "'-3'"], "split", "--costs", "1,2,-3", "--parts", "1")
    misused(["--costs, row 0", f"'{2**64}'"], "split", "--costs", str(2**64), "--parts", "1")
    misused(["--parts", "'-1'"], "split", "--costs", "1", "--parts", "-1")
    misused(["--cap", "'x'"], "split", "--costs", "1", "--parts", "1", "--cap", "x")


def moves(source, target, rows):
    answer = ask("transfer", "--from", source, "--to", target, "--rows", str(rows))
    assert answer["rows_moved"] == sum(each["count"] for each in answer["transfers"]), answer
    return [(each["source"], each["target"], each["first"], each["count"]) for each in answer["transfers"]]


def needed_rows_only():
    """case K-D10: nobody pulls rows that it does not use"""
    assert moves("dp=4", "dp=2", 8) == [(0, 0, 0, 2), (1, 0, 2, 2), (2, 1, 4, 2), (3, 1, 6, 2)]
    assert moves("dp=4", "dp=2", 7) == [(0, 0, 0, 2), (1, 0, 2, 2), (2, 1, 4, 2), (3, 1, 6, 1)]
    # Every rank of the target has its rows, from representatives alone: ranks 4 and 6.
    assert moves("dp=2,pp=2,tp=2", "dp=2,tp=2", 2) == [(4, 0, 0, 1), (4, 1, 0, 1), (6, 2, 1, 1), (6, 3, 1, 1)]


def transfers():
    """transfers come from representatives, and both meshes are checked at once"""
    assert moves("fsdp=4,dp=2,ulysses=2", "dp=1", 7) == [(0, 0, 0, 2), (4, 0, 2, 2), (1, 0, 4, 2), (5, 0, 6, 1)]
    assert moves("dp=4", "dp=4,tp=2", 2) == [(0, 0, 0, 1), (0, 1, 0, 1), (1, 2, 1, 1), (1, 3, 1, 1)]
    assert moves("dp=4", "dp=4", 0) == []
    shown("""\
transfers of 3 rows: dp 2 -> dp 4, rows moved 3
  rank 0 <- 0 [0,1)
  rank 1 <- 0 [1,2)
  rank 2 <- 1 [2,3)
  rank 3 <- nothing
""", "transfer", "--from", "dp=2", "--to", "dp=4", "--rows", "3")
    refused(["--from: device mesh: dp_size is 0", "--to: device mesh: tp_size is 0"], "transfer", "--from", "dp=0",
            "--to", "tp=0", "--rows", "1")
    refused([f"has an extent of {2**64 - 1}"], "transfer", "--from", "dp=1", "--to", "dp=1", "--rows", str(2**64 - 1))
    for given, words in [("xp=2", ["unknown axis 'xp'", "fsdp, pp, dp"]), ("", ["no axis"]), ("dp", ["'dp'"]),
                         ("dp=", ["''"]), ("dp=-1", ["'-1'"]), ("dp=2,", ["''"]), ("dp=2,dp=2", ["'dp' is given twice"]),
                         (f"tp={2**63}", [f"'{2**63}'"])]:
        misused(["--from", *words], "transfer", "--from", given, "--to", "dp=1", "--rows", "1")
    misused(["--to", "'dp 2'"], "transfer", "--from", "dp=1", "--to", "dp 2", "--rows", "1")
    misused(["--rows is required"], "transfer", "--from", "dp=1", "--to", "dp=1")
    misused(["--to is required"], "transfer", "--from", "dp=1", "--rows", "1")


def workers(path):
    return [(each["group"], each["index"], each["node"], each["devices"], each["ranks"])
            for each in ask("place", path)["workers"]]


def whole_workers():
    """case K-P1: workers are whole, and on one node"""
    refused(["devices 7,8 on nodes 0 (n0), 1 (n1)"], "place",
            cluster([(8, 0), (8, 0)], 'name = "g"\nranks = [7, 8]\ngpus_per_worker = 2'))
    refused(["10 ranks do not make whole workers of 4"], "place",
            cluster([(8, 0), (8, 0)], 'name = "g"\nranks = 10\ngpus_per_worker = 4'))


def shared_devices():
    """case K-P2: groups share no device unasked, and counts go around lists"""
    refused(["'A' and 'B' share cuda devices 2,3"], "place",
            cluster([(8, 0)], 'name = "A"\nranks = [0, 1, 2, 3]', 'name = "B"\nranks = [2, 3]'))
    shared = workers(cluster([(4, 0)], 'name = "A"\nranks = [0, 1]', 'name = "B"\nranks = [1]\ncolocate = ["A"]'))
    assert shared == [("A", 0, "n0", [0], [0]), ("A", 1, "n0", [1], [1]), ("B", 0, "n0", [1], [0])], shared
    counted = workers(cluster([(8, 0)], 'name = "B"\nranks = 4', 'name = "A"\nranks = [4, 5, 6, 7]'))
    assert [at[3] for at in counted if at[0] == "B"] == [[0], [1], [2], [3]], counted


def workers_of_four():
    """case K-P3: workers of four fill two nodes of eight"""
    placed = workers(cluster([(8, 0), (8, 0)], 'name = "model"\nranks = 4',
                             'name = "rollout"\nranks = 12\ngpus_per_worker = 4'))
    assert placed[:4] == [("model", at, "n0", [at], [at]) for at in range(4)], placed
    assert placed[4:] == [("rollout", 0, "n0", [4, 5, 6, 7], [0, 1, 2, 3]),
                          ("rollout", 1, "n1", [0, 1, 2, 3], [4, 5, 6, 7]),
                          ("rollout", 2, "n1", [4, 5, 6, 7], [8, 9, 10, 11])], placed


def shortages():
    """case K-P4: what is short is told at once"""
    refused(["short 28 cpu"], "place", cluster([(8, 32)], 'name = "g"\nranks = 6',
                                               'name = "host"\ntype = "cpu"\nranks = 60'))


def places():
    """a placement is drawn, and a file with mistakes is refused with all of them"""
    path = cluster([(2, 2)], 'name = "g"\nranks = 2\ngpus_per_worker = 2', 'name = "host"\ntype = "cpu"')
    shown("""\
devices     cluster: 1 node, 2 cuda, 2 cpu
  n0  localhost  device ranks 0-1
    cuda 0-1  g ranks 0-1
    cpu 0     host rank 0
    cpu 1     free
workers
  g 0  n0  cuda 0,1  ranks 0,1
  host 0  n0  cpu 0  ranks 0
""", "place", path)
    answer = workers(path)
    pathlib.Path("crlf.toml").write_bytes(pathlib.Path(path).read_bytes().replace(b"\n", b"\r\n"))
    assert workers("crlf.toml") == answer
    assert workers(cluster([(1, 0)])) == []
    refused(["wrong.toml:2: node 'a': devices is -1", "wrong.toml:5: device group 'g': 0 ranks",
             "wrong.toml:7: group 'g': unknown key 'rank'"], "place",
            file("wrong.toml", '[[node]]\ndevices = -1\nname = "a"\n\n[[group]]\nname = "g"\nrank = 1\nranks = 0\n'))
    refused(["cluster.toml: short 1 cuda", "cluster.toml: short 2 npu"], "place",
            cluster([(1, 0)], 'name = "g"\nranks = 2', 'name = "h"\ntype = "npu"\nranks = 2'))
    refused(["empty.toml:1: the cluster has no nodes"], "place", file("empty.toml", ""))
    refused(["bytes.toml:2: "], "place", file("bytes.toml", "\n\0"))
    refused(["cannot read 'missing.toml': No such file"], "place", "missing.toml")
    refused(["cannot read 'folder': it is a folder"], "place", "folder")
    refused(["cannot read '/dev/zero': it has more than"], "place", "/dev/zero")
    answer = subprocess.run([TWINKLE, "place", b"\xff.toml", "--json"], capture_output=True, timeout=60)
    assert answer.returncode == 1 and "'?.toml'" in json.loads(answer.stdout)["errors"][0], answer
    misused(["FILE is required"], "place")
    misused(["not expected: --dp 2"], "mesh", "--", "--dp", "2")
    misused(["another.toml"], "place", "cluster.toml", "another.toml")


def helps():
    """each level has help with an example, and names what it did not expect"""
    for arguments in [[], ["mesh"], ["split"], ["transfer"], ["place"], ["launch"]]:
        done = run(*arguments, "--help")
        assert done.returncode == 0 and done.stderr == "", done
        usage = " ".join(["Usage: twinkle", *arguments])
        assert usage in done.stdout and "Example" in done.stdout and "\n  twinkle " in done.stdout, done.stdout
    misused(["subcommand is required"])
    misused(["not expected: plan"], "plan")
    misused(["not expected: split"], "mesh", "split")
    misused(["not expected: --jason"], "--jason", "mesh")
    misused(["--json"], "mesh", "--json=perhaps")
    if os.path.exists("/dev/full"):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([TWINKLE, "mesh"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        assert done.returncode == 1 and "could not be written" in done.stderr, done


pathlib.Path("folder").mkdir(exist_ok=True)
for check in (slices_of_ulysses, even_slices, meshes_without_dp, expert_views, meshes, balanced_parts, caps, splits,
              needed_rows_only, transfers, whole_workers, shared_devices, workers_of_four, shortages, places, helps):
    check()
    print("ok", check.__doc__)
