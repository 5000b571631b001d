#!/usr/bin/env python3
"""Packs a folder of fuzz inputs into one file that the tests replay: u32 length, bytes, and so on, sorted, without repeats.
usage: pack_corpus.py FOLDER FILE        unpack: pack_corpus.py --unpack FILE FOLDER"""
import os, struct, sys


def unpack(path):
    data, at = open(path, "rb").read(), 0
    while at < len(data):
        n, = struct.unpack_from("<I", data, at)
        yield data[at + 4:at + 4 + n]
        at += 4 + n


if sys.argv[1] == "--unpack":
    os.makedirs(sys.argv[3], exist_ok=True)
    for i, item in enumerate(unpack(sys.argv[2])):
        open(os.path.join(sys.argv[3], f"{i:05}"), "wb").write(item)
else:
    items = sorted({open(os.path.join(sys.argv[1], n), "rb").read() for n in os.listdir(sys.argv[1])})
    with open(sys.argv[2], "wb") as f:
        for item in items:
            f.write(struct.pack("<I", len(item)) + item)
    print(f"{len(items)} inputs")
