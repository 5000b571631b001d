"""What the worker steps give doesn't depend on the number of workers, and is what their files hold."""
import os, struct, sys
from jobs import *

IMAGES = os.path.join(ROOT, "tests", "golden", "images")

PICTURES = """version: 1
seed: 11
epochs: 2
source: {{files: {{path: "{images}/*.[jw]*[gp]", label: none}}}}
pre_main: [shuffle]
shard: 1
workers:
  count: {count}
  steps:
    - decode_image
    - resize: {{field: image, to: small, size: [2, 3]}}
    - random_crop: {{field: image, size: 12, pad_if_needed: true}}
    - color_jitter: {{brightness: 0.4, contrast: 0.4, saturation: 0.2, hue: 0.1, p: 0.8, field: image}}
    - views:
        field: image
        into:
          view_1: [random_flip, {{grayscale: {{p: 0.5}}}}, gaussian_blur]
          view_2: [{{solarize: {{p: 0.5}}}}, {{random_erasing: {{p: 0.9, value: 7}}}}]
    - stack: {{field: "view_*", to: views}}
    - select: [views, small, _key]
post_main: [{{batch: 5}}]
"""


def output(house, path):
    done = house.ctl("cat", path, "--json", "--values", "all", "--provenance")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_same_pictures_for_any_number_of_workers():
    outputs = set()
    for count in (1, 2, 5):
        with House() as house:
            outputs.add(output(house, house.write("p.yaml", PICTURES.format(images=IMAGES, count=count))))
    assert len(outputs) == 1, f"{len(outputs)} outputs"
    assert '"views"' in outputs.pop()


def npy(rows):
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(rows)}, {len(rows[0])}, 4), }}"
    head = head.ljust(117) + "\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(rows) * len(rows[0]) * 4}f", *sum(sum(rows, []), []))


def test_rows_that_are_linked_with_boxes():
    """Boxes that are too small are dropped with their rows, in each view by its own rule; a sample without any is dropped."""
    boxes = [[[0, 0, 8, 8], [1, 1, 2, 9], [5, 5, 5, 5]], [[0, 0, 1, 1], [3, 3, 3, 9], [1, 2, 3, 4]], [[0, 0, 0, 0]] * 3]
    with House() as house:
        house.write("rows.npy", npy(boxes))
        path = house.write("p.yaml", """version: 1
source: {npy: rows.npy}
workers:
  count: 2
  steps:
    - cast: {field: data, to: ids, dtype: i64}
    - boxes: {field: data, to: boxes, format: xyxy, with: ids}
    - filter_boxes: {min_size: 1, keep_empty: false}
    - views: {field: [boxes, ids], into: {all: [trace: a], large: [{filter_boxes: {field: boxes, min_size: 3}}]}}
""")
        samples = house.cat(path)
    assert len(samples) == 2, samples
    got = [{name: f["values"] for name, f in s["fields"].items()} for s in samples]
    for sample, rows, large in ((got[0], boxes[0][:2], boxes[0][:1]), (got[1], [boxes[1][0], boxes[1][2]], [])):
        assert sample["all_boxes"] == sum(rows, []) and sample["all"] == sum(rows, []), sample
        assert sample["large_boxes"] == sum(large, []) and sample["large"] == sum(large, []), sample


def wav(first, n, rate=8000):
    frames = struct.pack(f"<{n}h", *range(first, first + n))
    return b"RIFF" + struct.pack("<I", 36 + len(frames)) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, rate, 2 * rate, 2, 16) \
        + b"data" + struct.pack("<I", len(frames)) + frames


def test_files_that_a_list_names():
    """From names through read_file and decode_audio; the class of each name by a table that is gone when the workers are born again."""
    with House() as house:
        for i in range(6):
            house.write(f"clips/{i}.wav", wav(100 * i, 50))
        house.write("classes.txt", "".join(f"{i}.wav\n" for i in reversed(range(6))))
        path = house.write("p.yaml", """version: 1
source: {list: [0.wav, 1.wav, 2.wav, 3.wav, 4.wav, 5.wav]}
workers:
  count: 2
  steps:
    - read_file: {field: value, root: clips}
    - decode_audio: {mono: true}
    - crop_audio: {length: 4, start: 3}
    - lookup: {field: value, to: label, table: classes.txt}
    - truncate: {field: value, length: 1}
    - select: [audio, rate, label, value]
post_main: [{batch: 6}]
""")
        (batch,) = house.cat(path)
        fields = batch["fields"]
        assert fields["label"]["values"] == [5, 4, 3, 2, 1, 0], fields["label"]
        assert fields["rate"]["values"] == [8000] * 6
        flat = fields["audio"]["values"]
        assert [round(v * 32768) for v in flat] == [100 * i + 3 + k for i in range(6) for k in range(4)], flat


def test_a_name_that_leads_out_is_a_bad_sample():
    with House() as house:
        house.write("clips/a.wav", wav(0, 9))
        house.write("secret.wav", wav(0, 9))
        path = house.write("p.yaml", """version: 1
source: {list: [a.wav, ../secret.wav]}
workers: [{read_file: {field: value, root: clips}}]
""")
        done = house.ctl("cat", path)
        assert done.returncode != 0 and "leads out of the folder" in done.stderr, done.stderr
        path = house.write("roots.yaml", """version: 1
roots: [clips]
source: {list: [secret.wav]}
workers: [{read_file: {field: value}}]
""")
        done = house.ctl("cat", path)
        assert done.returncode != 0 and "lies below none of the folders in roots" in done.stderr, done.stderr


if __name__ == "__main__":
    run_tests(sys.modules[__name__])
