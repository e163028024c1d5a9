#!/usr/bin/python3
"""The chart's alerts in a real Prometheus that scrapes a real scheduler and real agents with declared machines: faults
through the health file, an agent that is killed, a fault that comes and goes. Intervals and the `for` of the rules are
shortened; nothing else of them is changed. Skipped where Prometheus is not installed.

usage: prometheus_test.py PROGRAMS-FOLDER
"""
import json, os, re, shutil, signal, socket, subprocess, sys, tempfile, time, unittest, urllib.parse, urllib.request
from pathlib import Path

import yaml

BIN = Path(sys.argv[1])
ROOT = Path(__file__).resolve().parent.parent.parent
RULES = ROOT / "charts/chipweave/alerts.yaml"
PATIENCE = 90  # for what must come; never how long it takes
SKIPPED = 77   # ctest's SKIP_RETURN_CODE
MACHINES = {"n1": "hgx-v100-8", "n2": "hgx-a100-8", "n3": "ascend-910b-8"}
# Metrics that need what this test does not have: pods, several replicas, TLS, a crash file.
ELSEWHERE = {"chipweave_pod_measured_bytes_per_second", "chipweave_pod_predicted_bytes_per_second", "chipweave_leader",
             "chipweave_crashes_total", "chipweave_tls_certificate_expiry_timestamp_seconds"}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(what, look):
    end = time.monotonic() + PATIENCE
    while not (found := look()):
        if time.monotonic() > end:
            raise AssertionError(f"{what} did not come")
        time.sleep(0.1)
    return found


