"""A node of ACK: its label says under which of two names its chips are offered (docs/reference/device-plugin.md)."""
import json

from checker import chips_of, differences
from churn import GPU, container

ALIYUN, LABEL, NAMESPACE = "aliyun.com/gpu", "ack.node.gpu.schedule", "ack"
SWITCH_SECONDS, START_SECONDS = 40, 30


# The label goes back and forth, each time while a pod has chips under the former name. "" or what is wrong.
def back_and_forth(mode):
    mode.bed.must("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    former, taken = None, []
    for number, (value, resource, other) in enumerate([("topology", ALIYUN, GPU), ("default", GPU, ALIYUN)] * 2):
        wrong = offered(mode, value, resource, other, 8 - len(taken))
        if wrong:
            return wrong
        pod, chips, wrong = runs(mode, f"{value}-{number}", resource, 3)
        if wrong or set(chips) & set(taken):
            return wrong or f"{chips} of {pod} are chips of a pod with {other}: {taken}"
        print(f"{LABEL}={value}: {pod} has {chips} of {resource}, beside {taken} of {other}", flush=True)
        if former:
            mode.bed.must("DELETE", f"/api/v1/namespaces/{NAMESPACE}/pods/{former}")
        former, taken = pod, chips
    return ""


def offered(mode, value, resource, other, count):
    node = f"/api/v1/nodes/{mode.node.name}"
    mode.bed.must("PATCH", node, {"metadata": {"labels": {LABEL: value}}})
    now = lambda: (mode.node.allocatable(resource), mode.node.allocatable(other))
    right = mode.bed.poll(lambda: now() == (count, 0), SWITCH_SECONDS)
    return "" if right else f"{LABEL}={value}: the node offers {now()} of {resource} and {other}, not {(count, 0)}"


# Returns its name, the chips that its container sees, and what is wrong.
def runs(mode, name, resource, count):
    path = f"/api/v1/namespaces/{NAMESPACE}/pods"
    spec = {"hostNetwork": True, "terminationGracePeriodSeconds": 1, "containers": [container("main", count)]}
    body = json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}).replace(GPU, resource)
    mode.bed.must("POST", path, json.loads(body))
    read = lambda: mode.bed.must("GET", f"{path}/{name}")
    if not mode.bed.poll(lambda: mode.node.sights(read()), START_SECONDS):
        return name, [], f"{name} does not start: {read()['status']}"
    pod = read()
    sights, listed = mode.node.sights(pod), mode.node.pod_resources().get(f"{NAMESPACE}/{name}", {})
    chips = chips_of(one["name"] for one in sights[0][2]["nodes"])
    wrong = differences(pod, resource, sights, listed)
    if not wrong and not mode.bed.poll(lambda: mode.books(f"{NAMESPACE}/{name}") == chips, START_SECONDS):
        wrong = [f"our scheduler says {mode.books(f'{NAMESPACE}/{name}')}, device nodes {chips}"]
    if not wrong and not mode.bed.poll(lambda: mode.given(pod) == chips, START_SECONDS):
        wrong = [f"status.given says {mode.given(pod)}, device nodes {chips}"]
    return name, chips, "; ".join(f"{name}: {one}" for one in wrong)
