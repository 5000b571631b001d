"""tests/proc/lib.py - libpipeloader through ctypes, as far as the tests need it."""
import contextlib, ctypes as c, os, subprocess, sys
from jobs import BUILD, SANITIZED

if SANITIZED and "LD_PRELOAD" not in os.environ:  # the library needs its runtime loaded first; Python's own leaks are not ours
    runtime = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True).stdout.strip()
    os.execve(sys.executable, [sys.executable, *sys.argv],
              dict(os.environ, LD_PRELOAD=runtime, ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"))

_lib = c.CDLL(os.path.join(BUILD, "libpipeloader.so.0"))


class Error(c.Structure):
    _fields_ = [("code", c.c_int), ("exit_status", c.c_int), ("text", c.c_char * 16384)]


class Options(c.Structure):
    _fields_ = [("size", c.c_size_t), ("socket", c.c_char_p), ("params", c.c_void_p), ("n_params", c.c_size_t), ("mode", c.c_int),
                ("group", c.c_char_p), ("rank", c.c_uint32), ("world_size", c.c_uint32), ("members", c.c_uint32), ("token", c.c_char_p),
                ("token_bytes", c.c_size_t), ("epoch", c.c_int64), ("open_timeout_ms", c.c_int), ("reconnect_ms", c.c_int),
                ("name", c.c_char_p), ("wants_trace", c.c_bool), ("credits", c.c_uint32), ("more", c.c_void_p * 8)]


class Tensor(c.Structure):
    _fields_ = [("data", c.c_void_p), ("dtype", c.c_int), ("rank", c.c_int), ("shape", c.c_int64 * 16), ("stride", c.c_int64 * 16)]


for name, result, arguments in [
        ("pl_client_options_init", None, [c.POINTER(Options)]),
        ("pl_client_open", c.c_void_p, [c.c_char_p, c.POINTER(Options), c.POINTER(Error)]),
        ("pl_client_next", c.c_int, [c.c_void_p, c.c_int, c.POINTER(c.c_void_p), c.POINTER(Error)]),
        ("pl_client_close", None, [c.c_void_p]), ("pl_batch_release", c.c_int, [c.c_void_p]),
        ("pl_client_state", c.c_size_t, [c.c_void_p, c.c_void_p, c.c_size_t]), ("pl_batch_size", c.c_uint64, [c.c_void_p]),
        ("pl_batch_number", c.c_uint64, [c.c_void_p]), ("pl_batch_epoch", c.c_uint64, [c.c_void_p]),
        ("pl_batch_tensor_at", c.POINTER(Tensor), [c.c_void_p, c.c_size_t]), ("pl_client_daemon_pid", c.c_int, [c.c_void_p]),
        ("pl_client_dispatcher_pid", c.c_int, [c.c_void_p]), ("pl_client_birth", c.c_uint64, [c.c_void_p])]:
    function = getattr(_lib, name)
    function.restype, function.argtypes = result, arguments

END = 1


class Failed(Exception):
    def __init__(self, error):
        super().__init__(f"{error.code} {error.text.decode(errors='replace')}")
        self.code, self.exit_status = error.code, error.exit_status


class Batch:
    def __init__(self, handle):
        self.handle = handle
        self.epoch, self.number, self.size = _lib.pl_batch_epoch(handle), _lib.pl_batch_number(handle), _lib.pl_batch_size(handle)

    def bytes(self, i=0):
        """Field i's memory, copied now: it is contiguous in these tests."""
        t = _lib.pl_batch_tensor_at(self.handle, i).contents
        n = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 2, 8: 4, 9: 8, 10: 2, 11: 2, 12: 4, 13: 8}[t.dtype]
        for d in range(t.rank):
            n *= t.shape[d]
        return c.string_at(t.data, n)

    def release(self):
        return _lib.pl_batch_release(self.handle)


class Client:
    """Options by name; needs the environment of a jobs.House in os.environ."""

    def __init__(self, what, **options):
        o, self.error = Options(), Error()
        _lib.pl_client_options_init(o)
        for key, value in options.items():
            if key == "token":
                o.token_bytes = len(value)
            setattr(o, key, value.encode() if isinstance(value, str) else value)
        self.handle = _lib.pl_client_open(what.encode(), o, self.error)
        if not self.handle:
            raise Failed(self.error)

    def next(self, timeout_ms=30000):
        """A Batch, or None at the end."""
        out = c.c_void_p()
        r = _lib.pl_client_next(self.handle, timeout_ms, out, self.error)
        if r == END:
            return None
        if r:
            raise Failed(self.error)
        return Batch(out.value)

    def state(self):
        n = _lib.pl_client_state(self.handle, None, 0)
        out = c.create_string_buffer(n)
        _lib.pl_client_state(self.handle, out, n)
        return out.raw

    daemon = property(lambda self: _lib.pl_client_daemon_pid(self.handle))
    dispatcher = property(lambda self: _lib.pl_client_dispatcher_pid(self.handle))
    birth = property(lambda self: _lib.pl_client_birth(self.handle))

    def close(self):
        _lib.pl_client_close(self.handle)
        self.handle = None


@contextlib.contextmanager
def entered(house):
    """A House whose environment is this process's own for a while: the library reads it."""
    saved = dict(os.environ)
    os.environ.update(house.env)
    try:
        with house:
            yield house
    finally:
        os.environ.clear()
        os.environ.update(saved)
