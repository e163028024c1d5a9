"""The self-check: a short run must detect each scheduler that a patch of broken/ breaks on purpose. A judge that finds
nothing wrong is worth something only if it finds what is known to be wrong.

A patch begins with what it breaks and with the run that shows it:

  Run: --only bind-late --schedulers 1
  Finds: belongs to

It is applied to copies of the .cpp files that it changes. They are compiled and linked as the build folder of --bin did with the true
ones: alone, or among the files of their translation unit in a unity build. A broken scheduler costs one translation unit and a
link, and the build folder stays as it is."""
import json, os, re, shlex, shutil, subprocess, time
from pathlib import Path

from lib.bed import ROOT

PATCHES = ROOT / "tests/chaos/broken"


def said(text, key):
    return re.search(rf"^{key}: (.*)$", text, re.M)[1]


# In a folder of its own beside the true one's; headers are the true ones, so a patch must not touch them.
def build(patch, tree):
    files = re.findall(r"^\+\+\+ b/(\S+)$", patch.read_text(), re.M)
    if not files or not all(file.endswith(".cpp") for file in files):
        raise RuntimeError(f"{patch.name}: it must change .cpp files, and nothing else")
    folder = tree / "broken" / patch.stem
    shutil.rmtree(folder, ignore_errors=True)
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, folder / file)
    subprocess.run(["patch", "-p1", "--quiet", "-i", patch], cwd=folder, check=True)
    entries = json.loads((tree / "compile_commands.json").read_text())
    objects = []
    for number, (entry, text) in enumerate(units_of(files, folder, entries)):
        source, object_file = folder / f"unit_{number}.cpp", folder / f"unit_{number}.o"
        source.write_text(text)
        command = [str(source) if part == entry["file"] else part for part in shlex.split(entry["command"])]
        command[command.index("-o") + 1] = str(object_file)
        objects.append(str(object_file))
        subprocess.run(command, cwd=entry["directory"], check=True)
    return link(tree, folder, objects)


# The translation units that hold these files, each as its compile command and its text with the copies instead of the files.
def units_of(files, folder, entries):
    left = set(files)
    for entry in entries:
        unity = Path(entry["file"])
        text = unity.read_text() if unity.parent.name == "Unity" else f'#include "{entry["file"]}"\n'
        here = [file for file in files if f'#include "{ROOT / file}"' in text]
        for file in here:
            text = text.replace(f'#include "{ROOT / file}"', f'#include "{folder / file}"')
        left -= set(here)
        if here:
            yield entry, text
    if left:
        raise RuntimeError(f"not compiled in this build folder: {', '.join(sorted(left))}")


# The broken objects come first: their true ones are then not taken from the libraries.
def link(tree, folder, objects):
    commands = subprocess.run(["ninja", "-C", tree, "-t", "commands", "chipweave-scheduler"], check=True, capture_output=True,
                              text=True).stdout.splitlines()
    program = folder / "chipweave-scheduler"
    true = "-o bin/chipweave-scheduler "
    if true not in commands[-1]:
        raise RuntimeError(f"{tree} does not link chipweave-scheduler as expected: {commands[-1]}")
    broken = shlex.join([*objects, "-o", str(program)])
    subprocess.run(commands[-1].replace(true, broken + " "), cwd=tree, shell=True, check=True)
    return program


# play(options, found): a run; false: there is no Go here.
def self_check(parse, play, arguments):
    missed, tree = [], parse(arguments).bin.parent
    for patch in sorted(PATCHES.glob("*.patch")):
        text, began = patch.read_text(), time.monotonic()
        print(f"\n== {patch.name}", flush=True)
        program = build(patch, tree)
        built = time.monotonic()
        options = parse([*arguments, *shlex.split(said(text, "Run")), "--scheduler", os.fspath(program), "--until-found"])
        found = []
        if not play(options, found):
            return 0
        shown = [one["finding"] for one in found if one["source"] in ("watch", "list", "audit")
                 and said(text, "Finds") in one["finding"]]
        if not shown:
            missed.append(patch.stem)
        print(f"chaos self-check: {patch.stem}: {'found: ' + shown[0] if shown else 'NOT FOUND OUT'} "
              f"({built - began:.0f} s to build, {time.monotonic() - built:.0f} s to run)", flush=True)
    print(f"chaos self-check: {', '.join(missed) or 'all broken schedulers'} "
          f"{'not found out: FAILED' if missed else 'found out: PASSED'}", flush=True)
    return 1 if missed else 0
