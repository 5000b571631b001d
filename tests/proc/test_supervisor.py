#!/usr/bin/env python3
"""The supervisor alone: starts, names, reloads, deaths, births, ends. The daemon is real, the client is forty lines of Python."""
import mmap
import struct

from machine import *

BROKEN = "version: 1\nsourc: {range: {count: 3}}\npost_main: [batch: 2]\n"
ASKED_ONLY = """version: 1
source: {range: {count: 1000}}
workers: {count: 2, prefetch: 0, steps: [filter: value >= 0]}
post_main: {prefetch: 0, steps: [batch: {size: 10}]}
"""


def pids(daemon, start):
    return [pid for pid, name in daemon.children().items() if name.startswith(start)]


def dispatcher(daemon):
    return until("a dispatcher", lambda: pids(daemon, "pl:disp"))[0]


def hangs_up(client):
    """The connection ends; datagrams that came before it don't count."""
    while True:
        kind, _ = client.receive()
        if kind in ("hangup", "reset"):
            return True


def test_ready_and_status():
    with Machine() as d:
        root = d.status()
        assert root["pid"] == d.p.pid and root["version"]
        p, = root["pipelines"]
        assert (p["name"], p["state"], p["births"]) == ("numbers", "idle", 0)
        assert [s["name"] for s in p["steps"]] == ["filter", "batch"]
        assert d.children() == {}
        c = d.opened()
        kind, batch = c.next()
        assert kind == "batch" and batch[5] == [10]
        p = d.status("numbers")
        assert p["state"] == "running" and p["birth"] == 1 and p["clients"] == 1
        assert len(p["workers"]) == 2 and p["dispatcher"]["pid"] == dispatcher(d)
        assert p["batches"] >= 1 and p["slots"]["total"] > 0 and p["sequential"] is False
        d.wait_for("STATUS=1 pipelines, 1 running")


def test_broken_file_is_told():
    with Machine({"good": RANGE, "broken": BROKEN}) as d:
        c = d.client()
        c.open("broken")
        code, status, text = c.answer()
        assert status == 78 and code < 0
        assert "broken.yaml:2:1: error: unknown key 'sourc' (did you mean 'source'?)" in text and "^" in text
        assert d.opened("good").next()[0] == "batch"
        assert d.status("broken")["state"] == "failed"
        assert "unknown key 'sourc'" in d.client().ask("errors")[2]
        assert "unknown key 'sourc'" in d.log()


def test_unknown_name():
    with Machine({"photos": RANGE, "numbers": RANGE}) as d:
        c = d.client()
        c.open("phtos")
        code, status, text = c.answer()
        assert (code, status) == (-2, 64)
        assert "no pipeline 'phtos'" in text and "did you mean 'photos'?" in text and "numbers" in text
        c = d.client()
        c.open("a\nb")
        assert "'a\\x0Ab'" in c.answer()[2]


def test_same_name_twice():
    with Machine({"a": "name: x\n" + RANGE, "b": "name: x\n" + RANGE}) as d:
        states = sorted(p["state"] for p in d.status()["pipelines"])
        assert states == ["failed", "idle"], states
        assert "is already the name of" in d.log()
        assert d.opened("x").next()[0] == "batch"


def test_nothing_to_list():
    text = "version: 1\nsource: {files: {path: 'none/*.jpg'}}\nworkers: [decode_image]\n"
    with Machine({"photos": text}) as d:
        c = d.client()
        c.open("photos")
        code, status, text = c.answer()
        assert status == 78 and "none" in text and "photos.yaml" in text, (code, status, text)


def test_hostile_first_datagrams():
    with Machine() as d:
        for garbage in (b"\xff" * 100, b"\x00", field(2, field(1, 1)), field(5, b""), b"x" * 65536):
            c = d.client()
            c.s.send(garbage)
            code, status, text = c.answer()
            assert code < 0 and "first message" in text, text
            assert c.receive()[0] == "hangup"
        c = d.client()
        code, status, text = c.ask("frobnicate")
        assert status == 64 and "status, graph" in text
        assert d.opened().next()[0] == "batch"


