# SPDX-License-Identifier: Apache-2.0
"""`tools/certificates`: what it makes is good for who it is for, and nothing is overwritten."""
import pathlib
import shutil
import ssl
import stat
import subprocess

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "certificates"


def run(*arguments):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=120)


def refused(code, words, *arguments):
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (code, "") and words in done.stderr, (arguments, done)


def greet(server, client, host):
    """A handshake in memory, in which each side wants the other's certificate; the client looks for `host`."""
    sides = []
    for purpose, name, there in ((ssl.Purpose.CLIENT_AUTH, server, None), (ssl.Purpose.SERVER_AUTH, client, host)):
        context = ssl.create_default_context(purpose, cafile="made/authority.pem")
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_cert_chain(f"{name}.pem", f"{name}.key")
        sides.append((ssl.MemoryBIO(), ssl.MemoryBIO(), context, there))
    (from_client, to_client, *_), (from_server, to_server, *_) = sides
    ends = [context.wrap_bio(come, go, server_side=there is None, server_hostname=there)
            for come, go, context, there in sides]
    open_ends = ends[::-1]
    while open_ends:
        for end in list(open_ends):
            try:
                end.do_handshake()
                open_ends.remove(end)
            except ssl.SSLWantReadError:
                pass
            from_client.write(to_server.read())
            from_server.write(to_client.read())


def not_greeted(*arguments):
    try:
        greet(*arguments)
    except ssl.SSLError:
        return
    raise AssertionError(f"{arguments}: was greeted")


for folder in ("made", "other"):
    shutil.rmtree(folder, ignore_errors=True)
done = run("made", "a", "b-1.lab", "10.0.0.7")
assert done.returncode == 0 and done.stderr == "", done
names = ("authority", "a", "b-1.lab", "10.0.0.7")
assert done.stdout.splitlines() == [f"made/{name}.pem made/{name}.key" for name in names], done
made = sorted(path.name for path in pathlib.Path("made").iterdir())
assert made == sorted(name + end for name in names for end in (".pem", ".key")), made
for name in names:
    assert stat.S_IMODE(pathlib.Path(f"made/{name}.key").stat().st_mode) == 0o600, name

assert run("other", "a").returncode == 0
for host in ("localhost", "127.0.0.1", "a"):
    greet("made/a", "made/b-1.lab", host)
greet("made/10.0.0.7", "made/a", "10.0.0.7")
not_greeted("made/a", "made/b-1.lab", "b-1.lab")
not_greeted("other/a", "made/a", "a")
not_greeted("made/a", "other/a", "a")

before = {path.name: path.read_bytes() for path in pathlib.Path("made").iterdir()}
refused(1, "made/authority.pem is there already", "made", "c")
pathlib.Path("other/authority.pem").unlink()
pathlib.Path("other/authority.key").unlink()
refused(1, "other/a.pem is there already", "other", "c", "a")
refused(2, "usage: tools/certificates FOLDER NAME", "made")
refused(2, "'../a' is no name of a node", "new", "../a")
refused(2, "cannot be named authority", "new", "authority")
refused(2, "'a' is named twice", "new", "a", "a")
assert before == {path.name: path.read_bytes() for path in pathlib.Path("made").iterdir()}
assert sorted(path.name for path in pathlib.Path("other").iterdir()) == ["a.key", "a.pem"]
assert not pathlib.Path("new").exists()
print("ok", __doc__)
