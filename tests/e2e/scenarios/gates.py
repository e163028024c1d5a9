"""Members of gangs get a scheduling gate when they are created, and lose it in one patch, with annotations and a node: the patches
of common/kube/ungate_pod.cpp under the policy of the chart, which leaves the scheduler's account nothing else."""
import json

from lib.bed import ROOT
from lib.gangs import GATE, gate_webhook, gates_of

NODES = ("g-a", "g-b")
FLAGS = ["--inject-rank=true"]
RANK = "chipweave.dev/rank"
STRATEGIC = "application/strategic-merge-patch+json"
VARIABLE = {"name": "CHIPWEAVE_RANK", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": f"metadata.annotations['{RANK}']"}}}
# As the unit tests of the C++ code have them.
PATCHES = (ROOT / "tests/unit/kube/ungate_patches.json").read_text()


def run(s):
    if not s.chipweave.https:
        print("     the API server asks webhooks over TLS only", flush=True)
        return
    s.v100(*NODES)
    gate_webhook(s)
    s.must_come("the gate of a new pod", lambda: gates_of(member(s, "probe", 1, "?dryRun=All")) == [GATE])
    gated(s)
    s.token = s.bed.token("chipweave-scheduler")
    refused(s)
    ungated(s)
    away(s)
    s.settled()


def member(s, name, chips, query="", labels=None, **spec):
    body = s.pod_body(name, chips, labels={"chipweave.dev/gang": "train", **(labels or {})}, **spec)
    return s.bed.must("POST", f"{s.pods_path}{query}", body)


def gated(s):
    pod = member(s, "w-0", 2)
    s.check("a member of a gang gets the gate", gates_of(pod) == [GATE], pod["spec"])
    s.check("and its rank as a variable", pod["spec"]["containers"][0].get("env") == [VARIABLE], pod["spec"])
    s.eventually("it waits behind it", lambda: "SchedulingGated" in str(s.pod("w-0")["status"].get("conditions")))
    for name, pod in (("without a mark", s.create("alone", 1, schedulerName="nobody")),
                      ("without chips", member(s, "no-chips", 0, schedulerName="nobody")),
                      ("with its node", member(s, "on-node", 1, nodeName=NODES[1], schedulerName="nobody"))):
        s.check(f"a pod {name} gets none", gates_of(pod) == [] and "env" not in pod["spec"]["containers"][0], pod["spec"])
        s.delete(pod["metadata"]["name"])
    pod = member(s, "w-1", 1, schedulingGates=[{"name": "example.com/other"}], labels={"app": "x"}, schedulerName="nobody")
    s.check("another's gate stays before ours", gates_of(pod) == ["example.com/other", GATE], pod["spec"])
    code, answer = s.bed.ask("POST", f"{s.pods_path}/w-0/binding",
                             {"metadata": {"name": "w-0"}, "target": {"kind": "Node", "name": NODES[0]}})
    s.check("a gated pod cannot be bound", code == 409 and "schedulingGates" in str(answer), answer)


def patches(pod, node):
    meta = pod["metadata"]
    text = PATCHES.replace("UID", meta["uid"]).replace("VERSION", meta["resourceVersion"]).replace("NODE", node)
    return json.loads(text)


def patch(s, name, body, query=""):
    return s.bed.ask("PATCH", f"{s.pods_path}/{name}{query}", body, s.token, STRATEGIC)


def required(terms):
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}}


