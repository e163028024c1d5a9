"""Starts a testbed for a program that goes on to use it."""
import json, shlex, subprocess
from pathlib import Path

TESTBED = Path(__file__).resolve().parent.parent.parent.parent / "scripts/testbed"


# A testbed of that name; `more` are further arguments of `up`. What it exports for a shell, by name. Ends the program, with
# the status of `up`, if it does not start; an interrupt stops what has been started.
def start(name, *more):
    with subprocess.Popen([TESTBED, "up", "--name", name, *more], stdout=subprocess.PIPE, text=True) as up:
        try:
            output = up.communicate()[0]
        except BaseException:
            up.terminate()  # it stops what it has started
            raise
    if up.returncode != 0:
        raise SystemExit(up.returncode)
    exports = (line.removeprefix("export ") for line in output.splitlines())
    return dict(shlex.split(line)[0].split("=", 1) for line in exports)


# Its entry in testbed.json, for the functions of this folder.
def state_of(exported):
    return json.loads((Path(exported["CHIPWEAVE_TESTBED"]) / "testbed.json").read_text())
