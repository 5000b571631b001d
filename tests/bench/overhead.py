#!/usr/bin/env python3
"""What the daemon itself costs, in one run beside a peer and the machine: medians of rounds taken in turn.

usage: python3 tests/bench/overhead.py [--seconds S] [--rounds N]      needs a release build; the peer needs python3-torch
  range   range(1,000,000) -> batch of 256, two workers, against PyTorch's DataLoader with two workers
  pass    1 MiB rows of a .npy file -> batch of 16, against memcpy of 1 MiB blocks
  files   the same bytes as files of unknown length: through a cell, copied once more in the dispatcher
  first   from exec of a client to the first batch of a small pipeline, through a job daemon that has to start
"""
import argparse, os, re, shutil, statistics, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("PL_BUILD") or os.path.join(ROOT, "build", "release")
CONSUME = os.path.join(BUILD, "tests", "consume")
PYTHON = "/usr/bin/python3"

RANGE = """version: 1
epochs: forever
source: {range: 1000000}
workers: {count: 2, steps: [{cast: {field: value, dtype: i64}}]}
post_main: {prefetch: 16, steps: [{batch: 256}]}
"""
PASS = """version: 1
epochs: forever
memory: 256MiB
source: {npy: "%s/rows.npy"}
workers: {count: 2, steps: [{select: data}]}
post_main: [{batch: 16}]
"""
FILES = """version: 1
epochs: forever
memory: 256MiB
sample_max: 1MiB
source: {files: "%s/*.bin"}
workers: {count: 2, steps: [{select: data}]}
post_main: [{batch: 16}]
"""
FIRST = """version: 1
source: {range: 100}
workers: {count: 2, steps: [{cast: {field: value, dtype: i64}}]}
post_main: [{batch: 10}]
"""


def run(*command, fresh=0):
    env = dict(os.environ, PIPELOADERD=os.path.join(BUILD, "pipeloaderd"), PIPELOADER_JOB_ID=f"bench-{os.getpid()}-{fresh}",
               PIPELOADER_LINGER_MS="100")
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command}: {done.stderr}")
    return {k: float(v) for k, v in re.findall(r"(\w+)=([\d.e+-]+)", done.stdout)}


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seconds", type=float, default=4)
    options.add_argument("--rounds", type=int, default=3)
    options = options.parse_args()
    folder = tempfile.mkdtemp(prefix="pipeloader-bench-")
    figures = {}

    def note(name, value):
        figures.setdefault(name, []).append(value)

    def write(name, text):
        with open(os.path.join(folder, name), "w") as f:
            f.write(text)
        return f.name

    try:
        data = os.path.join(folder, "data")
        os.mkdir(data)
        for i in range(128):
            with open(os.path.join(data, f"{i:03}.bin"), "wb") as f:
                f.write(os.urandom(1 << 20))
        head = "{'descr': '|u1', 'fortran_order': False, 'shape': (128, 1048576), }".ljust(117) + "\n"
        with open(os.path.join(data, "rows.npy"), "wb") as f:
            f.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode())
            for i in range(128):
                f.write(os.urandom(1 << 20))
        os.sync()  # what was just written must not compete with what is measured
        files = {"range": write("range.yaml", RANGE), "pass": write("pass.yaml", PASS % data), "files": write("files.yaml", FILES % data), "first": write("first.yaml", FIRST)}
        has_torch = subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode == 0
        for n in range(options.rounds):
            note("range samples/s", run(CONSUME, files["range"], str(options.seconds))["samples_per_s"])
            if has_torch:
                peer = run(PYTHON, os.path.join(ROOT, "tests", "bench", "peer_torch.py"), str(options.seconds))
                note("torch samples/s", peer["samples_per_s"])
            note("memcpy GB/s", run(CONSUME, "memcpy")["bytes_per_s"] / 1e9)
            for name in ("pass", "files"):
                note(name + " GB/s", run(CONSUME, files[name], str(options.seconds))["bytes_per_s"] / 1e9)
            for k in range(5):
                note("first batch ms", run(CONSUME, files["first"], "1", fresh=n * 5 + k)["first_s"] * 1e3)
    finally:
        shutil.rmtree(folder)
    m = {name: statistics.median(values) for name, values in figures.items()}
    for name, value in m.items():
        print(f"{name:18} {value:14.4g}   of {len(figures[name])}: {min(figures[name]):.4g} to {max(figures[name]):.4g}")
    if has_torch:
        print(f"range / torch      {m['range samples/s'] / m['torch samples/s']:14.3g}")
    print(f"pass / memcpy      {m['pass GB/s'] / m['memcpy GB/s']:14.3g}")


main()
