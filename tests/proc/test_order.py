"""Order, bytes and randomness don't depend on the number of workers, their speed or their deaths."""
import os, random, signal, subprocess, sys
from jobs import *

MIXED = """version: 1
seed: 7
epochs: 2
source: {{range: 500}}
pre_main: [shuffle]
shard: {shard}
workers:
  count: {count}
  prefetch: {prefetch}
  steps: [{delay}]
post_main:
  prefetch: {post}
  steps: [{{batch: 32}}]
"""


def mixed(house, count, delay="delay: 0ms", shard="auto", prefetch=2, post=4):
    return house.write("p.yaml", MIXED.format(count=count, delay="{" + delay + "}", shard=shard, prefetch=prefetch, post=post))


def output(house, path):
    done = house.ctl("cat", path, "--json", "--values", "all", "--provenance")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_same_bytes_for_any_workers_and_speeds():
    reference = None
    for run in range(20):
        count = [1, 2, 7][run % 3]
        delay = ["delay: 0ms", "delay: 1ms", "delay: {time: 0ms, spread: 3ms}"][run // 3 % 3]
        with House() as house:
            text = output(house, mixed(house, count, delay, [1, 5, "auto"][run % 3], run % 4, (run + 1) % 5))
        assert text, "no output"
        reference = reference or text
        assert text == reference, f"run {run}: workers {count}, {delay} gave other bytes"


def test_epochs_differ_and_hold_every_record_once():
    with House() as house:
        batches = house.cat(mixed(house, 3))
    by_epoch = {}
    for b in batches:
        by_epoch.setdefault(b["epoch"], []).extend(b["fields"]["value"]["values"])
    assert sorted(by_epoch) == [0, 1]
    assert by_epoch[0] != by_epoch[1]
    for values in by_epoch.values():
        assert sorted(values) == list(range(500))


def test_killed_workers_change_nothing():
    with House() as house:
        reference = output(house, mixed(house, 2))
    rounds = 200 if LONG else 12
    rng = random.Random(1)
    kills = 0
    for _ in range(rounds):
        with House() as house:
            run = house.start("cat", mixed(house, 2, "delay: 1ms"), "--json", "--values", "all", "--provenance")
            lines = []
            at = rng.randrange(1, 25)
            for line in run.stdout:
                lines.append(line)
                if len(lines) == at:
                    workers = house.roles()["work"]
                    if workers:
                        os.kill(rng.choice(workers), signal.SIGKILL)
                        kills += 1
            assert run.wait() == 0, run.stderr.read()
            assert "".join(lines) == reference
    assert kills > rounds // 2, f"only {kills} workers were killed"


def test_strict_dispatch_gives_the_same():
    with House() as house:
        a = output(house, mixed(house, 3))
    with House() as house:
        path = mixed(house, 3, "delay: {time: 0ms, spread: 2ms}")
        open(path, "a").write("dispatch: strict\n")
        assert output(house, path) == a


PASSES = """fuse: {fuse}
seed: 3
epochs: 2
source: {{files: "{cases}/jpeg/*.jpg"}}
on_error: {{skip: 100%}}
workers:
  count: 2
  steps:
    - decode_image
    - random_resized_crop: {size}
    - random_flip
    {steps}
post_main: [{{batch: 4}}]
"""


def test_passes_give_the_bytes_of_the_steps():
    chains = [["normalize: imagenet", "rearrange: h w c -> c h w"],
              ["normalize: imagenet", "rearrange: h w c -> c h w", "cast: {field: image, dtype: f16}"],
              ["cast: f32", "normalize: {mean: 0.5, std: 0.25}", "cast: {field: image, dtype: bf16}", "rearrange: h w c -> h c w"]]
    for chain, size in zip(chains, ("17", "[1, 5]", "32")):
        texts = []
        for fuse in ("on", "off"):
            with House() as house:
                path = house.write("p.yaml", PASSES.format(fuse=fuse, cases=os.path.join(ROOT, "tests", "golden", "cases"), size=size, steps="\n    ".join("- " + c for c in chain)))
                graph = house.ctl("graph", path)
                assert ("one pass" in graph.stdout) == (fuse == "on"), graph
                texts.append(output(house, path))
        assert texts[0] and texts[0] == texts[1], (chain, size)


if __name__ == "__main__":
    run_tests(sys.modules[__name__])
