#!/usr/bin/env python3
"""play.py BIN SESSION [--write]

Plays what one user types, in a folder with a scheduler and simulated nodes of its own, and compares what the commands
print with the session file; with --write the file gets what they print now. Read the difference before you commit it.

A session file holds commands and what they print, standard error as well:

    # A comment.
    $ chipweave place --machine pcie-8 --size 2      a command; lines that begin with "> " continue it
    …                                                its output
    [1]                                              its exit code, if it is not 0
    @nodes gpu-1=hgx-h100-8 gpu-2=pcie-8             starts a simulated agent for each
    @stop gpu-2                                      ends one

Ages, times, ports, uids and the folder are replaced by words, since they differ from run to run.
"""
import argparse
import difflib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

DEADLINE = 30  # seconds for a command, and for what is waited for

VARYING = [
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "TIME"),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "UID"),
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:PORT"),
    (re.compile(r"\"inventory_age_seconds\":[0-9.e-]+"), '"inventory_age_seconds":AGE'),
    (re.compile(r"inventory_age_seconds: [0-9.e-]+"), "inventory_age_seconds: AGE"),
    (re.compile(r"not reported for \d+s"), "not reported for AGE"),
    # A column AGE or SEEN: whole seconds, since a session takes less than two minutes.
    (re.compile(r"(?<= )\d{1,2}s(?=( |$))", re.M), "AGE"),
]


class Cluster:
    """A standalone scheduler and agents of profiles."""

    def __init__(self, binaries, folder):
        self.binaries, self.folder = binaries, folder
        self.programs = {}
        ports = folder / "ports.json"
        self.start("scheduler", "chipweave-scheduler", "--standalone", "--http", "127.0.0.1:0", "--grpc",
                   "127.0.0.1:0", "--port-file", ports)
        self.await_("the start of the scheduler", lambda: ports.exists() and ports.stat().st_size > 0)
        self.ports = json.loads(ports.read_text())
        self.url = f"http://127.0.0.1:{self.ports['http']}"

    def start(self, name, program, *arguments):
        log = open(self.folder / f"{name}.log", "wb")
        self.programs[name] = subprocess.Popen([self.binaries / program, *arguments], stdin=subprocess.DEVNULL,
                                               stdout=log, stderr=log)
        log.close()

    def nodes(self):
        answer = subprocess.run([self.binaries / "chipweave", "nodes", "--scheduler", self.url, "-o", "json"],
                                capture_output=True, timeout=DEADLINE)
        items = json.loads(answer.stdout)["items"] if answer.returncode == 0 else []
        return {node["name"]: node for node in items}

    def add(self, *nodes):
        for node in nodes:
            name, profile = node.split("=")
            self.start(name, "chipweave-agent", "--node", name, "--probe", f"profile:{profile}", "--scheduler",
                       f"127.0.0.1:{self.ports['grpc']}")
            self.await_(f"the report of {name}", lambda: name in self.nodes())

    def stop(self, name):
        self.end(self.programs.pop(name))
        self.await_(f"that {name} is stale", lambda: self.nodes()[name]["stale"])

    @staticmethod
    def end(program):
        program.send_signal(signal.SIGTERM)
        try:
            program.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            program.kill()
            program.wait()

    def stop_all(self):
        for name in reversed(list(self.programs)):
            self.end(self.programs.pop(name))

    def await_(self, what, happened):
        until = time.monotonic() + DEADLINE
        while not happened():
            if time.monotonic() > until:
                sys.exit(f"{what} did not happen within {DEADLINE} s")
            time.sleep(0.05)


def commands_of(text):
    """The commands of a session with what is between them: (lines as they stand, command or None)."""
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if line.startswith("$ "):
            command = [line[2:]]
            shown = [line]
            while at < len(lines) and lines[at].startswith("> "):
                command.append(lines[at][2:])
                shown.append(lines[at])
                at += 1
            while at < len(lines) and not re.match(r"[$@#] ?|$", lines[at]):
                at += 1  # what it printed when the file was written
            yield shown, "\n".join(command)
        elif line.startswith(("@", "#")) or not line:
            yield [line], None
        else:
            sys.exit(f"line {at} belongs to no command: {line}")


def without_variation(text, folder):
    text = text.replace(str(folder), "FOLDER")
    for pattern, word in VARYING:
        text = pattern.sub(word, text)
    return text


def printed(command, folder, environment):
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=DEADLINE)
    lines = without_variation(done.stdout.decode(), folder).splitlines()
    # An empty line would end the output of a command in the file.
    lines = [line if line and line[0] not in "$@#>" else "|" + line for line in lines]
    return lines + ([f"[{done.returncode}]"] if done.returncode else [])


def play(session, binaries, source):
    work = pathlib.Path(tempfile.mkdtemp(prefix="chipweave-user."))
    (work / "home").mkdir()
    environment = {"PATH": f"{binaries}:/usr/bin:/bin", "HOME": str(work / "home"), "LC_ALL": "C.UTF-8", "NO_COLOR": "1",
                   "EXAMPLES": str(source / "examples")}
    cluster = Cluster(binaries, work)
    environment["CHIPWEAVE_SCHEDULER"] = cluster.url
    out = []
    try:
        folder = work / "home"
        for shown, command in commands_of(session):
            out += shown
            if command is not None:
                out += printed(command, folder, environment)
            elif shown[0].startswith("@nodes "):
                cluster.add(*shown[0].split()[1:])
            elif shown[0].startswith("@stop "):
                cluster.stop(shown[0].split()[1])
            elif shown[0].startswith("@"):
                sys.exit(f"unknown line {shown[0]}")
    finally:
        cluster.stop_all()
        shutil.rmtree(work)
    return "\n".join(out) + "\n"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("bin", type=pathlib.Path)
    arguments.add_argument("session", type=pathlib.Path)
    arguments.add_argument("--write", action="store_true")
    given = arguments.parse_args()
    expected = given.session.read_text()
    source = pathlib.Path(__file__).resolve().parents[2]
    found = play(expected, given.bin.resolve(), source).replace(str(source), "SOURCE")
    if given.write:
        given.session.write_text(found)
        return
    if found != expected:
        sys.stdout.writelines(difflib.unified_diff(expected.splitlines(True), found.splitlines(True), str(given.session),
                                                   "what they print"))
        sys.exit(1)
    print(f"{sum(line.startswith('$ ') for line in found.splitlines())} commands print what they should")


if __name__ == "__main__":
    main()
