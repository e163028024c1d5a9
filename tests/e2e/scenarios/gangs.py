"""Gangs on 64 nodes in four blocks of four racks: planned whole, each pod on the node of its rank; with the gate and without it,
all or nothing, while nodes are cordoned and programs are killed, and elastic ones."""
import json

from lib.gangs import GATE, fabric, gate_webhook, gates_of
from lib.scenario import SOON

FLAGS = ["--inventory-stale-after", "30m"]
NODES = 64
LONG = 3 * SOON


def run(s):
    fabric(s, NODES)
    three(s)
    all_or_nothing(s)
    cordoned(s)
    elastic(s)
    if s.chipweave.https:  # the API server asks webhooks over TLS only
        gate_webhook(s)
        s.must_come("the gate of a new pod", lambda: gates_of(member(s, "probe", 0, 2, "?dryRun=All")) == [GATE])
        behind_the_gate(s)
        restarted(s)
    s.settled(LONG)


def member(s, gang, index, size, query="", chips=8, spec=None, **marks):
    labels = {"chipweave.dev/gang": gang, "chipweave.dev/gang-size": str(size), "chipweave.dev/gang-index": str(index)}
    for key, value in marks.items():
        labels[f"chipweave.dev/gang-{key}"] = str(value)
    return s.bed.must("POST", f"{s.pods_path}{query}", s.pod_body(f"{gang}-{index}", chips, labels=labels, **(spec or {})))


def create(s, gang, size, pods=None, **more):
    for index in range(size if pods is None else pods):
        member(s, gang, index, size, **more)


def of(s, gang):
    pods = [pod for pod in s.pods() if pod["metadata"].get("labels", {}).get("chipweave.dev/gang") == gang]
    return sorted(pods, key=lambda pod: int(pod["metadata"]["labels"]["chipweave.dev/gang-index"]))


def bound(s, gang, count, seconds=LONG):
    there = lambda: [pod for pod in of(s, gang) if pod["spec"].get("nodeName")]
    s.eventually(f"{count} pods of gang {gang} are bound", lambda: len(there()) == count, seconds,
                 lambda: f"{len(there())} are; {s.chipweave.ask('GET', f'/api/v1/gangs/{s.ns}/{gang}')}; {s.waiting_words()}")
    return of(s, gang)


def place(pod):
    return json.loads(pod["metadata"]["annotations"]["chipweave.dev/placement"])["gang"]


def remove(s, *gangs):
    for gang in gangs:
        for pod in of(s, gang):
            s.delete(pod["metadata"]["name"])
    s.must_come("the chips back", lambda: not any(of(s, gang) for gang in gangs))


# Borders that the ring of ranks crosses on a level.
def crossings(paths, level):
    ends = [path[:level + 1] for path in paths]
    return sum(a != b for a, b in zip(ends, ends[1:] + ends[:1]))


def three(s):
    for index in range(16):  # their pods come interleaved
        member(s, "a", index, 16)
        member(s, "b", index, 16)
        if index < 8:
            member(s, "c", index, 8, chips=4)
    for gang, pods, nodes, racks in (("a", 16, 16, 4), ("b", 16, 16, 4), ("c", 8, 4, 1)):
        placed = bound(s, gang, pods)
        paths = [place(pod)["path"] for pod in placed]
        s.check(f"gang {gang} is in one block", len({path[0] for path in paths}) == 1, paths)
        s.check(f"and in as few racks and nodes as can be", len({tuple(path) for path in paths}) == racks and
                len({pod["spec"]["nodeName"] for pod in placed}) == nodes, paths)
        s.check("its ranks are the framework's", [place(pod)["rank"] for pod in placed] == list(range(pods)))
        s.check("and cross as few borders as can be", crossings(paths, 1) == (racks if racks > 1 else 0), paths)
        s.check("the rank is plain text, too", [pod["metadata"]["annotations"]["chipweave.dev/rank"] for pod in placed] ==
                [str(rank) for rank in range(pods)])