class Alerts(unittest.TestCase):
    def setUp(self):
        self.work = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.work)
        self.running = {}
        self.addCleanup(self.stop_all)
        self.launch("scheduler", BIN / "chipweave-scheduler", "--standalone", "--http", "127.0.0.1:0", "--grpc",
                    "127.0.0.1:0", "--inventory-stale-after", "5s", "--port-file", self.work / "scheduler.json")
        self.ports = self.ports_of("scheduler")
        for node in MACHINES:
            self.set_health(node)
            self.start_agent(node)
        self.start_prometheus()

    def launch(self, name, *command):
        with (self.work / f"{name}.log").open("a") as log:
            self.running[name] = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    # The last one first. Each may take its time, but not ignore the signal.
    def stop_all(self):
        for name, process in reversed(self.running.items()):
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                print(f"{name} did not end on SIGTERM", file=sys.stderr)

    def log_of(self, name):
        return (self.work / f"{name}.log").read_text()[-2000:]

    def ports_of(self, name):
        file = self.work / f"{name}.json"

        def there():
            self.assertIsNone(self.running[name].poll(), self.log_of(name))
            return file.exists() and file.stat().st_size

        wait_for(f"the port file of {name}", there)
        return json.loads(file.read_text())

    def set_health(self, node, **faults):
        (self.work / "new").write_text(json.dumps(faults))
        os.rename(self.work / "new", self.work / f"health-{node}.json")

    # A second start takes the port of the first: Prometheus knows it by that.
    def start_agent(self, node, port=0):
        (self.work / f"{node}.json").unlink(missing_ok=True)
        self.launch(node, BIN / "chipweave-agent", "--node", node, "--probe", f"profile:{MACHINES[node]}", "--scheduler",
                    f"127.0.0.1:{self.ports['grpc']}", "--health-file", self.work / f"health-{node}.json", "--metrics",
                    f"127.0.0.1:{port}", "--port-file", self.work / f"{node}.json")

    def start_prometheus(self):
        rules = yaml.safe_load(RULES.read_text())
        for group in rules["groups"]:
            for rule in group["rules"]:
                if "for" in rule:
                    rule["for"] = "1s"
        (self.work / "rules.yaml").write_text(json.dumps(rules))
        target = lambda port, **labels: {"targets": [f"127.0.0.1:{port}"], "labels": labels}
        agents = [target(self.ports_of(node)["metrics"], node=node) for node in MACHINES]
        (self.work / "prometheus.yaml").write_text(json.dumps({
            "global": {"scrape_interval": "500ms", "scrape_timeout": "500ms", "evaluation_interval": "500ms"},
            "rule_files": ["rules.yaml"],
            "scrape_configs": [
                {"job_name": "agents", "honor_labels": True, "static_configs": agents},
                {"job_name": "scheduler", "honor_labels": True, "static_configs": [target(self.ports["http"])]}]}))
        self.port = free_port()
        self.launch("prometheus", "prometheus", f"--config.file={self.work}/prometheus.yaml",
                    f"--storage.tsdb.path={self.work}/tsdb", f"--web.listen-address=127.0.0.1:{self.port}")

        def ready():
            self.assertIsNone(self.running["prometheus"].poll(), self.log_of("prometheus"))
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/-/ready", timeout=PATIENCE) as reply:
                    return reply.status == 200
            except OSError:
                return False

        wait_for("a Prometheus that is ready", ready)

    def ask(self, path, **query):
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(url, timeout=PATIENCE) as reply:
            return json.load(reply)["data"]

    def value(self, expression):
        return [float(series["value"][1]) for series in self.ask("query", query=expression)["result"]]

    def alerts(self):
        """(alert, node) to state."""
        return {(alert["labels"]["alertname"], alert["labels"].get("node", "")): alert["state"]
                for alert in self.ask("alerts")["alerts"]}

    def comes(self, *expected):
        """Fires, and was pending before; no other alert is there."""
        wanted = {one: "firing" for one in expected}
        wait_for(f"{wanted}, instead of {self.alerts()},", lambda: self.alerts() == wanted)
        for name, node in expected:
            pending = f'count_over_time(ALERTS{{alertname="{name}",node="{node}",alertstate="pending"}}[10m])'
            self.assertTrue(self.value(pending), f"{name} was never pending")
        for alert in self.ask("alerts")["alerts"]:
            for text in alert["annotations"].values():
                self.assertNotIn("error expanding template", text)

    def nothing_is_wrong(self):
        wait_for(f"the end of {self.alerts()}", lambda: self.alerts() == {})

    def test_they_fire_and_resolve(self):
        wait_for("the first scrape of all", lambda: self.value("sum(up)") == [len(MACHINES) + 1])
        self.nothing_is_wrong()
        with self.subTest("the metrics of the rules exist"):
            used = set(re.findall(r"\bchipweave_\w+", RULES.read_text())) - ELSEWHERE
            self.set_health("n3", unhealthy=[0])
            wait_for("a fault", lambda: self.value('chipweave_agent_faults{node="n3",effect="unusable"}'))
            self.set_health("n3")
            wait_for("its end", lambda: self.value('chipweave_agent_fault_events_total{node="n3",change="cleared"}'))
            known = set(self.ask("label/__name__/values"))
            self.assertEqual(used - known, set())
            self.nothing_is_wrong()

        with self.subTest("links of one node are down"):
            self.set_health("n1", down_links=[[0, 3], [0, 1, 1]])
            self.comes(("ChipweaveLinkDown", "n1"))
            self.set_health("n1")
            self.nothing_is_wrong()

        with self.subTest("a chip is lost"):
            self.set_health("n1", unhealthy=[3])
            self.comes(("ChipweaveChipLost", "n1"))
            self.set_health("n1")
            self.nothing_is_wrong()

        with self.subTest("an agent is killed"):
            port = self.ports_of("n2")["metrics"]
            self.running["n2"].send_signal(signal.SIGKILL)
            self.running.pop("n2").wait()
            self.comes(("ChipweaveInventoryStale", "n2"))
            self.start_agent("n2", port)
            self.nothing_is_wrong()

        with self.subTest("a fault comes and goes"):
            ends = lambda: sum(self.value('chipweave_agent_fault_events_total{node="n3",change="cleared"}'))
            for _ in range(3):
                before = ends()
                self.set_health("n3", network_unhealthy=[1])
                wait_for("the fault", lambda: self.value('chipweave_agent_faults{node="n3",effect="network"}'))
                self.set_health("n3")
                wait_for("its end", lambda: ends() == before + 1)
            wait_for("ChipweaveFlapping", lambda: self.alerts().get(("ChipweaveFlapping", "n3")) == "firing")


if not shutil.which("prometheus"):
    print("prometheus is not installed (dependencies/test.txt): the alerts were not tried in it")
    sys.exit(SKIPPED)
unittest.main(argv=sys.argv[:1])
