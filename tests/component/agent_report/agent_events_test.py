#!/usr/bin/env python3
"""Events of an agent in a cluster, with a real agent and an API server that keeps what it is given: faults that exist
when it starts produce one event; a restart repeats none; refused events are logged once and counted; events that an
overloaded API server does not take, or takes without an answer, arrive later, once.

usage: agent_events_test.py PROGRAMS-FOLDER
"""
import json, os, re, subprocess, sys, time, unittest, urllib.request
from pathlib import Path

sys.dont_write_bytecode = True
from kube_api import INVENTORY, PATIENCE, folder_with_api

BIN = Path(sys.argv[1])


class AgentEvents(unittest.TestCase):
    def setUp(self):
        self.work, self.api = folder_with_api(self)
        self.agent, self.runs = None, 0
        self.addCleanup(self.stop)

    def say(self, *unhealthy):
        (self.work / "new").write_text(json.dumps({"unhealthy": unhealthy}))
        os.rename(self.work / "new", self.work / "health.json")

    def start(self):
        self.runs += 1
        self.log = self.work / f"log.{self.runs}"
        with self.log.open("w") as log:
            self.agent = subprocess.Popen(
                [BIN / "chipweave-agent", "--node", "n1", "--probe", "profile:hgx-v100-8", "--kubeconfig",
                 self.work / "kubeconfig", "--health-file", self.work / "health.json", "--metrics", "127.0.0.1:0",
                 "--port-file", self.work / "port.json"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def stop(self):
        if self.agent is None:
            return
        self.agent.terminate()
        self.assertEqual(self.agent.wait(PATIENCE), 0)
        self.agent = None

    def faulty(self):
        """Chips that the stored inventory calls faulty."""
        return [fault["chip"] for fault in self.api.objects.get(INVENTORY, {}).get("status", {}).get("faults", [])]

    def boot(self):
        return self.api.objects[INVENTORY]["status"]["bootId"]

    def wait_for_counts(self, **wanted):
        port = json.loads((self.work / "port.json").read_text())["metrics"]
        end = time.monotonic() + PATIENCE
        while True:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE) as reply:
                text = reply.read().decode()
            counts = re.findall(r'^chipweave_agent_events_total{result="(\w+)"} (\d+)$', text, re.M)
            counts = {result: int(count) for result, count in counts}
            if counts == wanted:
                return
            self.assertLess(time.monotonic(), end, counts)
            time.sleep(0.05)

    def test_each_fault_is_told_once(self):
        gone = lambda chip: ("ChipUnusable", f"chip {chip}: health-file (the health file lists it as unhealthy)")
        self.say(3)
        self.start()
        self.api.wait_for("the fault of before the start", lambda: gone(3) in self.api.events and self.faulty() == [3])
        self.stop()

        first = self.boot()
        self.start()
        self.api.wait_for("the second run", lambda: self.boot() != first)
        self.say(3, 5)
        self.api.wait_for("a new fault", lambda: gone(5) in self.api.events and self.faulty() == [3, 5])
        self.assertEqual(self.api.events, [gone(3), gone(5)])
        self.wait_for_counts(sent=1, refused=0, dropped=0)

        self.api.refuses_events = True
        for chips in ((), (1,), (1, 2)):
            self.say(*chips)
            self.api.wait_for("the state", lambda: self.faulty() == list(chips))
        self.wait_for_counts(sent=1, refused=4, dropped=0)
        self.api.refuses_events = False
        self.say(1, 2, 6)
        self.api.wait_for("an event that is taken again", lambda: gone(6) in self.api.events)
        self.stop()
        lines = [line for line in self.log.read_text().splitlines() if "cannot send an event" in line]
        self.assertEqual(len(lines), 1, lines)
        self.assertIn('reason="HTTP 403 Forbidden"', lines[0])

    def test_what_could_not_be_delivered_comes_later_and_once(self):
        gone = lambda chip: ("ChipUnusable", f"chip {chip}: health-file (the health file lists it as unhealthy)")
        self.say()
        self.start()
        self.api.wait_for("the first inventory", lambda: INVENTORY in self.api.objects)
        for how in ("refuses", "stores"):
            self.api.overloaded = how
            self.say(*((3,) if how == "refuses" else (3, 5)))
            tries = len(self.api.tries)
            self.api.wait_for("a second try", lambda: len(self.api.tries) >= tries + 2)
            self.assertEqual(len(set(self.api.tries[tries:])), 1, "another name would be another event")
            self.api.overloaded = None
        self.wait_for_counts(sent=2, refused=0, dropped=0)
        self.assertEqual(self.api.events, [gone(3), gone(5)])


unittest.main(argv=sys.argv[:1])
