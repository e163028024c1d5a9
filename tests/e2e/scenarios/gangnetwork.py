"""Gangs in a network of 64 nodes, racks and blocks: three at once with levels that they require or prefer; nodes that fail in the
middle, whose pods come back near the others with their ranks, also where a Job makes them again and where places are kept free;
half-bound gangs over a restart; an elastic gang; one whose chips single pods would take."""
import json

from lib.gangs import BLOCK, GATE, RACK, fabric, gate_webhook, gates_of
from lib.scenario import GPU, SOON
from scenarios.gangs import bound, crossings, of, place, remove

FLAGS = ["--inventory-stale-after", "30m", "--fault-scheduling=true", "--max-gang-spares=1", "--keep-chips-after=3s"]
NODES = 64
LONG = 3 * SOON
LASTS = 30  # seconds until a failure counts (FaultEvictions::kLasts)
FAILED = {"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}


def run(s):
    rights = "scheduler.gangs.faultScheduling=true"
    s.chipweave.helm("upgrade", "--set", rights)
    s.undo.append(lambda: s.chipweave.helm("upgrade", "--reset-values"))
    fabric(s, NODES)
    three(s)
    one_node_fails(s)
    several_fail(s)
    only_all_would_fit(s)
    spares(s)
    elastic(s)
    made_again_by_its_job(s)
    if s.chipweave.https:  # the API server asks webhooks over TLS only
        gate_webhook(s, rights)
        s.must_come("the gate of a new pod", lambda: gates_of(member(s, "probe", 0, 2, query="?dryRun=All")) == [GATE])
        half_bound(s)
        first_in_line(s)
    s.settled(LONG)


def member(s, gang, index, size, query="", minimum=None, spec=None, **annotations):
    labels = {"chipweave.dev/gang": gang, "chipweave.dev/gang-size": str(size), "chipweave.dev/gang-index": str(index)}
    if minimum:
        labels["chipweave.dev/gang-minimum"] = str(minimum)
    body = s.pod_body(f"{gang}-{index}", 8, labels=labels, **(spec or {}))
    body["metadata"]["annotations"] = {f"chipweave.dev/{key.replace('_', '-')}": value for key, value in annotations.items()}
    return s.bed.must("POST", f"{s.pods_path}{query}", body)


def running(s, gang, size, **more):
    for index in range(size):
        member(s, gang, index, size, **more)
    return bound(s, gang, size)


def paths(pods):
    return [place(pod)["path"] for pod in pods]


def racks(pods):
    return {tuple(path) for path in paths(pods)}


def nodes(pods):
    return [pod["spec"].get("nodeName") for pod in pods]


def ranks_are_kept(s, pods):
    s.check("ranks are the indices", [place(pod)["rank"] for pod in pods] == list(range(len(pods))) and
            [pod["metadata"]["annotations"]["chipweave.dev/rank"] for pod in pods] == [str(rank) for rank in range(len(pods))])


# As the node controller marks a node without heartbeats; the testbed runs none.
def fail(s, *names):
    for name in names:
        s.bed.must("PATCH", f"/api/v1/nodes/{name}", {"spec": {"taints": [FAILED]}})
    unready = lambda: all(s.bed.must("GET", f"/api/v1/nodes/{name}")["spec"].get("taints") for name in names)
    s.must_come("the taints", unready)


def repair(s, *names):
    for name in names:
        s.bed.must("PATCH", f"/api/v1/nodes/{name}", {"spec": {"taints": None}})


# The pods of these indices are deleted and made again, as their controller does.
def replace(s, gang, size, *indices, **more):
    for index in indices:
        s.delete(f"{gang}-{index}")
    gone = lambda: {f"{gang}-{index}" for index in indices}.isdisjoint(pod["metadata"]["name"] for pod in s.pods())
    s.must_come("the end of the pods", gone)
    for index in indices:
        member(s, gang, index, size, **more)


def three(s):
    wishes = {"rack": (4, {"gang_required_level": RACK}), "block": (12, {"gang_required_level": BLOCK}),
              "near": (6, {"gang_preferred_level": RACK})}
    for index in range(12):  # their pods come interleaved
        for gang, (size, wish) in wishes.items():
            if index < size:
                member(s, gang, index, size, **wish)
    for gang, blocks, in_racks in (("rack", 1, 1), ("block", 1, 3), ("near", 1, 2)):
        pods = bound(s, gang, wishes[gang][0])
        s.check(f"gang {gang} is in as few blocks and racks as can be",
                len({path[0] for path in paths(pods)}) == blocks and len(racks(pods)) == in_racks, paths(pods))
        ranks_are_kept(s, pods)
        s.check("which follow the racks", crossings(paths(pods), 1) == (in_racks if in_racks > 1 else 0), paths(pods))
    remove(s, *wishes)


# The rack has a fourth node.
def one_node_fails(s):
    before = running(s, "train", 3)
    fail(s, nodes(before)[1])
    replace(s, "train", 3, 1)
    after = bound(s, "train", 3)
    s.check("the replacement is in the rack of the others", racks(after) == racks(before), paths(after))
    s.check("not on the failed node", nodes(after)[1] not in nodes(before), nodes(after))
    s.check("and the others stay", [nodes(after)[0], nodes(after)[2]] == [nodes(before)[0], nodes(before)[2]], nodes(after))
    ranks_are_kept(s, after)
    repair(s, nodes(before)[1])
    remove(s, "train")


# Two racks are full, so the replacements go to another rack of the block.
def several_fail(s):
    before = running(s, "large", 8)
    s.check("two racks are full", len(racks(before)) == 2, paths(before))
    lost = [nodes(before)[2], nodes(before)[5]]
    fail(s, *lost)
    replace(s, "large", 8, 5, 2)  # in this order
    after = bound(s, "large", 8)
    new = [pod for pod, node in zip(after, nodes(before)) if pod["spec"]["nodeName"] != node]
    s.check("two pods moved", [place(pod)["rank"] for pod in new] == [2, 5], nodes(after))
    s.check("into one more rack of the block", len({path[0] for path in paths(after)}) == 1 and len(racks(after)) == 3 and
            len(racks(new)) == 1, paths(after))
    ranks_are_kept(s, after)
    repair(s, *lost)
    remove(s, "large")


def only_all_would_fit(s):
    wish = {"gang_required_level": RACK}
    before = running(s, "strict", 4, **wish)
    failed = nodes(before)[3]
    fail(s, failed)
    replace(s, "strict", 4, 3, **wish)
    s.given_up("strict-3")
    gang = lambda: s.chipweave.ask("GET", f"/api/v1/gangs/{s.ns}/strict")[1]["items"][0]["summary"]
    s.eventually("the reason says that the others stay", lambda: "3 of its pods run and stay where they are; all of them together "
                 "would have room elsewhere" in gang(), why=gang)
    s.check("which they do", nodes(of(s, "strict"))[:3] == nodes(before)[:3])
    repair(s, failed)
    after = bound(s, "strict", 4)
    s.check("once the node is back, so is the pod", nodes(after) == nodes(before), nodes(after))
    ranks_are_kept(s, after)
    remove(s, "strict")


def spares(s):
    before = running(s, "spared", 3, spares="1")
    plan = lambda: s.chipweave.ask("GET", f"/api/v1/gangs/{s.ns}/spared")[1]["items"][0]["plan"]
    (spare,) = s.must_come("a spare place", lambda: plan().get("spares"))
    s.check("it is in the rack of the gang", {tuple(spare["path"][:2])} == racks(before), spare)
    s.check("its chips are not given away", s.free(spare["node"]) == [], s.free(spare["node"]))
    shown = s.chipweave.cli("gangs", f"{s.ns}/spared")
    s.check("the command shows it", any("spare " in line and spare["node"] in line for line in shown.stdout.splitlines()), shown)
    fail(s, nodes(before)[0])
    replace(s, "spared", 3, 0, spares="1")
    after = bound(s, "spared", 3)
    s.check("the replacement takes it", nodes(after)[0] == spare["node"], nodes(after))
    ranks_are_kept(s, after)
    repair(s, nodes(before)[0])
    remove(s, "spared")


def elastic(s):
    for index in range(2):
        member(s, "elastic", index, 6, minimum=2)
    first = bound(s, "elastic", 2)
    for index in range(2, 6):
        member(s, "elastic", index, 6, minimum=2)
    pods = bound(s, "elastic", 6)
    s.check("surplus pods come beside the members", len({path[0] for path in paths(pods)}) == 1 and len(racks(pods)) == 2,
            paths(pods))
    s.check("which stay", nodes(pods)[:2] == nodes(first))
    fail(s, nodes(pods)[0])
    replace(s, "elastic", 6, 0, minimum=2)
    after = bound(s, "elastic", 6)
    s.check("so does a replacement", len({path[0] for path in paths(after)}) == 1 and nodes(after)[1:] == nodes(pods)[1:],
            paths(after))
    ranks_are_kept(s, after)
    repair(s, nodes(pods)[0])
    remove(s, "elastic")


# MindCluster's label fault-scheduling: the pod on the failed node is ended by us and made again by the Job.
def made_again_by_its_job(s):
    jobs = f"/apis/batch/v1/namespaces/{s.ns}/jobs"
    labels = {"chipweave.dev/gang": "job", "chipweave.dev/gang-size": "3", "fault-scheduling": "force"}
    container = {"name": "c", "image": "registry.example.com/none", "resources": {"limits": {GPU: "8"}}}
    template = {"metadata": {"labels": labels}, "spec": {"restartPolicy": "Never", "containers": [container]}}
    s.bed.must("POST", jobs, {"metadata": {"name": "job"}, "spec": {
        "completionMode": "Indexed", "completions": 3, "parallelism": 3, "template": template}})
    mine = lambda: sorted((pod for pod in s.pods() if not pod["metadata"].get("deletionTimestamp")),
                          key=lambda pod: pod["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"])
    all_bound = lambda: len(mine()) == 3 and all(nodes(mine()))
    s.must_come("the Job's pods", all_bound, LONG, lambda: s.waiting_words())
    before = mine()
    fail(s, nodes(before)[1])
    lost = before[1]["metadata"]
    s.eventually("the pod of the failed node is ended", lambda: lost["uid"] not in [pod["metadata"]["uid"] for pod in mine()],
                 LASTS + LONG, lambda: s.waiting_words())
    s.eventually("an event says why", lambda: s.events(lost["name"], "FaultScheduling"))
    s.must_come("the replacement", all_bound, LONG, lambda: s.waiting_words())
    after = mine()
    s.check("it is beside the others, with its rank", racks(after) == racks(before) and place(after[1])["rank"] == 1, paths(after))
    s.check("no other pod was ended", [after[0]["metadata"]["uid"], after[2]["metadata"]["uid"]] ==
            [before[0]["metadata"]["uid"], before[2]["metadata"]["uid"]])
    s.check("the metric counts it", s.chipweave.metric('chipweave_gang_events_total{event="fault_ended"}') == 1)
    repair(s, nodes(before)[1])
    s.bed.must("DELETE", f"{jobs}/job?propagationPolicy=Background")
    s.must_come("the end of the Job's pods", lambda: not s.pods(), LONG)


# Killed when half of the pods of three gangs are bound; the others have a scheduler that comes later.
def half_bound(s):
    gangs = ("one", "two", "three")
    for index in range(20):
        for gang in gangs:
            member(s, gang, index, 20, spec={"schedulerName": "late"} if index % 2 else {})
    for gang in gangs:
        bound(s, gang, 10)
    planned = lambda: {pod["metadata"]["name"]: json.loads(pod["metadata"]["annotations"]["chipweave.dev/gang-plan"])["node"]
                       for gang in gangs for pod in of(s, gang) if not gates_of(pod)}
    s.must_come("open gates of all pods", lambda: len(planned()) == 60)
    before = planned()
    s.chipweave.kill()
    s.chipweave.launch()
    s.second_kube_scheduler("late")
    pods = [pod for gang in gangs for pod in bound(s, gang, 20, 2 * LONG)]
    s.check("each pod is on the node of the plan of before", nodes(pods) == [before[pod["metadata"]["name"]] for pod in pods])
    s.check("no node is used twice", len(set(nodes(pods))) == 60)
    for gang in gangs:
        ranks_are_kept(s, of(s, gang))
    remove(s, *gangs)


# Single pods of a node each come all the time: without the chips that are kept for it, the gang would wait as long as they come.
def first_in_line(s):
    pool = [f"fake-{number}" for number in range(4)]
    for node in pool:
        s.bed.must("PATCH", f"/api/v1/nodes/{node}", {"metadata": {"labels": {"pool": "busy"}}})
        s.undo.append(lambda node=node: s.bed.ask("PATCH", f"/api/v1/nodes/{node}", {"metadata": {"labels": {"pool": None}}}))
    busy = {"nodeSelector": {"pool": "busy"}}
    running_now = [s.create(f"single-{number}", 8, **busy)["metadata"]["name"] for number in range(4)]
    s.bound(*running_now)
    for index in range(3):
        member(s, "line", index, 3, spec=busy)
    summary = lambda: s.chipweave.ask("GET", f"/api/v1/gangs/{s.ns}/line")[1]["items"][0]["summary"]
    kept = "chips that come free on 3 nodes are kept for it"
    s.eventually("a gang that has waited long keeps chips", lambda: kept in summary(), why=summary)
    s.eventually("and says so", lambda: any(event["reason"] == "GangKeepsChips" for event in s.all_events()))
    later = [s.create(f"later-{number}", 8, **busy)["metadata"]["name"] for number in range(4)]
    for name in running_now:
        s.delete(name)
    bound(s, "line", 3, LONG)
    there = [name for name in later if s.pod(name)["spec"].get("nodeName")]
    s.check("single pods have what it does not need", len(there) <= 1, there)
    remove(s, "line")
    s.bound(*later)
    for name in later:
        s.delete(name)
