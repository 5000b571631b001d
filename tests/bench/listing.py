#!/usr/bin/env python3
"""What a large listing costs: seconds to the first batch, bytes a file in the listing, and each process's private memory.

usage: python3 tests/bench/listing.py [--files N] [--folder KEEP]      ImageNet-like names, empty files; needs a release build
"""
import argparse, json, os, re, shutil, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "proc"))
from jobs import House, comm
from lib import Client, entered


def make(folder, n):
    for i in range(n):
        if i % 1000 == 0:
            sub = os.path.join(folder, f"n{i // 1000:08}")
            os.makedirs(sub, exist_ok=True)
        os.close(os.open(os.path.join(sub, f"n{i // 1000:08}_{i % 1000:05}.JPEG"), os.O_CREAT | os.O_WRONLY))


def listing_bytes(pid):
    """Size of the mapped listing of a process."""
    for line in open(f"/proc/{pid}/maps"):
        if "listing" in line:
            low, high = line.split()[0].split("-")
            return int(high, 16) - int(low, 16)
    return 0


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--files", type=int, default=1_000_000)
    options.add_argument("--folder", default="")
    options = options.parse_args()
    folder = options.folder or tempfile.mkdtemp(prefix="pipeloader-files-", dir="/var/tmp")
    try:
        if not os.path.isdir(folder) or not os.listdir(folder):
            make(folder, options.files)
        with entered(House(linger_ms=1000)) as house:
            path = house.write("p.yaml", f"""version: 1
epochs: forever
source: {{files: {{path: "{folder}/*/*.JPEG", label: folder}}}}
pre_main: [shuffle]
workers: {{count: 2, steps: [{{select: label}}]}}
post_main: [{{batch: 1000}}]
""")
            began = time.monotonic()
            client = Client(path)
            client.next().release()
            print(f"first batch after {time.monotonic() - began:.2f} s, listing and start included")
            for _ in range(3000):
                client.next().release()
            for pid in sorted(house.processes()):
                kb = re.search(r"^Anonymous:\s+(\d+) kB", open(f"/proc/{pid}/smaps_rollup").read(), re.M).group(1)
                print(f"{comm(pid):16} Anonymous {kb:>6} kB   listing {listing_bytes(pid) / options.files:5.1f} bytes a file")
            client.close()
    finally:
        if not options.folder:
            shutil.rmtree(folder)


main()