def test_reload_good():
    with Machine() as d:
        old = d.opened()
        assert old.next()[1][5] == [10]
        before = dispatcher(d)
        d.write("numbers", RANGE.replace("size: 10", "size: 20"))
        d.told.clear()
        d.p.send_signal(signal.SIGHUP)
        d.wait_for("RELOADING=1")
        d.wait_for("MONOTONIC_USEC=")
        d.wait_for("READY=1")
        until("the new instance runs", lambda: "reloaded" in d.log())
        new = d.opened()
        assert new.facts[8] == [20] and new.next()[1][5] == [20]
        assert old.next()[1][5] == [10], "the old stream goes on"
        assert before in d.children()
        old.close()
        until("the old dispatcher ends with its last stream", lambda: not is_alive(before))
        assert new.next()[0] == "batch"
        assert d.status("numbers")["births"] == 2


def test_reload_broken():
    with Machine() as d:
        c = d.opened()
        before = dispatcher(d)
        d.write("numbers", BROKEN)
        code, status, text = d.client().ask("reload")
        assert status == 78 and "unknown key 'sourc'" in text, text
        assert c.next()[0] == "batch" and dispatcher(d) == before
        assert d.opened().next()[0] == "batch", "the old instance serves new opens"
        assert "unknown key" in d.status("numbers")["refused"]
        d.write("numbers", RANGE)
        assert d.client().ask("reload")[:2] == (0, 0)
        until("the good file is taken", lambda: "refused" not in d.status("numbers"))


def test_reload_finds_and_loses_files():
    with Machine({"one": RANGE}) as d:
        kept = d.opened("one")
        d.write("two", RANGE)
        os.unlink(os.path.join(d.folder, "one.yaml"))
        assert d.client().ask("reload")[:2] == (0, 0)
        assert d.opened("two").next()[0] == "batch"
        c = d.client()
        c.open("one")
        assert c.answer()[1] == 64
        assert kept.next()[0] == "batch", "its stream ends as it likes"
        kept.close()
        until("its processes end", lambda: not any("one" in name for name in d.children().values()))


def test_sigterm_leaves_nothing():
    for name in ("@", "path"):
        d = Machine(start=False)
        path = os.path.join(d.dir, "run", "socket")
        if name == "path":
            d.args[d.args.index(d.name)] = d.address = path
        with d:
            d.start()
            c = d.opened()
            assert c.next()[0] == "batch"
            family = list(d.children())
            assert len(family) == 3
            assert d.stop() == 0
            until("it said so", lambda: "STOPPING=1" in d.told)
            assert not any(map(is_alive, family))
            assert hangs_up(c)
            assert not os.path.exists(path)
            s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            try:
                s.connect(d.address)
                assert False, "somebody still listens"
            except OSError:
                pass


def test_kill_leaves_nothing():
    with Machine() as d:
        c = d.opened()
        family = list(d.children())
        assert d.stop(signal.SIGKILL) == -9
        until("its children die with it", lambda: not any(map(is_alive, family)))
        assert hangs_up(c)


def test_stale_path_and_second_daemon():
    d = Machine(start=False)
    path = os.path.join(d.dir, "run", "socket")
    d.args[d.args.index(d.name)] = d.address = path
    with d:
        d.start()
        assert os.stat(path).st_mode & 0o777 == 0o666
        second = subprocess.run(d.args, env=d.env, capture_output=True, text=True, timeout=DEADLINE)
        assert second.returncode == 1 and "another pipeloaderd listens there" in second.stderr, second.stderr
        assert d.opened().next()[0] == "batch"
        d.stop(signal.SIGKILL)
        assert os.path.exists(path)
        d.told.clear()
        d.start()
        assert d.opened().next()[0] == "batch"


def fd_targets(pid):
    out = {}
    for fd in os.listdir(f"/proc/{pid}/fd"):
        out[int(fd)] = os.readlink(f"/proc/{pid}/fd/{fd}").split(":")[0].split(" ")[0]
    return out


