"""A testbed filled for the measurement: static nodes, an inventory for each, and the pods of one run."""
import concurrent.futures, contextlib, http.client, json, os, signal, ssl, subprocess, threading, time
from pathlib import Path
from urllib.parse import urlsplit

from testbed.nodes import AMOUNTS
from testbed.started import TESTBED, start, state_of

ROOT = Path(__file__).resolve().parent.parent.parent
NAME, NS, RESOURCE, CHIPS = "throughput", "throughput", "nvidia.com/gpu", 8
PODS, EVENTS = f"/api/v1/namespaces/{NS}/pods", f"/apis/events.k8s.io/v1/namespaces/{NS}/events"
DRA = "/apis/resource.k8s.io/v1"
CLAIMS = f"{DRA}/namespaces/{NS}/resourceclaims"
INVENTORIES = "/apis/chipweave.dev/v1alpha1/nodeinventories"
CONNECTIONS = 6
WAIT_SECONDS = 60
KEEP_SECONDS = 30  # the API server closes a connection after 90 s without a request


class Wrong(Exception):
    """The measurement cannot go on, or means nothing; a sentence why."""


class Cluster:
    """A testbed of our own. Its address, its token, and requests over connections that are kept, one a thread."""

    def __init__(self):
        values = start(NAME)
        self.folder, self.ca = Path(values["CHIPWEAVE_TESTBED"]), values["CHIPWEAVE_TESTBED_CA"]
        self.server, self.token = values["CHIPWEAVE_TESTBED_SERVER"], values["CHIPWEAVE_TESTBED_TOKEN"]
        self.kubeconfig, self.state = values["KUBECONFIG"], state_of(values)
        self.trust = ssl.create_default_context(cafile=self.ca)
        self.kept = threading.local()
        self.pool = concurrent.futures.ThreadPoolExecutor(CONNECTIONS)

    # A failed start of what is measured can be looked into afterwards if the folder is kept.
    def down(self, keep):
        self.pool.shutdown(cancel_futures=True)
        subprocess.run([TESTBED, "down", "--name", NAME, *(["--keep"] if keep else [])], check=False)

    def connect(self):
        port = urlsplit(self.server).port
        return http.client.HTTPSConnection("127.0.0.1", port, timeout=WAIT_SECONDS, context=self.trust)

    def ask(self, method, path, body=None, kind="application/json"):
        if time.monotonic() - getattr(self.kept, "used", float("-inf")) > KEEP_SECONDS:
            self.kept.connection = self.connect()
        self.kept.used = time.monotonic()
        text = body if isinstance(body, (str, type(None))) else json.dumps(body, separators=(",", ":"))
        headers = {"Content-Type": kind, "Authorization": f"Bearer {self.token}"}
        self.kept.connection.request(method, path, text, headers)
        response = self.kept.connection.getresponse()
        return response.status, response.read()

    def must(self, method, path, body=None, kind="application/json", accept=(200, 201)):
        code, answer = self.ask(method, path, body, kind)
        if code not in accept:
            raise Wrong(f"{method} {path}: {code}: {answer.decode(errors='replace')[:500]}")
        return answer

    def get(self, path):
        return json.loads(self.must("GET", path))

    # In several threads; raises what went wrong in one of them.
    def each(self, do, items):
        for _ in self.pool.map(do, items):
            pass


# --- before all runs


# labels_of: the labels of each node, by its number.
def fill(cluster, nodes, agent, claims, labels_of=lambda number: {}):
    began = time.monotonic()
    kubectl = cluster.folder / "bin/kubectl"
    subprocess.run([kubectl, f"--kubeconfig={cluster.kubeconfig}", "create", "-f", ROOT / "charts/chipweave/crds"],
                   check=True, stdout=subprocess.DEVNULL)
    cluster.must("POST", "/api/v1/namespaces", {"metadata": {"name": NS}})
    account = {"metadata": {"name": "default", "namespace": NS}}  # no pod can be created before it is there
    cluster.must("POST", f"/api/v1/namespaces/{NS}/serviceaccounts", account, accept=(201, 409))
    names = [f"node-{number:04}" for number in range(nodes)]
    uids = {}
    cluster.each(lambda one: uids.update({one[1]: add_node(cluster, one[1], labels_of(one[0]))}), enumerate(names))
    template = reported_by(cluster, agent, names[0])
    if claims:
        for chip in template["status"]["topology"]["chips"]:
            chip["id"] = f"GPU-{chip['index']}"
        cluster.must("PUT", f"{INVENTORIES}/{names[0]}/status", template)
        make_devices(cluster, names)
    text = json.dumps(template["status"])
    cluster.each(lambda name: add_inventory(cluster, name, uids[name], text, names[0]), names[1:])
    return time.monotonic() - began


