"""Gangs of Volcano, which keeps a refusal for one pod for all pods of its role: planned whole, each pod on the node of its rank,
around nodes that Volcano or chipweave loses, with and without indices; the driver plays Volcano (tests/volcano_driver)."""
import json

from lib.gangs import fabric
from lib.scenario import SOON
from lib.volcano import GROUP, NAME, ROLE, Driver, admission

FLAGS = ["--inventory-stale-after", "30m", "--gang-kinds=volcano"]
NODES = 16  # four racks of four
LONG = 3 * SOON
API = "scheduling.volcano.sh"
INDEX = "volcano.sh/task-index"
# Volcano looks at nominated nodes first, and at no other then: without them its cache of refusals counts.
SET_ONLY = "--nominations=false"


def run(s):
    if not s.chipweave.https:
        print("     the API server asks webhooks over TLS only", flush=True)
        return
    serve_pod_groups(s)
    fabric(s, NODES)
    admission(s)
    for flags in ([SET_ONLY], []):
        sizes(s, *flags)
    without_ranks(s)
    cordoned(s)
    does_not_fit(s)
    node_goes(s)
    replaced(s)
    s.settled(LONG)


# Volcano's own PodGroups, which say how many pods a gang has.
def serve_pod_groups(s):
    s.serve(API, "PodGroup", "v1beta1")
    s.chipweave.helm("upgrade", "--set", "scheduler.gangs.kinds={volcano}")
    s.undo.append(lambda: s.chipweave.helm("upgrade", "--reset-values"))
    s.chipweave.restart()


# As Volcano's controller makes them of a Job with one task. indexed: since Volcano 1.9.
def gang(s, name, size, chips=8, indexed=True):
    path = f"/apis/{API}/v1beta1/namespaces/{s.ns}/podgroups"
    s.bed.must("POST", path, {"apiVersion": f"{API}/v1beta1", "kind": "PodGroup", "metadata": {"name": name},
                              "spec": {"minMember": size}})
    for index in range(size):
        member(s, name, size, index, chips, indexed)
    return [f"{name}-{index}" for index in range(size)]


def member(s, name, size, index, chips=8, indexed=True):
    body = s.pod_body(f"{name}-{index}", chips, schedulerName=NAME)
    body["metadata"]["annotations"] = {GROUP: name, ROLE: "worker", "scheduling.volcano.sh/group-min-member": str(size)}
    if indexed:
        body["metadata"]["labels"] = {INDEX: str(index)}
    s.bed.must("POST", s.pods_path, body)


def end(s, *drivers):
    for driver in drivers:
        s.check("every reply to Volcano could be used", not driver.errors(), driver.errors())
        s.check("the driver ends with 0", driver.stop() == 0)
    s.remove_all()
    for group in s.bed.must("GET", f"/apis/{API}/v1beta1/namespaces/{s.ns}/podgroups")["items"]:
        s.bed.must("DELETE", f"/apis/{API}/v1beta1/namespaces/{s.ns}/podgroups/{group['metadata']['name']}")


def place(pod):
    return json.loads(pod["metadata"]["annotations"]["chipweave.dev/placement"])["gang"]


def plan(s, name):
    items = s.chipweave.ask("GET", f"/api/v1/gangs/{s.ns}/{name}")[1].get("items", [])
    return (items[0].get("plan") or {}) if items else {}


def nodes_by_rank(s, name):
    return [slot.get("node") for slot in plan(s, name).get("slots", [])]


# Each on the node of its index in the plan; returns the nodes.
def as_planned(s, name, pods):
    if not all(pods.values()):
        return []
    nodes = [pod["spec"]["nodeName"] for pod in pods.values()]
    s.check(f"gang {name} is bound exactly as planned", nodes == nodes_by_rank(s, name), (nodes, plan(s, name)))
    s.check("its ranks are its indices", [place(pod)["rank"] for pod in pods.values()] == [*range(len(pods))])
    chips = [(pod["spec"]["nodeName"], chip) for pod in pods.values() for chip in s.chips_of(pod)]
    s.check("no chip is given twice", len(chips) == len(set(chips)), chips)
    return nodes


def sizes(s, *flags):
    driver = Driver(s, *flags)
    way = "by the set of nodes" if flags else "by nominations"
    for size, chips, racks in ((2, 8, 1), (4, 8, 1), (8, 8, 2), (6, 4, 1)):
        name = f"{'set' if flags else 'own'}-{size}"
        pods = s.bound(*gang(s, name, size, chips), seconds=LONG)
        as_planned(s, name, pods)
        s.check(f"{name}, {way}, is in as few racks as can be", len({tuple(place(pod)["path"]) for pod in pods.values()
                                                                     if pod}) == racks)
        s.remove_all()
    errors = sum(line["allocate_errors"] for line in driver.sessions())
    s.check("no pod was put on the node of another rank", errors == 0, errors)
    end(s, driver)


