"""tests/proc/machine.py - what the supervisor's tests share: a daemon of their own, and a client of forty lines that shares no code with it."""
import array, json, os, shutil, signal, socket, subprocess, sys, tempfile, threading, time

from jobs import DAEMON, is_alive, run_tests, wait_for

DEADLINE = 60.0  # seconds that anything may take on a busy machine

RANGE = """version: 1
source: {range: {count: 1000}}
workers:
  count: 2
  steps:
    - filter: value >= 0
post_main:
  steps:
    - batch: {size: 10}
"""


def until(what, condition):
    return wait_for(condition, what, DEADLINE)


def varint(n):
    n &= (1 << 64) - 1
    out = b""
    while n > 0x7F:
        out += bytes([n & 0x7F | 0x80])
        n >>= 7
    return out + bytes([n])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def fields(data):
    """{number: [values]} of a message."""
    out, at = {}, 0

    def read():
        nonlocal at
        n = shift = 0
        while True:
            byte = data[at]
            at += 1
            n |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return n

    while at < len(data):
        tag = read()
        if tag & 7 == 0:
            value = read()
        else:
            assert tag & 7 == 2, f"wire type {tag & 7}"
            n = read()
            value = data[at:at + n]
            at += n
        out.setdefault(tag >> 3, []).append(value)
    return out


def signed(n):
    return n - (1 << 64) if n >= 1 << 63 else n


def error(f):
    """(code, exit_status, text) of an Error's fields."""
    return signed(f.get(1, [0])[0]), f.get(3, [0])[0], f[2][0].decode()


KINDS = dict(enumerate(["welcome", "batch", "trace", "described", "because", "error", "end", "closed", "answer"], 32))
OPEN, NEXT, ASK = 1, 2, 7


class Client:
    """A connection that speaks the protocol: nothing of libpipeloader."""

    def __init__(self, address):
        self.s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.s.settimeout(DEADLINE)
        self.s.connect(address)

    def send(self, kind, message):
        self.s.send(field(kind, message))

    def open(self, name):
        try:
            self.send(OPEN, field(1, 1) + field(2, name))
        except BrokenPipeError:
            pass  # refused at once: why is there to be received

    def ask(self, what, name="", form=""):
        self.send(ASK, field(1, 1) + field(2, what) + field(3, name) + field(4, form))
        return self.answer()

    def receive(self):
        """(kind, fields), ("hangup", {}) at the end; a descriptor that came is in self.fd."""
        try:
            data, control, _, _ = self.s.recvmsg(65536, socket.CMSG_SPACE(4))
        except ConnectionResetError:
            return "reset", {}
        if not data:
            return "hangup", {}
        for level, kind, body in control:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                self.fd = array.array("i", body)[0]
        (number, (body,)), = fields(data).items()
        return KINDS[number], fields(body)

    def answer(self):
        """(code, exit_status, text) of an Answer in all its pieces, or of an Error."""
        text = b""
        while True:
            kind, f = self.receive()
            if kind == "error":
                return error(f)
            assert kind == "answer", f"an answer was due, not {kind}"
            text += f.get(2, [b""])[0]
            if not f.get(3):
                return signed(f.get(1, [0])[0]), f.get(4, [0])[0], text.decode()

    def welcome(self):
        kind, f = self.receive()
        assert kind == "welcome", f"a welcome was due, not {kind}: {f}"
        return f

    def next(self):
        self.send(NEXT, field(1, 1))
        return self.receive()

    def close(self):
        self.s.close()


