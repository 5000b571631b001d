"""Steps and sources from shared objects, in every process that runs steps and in none that doesn't."""
import os, subprocess, sys
from jobs import *

TWICE = os.path.join(BUILD, "tests", "plugin_twice.so")
PIPELINE = """version: 1
source: {countdown: 10}
workers: {count: 2, steps: [twice]}
post_main: [{batch: 5}]
"""


def maps(pid):
    with open(f"/proc/{pid}/maps") as f:
        return f.read()


def test_a_plugins_step_and_source_run():
    with House(PIPELOADER_PLUGINS=TWICE) as house:
        path = house.write("p.yaml", PIPELINE)
        assert house.ctl("check", path).returncode == 0
        values = [v for b in house.cat(path) for v in b["fields"]["value"]["values"]]
        assert values == [2 * n for n in range(10, 0, -1)], values


def test_only_children_load_it():
    with House(PIPELOADER_PLUGINS=TWICE) as house:
        path = house.write("p.yaml", "epochs: forever\n" + PIPELINE)
        cat = house.start("cat", path)
        wait_for(lambda: len(house.roles()["work"]) == 2, "the workers run")
        roles = house.roles()
        assert all("plugin_twice" not in maps(pid) for pid in roles["supervisor"])
        wait_for(lambda: all("plugin_twice" in maps(pid) for pid in roles["disp"] + roles["work"]), "they have it")
        cat.kill()
        cat.communicate()


def test_without_it_the_names_are_unknown():
    with House() as house:
        done = house.ctl("check", house.write("p.yaml", PIPELINE))
        assert done.returncode == 78 and "unknown source 'countdown'" in done.stderr, done.stderr


def test_a_plugin_that_is_none_is_told_to_whoever_opens():
    with House(PIPELOADER_PLUGINS="/nowhere/x.so") as house:
        path = house.write("p.yaml", PIPELINE)
        for command in ("check", "cat"):
            done = house.ctl(command, path)
            assert done.returncode == 78 and "/nowhere/x.so" in done.stderr, (command, done.returncode, done.stderr)


def test_the_daemons_own_file_names_plugins():
    with House() as house:
        config = house.write("d.yaml", f"plugins: {TWICE}\n")
        done = subprocess.run([DAEMON, "--config", config, "--ops"], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and "\ntwice " in done.stdout, done.stdout


if __name__ == "__main__":
    run_tests(sys.modules[__name__])