def test_descriptors_of_children():
    """A child has what its role needs and nothing of anybody else's: here two pipelines run, with clients."""
    with Machine({"one": ASKED_ONLY, "two": ASKED_ONLY}) as d:
        clients = [d.opened("one"), d.opened("two"), d.opened("two")]
        for pid, name in d.children().items():
            with open(f"/proc/{pid}/maps") as f:
                maps = f.read()
            mine = name.split(" ")[1][:3]
            assert {line.split("arena:")[1][:3] for line in maps.split("\n") if "arena:" in line} == {mine}, maps
            if not name.startswith("pl:work"):
                continue
            until("it has met the dispatcher", lambda: "socket" in fd_targets(pid).values())
            fds = fd_targets(pid)
            stdio = {fd: fds.pop(fd) for fd in (0, 1, 2)}
            assert stdio[0] == "/dev/null" and stdio[1] == stdio[2] == d.log_path, stdio
            memfds = sorted(fd for fd, target in fds.items() if target.startswith("/memfd"))
            assert memfds == [3, 4], fds
            # The rest is libzmq's: its own epolls, eventfds, and the one connection to the dispatcher.
            rest = sorted(target for fd, target in fds.items() if fd not in memfds)
            assert set(rest) <= {"anon_inode", "socket"} and rest.count("socket") == 1, fds
        with open(f"/proc/{dispatcher(d)}/status") as f:
            status = dict(line.split(":\t", 1) for line in f.read().split("\n") if ":\t" in line)
        assert int(status["SigBlk"], 16) == 0 and status["NoNewPrivs"] == "1", status
        del clients


