"""Nodes without machines: static ones, and fake ones that kwok keeps."""
import concurrent.futures, contextlib, json, time

from testbed.api import api
from testbed.say import Failure, say

AMOUNTS = {"cpu": "64", "memory": "256Gi", "pods": "110"}
READY_SECONDS = 600  # 5000 nodes take two minutes on two cores
FAKE = "kwok.x-k8s.io/node"


# Fails with the words of the API server.
def must(folder, state, path, accept=(200, 201), **more):
    code, text = api(folder, state, path, **more)
    if code not in accept:
        with contextlib.suppress(ValueError):
            text = json.loads(text)["message"]
        raise Failure(f"{more.get('method', 'GET')} {path}: {code}: {text}")
    return text


# A node is an object; there is no machine behind it and no kubelet.
def add_static_node(folder, state, name, resources):
    ready = {"type": "Ready", "status": "True", "reason": "StaticNode", "message": "made by scripts/testbed"}
    add_node(folder, state, {"name": name}, resources, conditions=[ready])


# With the labels that a kubelet gives its node.
def add_node(folder, state, metadata, resources, accept=(201,), **status):
    name, amounts = metadata["name"], {**AMOUNTS, **resources}
    labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
    body = {"apiVersion": "v1", "kind": "Node", "metadata": {**metadata, "labels": labels | metadata.get("labels", {})},
            "status": {"capacity": amounts, "allocatable": amounts, **status}}
    must(folder, state, "/api/v1/nodes", accept, method="POST", body=body)
    # Admission gives every new node the taint not-ready; no controller here takes it away.
    must(folder, state, f"/api/v1/nodes/{name}", method="PATCH", body={"spec": {"taints": None}},
         content_type="application/merge-patch+json")


# fake-0, fake-1 …; those that are there already stay as they are. Returns when kwok has made all of them Ready.
def add_fake_nodes(folder, state, count, resources):
    began = time.monotonic()
    names = [f"fake-{number}" for number in range(count)]
    fake = {"annotations": {FAKE: "fake"}, "labels": {FAKE: "fake"}}
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        added = pool.map(lambda name: add_node(folder, state, {"name": name, **fake}, resources, (201, 409)), names)
        list(added)  # raises what went wrong in a thread
    while missing := set(names) - ready_fakes(folder, state):
        if time.monotonic() - began > READY_SECONDS:
            raise Failure(f"{len(missing)} of {count} nodes are not Ready after {READY_SECONDS} s; see kwok.log")
        time.sleep(min(2, 0.2 + count / 1000))
    say(f"{count} fake nodes are Ready, {time.monotonic() - began:.1f} s")


def ready_fakes(folder, state):
    listed = must(folder, state, f"/api/v1/nodes?labelSelector={FAKE}%3Dfake&resourceVersion=0")
    return {node["metadata"]["name"] for node in json.loads(listed)["items"]
            if any(c["type"] == "Ready" and c["status"] == "True" for c in node["status"].get("conditions", []))}
