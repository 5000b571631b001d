#!/usr/bin/env python3
"""Fails when a file includes a room it may not see, when a library's header leaves its one file, when a process is born where none should be,
or when a file or function outgrows the house.  usage: check_layers.py ROOT   needs universal-ctags, no build"""
import json, os, re, subprocess, sys

MAY_SEE = {  # room -> rooms it may include (itself is implied)
    "proto": {"proto/tensor"},
    "proto/tensor": set(),
    "proto/einops": {"proto/tensor"},
    "client": {"proto", "proto/tensor", "proto/einops"},
    "client/ctl": {"client", "proto", "proto/tensor"},
    "daemon/kit": {"proto", "proto/tensor"},
    "daemon/ops": {"daemon/kit", "proto", "proto/tensor", "proto/einops"},
    "daemon/sources": {"daemon/kit", "proto", "proto/tensor"},
    "daemon/sys": {"proto"},
    "daemon/plan": {"daemon/kit", "daemon/sys", "proto", "proto/tensor"},
    "daemon/serve": {"daemon/sys", "proto", "proto/tensor"},
    "daemon/flow": {"daemon/plan", "daemon/serve", "daemon/kit", "daemon/sys", "proto", "proto/tensor"},
    "daemon": {"daemon/flow", "daemon/serve", "daemon/plan", "daemon/kit", "daemon/sys",
               "daemon/ops", "daemon/sources", "proto", "proto/tensor"},
}
BASE = {"proto/base.h", "proto/err.h"}  # under everything, like libc
ONLY_IN = {r"zmq\.h": r"daemon/sys/z\w+\.c", r"yaml\.h": r"daemon/plan/yaml\.c",
           r"systemd/.*": r"daemon/\w+\.[ch]|daemon/(sys|serve|flow)/\w+\.[ch]",
           r"protobuf-c/.*|.*pb-c\.h": r"proto/(wire|bump)\.[ch]",
           r"jpeglib\.h|jerror\.h": r"daemon/ops/decode_jpeg\w*\.c", r"spng\.h": r"daemon/ops/decode_png\w*\.c",
           r"webp/.*": r"daemon/ops/decode_webp\w*\.c",
           r"sndfile\.h": r"daemon/ops/decode_audio\w*\.c", r"samplerate\.h": r"daemon/ops/resample_audio\.c",
           r"zlib\.h|zstd\.h|lzma\.h": r"daemon/sources/(unpack|inflate)\.c"}
BIRTH = r"\b(v?fork|clone3?|posix_spawnp?)\s*\("
BIRTHPLACES = {"daemon/supervisor.c", "client/launch.c", "client/ctl/run.c", "client/ctl/bench.c"}
GENERATED = {"pipeloader.pb-c.h"}
MAX_FUNCTION, MAX_FILE = 60, 600


def room(path):
    folder = os.path.dirname(path)
    while folder and folder not in MAY_SEE:
        folder = os.path.dirname(folder)
    return folder or None


def sources(root):
    for top in ("proto", "client", "daemon"):
        for folder, _, names in os.walk(os.path.join(root, top)):
            yield from (os.path.join(folder, n) for n in names if n.endswith((".c", ".h")))


def includes(path, text):
    here = room(path)
    for kind, name in re.findall(r'^\s*#\s*include\s+(["<])([^">]+)[">]', text, re.M):
        there = room(name) if kind == '"' and name not in GENERATED else None
        if kind == '"' and there is None and name not in GENERATED:
            yield f'{path}: #include "{name}" does not name its room'
        elif there and there != here and there not in MAY_SEE[here] and name not in BASE:
            yield f"{path}: {here} may not see {there} ({name})"
        for pattern, home in ONLY_IN.items():
            if re.fullmatch(pattern, name) and not re.fullmatch(home, path):
                yield f"{path}: <{name}> belongs in {home}"


def long_functions(root, files):
    tags = subprocess.run(["ctags", "-L", "-", "--languages=C", "--langmap=C:.c.h", "--kinds-C=f", "--fields=+ne", "--output-format=json",
                           "-f", "-"], input="\n".join(files), text=True, capture_output=True, check=True).stdout
    for tag in map(json.loads, tags.splitlines()):
        n = tag.get("end", tag["line"]) - tag["line"] + 1
        if n > MAX_FUNCTION:
            yield f"{os.path.relpath(tag['path'], root)}:{tag['line']}: {tag['name']} is {n} lines > {MAX_FUNCTION}"


def main(root):
    files, bad = sorted(sources(root)), []
    for file in files:
        path, text = os.path.relpath(file, root), open(file, errors="replace").read()
        bad += includes(path, text)
        if re.search(BIRTH, text) and path not in BIRTHPLACES:
            bad.append(f"{path}: processes are born in {', '.join(sorted(BIRTHPLACES))} only")
        if not text.startswith(f"/* {path} - "):
            bad.append(f"{path}: the first line is /* {path} - one sentence. */")
        if text.count("\n") > MAX_FILE:
            bad.append(f"{path}: {text.count(chr(10))} lines > {MAX_FILE}")
    bad += long_functions(root, files)
    print("\n".join(bad) or f"layers: {len(files)} files in order")
    return bool(bad) or not files


sys.exit(main(sys.argv[1]))
