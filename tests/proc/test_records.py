"""What jsonl, csv and text deliver is what Python's json and csv read, for many records, packed and plain, whatever the order."""
import csv, gzip, json, lzma, os, random, subprocess, sys
from jobs import *

N = 100_000
PARTS = ["", " ", "a", "word", "\"", "\"\"", "\\", "\n", "\r\n", "\r", ",", ";", "\t", "é", "\u2028", "\u2029", "\u0085", "\U0001f600", "\ufeff", "0",
         "null", "\x0b", "\x1f", "\x7f", "{", "]", "中文"]
ODD_FLOATS = [0.0, -0.0, 0.1, 1e23, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 123456789.123456789, -1e-7, 1 / 3]


def records(n):
    draw = random.Random(7)
    for i in range(n):
        yield {"i": draw.choice([i, -i, draw.getrandbits(63), -draw.getrandbits(63)]),
               "x": draw.choice(ODD_FLOATS) if i % 3 else draw.uniform(-1e6, 1e6),
               "t": "".join(draw.choice(PARTS) for _ in range(draw.randrange(8)))}


def run(house, source, order="[]", workers=2, select="[i, x, t]"):
    house.write("p.yaml", f"""version: 1
epochs: 1
seed: 3
source: {source}
pre_main: {order}
workers: {{count: {workers}, steps: [select: {select}]}}
post_main: [batch: 1000]
""")
    fields = {}
    for batch in house.cat("p.yaml", timeout=300):
        for name, field in batch["fields"].items():
            fields.setdefault(name, []).extend(field["values"])
    return fields


def compare(fields, wanted):
    for name in ("i", "x", "t"):
        assert len(fields[name]) == len(wanted), (name, len(fields[name]), len(wanted))
        for k, (got, row) in enumerate(zip(fields[name], wanted)):
            assert got == row[name], (name, k, got, row[name])


def json_lines(wanted):
    draw = random.Random(1)
    lines = []
    for k, row in enumerate(wanted):
        items = list(row.items()) + [("other", [1, {"t": "no"}, None])]
        draw.shuffle(items)
        lines.append(json.dumps(dict(items), ensure_ascii=k % 2 == 0, indent=None, separators=(", ", ": ") if k % 5 else (",", ":")))
        if k % 1000 == 0:
            lines.append("  \t")
    return "\n".join(lines).encode()


def test_jsonl_is_what_python_reads():
    wanted = list(records(N))
    text = json_lines(wanted)
    assert [json.loads(l)["t"] for l in text.split(b"\n") if l.strip()] == [row["t"] for row in wanted]
    with House() as house:
        house.write("a.jsonl", text)
        compare(run(house, "{jsonl: {path: a.jsonl, fields: {i: i64, x: f64, t: text}}}"), wanted)


def test_csv_is_what_python_reads():
    wanted = list(records(N))
    with House() as house:
        with open(house.path("a.csv"), "w", newline="", encoding="utf-8") as f:
            writer = csv.DictWriter(f, ["t", "i", "x"], lineterminator="\r\n")
            writer.writeheader()
            writer.writerows(wanted)
        with open(house.path("a.csv"), newline="", encoding="utf-8") as f:
            assert [row["t"] for row in csv.DictReader(f)] == [row["t"] for row in wanted]
        compare(run(house, "{csv: {path: a.csv, fields: {i: i64, x: f64, t: text}}}"), wanted)


def test_packed_files_and_shuffled_ones():
    wanted = list(records(3000))
    text = json_lines(wanted)
    lines = text.split(b"\n")
    half = len(lines) // 2
    with House() as house:
        first, second = b"\n".join(lines[:half]) + b"\n", b"\n".join(lines[half:])
        house.write("1.jsonl.gz", gzip.compress(first[:5000]) + gzip.compress(first[5000:]))
        house.write("2.jsonl.xz", lzma.compress(second))
        source = '{jsonl: {path: "{1..2}.jsonl.*", fields: {i: i64, x: f64, t: text}}}'
        compare(run(house, source, workers=3), wanted)
        fields = run(house, source, order="[shuffle: {block: 100, window: 2}]")
        key = lambda row: (row["i"], row["t"], row["x"])
        got = [dict(zip("ixt", v)) for v in zip(fields["i"], fields["x"], fields["t"])]
        assert got != wanted and sorted(got, key=key) == sorted(wanted, key=key)


def test_text_is_every_line():
    draw = random.Random(2)
    lines = ["".join(draw.choice(PARTS) for _ in range(draw.randrange(6))).replace("\n", "").rstrip("\r") for _ in range(N)]
    lines[0] = "first" + lines[0]
    with House() as house:
        house.write("a.txt", "\n".join(lines + [""]).encode())
        fields = run(house, "{text: a.txt}", select="[text, _key]")
        assert fields["text"] == lines
        where = os.path.realpath(house.path("a.txt"))
        assert [os.path.realpath(k.rsplit(":", 1)[0]) for k in fields["_key"][::9999]] == [where] * len(fields["_key"][::9999])
        assert [int(k.rsplit(":", 1)[1]) for k in fields["_key"]] == list(range(1, N + 1))


def test_a_bad_line_is_named_and_may_be_skipped():
    with House() as house:
        house.write("a.jsonl", '{"i": 1}\n\n{"i": 2,}\n{"i": 3}\n')
        house.write("p.yaml", "version: 1\nepochs: 1\nsource: {jsonl: {path: a.jsonl, fields: {i: i64}}}\nworkers: [trace: w]\npost_main: [batch: 2]\n")
        done = house.ctl("cat", "p.yaml")
        assert done.returncode != 0 and "a.jsonl:3: column 9: a text in double quotes must stand here" in done.stderr, done.stderr
        text = open(house.path("p.yaml")).read()
        house.write("q.yaml", text + "on_error: {skip: 50%}\n")
        assert [v for b in house.cat("q.yaml") for v in b["fields"]["i"]["values"]] == [1, 3]


if __name__ == "__main__":
    run_tests(sys.modules[__name__])