def test_memory_is_sealed():
    with Machine() as d:
        c = d.opened()
        try:
            mmap.mmap(c.fd, 4096, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
            assert False, "a client can write to the arena"
        except PermissionError:
            pass
        try:
            os.ftruncate(c.fd, 0)
            assert False, "a client can cut the arena"
        except PermissionError:
            pass
        assert len(mmap.mmap(c.fd, 4096, mmap.MAP_SHARED, mmap.PROT_READ)) == 4096


def test_hundred_respawns():
    with Machine({"numbers": RANGE.replace("count: 1000", "count: 1000000")}) as d:
        c = d.opened()

        def workers():
            return d.status("numbers")["workers"]

        for n in range(100):
            before = workers()[n % 2]
            os.kill(before["pid"], signal.SIGKILL)
            # A generation that finishes nothing is not to be counted as one that could not: so each is left to work.
            while True:
                kind, f = c.next()
                assert kind == "batch", (kind, f)
                now = workers()[n % 2]
                if now["generation"] > before["generation"] and now["samples"] > before["samples"] and now["pid"]:
                    break
        with open(f"/proc/{d.p.pid}/status") as f:
            assert "Threads:\t1\n" in f.read()
        assert len(os.listdir(f"/proc/{d.p.pid}/fd")) < 40
        p = d.status("numbers")
        assert p["birth"] == 1 and sum(w["generation"] for w in p["workers"]) == 102
        assert d.log().count("was killed by SIGKILL") == 100


def test_dispatcher_death():
    with Machine() as d:
        c = d.opened()
        kind, batch = c.next()
        arena = mmap.mmap(c.fd, c.facts[2][0], mmap.MAP_SHARED, mmap.PROT_READ)
        at = fields(batch[6][0])[1][0]
        held = arena[at:at + 80]
        assert held == struct.pack("<10q", *range(10))
        family = d.children()
        os.kill(dispatcher(d), signal.SIGKILL)
        assert hangs_up(c)
        again = d.opened()
        assert again.facts[3] == [2], "the second birth"
        assert not any(pid in d.children() for pid in family), "nobody of the first is left"
        assert arena[at:at + 80] == held, "what a client held stays as it was"
        assert again.next()[0] == "batch"
        p = d.status("numbers")
        assert p["births"] == 2 and p["retired"]["arenas"] == 1, p
        assert "was killed by SIGKILL" in d.log()


def test_dispatcher_dies_too_often():
    with Machine({"numbers": ASKED_ONLY}) as d:
        for birth in range(1, 6):
            c = d.opened()
            assert c.facts[3] == [birth]
            os.kill(dispatcher(d), signal.SIGKILL)
            assert hangs_up(c)
        code, status, text = d.refused()
        assert status == 1 and "5 times in a row" in text and "SIGKILL" in text, text
        assert d.client().ask("reload")[:2] == (0, 0)
        assert d.opened().next()[0] == "batch", "a reload clears it"


def test_worker_dies_too_often():
    with Machine({"numbers": ASKED_ONLY}) as d:
        c = d.opened()
        for _ in range(5):
            pid = until("a worker", lambda: pids(d, "pl:work1"))[0]
            os.kill(pid, signal.SIGSEGV)
            until("its death", lambda: not is_alive(pid))
        assert hangs_up(c)
        code, status, text = d.refused()
        assert status == 1 and "worker 1 died 5 times in a row" in text and "SIGSEGV" in text, text
        assert d.children() == {}


def test_idle_timeout():
    text = ASKED_ONLY + "serve: {idle_timeout: 50ms}\n"
    with Machine({"numbers": text}) as d:
        for birth in (1, 2, 3):
            c = d.opened()
            assert c.facts[3] == [birth] and c.next()[0] == "batch"
            c.close()
            until("it stops", lambda: d.status("numbers")["state"] == "idle")
        assert d.children() == {}


def test_eager():
    with Machine({"numbers": RANGE + "serve: {start: eager}\n"}) as d:
        until("it runs without a client", lambda: d.status("numbers")["state"] == "running")


def test_allow():
    if os.getuid() != 0:
        return
    files = {"mine": RANGE, "theirs": RANGE + "serve: {allow: ['1', '@nosuchgroup']}\n", "all": RANGE + "serve: {allow: '*'}\n"}
    with Machine(files) as d:
        assert "not known on this machine: '@nosuchgroup'" in d.log()

        def as_user(uid, name):
            ours, theirs = os.pipe()
            if os.fork() == 0:
                os.setgroups([])
                os.setgid(uid)
                os.setuid(uid)
                c = d.client()
                c.open(name)
                os.write(theirs, str(c.receive()).encode())
                os._exit(0)
            os.close(theirs)
            with os.fdopen(ours) as f:
                text = f.read()
            os.wait()
            return text

        assert "welcome" in as_user(1, "theirs") and "welcome" in as_user(2, "all")
        assert "may not open pipeline" in as_user(2, "theirs") and "may not open" in as_user(1, "mine")
        assert "error" in as_user(65534, "all"), "nobody is nobody"
        unknown = as_user(2, "min")
        assert "mine" not in unknown and "theirs" not in unknown, "names of others aren't told"


def test_flood_is_bounded():
    with Machine() as d:
        base = len(os.listdir(f"/proc/{d.p.pid}/fd"))
        flood = [d.client() for _ in range(300)]
        until("the first ones are refused", lambda: "not opened" in str(flood[0].receive()))
        assert d.opened().next()[0] == "batch", "who speaks is served"
        assert len(os.listdir(f"/proc/{d.p.pid}/fd")) <= base + 64 + 30
        code, _, text = flood[-1].answer()
        assert "within 5 s" in text


def test_shortage_of_descriptors():
    d = Machine(start=False)
    d.args = ["sh", "-c", 'ulimit -n 48; exec "$@"', "sh", *d.args]
    with d:
        d.start()
        crowd = [d.client() for _ in range(80)]
        until("it says so", lambda: "until descriptors are free" in d.log())
        for c in crowd:
            c.close()
        assert d.opened().next()[0] == "batch"


def test_watchdog():
    with Machine(env={"WATCHDOG_USEC": "400000"}) as d:
        d.wait_for("WATCHDOG=1")
        c = d.opened()
        first = dispatcher(d)
        os.kill(first, signal.SIGSTOP)
        assert hangs_up(c), "one that gives no sign of life is killed"
        assert d.opened().facts[3] == [2]
        assert "missed its heartbeat" in d.log() or "SIGKILL" in d.log()
        d.told.clear()
        d.wait_for("WATCHDOG=1")


def test_config():
    with Machine({"one": RANGE, "two": RANGE}, start=False) as d:
        config = os.path.join(d.dir, "config.yaml")
        with open(config, "w") as f:
            f.write(f"pipelines: {d.folder}\nsocket: '{d.name}'\nmemory_max: 100MiB\n")
        d.args = [DAEMON, "--config", config]
        d.start()
        c = d.opened("one")
        other = d.client()
        other.open("two")
        code, status, text = other.answer()
        assert status == 1 and "memory_max" in text and "100 MiB" in text, text
        assert c.next()[0] == "batch"


def test_config_errors():
    with Machine(start=False) as d:
        config = os.path.join(d.dir, "config.yaml")
        with open(config, "w") as f:
            f.write("pipeline: x\nmemory_max: lots\n")
        run = subprocess.run([DAEMON, "--config", config], env=d.env, capture_output=True, text=True, timeout=DEADLINE)
        assert run.returncode == 78 and "did you mean 'pipelines'?" in run.stderr and "memory_max" in run.stderr, run.stderr


def run(*args):
    return subprocess.run([DAEMON, *args], capture_output=True, text=True, timeout=DEADLINE)


def test_command_line():
    with Machine({"numbers": RANGE, "broken": BROKEN}) as d:
        good, broken = (os.path.join(d.folder, name + ".yaml") for name in ("numbers", "broken"))
        r = run("--check", good)
        assert r.returncode == 0 and r.stderr == "" and "filter" in r.stdout, r
        r = run("--check", broken)
        assert r.returncode == 78 and "broken.yaml:2:1" in r.stderr and r.stdout == ""
        assert run("--graph", good, "--format", "json").returncode == 0
        assert run("--graph", good, "--format", "png").returncode == 64
        assert run("--check", os.path.join(d.folder, "none.yaml")).returncode == 78
        assert run("--frobnicate").returncode == 64 and run("--check").returncode == 64
        assert run("--set", "novalue", "--check", good).returncode == 64
        assert run("--version").stdout.startswith("pipeloaderd ")
        assert "--job" in run("--help").stdout
        assert run("--ops").returncode == run("--sources", "--json").returncode == run("--schema").returncode == 0


def test_job_lingers():
    with Job(env={"PIPELOADER_LINGER_MS": "300"}) as d:
        c = d.opened("whatever")
        assert c.next()[0] == "batch"
        family = list(d.children())
        for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
            d.p.send_signal(ignored)
            for pid in family:
                os.kill(pid, ignored)
        assert c.next()[0] == "batch"
        second = d.opened()
        assert second.facts[3] == c.facts[3], "one birth for both"
        c.close()
        second.close()
        third = d.opened()
        assert third.facts[3] == [1] and third.next()[0] == "batch", "within its linger it goes on"
        third.close()
        assert d.p.wait(DEADLINE) == 0
        assert not any(map(is_alive, family))


def test_job_without_a_visitor():
    with Job(env={"PIPELOADER_LINGER_MS": "1"}) as d:
        c = d.client()
        c.ask("status")
        c.close()
        held = d.client()
        held.send(ASK, field(1, 1) + field(2, "hold"))
        until("it runs", lambda: d.status()["pipelines"][0]["state"] == "running")
        held.close()
        assert d.p.wait(DEADLINE) == 0


def test_job_reads_an_edited_file():
    with Job() as d:
        c = d.opened()
        assert c.facts[8] == [10]
        second = d.opened()
        c.close()
        second.close()
        until("its clients are gone", lambda: d.status()["pipelines"][0]["clients"] == 0)
        again = d.opened()
        assert again.facts[3] == [1], "nothing was edited: the same birth"
        again.close()
        until("its clients are gone", lambda: d.status()["pipelines"][0]["clients"] == 0)
        d.write("numbers", BROKEN)
        c = d.client()
        c.open("x")
        assert c.answer()[1] == 78
        d.write("numbers", RANGE.replace("size: 10", "size: 30"))
        assert d.opened().facts[8] == [30]


def test_job_broken():
    with Job(BROKEN) as d:
        c = d.client()
        c.open("x")
        code, status, text = c.answer()
        assert status == 78 and "unknown key 'sourc'" in text


def test_job_settings():
    text = "version: 1\nparams: {size: 7}\nsource: {range: {count: 100}}\nworkers: [filter: value >= 0]\npost_main: [batch: $(size)]\n"
    with Job(text, ["--set", "size=9"]) as d:
        assert d.opened().facts[8] == [9]


def test_dispatcher_death_in_a_job():
    with Job(ASKED_ONLY) as d:
        for birth in range(1, 4):
            c = d.opened()
            assert c.facts[3] == [birth] and c.next()[0] == "batch"
            os.kill(dispatcher(d), signal.SIGKILL)
            assert hangs_up(c)


def test_opens_while_starting():
    """Fifty clients come while it lists and is born: all are served, and none twice."""
    with Machine({"numbers": ASKED_ONLY}) as d:
        crowd = [d.client() for _ in range(50)]
        for c in crowd:
            c.open("numbers")
        births = {c.welcome()[3][0] for c in crowd}
        assert births == {1}
        until("all are counted", lambda: d.status("numbers")["clients"] == 50)


if __name__ == "__main__":
    run_tests(sys.modules[__name__])
