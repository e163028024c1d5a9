#!/usr/bin/env python3
"""Rank tables as files, with a real agent and an API server that lists and watches pods: from the first pod of a job to
the last, with kills (SIGKILL) in between, and while a reader looks at a file all the time.

usage: rank_table_files_test.py PROGRAMS-FOLDER
"""
import json, os, re, signal, subprocess, sys, threading, time, unittest, urllib.request
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent.parent / "agent_report"))
import kube_api
from kube_api import PATIENCE, folder_with_api

BIN = Path(sys.argv[1])
INITIAL = {"status": "initializing"}
PODS = "/api/v1/namespaces/train/pods"


class Handler(kube_api.Handler):
    """Lists and watches of pods besides what the other handler has; its server has `pods`, by name, and `changes`."""

    def work(self):
        path, _, query = self.path.partition("?")
        if path != PODS:
            self.server.seen.append((self.command, self.path))
            return super().work()
        self.server.selectors.add(re.search(r"fieldSelector=([^&]*)", query)[1])
        if "sendInitialEvents" in query:
            return self.answer_whole(400, {"kind": "Status", "code": 400, "message": "no streaming lists here"})
        if "watch=1" not in query:
            with self.server.news:
                out = {"metadata": {"resourceVersion": str(self.server.versions)}, "items": list(self.server.pods.values())}
            return self.answer_whole(200, out)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        at = int(re.search(r"resourceVersion=(\d+)", query)[1])
        while True:
            with self.server.news:
                self.server.news.wait_for(lambda: any(v > at for v, _ in self.server.changes), 1)
                due = [(v, line) for v, line in self.server.changes if v > at]
            for version, line in due:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
                self.wfile.flush()
                at = version

    def answer_whole(self, code, out):
        text = json.dumps(out).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = work


class RankTableFiles(unittest.TestCase):
    def setUp(self):
        self.work, self.api = folder_with_api(self)
        self.api.pods, self.api.changes, self.api.seen, self.api.selectors = {}, [], [], set()
        self.api.RequestHandlerClass = Handler
        self.api.handle_error = lambda *_: None  # connections of an agent that was killed
        self.base = self.work / "ranktable"
        self.agent, self.runs = None, 0
        self.addCleanup(lambda: self.agent and self.kill())

    def start(self):
        self.runs += 1
        with (self.work / f"log.{self.runs}").open("w") as log:
            self.agent = subprocess.Popen(
                [BIN / "chipweave-agent", "--node", "n1", "--probe", "profile:hgx-v100-8", "--kubeconfig",
                 self.work / "kubeconfig", "--rank-table-files", "train", "--rank-table-folder", self.base,
                 "--metrics", "127.0.0.1:0", "--port-file", self.work / "port.json"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def kill(self):
        self.agent.send_signal(signal.SIGKILL)
        self.agent.wait(PATIENCE)
        self.agent = None

    def change(self, kind, pod):
        with self.api.news:
            self.api.versions += 1
            pod["metadata"]["resourceVersion"] = str(self.api.versions)
            line = json.dumps({"type": kind, "object": pod}).encode() + b"\n"
            self.api.changes.append((self.api.versions, line))
            if kind == "DELETED":
                del self.api.pods[pod["metadata"]["name"]]
            else:
                self.api.pods[pod["metadata"]["name"]] = pod
            self.api.news.notify_all()

    def pod(self, name, job, uid):
        self.change("ADDED", {
            "metadata": {"name": name, "namespace": "train", "uid": uid, "labels": {"volcano.sh/job-name": job}},
            "spec": {"nodeName": "n1", "volumes": [{"name": "ranktable", "hostPath": {"path": f"{self.base}/train.{job}"}}]},
            "status": {"phase": "Running"}})

    def delete(self, name):
        self.change("DELETED", self.api.pods[name])

    def config_map(self, job, table, version):
        with self.api.news:
            self.api.versions += 1
            self.api.objects[f"/api/v1/namespaces/train/configmaps/rings-config-{job}"] = {
                "metadata": {"name": f"rings-config-{job}", "uid": f"map-{job}", "resourceVersion": str(self.api.versions)},
                "data": {"hccl.json": json.dumps(table), "version": str(version)}}

    def table(self, job):
        file = self.base / f"train.{job}" / "hccl.json"
        return json.loads(file.read_text()) if file.exists() else None

    def wait_for(self, what, look):
        end = time.monotonic() + PATIENCE
        while not look():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.02)

    def counts(self):
        port = json.loads((self.work / "port.json").read_text())["metrics"]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE) as reply:
            found = re.findall(r'^chipweave_agent_rank_table_files\{state="(\w+)"\} (\d+)$', reply.read().decode(), re.M)
        return {state: int(count) for state, count in found}

    def test_from_the_first_pod_to_the_last(self):
        done = lambda number: {"status": "completed", "server_list": [{"server_id": f"10.0.0.{number}"}]}
        self.start()
        self.pod("a-0", "a", "uid-1")
        self.wait_for("the initial table", lambda: self.table("a") == INITIAL)
        self.config_map("a", done(1), 7)
        self.wait_for("the complete table", lambda: self.table("a") == done(1))
        self.wait_for("its version", lambda: (self.base / "train.a/version").read_text() == "7")
        self.wait_for("the metric", lambda: self.counts() == {"initializing": 0, "completed": 1, "failed": 0})
        self.kill()

        # The next job of the name, and a second one.
        self.delete("a-0")
        self.config_map("a", INITIAL, 8)
        self.pod("a-0", "a", "uid-2")
        self.pod("b-0", "b", "uid-3")
        self.start()
        self.wait_for("the table of the new pod", lambda: self.table("a") == INITIAL and self.table("b") == INITIAL)
        self.config_map("a", done(2), 9)
        self.wait_for("the new table", lambda: self.table("a") == done(2))
        self.delete("a-0")
        self.wait_for("the table without pods", lambda: self.table("a") == INITIAL)
        self.assertEqual(self.table("b"), INITIAL)
        self.assertEqual(self.api.selectors, {"spec.nodeName%3Dn1"})
        maps = {method for method, path in self.api.seen if "configmaps" in path}
        self.assertEqual(maps, {"GET"}, "there is no right to list or watch them")

    def test_readers_see_whole_tables_over_kills(self):
        # Some 200 kB, so that a write that is not atomic would be seen.
        done = lambda number: {"status": "completed", "number": number, "pad": "x" * 200_000}
        self.pod("a-0", "a", "uid-1")
        self.config_map("a", done(0), 1)
        self.start()
        self.wait_for("the first table", lambda: self.table("a") == done(0))
        seen, end, problems = set(), threading.Event(), []

        def read():
            while not end.is_set():
                try:
                    seen.add(self.table("a")["number"])
                except Exception as problem:
                    problems.append(repr(problem))
                    return
        reader = threading.Thread(target=read)
        reader.start()
        for number in range(1, 21):
            self.config_map("a", done(number), 1 + number)
            self.kill()
            self.start()
            time.sleep(0.02 * number)  # the agent reads the ConfigMap some 0.2 s after its start
        self.wait_for("the last table", lambda: self.table("a") == done(20))
        end.set()
        reader.join()
        self.assertEqual(problems, [])
        self.assertGreater(len(seen), 1)
        self.assertFalse((self.base / ".chipweave/new").exists())


unittest.main(argv=sys.argv[:1])