# Ready, without a kubelet. Returns its uid.
def add_node(cluster, name, more):
    labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", **more}
    amounts = {**AMOUNTS, RESOURCE: str(CHIPS)}
    ready = {"type": "Ready", "status": "True", "reason": "StaticNode", "message": "there is no machine behind it"}
    made = cluster.must("POST", "/api/v1/nodes", {"metadata": {"name": name, "labels": labels}, "status": {
        "capacity": amounts, "allocatable": amounts, "conditions": [ready]}})
    # Admission gives every new node the taint not-ready.
    cluster.must("PATCH", f"/api/v1/nodes/{name}", {"spec": {"taints": None}}, "application/merge-patch+json")
    return json.loads(made)["metadata"]["uid"]


# What the agent of one node writes.
def reported_by(cluster, agent, name):
    command = [agent, "--node", name, "--probe", "profile:hgx-h100-8", "--kubeconfig", cluster.kubeconfig]
    with open(cluster.folder / "agent.log", "w") as log, group(command, stdout=log, stderr=log) as running:
        deadline = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < deadline and running.poll() is None:
            code, answer = cluster.ask("GET", f"{INVENTORIES}/{name}")
            if code == 200 and "status" in json.loads(answer):
                return json.loads(answer)
            time.sleep(0.05)
    raise Wrong(f"the agent wrote no inventory:\n{(cluster.folder / 'agent.log').read_text()}")


# As the agent of this node would have written it; `text` is the status of another one.
def add_inventory(cluster, name, uid, text, other):
    owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": uid, "blockOwnerDeletion": False}
    body = {"apiVersion": "chipweave.dev/v1alpha1", "kind": "NodeInventory",
            "metadata": {"name": name, "ownerReferences": [owner]}}
    made = json.loads(cluster.must("POST", INVENTORIES, body))
    status = {**json.loads(text.replace(other, name)), "bootId": f"boot-of-{name}"}
    cluster.must("PUT", f"{INVENTORIES}/{name}/status", {**made, "status": status})


# The chips as devices of a DRA driver, which only our scheduler gives away.
def make_devices(cluster, names):
    taint = {"key": "chipweave.dev/managed", "value": "true", "effect": "NoSchedule"}
    devices = [{"name": f"gpu-{i}", "taints": [taint], "attributes": {"uuid": {"string": f"GPU-{i}"}}} for i in range(CHIPS)]
    cluster.must("POST", f"{DRA}/deviceclasses", {"metadata": {"name": "chipweave"},
                                                  "spec": {"selectors": [{"cel": {"expression": "false"}}]}})
    cluster.each(lambda name: cluster.must("POST", f"{DRA}/resourceslices", {
        "metadata": {"name": f"{name}-gpus"}, "spec": {"driver": "gpu.nvidia.com", "nodeName": name, "devices": devices,
        "pool": {"name": name, "generation": 1, "resourceSliceCount": 1}}}), names)


# --- before and after each run


# Whether DRA hands the chips of all nodes over.
def by_claims(cluster, on):
    def change(inventory):
        status = inventory["status"]
        if ("enforcement" in status) == on:
            return
        status.pop("enforcement", None)
        status |= {"sequence": status["sequence"] + 1, **({"enforcement": "dra"} if on else {})}
        cluster.must("PUT", f"{INVENTORIES}/{inventory['metadata']['name']}/status", inventory)
    cluster.each(change, cluster.get(INVENTORIES)["items"])


# `sizes` are taken in turn. The pods ask for so little else that kube-scheduler's own scores fill one node after another,
# as those of chipweave do: all variants have the same number of nodes left at any time.
def add_pod(cluster, number, sizes):
    asked = {"cpu": "100m", "memory": "128Mi", RESOURCE: str(sizes[number % len(sizes)])}
    container = {"name": "c", "image": "registry.example.com/none", "resources": {"requests": asked, "limits": asked}}
    cluster.must("POST", PODS, {"metadata": {"name": f"pod-{number:05}"},
                                "spec": {"containers": [container], "terminationGracePeriodSeconds": 0}})


def add_pods(cluster, count, sizes):
    cluster.each(lambda number: add_pod(cluster, number, sizes), range(count))


# So many a second, beside the caller; a future that raises what went wrong.
def add_pods_at(cluster, rate, count, sizes):
    def add():
        began = time.monotonic()
        for number in range(count):
            time.sleep(max(0, began + number / rate - time.monotonic()))
            add_pod(cluster, number, sizes)
    return cluster.pool.submit(add)


def remove_pods(cluster):
    claims = cluster.get(CLAIMS)["items"]
    cluster.each(lambda claim: cluster.must("PATCH", f"{CLAIMS}/{claim['metadata']['name']}", {
        "metadata": {"finalizers": None}}, "application/merge-patch+json"), claims)
    for path in (PODS, EVENTS, CLAIMS):
        cluster.must("DELETE", path, {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0})
    deadline = time.monotonic() + WAIT_SECONDS
    while left := cluster.get(f"{PODS}?limit=1")["items"]:
        if time.monotonic() > deadline:
            raise Wrong(f"pod {left[0]['metadata']['name']} does not go away")
        time.sleep(0.1)


# A program in a process group of its own, which ends with the block.
@contextlib.contextmanager
def group(command, **more):
    running = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, **more)
    try:
        yield running
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
        running.wait()
