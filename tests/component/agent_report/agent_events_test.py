#!/usr/bin/env python3
"""Events of an agent in a cluster, with a real agent and an API server that keeps what it is given: faults that exist
when it starts produce one event; a restart repeats none; refused events are logged once and counted; events that an
overloaded API server does not take, or takes without an answer, arrive later, once.

usage: agent_events_test.py PROGRAMS-FOLDER
"""
import http.server, json, os, re, shutil, subprocess, sys, tempfile, threading, time, unittest, urllib.request
from pathlib import Path

BIN = Path(sys.argv[1])
PATIENCE = 60  # for what must come; never how long it takes
INVENTORY = "/apis/chipweave.dev/v1alpha1/nodeinventories/n1"
KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u, namespace: default}}]
clusters: [{name: c, cluster: {server: "http://127.0.0.1:%d"}}]
users: [{name: u, user: {token: t}}]
"""


class Api(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.news = threading.Condition()
        self.objects = {"/api/v1/nodes/n1": {"metadata": {"name": "n1", "uid": "node-uid", "resourceVersion": "1"}}}
        self.events, self.versions, self.refuses_events, self.overloaded = [], 1, False, None
        self.tries = []  # of events while it is overloaded
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def wait_for(self, what, look):
        with self.news:
            if not self.news.wait_for(look, PATIENCE):
                raise AssertionError(f"{what}: {self.events}, {self.objects.get(INVENTORY)}")

    def answer(self, method, target, body):
        """Status and object; under the lock."""
        path = target.partition("?")[0]
        refused = lambda code, reason: (code, {"kind": "Status", "code": code, "reason": reason,
                                               "message": f"{path} number {self.versions}: {reason}"})
        self.versions += 1
        if path.startswith("/apis/events.k8s.io/"):
            if self.refuses_events:
                return refused(403, "Forbidden")
            if self.overloaded == "stores":  # and answers with an error all the same
                self.objects[path + "/" + body["metadata"]["name"]] = body
                self.events.append((body["reason"], body["note"]))
            if self.overloaded is not None:
                self.tries.append(body["metadata"]["name"])
                self.overloaded = "refuses"
                return refused(503, "ServiceUnavailable")
            if path + "/" + body["metadata"]["name"] in self.objects:
                return refused(409, "AlreadyExists")
            self.events.append((body["reason"], body["note"]))
            return 201, body
        if method == "POST":
            path += "/" + body["metadata"]["name"]
            self.objects[path] = {"metadata": {"uid": f"u{self.versions}"}}
        status = path.endswith("/status")
        stored = self.objects.get(path.removesuffix("/status"))
        if stored is None:
            return refused(404, "NotFound")
        if method in ("POST", "PUT", "PATCH"):
            keys = ("status",) if status else ("spec", "metadata")
            for key in keys:
                if key in body:
                    stored[key] = {**stored.get(key, {}), **body[key]} if key == "metadata" else body[key]
            stored["metadata"]["resourceVersion"] = str(self.versions)
        return 201 if method == "POST" else 200, stored


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def work(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        with self.server.news:
            code, out = self.server.answer(self.command, self.path, body)
            text = json.dumps(out).encode()
            self.server.news.notify_all()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PUT = do_PATCH = work


class AgentEvents(unittest.TestCase):
    def setUp(self):
        self.work = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.work)
        self.api = Api()
        self.addCleanup(self.api.server_close)
        self.addCleanup(self.api.shutdown)
        (self.work / "kubeconfig").write_text(KUBECONFIG % self.api.server_address[1])
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
