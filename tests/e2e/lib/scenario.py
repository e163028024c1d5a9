"""What a scenario works with: a namespace and nodes of its own, pods, and what the API server and our scheduler report of them.

A scenario is a file of scenarios/ with a docstring and a function run(s), which reports each result with s.check(). What it
created is deleted before the next one begins."""
import contextlib, http.client, json, os, signal, socket, threading
from pathlib import Path

from audit import PLACEMENT, asks, findings, holds_chips, indices_of, placement_of
from lib.bed import NS
from lib.fake_nvml import LIBRARY, Driver
from testbed.nodes import add_node
from testbed.processes import command_of, living_pid

INVENTORIES = "/apis/chipweave.dev/v1alpha1/nodeinventories"
GPU = "nvidia.com/gpu"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
# What takes one moment on an idle machine; kube-scheduler itself waits up to 10 s between two tries.
SOON = 30


class Scenario:
    def __init__(self, bed, chipweave, name, folder):
        self.bed, self.chipweave, self.name, self.folder = bed, chipweave, name, folder
        self.ns = f"e2e-{name}"
        self.pods_path = f"/api/v1/namespaces/{self.ns}/pods"
        self.made_nodes, self.undo = [], []

    def check(self, name, good, why=""):
        return self.bed.check(f"{self.name}: {name}", good, why)

    # Fails, and shows the last answer, if the test does not succeed in time.
    def eventually(self, name, test, seconds=SOON, why=None):
        answer = self.bed.poll(test, seconds)
        self.check(name, answer, why() if why and not answer else answer)
        return answer

    def must_come(self, what, test, seconds=SOON, why=None):
        answer = self.bed.poll(test, seconds)
        if not answer:
            raise RuntimeError(f"{what} did not come within {seconds} s; last answer: {why() if why else answer}")
        return answer

    # --- before and after

    def begin(self):
        self.bed.must("POST", "/api/v1/namespaces", {"metadata": {"name": self.ns}})
        account = f"/api/v1/namespaces/{self.ns}/serviceaccounts/default"
        self.must_come("the namespace's service account", lambda: self.bed.ask("GET", account)[0] == 200)

    # Everything of this scenario goes, also after a failure in its middle.
    def end(self):
        for undo in reversed(self.undo):
            undo()
        self.chipweave.stop_agents()
        for pod in self.pods():
            self.delete(pod["metadata"]["name"])
        self.bed.must("DELETE", f"/api/v1/namespaces/{self.ns}")
        for node in self.made_nodes:
            self.remove_node(node)
        left = lambda: [*self.pods(), *(node for node in self.made_nodes if self.inventory(node))]
        self.must_come("the end of all pods and inventories", lambda: not left())

    def remove_node(self, node):
        self.bed.ask("DELETE", f"/api/v1/nodes/{node}")
        for pod in self.bed.must("GET", f"/api/v1/namespaces/{NS}/pods?fieldSelector=spec.nodeName%3D{node}")["items"]:
            self.bed.ask("DELETE", f"/api/v1/namespaces/{NS}/pods/{pod['metadata']['name']}?gracePeriodSeconds=0")

    # A stand-in without a schema for the definition of others.
    def serve(self, group, kind, version):
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        plural = f"{kind.lower()}s"
        spec = {"group": group, "scope": "Namespaced",
                "names": {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower()},
                "versions": [{"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]}
        name = f"{plural}.{group}"
        self.bed.must("POST", CRDS, {"metadata": {"name": name}, "spec": spec})
        self.undo.append(lambda: self.bed.ask("DELETE", f"{CRDS}/{name}"))
        self.must_come(f"the API of {name}", lambda: self.bed.ask("GET", f"/apis/{group}/{version}/{plural}")[0] == 200)

    # --- nodes

    # NAME=(PROFILE, RESOURCE, CHIPS): nodes of these names, each with an agent. Returns when our scheduler knows them, if
    # it runs.
    def nodes(self, **machines):
        for name, (profile, resource, chips) in machines.items():
            self.add_node(name, {resource: str(chips)})
        for name, (profile, resource, _) in machines.items():
            self.chipweave.start_agent(self.folder, name, f"profile:{profile}", resource)
        self.known(*machines)

    # A node with an agent that watches hardware: a fake driver library, which says what is in the file of this driver.
    def nvidia(self, name, machine, *flags):
        driver, host = Driver(self.folder, name, machine), self.folder / f"host-{name}"
        host.mkdir()  # no PCI bus and no network: this machine's are none of the test's business
        if name not in self.made_nodes:
            self.add_node(name, {GPU: "8"})
        self.chipweave.start_agent(self.folder, name, "nvidia", GPU, "--nvml-library",
                                   self.chipweave.binaries / Path(LIBRARY).name, "--sysfs-root", host, *flags,
                                   CHIPWEAVE_FAKE_NVML=str(driver.path))
        return driver

    # By the API server to the agents of these nodes.
    def nothing_was_refused(self, *names):
        for name in names:
            refusals = [line for line in self.agent(name).log.read_text().splitlines() if "HTTP 4" in line]
            self.check(f"nothing was refused to the agent of {name}", not refusals, refusals)

    # Until our scheduler knows these nodes, if it runs.
    def known(self, *machines):
        self.must_come("the inventories", lambda: all(self.inventory(name) for name in machines))
        if self.chipweave.process:
            self.must_come("our scheduler's word of all nodes", lambda: set(machines) <= set(self.chipweave.nodes()))

    def v100(self, *names):
        self.nodes(**{name: ("hgx-v100-8", GPU, 8) for name in names})

    def add_node(self, name, resources):
        if name not in self.made_nodes:
            self.made_nodes.append(name)
        ready = {"type": "Ready", "status": "True", "reason": "StaticNode", "message": "made by a test"}
        metadata = {"name": name, "labels": {"chipweave.dev/agent": "true"}}
        add_node(self.bed.folder, self.bed.state, metadata, resources, conditions=[ready])

    def agent(self, node):
        return self.chipweave.agents[node]

    # Its status, if there is one.
    def inventory(self, node):
        code, answer = self.bed.ask("GET", f"{INVENTORIES}/{node}")
        return answer.get("status") if code == 200 else None

    # --- pods

    def pod_body(self, name, chips, resource=GPU, labels=None, finalizers=None, **spec):
        container = {"name": "c", "image": "registry.example.com/none"}
        if chips:
            container["resources"] = {"limits": {resource: str(chips)}}
        return {"apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": name, "labels": labels or {}, "finalizers": finalizers or []},
                "spec": {"terminationGracePeriodSeconds": 0, "containers": [container], **spec}}

    def create(self, name, chips, resource=GPU, **more):
        return self.bed.must("POST", self.pods_path, self.pod_body(name, chips, resource, **more))

    def pods(self):
        return self.bed.must("GET", self.pods_path)["items"]

    def pod(self, name):
        return self.bed.must("GET", f"{self.pods_path}/{name}")

    # At once, as nothing runs on these nodes.
    def delete(self, name):
        code, answer = self.bed.ask("DELETE", f"{self.pods_path}/{name}?gracePeriodSeconds=0")
        if code not in (200, 404):
            raise RuntimeError(f"pod {name} cannot be deleted: {code}: {answer}")

    def remove_all(self):
        for pod in self.pods():
            self.delete(pod["metadata"]["name"])
        self.must_come("the chips back", lambda: not self.used())

    def is_bound(self, name):
        pod = self.pod(name)
        return pod if pod["spec"].get("nodeName") else None

    # Checks that all of them are, and gives them by name.
    def bound(self, *names, seconds=SOON):
        found = {name: self.bed.poll(lambda name=name: self.is_bound(name), seconds) for name in names}
        self.check(f"bound: {', '.join(names)}", all(found.values()),
                   f"{[name for name, pod in found.items() if not pod]} wait; {self.waiting_words()}")
        return found

    # What kube-scheduler and we said about pods that wait.
    def waiting_words(self):
        return [event["note"] for event in self.all_events() if event.get("type") == "Warning"][-3:]

    # As a user with the right to bind does manually.
    def bind_by_hand(self, name, node, annotations=None):
        body = {"apiVersion": "v1", "kind": "Binding", "target": {"kind": "Node", "name": node},
                "metadata": {"name": name, "annotations": annotations or {}}}
        self.bed.must("POST", f"{self.pods_path}/{name}/binding", body)

    def placement_text(self, pod, node, chips, uid=None, resource=GPU):
        return {PLACEMENT: json.dumps({"v": 1, "node": node, "podUid": uid or pod["metadata"]["uid"],
                                       "resource": resource, "chips": [{"index": i, "id": ""} for i in chips],
                                       "gbps": 1.0, "decision": "d-000001", "time": "2026-01-02T03:04:05Z"})}

    def all_events(self):
        return self.bed.must("GET", f"/apis/events.k8s.io/v1/namespaces/{self.ns}/events")["items"]

    def events(self, name, reason):
        return [event for event in self.all_events()
                if event["regarding"]["name"] == name and event["reason"] == reason]

    # Until kube-scheduler has given up on the pod for now.
    def given_up(self, name):
        reasons = lambda: [c.get("reason") for c in self.pod(name).get("status", {}).get("conditions", [])
                           if c["type"] == "PodScheduled"]
        return self.must_come(f"that pod {name} is unschedulable", lambda: "Unschedulable" in reasons())

    # --- what is true

    # {node: {"ns/name": [chips]}} as the annotations of all bound pods say.
    def annotated(self):
        used = {}
        for pod in self.bed.must("GET", "/api/v1/pods")["items"]:
            placement = placement_of(pod) if holds_chips(pod) and asks(pod) else None
            if placement:
                name = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
                used.setdefault(pod["spec"]["nodeName"], {})[name] = indices_of(placement)
        return used

    # The same as our scheduler says.
    def used(self):
        return {name: {pod: sorted(chips) for pod, chips in node["used"].items()}
                for name, node in self.chipweave.nodes().items() if node["used"]}

    def chips_of(self, pod):
        placement = placement_of(pod)
        return indices_of(placement) if placement else None

    # The scheduler's view of one node's chips, in any state.
    def taken(self, node):
        return sorted(chip for chips in self.chipweave.nodes()[node]["used"].values() for chip in chips)

    def free(self, node):
        return self.chipweave.nodes()[node]["free"]

    def audit(self):
        pods, inventories = self.bed.must("GET", "/api/v1/pods"), self.bed.must("GET", INVENTORIES)
        return findings(pods["items"], inventories["items"])

    # After whatever happened.
    def settled(self, seconds=SOON):
        found = self.audit()
        self.check("the auditor finds nothing", not found, found)
        agree = lambda: self.used() == self.annotated()
        self.eventually("our scheduler's chips are those of the annotations", agree, seconds,
                        lambda: f"{self.used()} is not {self.annotated()}")
        self.eventually("no reservation is left", lambda: self.chipweave.metric("chipweave_reservations") == 0, seconds)

    def scheduler_lives(self):
        process = self.chipweave.process
        self.check("our scheduler runs", process.poll() is None, f"it ended with {process.returncode}")

    # Two functions: one stops a program of the testbed (it does not answer, but its connections stay), one goes on.
    def freeze(self, program):
        pid = living_pid(self.bed.folder, program)

        def go_on():
            with contextlib.suppress(ProcessLookupError):  # killed since
                os.kill(pid, signal.SIGCONT)

        self.undo.append(go_on)
        return lambda: os.kill(pid, signal.SIGSTOP), go_on

    def watch(self):
        return self.undone(PodWatch(self.bed, self.pods_path))

    def watch_inventories(self):
        return self.watch_of(INVENTORIES)

    def watch_of(self, path):
        return self.undone(Watch(self.bed, path))

    def undone(self, watch):
        self.undo.append(watch.stop)
        return watch

    # A second kube-scheduler that asks the same extender, unless told otherwise; pods choose it by this schedulerName.
    # whole_nodes: it sends nodes, not their names. Unless it binds by us, it does so itself. asks: False: it never asks us.
    def second_kube_scheduler(self, name, *flags, whole_nodes=False, binds=True, asks=True):
        config = self.folder / f"{name}.yaml"
        text = self.chipweave.scheduler_config(name)
        if not asks:
            text = text[:text.index("extenders:")]
        if not binds:
            text = text.replace("  bindVerb: bind\n", "")
        config.write_text(text.replace("nodeCacheCapable: true", f"nodeCacheCapable: {str(not whole_nodes).lower()}"))
        command = command_of(self.bed.folder, self.bed.state, "kube-scheduler")
        command = [part for part in command if not part.startswith(("--config", "--secure-port"))]
        process = self.bed.start(self.folder / f"kube-scheduler-{name}.log", *command, f"--config={config}",
                                 "--secure-port=0", *flags)
        self.undo.append(lambda: self.bed.end(process))
        return process


class Watch:
    """Every version of some objects from now on, as a watch tells them."""

    def __init__(self, bed, path):
        self.seen = []
        version = bed.must("GET", path)["metadata"]["resourceVersion"]
        self.connection, self.answer = bed.stream(f"{path}?watch=true&resourceVersion={version}")
        self.socket = self.connection.sock or self.answer.fp.raw._sock
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        with contextlib.suppress(OSError, ValueError, http.client.HTTPException):  # the end of the connection
            for line in self.answer:
                event = json.loads(line)
                self.seen.append((event["type"], event["object"]))

    def stop(self):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.connection.close()

    # What the watch told of the one of this name.
    def of(self, name):
        return [(kind, what) for kind, what in list(self.seen) if what["metadata"]["name"] == name]


class PodWatch(Watch):
    # Pods that were bound in a write that did not bring their placement, or whose placement changed later.
    def bound_without_placement(self):
        wrong, first = [], {}
        for _, pod in list(self.seen):
            if not pod["spec"].get("nodeName") or not asks(pod):
                continue
            text = pod["metadata"].get("annotations", {}).get(PLACEMENT)
            if text is None or text != first.setdefault(pod["metadata"]["uid"], text):
                wrong.append(f"{pod['metadata']['name']}: {text}")
        return wrong
