"""tar and tfrecord deliver the bytes that Python's own readers and writers have, at 100,000 members."""
import io, random, sys, tarfile
from jobs import *
from tfrecords import *

N = 5000 if SANITIZED else 25000  # samples; four members each

TAR = """version: 1
memory: 512MiB
source: {{tar: {{path: "{path}", fields: {{a: bytes a, b: bytes b, c: text c.txt, n: i64 n}}, index: {index}}}}}
workers: [select: [a, b, c, n, _key]]
post_main: [batch: 500]
"""


def texts(n, seed):
    """Short printable payloads of many lengths, empty ones too."""
    draw = random.Random(seed)
    return ["".join(draw.choices("abcdefghij", k=draw.choice((0, 1, 7, 30, 511, 512, 513)))) if i % 50 == 0 else f"{i}" * (i % 4) for i in range(n)]


def key_of(i):
    return f"dir.{i % 3}/" + ("long" * 60 + "/" if i % 1000 == 7 else "") + f"{i:07}"


def write_tar(path, n, format):
    payload = texts(n, 1)
    mode = {"gz": "w:gz", "xz": "w:xz"}.get(path.rsplit(".", 1)[1], "w")
    with tarfile.open(path, mode, format=format) as tar:
        for i in range(n):
            for suffix, data in (("a", payload[i].encode()), ("b", payload[-i].encode()), ("c.txt", payload[i // 2].encode()), ("n", b"%d\n" % i)):
                info = tarfile.TarInfo(f"{key_of(i)}.{suffix}")
                info.size = len(data)
                if format == tarfile.PAX_FORMAT and i % 100 == 3:
                    info.pax_headers = {"comment": "x" * 700, "mtime": "1.5"}
                tar.addfile(info, io.BytesIO(data))


def read_tar(path):
    """What tarfile itself reads: (key, a, b, c, n) by sample."""
    out = []
    with tarfile.open(path) as tar:
        members = iter(tar)
        for first in members:
            group = [first, next(members), next(members), next(members)]
            a, b, c, n = (tar.extractfile(m).read().decode() for m in group)
            out.append((first.name[:-2], a, b, c, int(n)))
    return out


def batches(house, config):
    for batch in house.cat(house.write("p.yaml", config), timeout=300):
        yield batch


def compare_tar(format, name, n, index="none"):
    with House() as house:
        write_tar(house.path(name), n, format)
        wanted = read_tar(house.path(name))
        assert len(wanted) == n
        got = []
        for batch in batches(house, TAR.format(path=name, index=index)):
            got += rows(batch, ("_key", "a", "b", "c", "n"))
        for w, g in zip(wanted, got):
            assert w == g, (w, g)
        assert len(got) == n, len(got)


def rows(batch, names):
    return list(zip(*(column(batch["fields"][name]) for name in names)))


def column(f):
    if "offsets" in f:
        values, at = bytes(f["values"]), f["offsets"]
        return [values[at[i]:at[i + 1]].decode() for i in range(len(at) - 1)]
    width = len(f["values"]) // f["shape"][0]
    return f["values"] if len(f["shape"]) == 1 else [f["values"][i:i + width] for i in range(0, len(f["values"]), width)]


def test_ustar():
    compare_tar(tarfile.GNU_FORMAT, "gnu.tar", N)


def test_pax():
    compare_tar(tarfile.PAX_FORMAT, "pax.tar", N, "auto")


def test_gzip():
    compare_tar(tarfile.GNU_FORMAT, "gnu.tar.gz", 2000)


def test_xz():
    compare_tar(tarfile.PAX_FORMAT, "pax.tar.xz", 2000)


def test_tfrecord():
    with House() as house:
        payload = texts(N, 2)
        with open(house.path("a.tfrecord"), "wb") as f:
            for i in range(N):
                f.write(record(example({"x": [payload[i].encode()], "y": [-i], "z": [i / 4] * 3, "other": [1, 2, 3]})))
        config = "version: 1\nmemory: 512MiB\nsource: {tfrecord: {path: a.tfrecord, fields: {x: bytes, y: i64, z: f32(3)}}}\nworkers: none\npost_main: [batch: 500]\n"
        at = 0
        for batch in batches(house, config):
            for x, y, z in rows(batch, ("x", "y", "z")):
                assert (x, y, z) == (payload[at], -at, [at / 4] * 3), (at, x, y, z)
                at += 1
        assert at == N, at


if __name__ == "__main__":
    run_tests(sys.modules[__name__])