# What the policy leaves to the scheduler's account. It takes some seconds to be in force.
def refused(s):
    pod = s.pod("w-1")
    ungating = patches(pod, NODES[0])["plain"]
    with_spec = lambda spec: {**ungating, "spec": {**ungating["spec"], **spec}}
    denied = lambda answer: "may not change this part of a pod" in str(answer)
    image = {"spec": {"containers": [{"name": "c", "image": "example.com/other"}]}}
    s.must_come("the policy", lambda: denied(patch(s, "w-1", image, "?dryRun=All")[1]))
    s.must_come("the right to patch", lambda: patch(s, "w-1", ungating, "?dryRun=All")[0] == 200)
    expression = {"matchExpressions": [{"key": "zone", "operator": "Exists"}]}
    preferred = {"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 1, "preference": expression}]}}}
    elsewhere = [{"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["x"]}]}]
    for what, body in (
            ("the image", image), ("a label", {"metadata": {"labels": {"app": "y"}}}),
            ("another's annotation", {"metadata": {"annotations": {"example.com/x": "1"}}}),
            ("another's gate", {"spec": {"schedulingGates": [{"$patch": "delete", "name": "example.com/other"}]}}),
            ("all gates", {"spec": {"schedulingGates": None}}),
            ("the node without the gate", {"spec": required([{"matchFields": [
                {"key": "metadata.name", "operator": "In", "values": [NODES[0]]}]}])}),
            ("an affinity by labels", with_spec(required([expression]))),
            ("an affinity to all but one node", with_spec(required(elsewhere))),
            ("what it prefers", with_spec(preferred)), ("its node selector", with_spec({"nodeSelector": {"a": "b"}})),
            ("a toleration", with_spec({"tolerations": [{"key": "x", "operator": "Exists"}]})),
            ("its image", with_spec(image["spec"])), ("when it is killed", with_spec({"activeDeadlineSeconds": 60})),
            ("finalizers", {"metadata": {"finalizers": ["example.com/x"]}})):
        code, answer = patch(s, "w-1", body, "?dryRun=All")
        s.check(f"the scheduler may not change of a pod: {what}", code == 403 and denied(answer), f"{code}: {answer}")
    code, answer = patch(s, "w-1", {"metadata": {"annotations": {"chipweave.dev/plan": "1"}}})
    s.check("but annotations of ours", code == 200, answer)


def ungated(s):
    for _ in range(2):
        code, answer = patch(s, "w-1", patches(s.pod("w-1"), NODES[0])["plain"])
        s.check("the scheduler removes its gate and no other", code == 200 and gates_of(answer) == ["example.com/other"] and
                answer["metadata"]["annotations"].get(RANK) == "3", answer)
    wrong = patches({"metadata": {"uid": "00000000-0000-4000-8000-000000000000", "resourceVersion": "1"}}, NODES[0])["plain"]
    code, answer = patch(s, "w-0", wrong)
    s.check("not of another pod of that name", code == 422 and gates_of(s.pod("w-0")) == [GATE], answer)
    code, answer = patch(s, "w-0", patches(s.pod("w-0"), NODES[1])["pinned"])
    s.check("and pins a pod in the same patch", code == 200 and gates_of(answer) == [], answer)
    pod = s.bound("w-0")["w-0"]
    s.check("which is bound there, with its rank", pod["spec"]["nodeName"] == NODES[1] and
            pod["metadata"]["annotations"].get(RANK) == "3", pod)
    golden = patches(pod, NODES[0])["pinned beside terms"]["spec"]["affinity"]
    terms = json.loads(json.dumps(golden))
    for term in terms["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]:
        term["matchFields"].pop()
        if not term["matchFields"]:
            del term["matchFields"]
    pod = member(s, "w-2", 1, affinity=terms)
    code, answer = patch(s, "w-2", patches(pod, NODES[0])["pinned"])
    s.check("a pin does not replace the affinity of the pod", code == 422 and gates_of(s.pod("w-2")) == [GATE], answer)
    code, answer = patch(s, "w-2", patches(s.pod("w-2"), NODES[0])["pinned beside terms"])
    s.check("it is added to each term", code == 200 and answer["spec"]["affinity"] == golden, answer)
    s.check("and obeyed", s.bound("w-2")["w-2"]["spec"]["nodeName"] == NODES[0])


def away(s):
    s.chipweave.kill()
    pod = member(s, "late", 1, schedulerName="nobody")
    s.check("without us pods are created without a gate", gates_of(pod) == [], pod["spec"])
    s.chipweave.launch()
    s.must_come("us back", lambda: gates_of(member(s, "probe", 1, "?dryRun=All")) == [GATE])
