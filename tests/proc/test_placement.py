"""Where a step runs is what the file says, however the step got there: the case that gave birth to the daemon."""
import os, sys
from jobs import *

EXAMPLE = os.path.join(ROOT, "config", "pipelines", "placement.yaml")

INCLUDED = """version: 1
source: {list: [0, 1, 2, 3]}
pre_main: [{include: {file: pre.yaml}}]
dispatch: strict
workers: {count: 2, prefetch: 0, steps: [{include: {file: work.yaml}}]}
post_main: {prefetch: 0, steps: [{include: {file: post.yaml}}]}
"""

DEFINED = """version: 1
define:
  before: [{trace: Pre Main}]
  work: [{trace: Worker}]
  unused: [{use: work}, {use: after}]
  after: [{trace: Post Main}]
source: {list: [0, 1, 2, 3]}
pre_main: [{use: before}]
dispatch: strict
workers: {count: 2, prefetch: 0, steps: [{use: work}]}
post_main: {prefetch: 0, steps: [{use: after}]}
"""


def check(house, path):
    done = house.ctl("cat", path, "--trace")
    assert done.returncode == 0, done.stderr
    lines = [l.rsplit(" ", 2) for l in (done.stdout + done.stderr).splitlines() if l.startswith(("Pre Main ", "Worker ", "Post Main "))]
    pre = [(v, pid) for label, v, pid in lines if label == "Pre Main"]
    work = [(v, pid) for label, v, pid in lines if label == "Worker"]
    post = [(v, pid) for label, v, pid in lines if label == "Post Main"]
    assert [v for v, _ in pre] == [v for v, _ in work] == [v for v, _ in post] == ["0", "1", "2", "3"], lines
    assert len({pid for _, pid in pre} | {pid for _, pid in post}) == 1, "pre- and post-main run in one process"
    a, b = work[0][1], work[1][1]
    assert [pid for _, pid in work] == [a, b, a, b] and a != b, f"workers alternate: {work}"
    assert pre[0][1] not in (a, b)
    # prefetch 0: a record is not even dealt before the one before it was handed out
    order = [label for label, _, _ in lines]
    assert order == ["Pre Main", "Worker", "Post Main"] * 4, order


def test_the_example():
    with House() as house:
        check(house, EXAMPLE)


def test_steps_from_an_included_file():
    with House() as house:
        house.write("pre.yaml", "- trace: Pre Main\n")
        house.write("work.yaml", "- trace: Worker\n")
        house.write("post.yaml", "- trace: Post Main\n")
        check(house, house.write("p.yaml", INCLUDED))


def test_defined_used_and_unused_elsewhere():
    with House() as house:
        check(house, house.write("p.yaml", DEFINED))


def test_the_same_file_under_two_names_at_once():
    with House() as house:
        text = open(EXAMPLE).read()
        a, b = house.write("a.yaml", text), house.write("b.yaml", text)
        other = house.start("cat", b, "--trace")
        check(house, a)
        assert other.wait() == 0
        check(house, b)


def test_both_workers_are_alive_at_once():
    with House(linger_ms=3000) as house:
        house.ctl("cat", EXAMPLE, "--trace")
        roles = house.roles()
        assert len(roles["work"]) == 2 and len(roles["disp"]) == 1 and len(roles["supervisor"]) == 1, roles


def test_a_whole_stream_step_among_the_workers_is_an_error():
    with House() as house:
        path = house.write("p.yaml", "version: 1\nsource: {range: 4}\nworkers: [{batch: 2}]\n")
        done = house.ctl("check", path)
        assert done.returncode == 78, done
        assert "p.yaml:3:" in done.stderr and "post_main" in done.stderr and "whole stream" in done.stderr, done.stderr


def test_no_workers_is_said_and_told():
    with House() as house:
        path = house.write("p.yaml", "version: 1\nsource: {range: 4}\npost_main: [{batch: 2}]\n")
        done = house.ctl("check", path)
        assert done.returncode == 78 and "workers: none" in done.stderr, done.stderr
        path = house.write("q.yaml", "version: 1\nsource: {range: 4}\nworkers: none\npost_main: [{batch: 2}]\n")
        done = house.ctl("check", path)
        assert done.returncode == 0 and "sequential" in done.stdout + done.stderr, done
        assert [b["fields"]["value"]["values"] for b in house.cat(path)] == [[0, 1], [2, 3]]


if __name__ == "__main__":
    run_tests(sys.modules[__name__])
