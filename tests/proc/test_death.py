"""kill -9 of anything, at random moments: nothing is left behind, and the batches that are delivered are the right ones."""
import json, os, random, signal, sys
from jobs import *
from lib import Client, Failed, entered

PIPELINE = """version: 1
seed: 3
epochs: forever
memory: 64MiB
source: {range: 3000}
pre_main: [shuffle]
workers: {count: 2, steps: [{delay: {time: 0ms, spread: 1ms}}]}
post_main: [{batch: 16}]
"""
ROUNDS = 200 if LONG else 15


def abstract_sockets():
    return {l.split()[-1] for l in open("/proc/net/unix") if "@pipeloader" in l}


def reference(house, path, n):
    c = Client(path)
    out = []
    for _ in range(n):
        b = c.next()
        out.append(b.bytes())
        b.release()
    c.close()
    return out


def test_daemon_killed_leaves_nothing():
    rng = random.Random(2)
    for _ in range(ROUNDS):
        with entered(House()) as house:
            path = house.write("p.yaml", PIPELINE)
            c = Client(path, reconnect_ms=0)
            for _ in range(rng.randrange(0, 20)):
                c.next().release()
            files = set(os.listdir(house.dir))
            family = house.processes()
            os.kill(c.daemon, signal.SIGKILL)
            wait_for(lambda: not any(map(is_alive, family)), "its processes are gone with it")
            try:
                while c.next():
                    pass
                assert False, "the stream ended instead of failing"
            except Failed as e:
                assert e.code < 0
            c.close()
            assert set(os.listdir(house.dir)) == files
            d = Client(path)  # the same name works at once
            d.next().release()
            d.close()


def test_client_killed_leaves_nothing():
    rng = random.Random(3)
    with entered(House(linger_ms=5000)) as house:
        path = house.write("p.yaml", PIPELINE)
        keeper = Client(path)
        for _ in range(ROUNDS):
            run = house.start("cat", path, "--json")
            for _ in range(rng.randrange(0, 12)):
                run.stdout.readline()
            run.kill()
            run.wait()
        fds = len(os.listdir(f"/proc/{keeper.dispatcher}/fd"))
        wait_for(lambda: json.loads(house.ctl("status", path, "--json").stdout)["pipelines"][0]["clients"] == 1, "only the keeper is counted")
        for _ in range(300):
            keeper.next().release()
        assert len(os.listdir(f"/proc/{keeper.dispatcher}/fd")) <= fds
        keeper.close()


def test_job_daemon_ends_after_its_last_client():
    with entered(House(linger_ms=200)) as house:
        before = abstract_sockets()
        path = house.write("p.yaml", PIPELINE)
        c = Client(path)
        c.next().release()
        family = house.processes()
        assert len(family) == 4, family
        c.close()
        wait_for(lambda: not any(map(is_alive, family)), "gone after linger")
        wait_for(lambda: abstract_sockets() <= before, "no socket is left")
        assert sorted(os.listdir(house.dir)) in (["p.yaml"], ["log", "p.yaml"])


def test_views_outlive_a_dispatcher():
    rng = random.Random(4)
    for _ in range(20):
        with entered(House()) as house:
            path = house.write("p.yaml", PIPELINE)
            expected = reference(house, path, 40)
            c = Client(path)
            skip = rng.randrange(0, 10)
            for _ in range(skip):
                c.next().release()
            held = [c.next(), c.next()]
            before = [b.bytes() for b in held]
            assert before == expected[skip:skip + 2]
            os.kill(c.dispatcher, signal.SIGKILL)
            after = [c.next() for _ in range(3)]
            assert [b.bytes() for b in held] == before, "a held view changed"
            assert [b.bytes() for b in after] == expected[skip + 2:skip + 5], "the stream did not go on where it was"
            for b in held + after:
                b.release()
            more = [c.next() for _ in range(3)]
            assert [b.bytes() for b in more] == expected[skip + 5:skip + 8]
            for b in more:
                b.release()
            c.close()


def test_a_job_daemons_death_is_survived():
    with entered(House()) as house:
        path = house.write("p.yaml", PIPELINE)
        expected = reference(house, path, 30)
        c = Client(path)
        got = []
        for i in range(30):
            if i in (7, 19):
                os.kill(c.daemon, signal.SIGKILL)
            b = c.next()
            got.append(b.bytes())
            b.release()
        c.close()
        assert got == expected


def test_eight_at_once_share_one_daemon_and_a_kill_of_the_starter_disturbs_none():
    with entered(House(linger_ms=3000)) as house:
        path = house.write("p.yaml", PIPELINE.replace("forever", "1"))
        whole = house.ctl("cat", path, "--json", "--values", "all").stdout
        for pid in house.daemons():
            os.kill(pid, signal.SIGKILL)
        wait_for(lambda: not house.processes(), "a clean start")
        runs = [house.start("cat", path, "--json", "--values", "all") for _ in range(8)]
        wait_for(lambda: house.roles()["work"], "one of them started a daemon")
        runs[0].kill()
        for run in runs[1:]:
            out, err = run.communicate(timeout=120)
            assert run.returncode == 0 and out == whole, err
        assert len(house.daemons()) == 1, house.roles()
        runs[0].communicate()


if __name__ == "__main__":
    run_tests(sys.modules[__name__])
