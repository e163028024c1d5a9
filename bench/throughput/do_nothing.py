"""The extender and webhook that does nothing (bench/do_nothing_extender), built."""
import subprocess
from pathlib import Path

from testbed.build import go_environment
from throughput.cluster import Wrong

FOLDER = Path(__file__).resolve().parent.parent / "do_nothing_extender"


def build_do_nothing(work):
    program = work / "do-nothing-extender"
    if subprocess.run(["go", "build", "-o", program, "."], cwd=FOLDER, env=go_environment()).returncode != 0:
        raise Wrong("the do-nothing extender cannot be built, see above")
    return program
