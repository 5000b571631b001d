"""An idle daemon sleeps; memory and descriptors stay flat; no payload passes through a socket."""
import json, os, re, subprocess, sys
from jobs import *
from lib import Client, entered

SMALL = """version: 1
epochs: forever
source: {range: 1000}
pre_main: [shuffle]
workers: {count: 2, steps: [{cast: {field: value, dtype: i64}}]}
post_main: [{batch: 100}]
"""


def anonymous_kb(pid):
    return int(re.search(r"^Anonymous:\s+(\d+) kB", open(f"/proc/{pid}/smaps_rollup").read(), re.M).group(1))


def trace(house, pids, seconds, *options):
    """What strace sees of these processes for a while."""
    out = house.path("strace")
    command = ["timeout", str(seconds), "strace", "-f", "-o", out, *options]
    for pid in pids:
        command += ["-p", str(pid)]
    subprocess.run(command, stderr=subprocess.DEVNULL)
    return open(out).read().splitlines()


def all_work(house, client):
    """Takes a batch; true when every worker has done something."""
    client.next().release()
    status = json.loads(house.ctl("status", "p.yaml", "--json").stdout)
    return all(w["samples"] > 0 for w in status["pipelines"][0]["workers"])


def test_idle_makes_no_wake_ups():
    with entered(House(linger_ms=60000)) as house:
        c = Client(house.write("p.yaml", SMALL))
        wait_for(lambda: all_work(house, c), "both workers have begun")
        lines = trace(house, house.processes(), 10 if LONG else 4)
        # a call that strace finds a process in, and the first after it, are no wake-ups
        calls = [l for l in lines if "unfinished" not in l and "restart_syscall" not in l and "detached" not in l and "resumed" not in l]
        settled = [l for l in calls if not re.search(r"getpid|poll\(|epoll_wait\(|--- SIG|\+\+\+|prepare|read\(|timerfd", l)]
        assert lines, "strace saw nothing"
        assert len(settled) <= 2 and len(calls) <= 24, "\n".join(calls)
        c.close()


def test_memory_and_descriptors_are_flat_over_50_epochs():
    with entered(House()) as house:
        c = Client(house.write("p.yaml", SMALL))
        seen = []
        wait_for(lambda: all_work(house, c), "both workers have begun")
        for epoch in range(50):
            for _ in range(10):
                c.next().release()
            if epoch in (9, 49):
                roles = house.roles()
                pids = roles["supervisor"] + roles["disp"] + roles["work"]
                assert len(pids) == 4
                seen.append([(anonymous_kb(p), len(os.listdir(f"/proc/{p}/fd"))) for p in pids])
        c.close()
        for (before, fds_before), (after, fds_after) in zip(*seen):
            assert SANITIZED or after <= before + 256, seen  # the sanitizer keeps freed memory
            assert fds_after == fds_before, seen
        if not SANITIZED:
            supervisor, dispatcher, *workers = [kb for kb, _ in seen[1]]
            assert supervisor <= 8 << 10 and dispatcher <= 12 << 10 and max(workers) <= 8 << 10, seen


def test_no_payload_in_sockets():
    with entered(House(linger_ms=5000)) as house:
        os.mkdir(house.path("d"))
        for i in range(64):
            house.write(f"d/{i}.bin", os.urandom(1 << 20))
        c = Client(house.write("p.yaml", f"""version: 1
epochs: forever
memory: 128MiB
sample_max: 1MiB
source: {{files: "d/*.bin"}}
workers: {{count: 2, steps: [{{select: data}}]}}
post_main: [{{batch: 8}}]
"""))
        c.next().release()
        pids = house.processes()
        out = house.path("strace")
        command = ["strace", "-f", "-o", out, "-e", "trace=sendto,sendmsg,write,writev"]
        for pid in pids:
            command += ["-p", str(pid)]
        tracer = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        wait_for(lambda: all(f"TracerPid:\t{tracer.pid}" in open(f"/proc/{p}/status").read() for p in pids), "strace is attached")
        payload = 0
        for _ in range(20):
            b = c.next()
            payload += len(b.bytes())
            b.release()
        tracer.terminate()
        tracer.wait()
        sent = [int(m) for m in re.findall(r"(?:sendto|sendmsg|write|writev)(?:\(| resumed).*= (\d+)$", open(out).read(), re.M)]
        assert payload == 20 * 8 << 20
        assert sent and sum(sent) < payload / 100 and max(sent) < 8192, (sum(sent), max(sent))
        c.close()


if __name__ == "__main__":
    run_tests(sys.modules[__name__])
