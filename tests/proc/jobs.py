"""tests/proc/jobs.py - what the whole-daemon tests share: where the programs are, job daemons of one's own, waiting with a deadline."""
import json, os, re, shutil, signal, subprocess, sys, tempfile, time, traceback

ROOT = os.environ.get("PL_SOURCE") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("PL_BUILD") or os.path.join(ROOT, "build", "release")
DAEMON = os.path.join(BUILD, "pipeloaderd")
CTL = os.path.join(BUILD, "pipeloaderctl")
LONG = bool(os.environ.get("PL_LONG"))
SANITIZED = b"__asan_init" in open(DAEMON, "rb").read()


class House:
    """A folder and a job id of the test's own, so that nothing is shared with other tests; everything is gone at the end."""

    def __init__(self, linger_ms=300, **env):
        self.dir = tempfile.mkdtemp(prefix="pipeloader-test-")
        self.env = dict((k, v) for k, v in os.environ.items() if k != "LD_PRELOAD")
        self.env.update(env, PIPELOADERD=DAEMON, PIPELOADER_JOB_ID=os.path.basename(self.dir),
                        PIPELOADER_LINGER_MS=str(linger_ms), PIPELOADER_LOG=os.path.join(self.dir, "log"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pid in self.daemons():
            os.kill(pid, signal.SIGKILL)
        wait_for(lambda: not self.processes(), "every process of the test is gone")
        shutil.rmtree(self.dir)

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, text):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb" if isinstance(text, bytes) else "w") as f:
            f.write(text)
        return path

    def ctl(self, *args, timeout=120, **kw):
        return subprocess.run([CTL, *args], env=self.env, cwd=self.dir, capture_output=True, text=True, timeout=timeout, **kw)

    def start(self, *args, **kw):
        return subprocess.Popen([CTL, *args], env=self.env, cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **kw)

    def cat(self, *args, **kw):
        """Batches of `pipeloaderctl cat --json --values all`, as Python objects."""
        done = self.ctl("cat", *args, "--json", "--values", "all", **kw)
        assert done.returncode == 0, f"cat {args}: exit {done.returncode}: {done.stderr}"
        return [json.loads(line) for line in done.stdout.split("\n") if line]  # splitlines() would cut inside of texts

    def processes(self):
        """pids of every pipeloaderd process of this test, by the job id in the environment it was started with."""
        mark = f"PIPELOADER_JOB_ID={self.env['PIPELOADER_JOB_ID']}".encode()
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.path.realpath(f"/proc/{pid}/exe") == os.path.realpath(DAEMON) and mark in open(f"/proc/{pid}/environ", "rb").read().split(b"\0"):
                    found.append(int(pid))
            except OSError:
                pass
        return found

    def daemons(self):
        """Of those, the supervisors: whose parent isn't one of them."""
        mine = set(self.processes())
        return [pid for pid in mine if parent(pid) not in mine]

    def roles(self):
        """{"disp": [pids], "work": [pids], "supervisor": [pids]} by process name."""
        out = {"supervisor": [], "disp": [], "work": []}
        for pid in self.processes():
            name = comm(pid)
            role = "disp" if name.startswith("pl:disp") else "work" if name.startswith("pl:work") else "supervisor"
            out[role].append(pid)
        return out


def parent(pid):
    try:
        return int(re.search(r"^PPid:\s+(\d+)", open(f"/proc/{pid}/status").read(), re.M).group(1))
    except OSError:
        return 0


def comm(pid):
    try:
        return open(f"/proc/{pid}/comm").read().strip()
    except OSError:
        return ""


def is_alive(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def wait_for(condition, what, seconds=30):
    """Polls a condition until it holds; fails with `what` at the deadline. Returns the condition's value."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.005)


def run_tests(module):
    """Runs every function test_* of the module in order; the last line is ctest's to read."""
    passed = failed = 0
    only = sys.argv[1:]
    for name, test in list(vars(module).items()):
        if not name.startswith("test_") or (only and name not in only):
            continue
        began = time.monotonic()
        try:
            test()
            passed += 1
            print(f"ok   {name} {time.monotonic() - began:.1f} s", flush=True)
        except Exception:
            failed += 1
            print(f"FAIL {name}", flush=True)
            traceback.print_exc()
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0 or passed == 0)