# Ranks that no index fixes follow the nodes on which Volcano puts the pods: it chooses among equal nodes here.
def without_ranks(s):
    driver = Driver(s, SET_ONLY, verbs="predicate,allocate,deallocate")
    for name, size, chips in (("any", 8, 8), ("halves", 8, 4)):
        pods = s.bound(*gang(s, name, size, chips, indexed=False), seconds=LONG)
        if all(pods.values()):
            ranks = sorted(place(pod)["rank"] for pod in pods.values())
            s.check("each rank is one pod's", ranks == [*range(size)], ranks)
            s.check("that of its node", all(nodes_by_rank(s, name)[place(pod)["rank"]] == pod["spec"]["nodeName"]
                                            for pod in pods.values()), plan(s, name))
            s.check("two racks" if chips == 8 else "one rack", len({tuple(place(pod)["path"]) for pod in pods.values()}) ==
                    (2 if chips == 8 else 1))
        s.remove_all()
    end(s, driver)


# Volcano does not ask about a node that it rules out itself.
def cordoned(s):
    driver = Driver(s, SET_ONLY)
    first = s.bound(*gang(s, "first", 4), seconds=LONG)
    taken = as_planned(s, "first", first)
    s.remove_all()
    node = f"/api/v1/nodes/{taken[1]}"
    s.bed.must("PATCH", node, {"spec": {"unschedulable": True}})
    nodes = as_planned(s, "second", s.bound(*gang(s, "second", 4), seconds=LONG))
    s.check("no pod is on the node that Volcano refuses", nodes and taken[1] not in nodes, nodes)
    s.bed.must("PATCH", node, {"spec": {"unschedulable": None}})
    end(s, driver)


def does_not_fit(s):
    driver = Driver(s)
    large = gang(s, "large", NODES + 1)
    driver.sees(3)
    s.check("a gang that does not fit is not bound in part", not any(s.is_bound(name) for name in large))
    s.check("and holds nothing", s.chipweave.metric("chipweave_reservations") == 0)
    s.check("nor was any of it allocated", driver.calls("allocate") == 0, driver.calls("allocate"))
    small = gang(s, "small", 2)
    s.bound(*small, seconds=LONG)
    reasons = {reason for line in driver.sessions()[1:] for reason in line["reasons"]}
    allowed = {"no room for all pods of gang large", "waiting for the other pods of gang large",
               "waiting for the other pods of gang small", "the plan of the pod's gang has another node for it"}
    s.check("its pods have one constant reason each", "no room for all pods of gang large" in reasons and
            reasons <= allowed, reasons)
    end(s, driver)


# A plan that is there when one of its nodes goes; nothing is bound yet.
def node_goes(s):
    driver = Driver(s, "--never-commit", SET_ONLY)
    names = gang(s, "goes", 4)
    planned = s.must_come("the plan", lambda: nodes_by_rank(s, "goes"))
    driver.sees(1)
    s.check("nothing is bound", not any(s.is_bound(name) for name in names))
    gone = planned[2]
    s.remove_node(gone)
    s.made_nodes.remove(gone)
    s.must_come("the end of its inventory", lambda: not s.inventory(gone))
    driver.stop()
    driver = Driver(s, SET_ONLY)
    nodes = as_planned(s, "goes", s.bound(*names, seconds=LONG))
    s.check("the pod of the node that is gone has another one", nodes and gone not in nodes, nodes)
    s.check("the others stay", nodes and [a == b for a, b in zip(nodes, planned)] == [True, True, False, True],
            (planned, nodes))
    end(s, driver)


# A pod of a gang that runs fails; Volcano's controller makes it again.
def replaced(s):
    driver = Driver(s, SET_ONLY)
    nodes = as_planned(s, "repaired", s.bound(*gang(s, "repaired", 4), seconds=LONG))
    s.delete("repaired-2")
    s.must_come("the chips back", lambda: nodes[2] not in s.used())
    member(s, "repaired", 4, 2)
    pod = s.bound("repaired-2", seconds=LONG)["repaired-2"]
    s.check("its replacement has its rank", pod and place(pod)["rank"] == 2, pod)
    s.check("and is in the rack of the others", pod and place(pod)["path"] == place(s.pod("repaired-1"))["path"], pod)
    end(s, driver)
