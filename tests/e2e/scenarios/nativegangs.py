"""Gangs of kube-scheduler itself whose PodGroups our scheduler reads: planned over the network at the first filter of an attempt,
with a topology constraint in the one domain that the plan is in; since 1.37 also behind the gate."""
import json

from lib.gangs import GATE, RACK, fabric, gate_webhook, gates_of
from lib.scenario import GPU, SOON
from testbed.processes import POD_GROUPS

FLAGS = ["--gang-kinds=kubernetes", "--gate-frameworks=kubernetes", "--inventory-stale-after=30m"]
GANGS = "gangs"  # the name of a kube-scheduler that knows them
LONG = 3 * SOON


def run(s):
    version = s.bed.state["kubernetes"]
    if version not in POD_GROUPS:
        print("     this version has none", flush=True)
        return
    s.chipweave.helm("upgrade", "--set", "scheduler.gangs.kinds={kubernetes}")
    s.undo.append(lambda: s.chipweave.helm("upgrade", "--reset-values"))
    fabric(s, 16)
    s.second_kube_scheduler(GANGS, f"--feature-gates={POD_GROUPS[version][1]}")
    for rack in range(3):  # one of its four nodes is in use
        name = f"used-{rack}"
        s.create(name, 8, nodeSelector={"kubernetes.io/hostname": f"fake-{4 * rack + 2}"})
        s.bound(name)
    together(s)
    constrained(s)
    if version != "1.36" and s.chipweave.https:
        gated(s)
    for rack in range(3):
        s.delete(f"used-{rack}")
    s.settled(LONG)


def gang(s, name, pods, rack=False):
    version, _ = POD_GROUPS[s.bed.state["kubernetes"]]
    spec = {"schedulingPolicy": {"gang": {"minCount": pods}}}
    if rack:
        spec["schedulingConstraints"] = {"topology": [{"key": RACK}]}
    path = f"/apis/scheduling.k8s.io/{version}/namespaces/{s.ns}/podgroups"
    s.bed.must("POST", path, {"metadata": {"name": name}, "spec": spec})
    known = lambda: s.chipweave.ask("GET", f"/api/v1/gangs/{s.ns}/{name}")
    names = [f"{name}-{number}" for number in range(pods)]
    for pod in names:
        s.create(pod, 8, GPU, schedulerName=GANGS, schedulingGroup={"podGroupName": name})
    s.eventually(f"our scheduler knows gang {name}", lambda: known()[0] == 200, why=known)
    return names


def racks(s, names):
    placed = [json.loads(s.pod(name)["metadata"]["annotations"]["chipweave.dev/placement"])["gang"] for name in names]
    s.check("each has its own rank", sorted(one["rank"] for one in placed) == list(range(len(names))), placed)
    s.check("of one plan", len({one["plan"] for one in placed}) == 1, placed)
    return {tuple(one["path"][:2]) for one in placed}


def remove(s, names):
    for name in names:
        s.delete(name)


# Only the fourth rack has room for four pods; kube-scheduler's own score knows no racks.
def together(s):
    names = gang(s, "free", 4)
    s.bound(*names, seconds=LONG)
    found = racks(s, names)
    s.check("a gang without a constraint is in one rack", len(found) == 1, found)
    remove(s, names)


def constrained(s):
    names = gang(s, "first", 4, rack=True)
    s.bound(*names, seconds=LONG)
    found = racks(s, names)
    s.check("a gang with a constraint is in one rack", len(found) == 1, found)
    second = gang(s, "second", 4, rack=True)
    for name in second:
        s.given_up(name)
    s.eventually("one without room holds nothing", lambda: s.chipweave.metric("chipweave_reservations") == 0)
    s.create("single", 8)
    s.bound("single")
    s.delete("single")
    s.chipweave.restart()
    remove(s, names)
    s.bound(*second, seconds=LONG)
    s.check("it follows in the same rack", racks(s, second) == found, found)
    remove(s, second)


def gated(s):
    gate_webhook(s, "scheduler.gangs.kinds={kubernetes}", "scheduler.gangs.gate.frameworks={kubernetes}")
    probe = lambda: s.bed.must("POST", f"{s.pods_path}?dryRun=All", s.pod_body("probe", 8, GPU, schedulerName=GANGS,
                                                                            schedulingGroup={"podGroupName": "probe"}))
    s.must_come("the gate of a new pod", lambda: gates_of(probe()) == [GATE])
    names = gang(s, "gated", 4, rack=True)
    s.bound(*names, seconds=LONG)
    found = racks(s, names)
    s.check("a gang behind the gate is in one rack", len(found) == 1, found)
    remove(s, names)
