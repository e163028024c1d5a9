"""Gangs of a kube-scheduler that never asks chipweave: each pod is pinned to its node when its gate is opened, and bound exactly as
planned, on nodes that take it; a pod whose node goes between the two has to be made again."""
import json

from lib.gangs import GATE, fabric, gate_webhook, gates_of
from lib.scenario import SOON
from lib.volcano import admission
from scenarios.gangs import bound, create, member, of, place, remove

PLAIN = "plain"
FLAGS = ["--inventory-stale-after", "30m", f"--pinned-schedulers={PLAIN}"]
NODES = 16  # four racks of four
LONG = 3 * SOON
THEIRS = {"schedulerName": PLAIN}


def run(s):
    if not s.chipweave.https:
        print("     the API server asks webhooks over TLS only", flush=True)
        return
    fabric(s, NODES)
    gate_webhook(s)
    admission(s)
    s.must_come("the gate of a new pod", lambda: gates_of(member(s, "probe", 0, 2, "?dryRun=All", spec=THEIRS)) == [GATE])
    for gang, size, chips in (("whole", 8, 8), ("half", 8, 4)):
        as_planned(s, gang, size, chips)
    selected(s)
    node_goes(s)
    s.settled(LONG)


def slots(s, gang):
    return s.chipweave.ask("GET", f"/api/v1/gangs/{s.ns}/{gang}")[1]["items"][0]["plan"]["slots"]


def pin_of(pod):
    affinity = pod["spec"].get("affinity", {}).get("nodeAffinity", {})
    terms = affinity.get("requiredDuringSchedulingIgnoredDuringExecution", {}).get("nodeSelectorTerms", [])
    return [field["values"] for term in terms for field in term.get("matchFields", [])]


# Until all gates are open, before one pod is bound; the slots of the plan by rank.
def opened(s, gang, size, chips=8):
    create(s, gang, size, chips=chips, spec=THEIRS)
    s.must_come(f"open gates of gang {gang}", lambda: not any(gates_of(pod) for pod in of(s, gang)), LONG)
    planned = slots(s, gang)
    pins = [pin_of(pod) for pod in of(s, gang)]
    s.check(f"each pod of gang {gang} is pinned to its node", pins == [[[slot["node"]]] for slot in planned], pins)
    s.check("and none is bound", not any(pod["spec"].get("nodeName") for pod in of(s, gang)))
    return planned


def as_planned(s, gang, size, chips):
    planned = opened(s, gang, size, chips)
    theirs = s.second_kube_scheduler(PLAIN, asks=False)
    pods = bound(s, gang, size)
    got = [(pod["spec"].get("nodeName"), s.chips_of(pod)) for pod in pods]
    s.check("each has the node and the chips of the plan", got == [(slot["node"], slot["chips"]) for slot in planned],
            (got, planned))
    s.check("and its rank", [place(pod)["rank"] for pod in pods] == [*range(size)])
    said = {event["reportingController"] for event in s.all_events()
            if event["reason"] == "Scheduled" and event["regarding"]["name"].startswith(f"{gang}-")}
    s.check("the other scheduler bound them", said == {PLAIN}, said)
    s.bed.end(theirs)
    remove(s, gang)


# No scheduler filters nodes before the pin, so the plan has to know which of them take the pods.
def selected(s):
    pools = {"fake-2": "train", "fake-5": "train", "fake-9": "train", "fake-12": "train", "fake-13": "train", "fake-15": "head"}
    for node, pool in pools.items():
        change_node(s, node, {"metadata": {"labels": {"pool": pool}}}, {"metadata": {"labels": {"pool": None}}})
    taint = [{"key": "dedicated", "value": "others", "effect": "NoSchedule"}]
    change_node(s, "fake-5", {"spec": {"taints": taint}}, {"spec": {"taints": None}})
    change_node(s, "fake-9", {"spec": {"unschedulable": True}}, {"spec": {"unschedulable": None}})
    train = {**THEIRS, "nodeSelector": {"pool": "train"}}
    tolerant = {**train, "tolerations": [{"key": "dedicated", "operator": "Exists"}]}
    theirs = s.second_kube_scheduler(PLAIN, asks=False)
    create(s, "trains", 3, spec=train)
    on = [pod["spec"].get("nodeName") for pod in bound(s, "trains", 3)]
    s.check("a gang with a node selector is on the nodes that take it", sorted(filter(None, on)) == ["fake-12", "fake-13", "fake-2"], on)
    create(s, "tolerant", 2, spec=tolerant)
    why = lambda: s.chipweave.ask("GET", f"/api/v1/gangs/{s.ns}/tolerant")[1]["items"][0]["summary"]
    s.eventually("one for which there are too few says so", lambda: "its pods may not run on 12 of 16 nodes" in why(), why=why)
    remove(s, "tolerant", "trains")
    member(s, "roles", 0, 3, role="head", spec={**THEIRS, "nodeSelector": {"pool": "head"}})
    for index in (1, 2):
        member(s, "roles", index, 3, role="worker", spec=tolerant)
    on = [pod["spec"].get("nodeName") for pod in bound(s, "roles", 3)]
    s.check("pods of one gang may select other nodes each", on[0] == "fake-15" and
            set(on[1:]) <= {"fake-2", "fake-5", "fake-12", "fake-13"}, on)
    s.bed.end(theirs)
    remove(s, "roles")


def change_node(s, name, change, back):
    s.bed.must("PATCH", f"/api/v1/nodes/{name}", change)
    s.undo.append(lambda: s.bed.ask("PATCH", f"/api/v1/nodes/{name}", back))


# A pin cannot be taken back.
def node_goes(s):
    planned = opened(s, "goes", 4)
    gone = planned[1]["node"]
    s.remove_node(gone)
    s.made_nodes.remove(gone)
    s.must_come("the end of its inventory", lambda: not s.inventory(gone))
    s.second_kube_scheduler(PLAIN, asks=False)
    pods = bound(s, "goes", 3)
    s.check("the pods of the other nodes are bound as planned", [pod["spec"].get("nodeName") for pod in pods] ==
            [slot["node"] if slot["node"] != gone else None for slot in planned], planned)
    s.given_up("goes-1")
    s.check("the pod of the node that is gone waits", pin_of(s.pod("goes-1")) == [[gone]])
    s.delete("goes-1")
    member(s, "goes", 1, 4, spec=THEIRS)
    pods = bound(s, "goes", 4)
    again = pods[1]
    s.check("made again it has another node", again["spec"].get("nodeName") not in (None, *(slot["node"] for slot in planned)),
            again["spec"].get("nodeName"))
    if again["spec"].get("nodeName"):
        expected = json.loads(again["metadata"]["annotations"]["chipweave.dev/gang-plan"])["node"]
        s.check("the one that was planned for it", again["spec"]["nodeName"] == expected, expected)
        s.check("with the rank of before", place(again)["rank"] == 1)
    s.check("the survivors stay", [pods[i]["spec"].get("nodeName") for i in (0, 2, 3)] ==
            [planned[i]["node"] for i in (0, 2, 3)])
    remove(s, "goes")
