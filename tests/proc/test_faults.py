"""Faults that were met once: bad samples, slow samples, stopped workers, filters that pass nothing, failed pipelines that must still end."""
import os, signal, sys, time
from jobs import *
from lib import Client, Failed, entered

SLOW = """version: 1
on_error: {{skip: 100%}}
source: {{range: 40}}
workers: {{count: 2, sample_timeout: 300ms, steps: [{{group: {{p: 0.2, steps: [{{delay: {delay}}}]}}}}]}}
post_main: [{{batch: 2}}]
"""


def bad_folder(house, n=40, bad=(3, 17)):
    for i in range(n):
        house.write(f"d/{i:03}.bin", b"" if i in bad else os.urandom(50))


def pictures(house, n=12, bad=()):
    good = open(os.path.join(ROOT, "tests", "golden", "cases", "jpeg", "rgb444.jpg"), "rb").read()
    for i in range(n):
        house.write(f"p/class{i % 2}/{i:03}.jpg", good[:40] if i in bad else good)


PICTURES = """version: 1
on_error: {on_error}
source: {{files: {{path: "p/*/*.jpg", label: folder}}}}
pre_main: [{pre}]
workers: {{count: 2, steps: [decode_image, {{resize: {{size: [8, 8]}}}}]}}
post_main: [{{batch: 4}}]
"""


def test_filter_on_what_is_known_of_files():
    with House() as house:
        pictures(house)
        batches = house.cat(house.write("p.yaml", PICTURES.format(on_error="fail", pre='{filter: "label == 1"}')))
        assert [v for b in batches for v in b["fields"]["label"]["values"]] == [1] * 6
        batches = house.cat(house.write("q.yaml", PICTURES.format(on_error="fail", pre='{filter: "len(_key) > 1"}')))
        assert sum(b["size"] for b in batches) == 12


def test_bad_samples_fail_skip_or_are_replaced():
    with House() as house:
        pictures(house, bad=(4, 5, 9))
        done = house.ctl("cat", house.write("f.yaml", PICTURES.format(on_error="fail", pre="")))
        assert done.returncode == 1 and "class0/004.jpg" in done.stderr and "decode_image" in done.stderr, done.stderr
        batches = house.cat(house.write("s.yaml", PICTURES.format(on_error="{skip: 3}", pre="")), "--provenance")
        seen = [s["index"] for b in batches for s in b["samples"]]
        assert len(seen) == len(set(seen)) == 9, seen
        done = house.ctl("cat", house.write("t.yaml", PICTURES.format(on_error="{skip: 2}", pre="")))
        assert done.returncode == 1 and "more bad samples" in done.stderr, done.stderr
        a = house.cat(house.write("u.yaml", PICTURES.format(on_error="substitute", pre="shuffle")), "--provenance")
        assert [b["size"] for b in a] == [4, 4, 4]
        log = open(house.path("log")).read()
        assert all(f"{i:03}.jpg" in log for i in (4, 5, 9)), "every bad file is named in the log"


def test_a_failed_pipelines_job_daemon_ends():
    with House(linger_ms=200) as house:
        pictures(house, bad=(0,))
        for _ in range(2):
            assert house.ctl("cat", house.write("f.yaml", PICTURES.format(on_error="fail", pre=""))).returncode == 1
        wait_for(lambda: not house.processes(), "it is gone after its linger", 20)


def test_slow_samples_are_skipped_and_the_pipeline_goes_on():
    with House() as house:
        expected = [b["fields"]["value"]["values"] for b in house.cat(house.write("a.yaml", SLOW.format(delay="0ms")))]
        assert sum(map(len, expected)) == 40
        done = house.ctl("cat", house.write("b.yaml", SLOW.format(delay="20s")), "--json", timeout=200)
        assert done.returncode == 0, done.stderr
        values = [v for line in done.stdout.splitlines() for v in json.loads(line)["fields"]["value"]["values"]]
        assert values == sorted(set(values)) and 20 <= len(values) < 40, values


def test_a_worker_stopped_between_samples_is_replaced():
    with entered(House()) as house:
        c = Client(house.write("p.yaml", """version: 1
epochs: forever
source: {range: 1000}
workers: {count: 1, sample_timeout: 1s, steps: [{cast: {field: value, dtype: i64}}]}
post_main: [{batch: 10}]
"""))
        first = c.next()
        worker = house.roles()["work"][0]
        os.kill(worker, signal.SIGSTOP)
        got = [first] + [c.next(60000) for _ in range(1)]
        for _ in range(60):
            for b in got:
                b.release()
            got = [c.next(60000)]
        got[0].release()
        assert not is_alive(worker)
        c.close()


def test_a_filter_that_passes_nothing_blocks_nobody():
    with House(linger_ms=200) as house:
        path = house.write("p.yaml", """version: 1
source: {range: 1000000000000}
pre_main: [{filter: "value < 0"}]
workers: {count: 1, steps: [{cast: {field: value, dtype: i64}}]}
post_main: [{batch: 10}]
""")
        run = house.start("cat", path)
        wait_for(lambda: house.roles()["work"], "it runs")
        wait_for(lambda: house.ctl("status", path, "--json").returncode == 0, "the daemon answers")
        run.kill()
        run.wait()
        wait_for(lambda: not house.processes(), "nothing spins on without a client", 20)


def test_no_more_clients_than_the_file_allows():
    with entered(House()) as house:
        path = house.write("p.yaml", """version: 1
serve: {clients: 2}
source: {range: 100}
workers: none
post_main: [{batch: 10}]
""")
        a, b = Client(path), Client(path)
        try:
            Client(path)
            assert False, "a third was let in"
        except Failed as e:
            assert "clients: 2" in str(e), e
        a.close()
        b.close()


def test_views_outlive_close_and_failure():
    with entered(House()) as house:
        path = house.write("p.yaml", """version: 1
epochs: forever
memory: 64MiB
source: {range: 1000}
workers: {count: 2, steps: [{cast: {field: value, dtype: i64}}]}
post_main: [{batch: 100}]
""")
        c, other = Client(path), Client(path)
        held = [c.next() for _ in range(3)]
        before = [b.bytes() for b in held]
        c.close()
        for _ in range(400):
            other.next().release()
        assert [b.bytes() for b in held] == before, "a view changed after its client closed"
        for b in held:
            b.release()
        other.close()


def test_run_ends_its_daemons_with_the_command():
    with House(linger_ms=300) as house:
        env_free = dict(house.env)
        del env_free["PIPELOADER_LINGER_MS"], env_free["PIPELOADER_JOB_ID"]
        path = house.write("p.yaml", "version: 1\nsource: {range: 10}\nworkers: none\npost_main: [{batch: 5}]\n")
        before = set(os.listdir("/proc"))
        done = subprocess.run([CTL, "run", path, "--", CTL, "cat", path], env=env_free, cwd=house.dir, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr

        def mine():
            return [p for p in os.listdir("/proc") if p.isdigit() and p not in before and path in
                    (open(f"/proc/{p}/cmdline").read() if os.path.exists(f"/proc/{p}/cmdline") else "")]
        wait_for(lambda: not mine(), "gone with the command", 5)


if __name__ == "__main__":
    run_tests(sys.modules[__name__])