# 28 nodes are free.
def all_or_nothing(s):
    create(s, "large", 40)
    s.given_up("large-0")
    name = f"/api/v1/gangs/{s.ns}/large"
    waits = lambda: s.chipweave.ask("GET", name)[1]["items"][0]
    s.eventually("a gang that does not fit waits", lambda: waits()["state"] == "waiting", why=waits)
    s.check("and holds nothing", s.chipweave.metric("chipweave_reservations") == 0)
    # It is tried when its scheduler asks for a pod after the last one is known.
    why = lambda: s.chipweave.ask("GET", f"/api/v1/explain/{s.ns}/large-7")[1]["summary"]
    s.eventually("its pods say why", lambda: "gang large has no plan: needs room for 40 pods" in why(), why=why)
    single = s.create("single", 8)
    s.bound("single")
    remove(s, "a")
    bound(s, "large", 40)
    remove(s, "b", "c", "large")
    s.delete(single["metadata"]["name"])


# Nodes that kube-scheduler does not offer when it asks for a pod whose gang is planned already.
def cordoned(s):
    stop, go_on = s.freeze("kube-scheduler")
    create(s, "first", 4)
    go_on()
    placed = bound(s, "first", 4)
    taken = [pod["spec"]["nodeName"] for pod in placed]
    remove(s, "first")
    node = taken[1]
    s.bed.must("PATCH", f"/api/v1/nodes/{node}", {"spec": {"unschedulable": True}})
    create(s, "second", 4)
    nodes = [pod["spec"]["nodeName"] for pod in bound(s, "second", 4)]
    s.check("no pod is on the cordoned node", node not in nodes, nodes)
    s.check("nor two on one", len(set(nodes)) == 4, nodes)
    s.bed.must("PATCH", f"/api/v1/nodes/{node}", {"spec": {"unschedulable": None}})
    remove(s, "second")


def elastic(s):
    create(s, "elastic", 6, pods=2, minimum=2)
    first = bound(s, "elastic", 2)
    for index in range(2, 6):
        member(s, "elastic", index, 6, minimum=2)
    paths = [place(pod)["path"] for pod in bound(s, "elastic", 6)]
    s.check("pods that come later are beside the first", len({path[0] for path in paths}) == 1 and
            len({tuple(path) for path in paths}) == 2, paths)
    s.check("these stay", [pod["spec"]["nodeName"] for pod in of(s, "elastic")[:2]] ==
            [pod["spec"]["nodeName"] for pod in first])
    remove(s, "elastic")


def behind_the_gate(s):
    create(s, "gated", 8, pods=7)
    s.check("pods wait behind the gate", all(gates_of(pod) == [GATE] for pod in of(s, "gated")))
    s.check("and hold nothing", s.chipweave.metric("chipweave_reservations") == 0)
    member(s, "gated", 7, 8)
    placed = bound(s, "gated", 8)
    expected = [json.loads(pod["metadata"]["annotations"]["chipweave.dev/gang-plan"])["node"] for pod in placed]
    s.check("each is on the node of the plan", expected == [pod["spec"]["nodeName"] for pod in placed], expected)
    create(s, "too-large", NODES - 7)
    create(s, "small", 2)
    bound(s, "small", 2)
    s.check("a gang that does not fit stays behind the gate", all(gates_of(pod) for pod in of(s, "too-large")))
    remove(s, "small", "gated")
    bound(s, "too-large", NODES - 7)
    remove(s, "too-large")


# Killed while the gates of a gang are being opened.
def restarted(s):
    create(s, "again", 32)
    s.must_come("the first open gate", lambda: any(not gates_of(pod) for pod in of(s, "again")))
    s.chipweave.kill()
    plans = {json.loads(pod["metadata"]["annotations"]["chipweave.dev/gang-plan"])["plan"] for pod in of(s, "again")
             if not gates_of(pod)}
    s.chipweave.launch()
    placed = bound(s, "again", 32)
    s.check("all pods are on different nodes", len({pod["spec"]["nodeName"] for pod in placed}) == 32)
    s.check("by the plan of before", {place(pod)["plan"] for pod in placed} == plans, f"{plans}: {place(placed[0])}")
    s.check("each on its node", all(json.loads(pod["metadata"]["annotations"]["chipweave.dev/gang-plan"])["node"] ==
                                    pod["spec"]["nodeName"] for pod in placed))
    remove(s, "again")