class Machine:
    """A machine's daemon with a folder of pipelines, a socket and a service manager of its own."""

    count = 0

    def __init__(self, files=None, env=None, start=True):
        Machine.count += 1
        self.dir = tempfile.mkdtemp(prefix="pipeloader-test-")
        self.folder = os.path.join(self.dir, "pipelines")
        os.mkdir(self.folder)
        for name, text in (files or {"numbers": RANGE}).items():
            self.write(name, text)
        self.name = f"@pipeloader-test/{os.getpid()}/{Machine.count}"
        self.address = "\0" + self.name[1:]
        manager = f"pipeloader-test-notify/{os.getpid()}/{Machine.count}"
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notify.bind("\0" + manager)
        self.told = []
        threading.Thread(target=self.listen, daemon=True).start()
        self.env = dict(os.environ, NOTIFY_SOCKET="@" + manager, **(env or {}))
        for name in ("PIPELOADER_SOCKET", "PIPELOADER_LOG", "PIPELOADER_LOG_LEVEL"):
            self.env.pop(name, None)
        self.log_path = os.path.join(self.dir, "log")
        self.args = [DAEMON, "--pipelines", self.folder, "--socket", self.name]
        self.p = None
        if start:
            self.start()

    def write(self, name, text):
        with open(os.path.join(self.folder, name + ".yaml"), "w") as f:
            f.write(text)

    def start(self):
        with open(self.log_path, "a") as log:
            self.p = subprocess.Popen(self.args, env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.wait_for("READY=1")

    def listen(self):
        """As a service manager does: what the daemon says is taken at once."""
        while text := self.notify.recv(4096):
            self.told += text.decode().split("\n")

    def wait_for(self, line):
        def there():
            assert self.p.poll() is None, f"the daemon ended with {self.p.returncode}:\n{self.log()}"
            return any(t.startswith(line) for t in self.told)
        until(f"the daemon says {line}", there)

    def log(self):
        if not os.path.exists(self.log_path):
            return ""
        with open(self.log_path, errors="replace") as f:
            return f.read()

    def client(self):
        return Client(self.address)

    def met(self, name):
        """A client and the first message it gets. One that came in the moment of a dispatcher's death is reset, and comes again."""
        end = time.monotonic() + DEADLINE
        while True:
            c = self.client()
            c.open(name)
            kind, facts = c.receive()
            if kind not in ("hangup", "reset"):
                return c, kind, facts
            assert time.monotonic() < end, f"nothing but {kind}"
            c.close()

    def opened(self, name="numbers"):
        """A client with its Welcome in `facts`."""
        c, kind, facts = self.met(name)
        c.facts = facts
        assert kind == "welcome", f"a welcome was due, not {kind}: {c.facts}"
        return c

    def refused(self, name="numbers"):
        """(code, exit_status, text) of the error that an open gets."""
        _, kind, f = self.met(name)
        assert kind == "error", f"an error was due, not {kind}"
        return error(f)

    def status(self, name=""):
        code, status, text = self.client().ask("status", name)
        assert (code, status) == (0, 0), text
        root = json.loads(text)
        return next((p for p in root["pipelines"] if p["name"] == name), None) if name else root

    def children(self):
        return children(self.p.pid)

    def stop(self, how=signal.SIGTERM):
        if self.p.poll() is None:
            self.p.send_signal(how)
        return self.p.wait(DEADLINE)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self.p:
            self.stop(signal.SIGKILL if kind else signal.SIGTERM)
        if kind:
            print(self.log()[-4000:], file=sys.stderr)
        self.notify.shutdown(socket.SHUT_RDWR)
        shutil.rmtree(self.dir, ignore_errors=True)


class Job(Machine):
    """A job's daemon, started as the library does: with its listening socket as descriptor 3."""

    def __init__(self, text=RANGE, args=(), env=None):
        self.args_after = list(args)
        super().__init__(files={"numbers": text}, env=env)

    def start(self):
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listening.bind(self.address)
        listening.listen(64)
        fd = listening.fileno()
        command = f'exec 3<&{fd}; LISTEN_FDS=1 LISTEN_PID=$$ exec "$@"'
        self.env["PIPELOADER_LOG"] = self.log_path
        file = os.path.join(self.folder, "numbers.yaml")
        self.p = subprocess.Popen(["bash", "-c", command, "sh", DAEMON, "--job", file, *self.args_after], env=self.env,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=[fd], start_new_session=True)
        listening.close()

    def __exit__(self, kind, value, trace):
        self.stop(signal.SIGKILL)
        super().__exit__(kind, value, trace)


def children(pid):
    """{pid: name} of a process's living children."""
    out = {}
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as f:
            pids = f.read().split()
    except (FileNotFoundError, ProcessLookupError):
        return out
    for child in filter(is_alive, map(int, pids)):
        try:
            with open(f"/proc/{child}/comm") as f:
                out[child] = f.read().strip()
        except (FileNotFoundError, ProcessLookupError):
            pass
    return out
