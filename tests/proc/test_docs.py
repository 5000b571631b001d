"""Every example in README.md, HACKING.md and config/ does what it says: run from an installed tree, as a reader would."""
import glob, io, os, re, shutil, subprocess, sys, tarfile
from jobs import *
from tfrecords import *

CASES = os.path.join(ROOT, "tests", "golden", "cases")


def blocks(name, kind):
    found = re.findall(r"^```(\w*)\n(.*?)^```$", open(os.path.join(ROOT, name)).read(), re.M | re.S)
    return [text for k, text in found if k == kind]


def photographs(house, n_classes=2, n=70):
    """A folder of class folders with n small JPEGs in each."""
    good = [os.path.join(CASES, "jpeg", f) for f in ("rgb444.jpg", "grey.jpg", "rgb422_33x17.jpg", "restart_ok.jpg")]
    for c in range(n_classes):
        os.makedirs(house.path(f"photos/class{c}"))
        for i in range(n):
            shutil.copy(good[i % len(good)], house.path(f"photos/class{c}/{i:03}.jpg"))


def archives(house, n=20):
    """Two tar archives of n photographs each with a caption and a JSON value."""
    jpeg = open(os.path.join(CASES, "jpeg", "rgb444.jpg"), "rb").read()
    os.makedirs(house.path("shards"))
    for shard in range(2):
        with tarfile.open(house.path(f"shards/{shard:04}.tar"), "w") as tar:
            for i in range(n):
                members = {"jpg": jpeg, "json": b'{"width": %d}' % (48 + i)}
                if i % 2:
                    members["txt"] = b"photograph %d" % i
                for suffix, data in members.items():
                    info = tarfile.TarInfo(f"{i:06}.{suffix}")
                    info.size = len(data)
                    tar.addfile(info, io.BytesIO(data))


def tfrecord_files(house, n=20):
    """Two TFRecord files of n Examples each."""
    jpeg = open(os.path.join(CASES, "jpeg", "rgb444.jpg"), "rb").read()
    os.makedirs(house.path("records"))
    for shard in range(2):
        with open(house.path(f"records/train-{shard:05}.tfrecord"), "wb") as f:
            for i in range(n):
                f.write(record(example({"image/encoded": [jpeg], "image/class/label": [i], "image/object/bbox": [0.5] * 4 * (i % 3)})))


def installed(house):
    """The tree as `cmake --install` makes it, and an environment that uses it."""
    prefix = house.path("usr")
    subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix], check=True, capture_output=True)
    config = glob.glob(os.path.join(prefix, "lib", "**", "pipeloader.pc"), recursive=True)
    assert config, "no pkg-config file was installed"
    env = dict(house.env, PKG_CONFIG_PATH=os.path.dirname(config[0]), PATH=os.path.join(prefix, "bin") + ":" + os.environ["PATH"],
               LD_LIBRARY_PATH=os.path.dirname(os.path.dirname(config[0])))
    del env["PIPELOADERD"]  # found beside the library
    return prefix, env


def test_readme_pipeline_and_commands():
    with House() as house:
        photographs(house)
        house.write("photos.yaml", blocks("README.md", "yaml")[0])
        commands = [l.split("#")[0].split() for b in blocks("README.md", "") for l in b.splitlines() if l.startswith("pipeloaderctl ")]
        commands = [c for c in commands if c[1] in ("check", "graph", "cat", "try", "bench", "ops") and "photos" not in c[2:3]]
        assert len(commands) >= 6, commands
        for c in commands:
            if "--seconds" in c:
                c[c.index("--seconds") + 1] = "1"
            done = house.ctl(*c[1:])
            assert done.returncode == 0 and done.stdout, (c, done)


def test_readme_c_client_from_an_installed_tree():
    if SANITIZED:
        return print("     (an uninstrumented program can't load an instrumented library: run in the release build)")
    with House() as house:
        photographs(house)
        house.write("photos.yaml", blocks("README.md", "yaml")[0])
        house.write("train.c", blocks("README.md", "c")[0])
        _, env = installed(house)
        command = next(l for b in blocks("README.md", "") for l in b.splitlines() if l.startswith("cc train.c"))
        done = subprocess.run(command, shell=True, cwd=house.dir, env=env, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("64 images, first value") == 2, done.stdout


def test_install_has_everything():
    with House() as house:
        prefix, _ = installed(house)
        for name in ("bin/pipeloaderd", "bin/pipeloaderctl", "lib/systemd/system/pipeloaderd.service", "lib/systemd/system/pipeloaderd.socket",
                     "include/pipeloader/pipeloader.h"):
            assert os.path.exists(os.path.join(prefix, name)), name
        for name in ("libpipeloader.so.0", "libpipeloader.a", "pipeloader-config.cmake", "pipeloaderctl.1", "pipeloaderd.8"):
            assert glob.glob(os.path.join(prefix, "**", name + "*"), recursive=True), name


def records(house):
    """The small data files that examples name."""
    for f in glob.glob(os.path.join(ROOT, "tests", "golden", "examples", "*")):
        shutil.copy(f, house.dir)


def test_every_example_pipeline_checks_and_runs():
    examples = sorted(glob.glob(os.path.join(ROOT, "config", "pipelines", "*.yaml")))
    assert len(examples) >= 5
    for path in examples:
        with House() as house:
            photographs(house)
            records(house)
            archives(house)
            tfrecord_files(house)
            for f in examples:
                shutil.copy(f, house.dir)
            shutil.copytree(os.path.join(ROOT, "config", "pipelines", "data"), house.path("data"))
            name = os.path.basename(path)
            sets = ["--set", "photos=" + house.path("photos")] if "$(photos)" in open(path).read() else []
            for command in (["check", name], ["graph", name], ["cat", name, "--batches", "2"]):
                done = house.ctl(*command, *sets)
                assert done.returncode == 0, (command, done.stderr)


def test_hacking_names_files_that_exist():
    text = open(os.path.join(ROOT, "HACKING.md")).read()
    names = set(re.findall(r"`((?:[a-z]+/)*[a-z_]+\.(?:c|h|py|sh))`", text))
    assert len(names) > 10
    for name in names - {"daemon/ops/yours.c", "tests/unit/test_ops_yours.c"}:
        assert any(os.path.exists(os.path.join(ROOT, p, name)) for p in ("", "daemon", "daemon/ops", "daemon/sources")), name


if __name__ == "__main__":
    run_tests(sys.modules[__name__])
