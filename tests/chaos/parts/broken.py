"""The self-check: schedulers that are broken on purpose, each by a patch of broken/, must be found out by a short run. Whoever
judges that all is well must have shown that he sees when it is not.

A patch begins with what it breaks and with the run that shows it:

  Run: --only bind-late --schedulers 1
  Finds: belongs to

It is applied to a copy of the source in build/broken, where chipweave-scheduler alone is built; the copy is kept, so that the
next time only what has changed is compiled."""
import re, shlex, shutil, subprocess, time

from lib.bed import ROOT

PATCHES = ROOT / "tests/chaos/broken"
COPY = ROOT / "build/broken"


def said(text, key):
    return re.search(rf"^{key}: (.*)$", text, re.M)[1]


# As the working tree is, also where it is not committed. Files that are equal stay untouched: they are not compiled again.
def copy_source():
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout
    files = [name for name in listed.split("\0") if name and (ROOT / name).is_file()]
    for name in files:
        to, data = COPY / name, (ROOT / name).read_bytes()
        if not to.exists() or to.read_bytes() != data:
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(data)
            to.chmod((ROOT / name).stat().st_mode)
    for old in COPY.rglob("*.?pp"):
        name = str(old.relative_to(COPY))
        if not name.startswith("build/") and name not in files:
            old.unlink()


def run(*command):
    subprocess.run(command, cwd=COPY, check=True, stdout=subprocess.DEVNULL)


# The broken chipweave-scheduler, beside the folder that the next one is built in.
def build(patch):
    copy_source()
    run("patch", "-p1", "--quiet", "-i", patch)
    run("cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCHIPWEAVE_BENCH=OFF")
    run("cmake", "--build", "build", "--target", "chipweave-scheduler")
    program = COPY / f"chipweave-scheduler-{patch.stem}"
    shutil.copy(COPY / "build/bin/chipweave-scheduler", program)
    return program


def self_check(parse, one_run, arguments):
    missed = []
    for patch in sorted(PATCHES.glob("*.patch")):
        text, began = patch.read_text(), time.monotonic()
        print(f"\n== {patch.name}", flush=True)
        program = build(patch)
        built = time.monotonic()
        options = parse([*arguments, *shlex.split(said(text, "Run")), "--scheduler", str(program), "--until-found"])
        found = []
        one_run(options, found)
        shown = [one["finding"] for one in found if one["source"] in ("watch", "list", "audit") and said(text, "Finds") in
                 one["finding"]]
        if not shown:
            missed.append(patch.stem)
        print(f"chaos self-check: {patch.stem}: {'found: ' + shown[0] if shown else 'NOT FOUND OUT'} "
              f"({built - began:.0f} s to build, {time.monotonic() - built:.0f} s to run)", flush=True)
    print(f"chaos self-check: {', '.join(missed) or 'all broken schedulers'} {'not found out: FAILED' if missed else 'found out: PASSED'}",
          flush=True)
    return 1 if missed else 0
