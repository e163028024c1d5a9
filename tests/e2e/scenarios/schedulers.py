"""More than one kube-scheduler, one that sends whole nodes, preemption, a single node."""
from audit import asks

NODES = ("s-a", "s-b")
SMALL, BIG = "e2e-small", "e2e-big"


def run(s):
    s.v100(*NODES)
    two_at_once(s)
    for pod in s.pods():
        s.delete(pod["metadata"]["name"])
    s.must_come("the chips back", lambda: not s.used())
    whole_nodes(s)
    s.chipweave.agents.pop(NODES[1]).kill()
    s.remove_node(NODES[1])
    s.must_come("the end of the second node", lambda: NODES[1] not in s.chipweave.nodes())
    single_node(s)
    preemption(s)
    s.settled()


# Both believe that they alone place pods, and both ask us.
def two_at_once(s):
    s.second_kube_scheduler("other")
    watch = s.watch()
    names = {f"{scheduler}-{number}": scheduler for number in range(8) for scheduler in ("default-scheduler", "other")}
    for name, scheduler in names.items():
        s.create(name, 1, schedulerName=scheduler)
    s.bound(*names, seconds=60)
    used = sorted((node, chip) for node, pods in s.annotated().items() for chips in pods.values() for chip in chips)
    s.check("sixteen pods of two schedulers have sixteen chips", used == [(n, c) for n in NODES for c in range(8)], used)
    said = {event["reportingController"] for event in s.all_events() if event["reason"] == "Scheduled"}
    s.check("each scheduler bound its own", said >= {"default-scheduler", "other"}, said)
    wrong = watch.bound_without_placement()
    s.check("no version of a bound pod lacks its placement", not wrong, wrong)


# A kube-scheduler with nodeCacheCapable: false.
def whole_nodes(s):
    s.second_kube_scheduler("whole", whole_nodes=True)
    names = [f"whole-{number}" for number in range(3)]
    for name in names:
        s.create(name, 5, schedulerName="whole")
    s.must_come("two bound pods", lambda: sum(bool(s.is_bound(name)) for name in names) == 2)
    placed = [pod for name in names if (pod := s.is_bound(name))]
    s.check("asked about whole nodes: a pod on each of two", {pod["spec"]["nodeName"] for pod in placed} == set(NODES),
            s.used())
    s.check("with their chips", all(len(s.chips_of(pod) or []) == 5 for pod in placed), s.used())
    waiting = next(name for name in names if not s.is_bound(name))
    s.given_up(waiting)
    said = s.eventually("and why the third one waits", lambda: s.events(waiting, "ChipsUnavailable"))
    s.check("in words", said and "5 chips" in said[0]["note"], said)
    for name in names:
        s.delete(name)
    s.must_come("the chips back", lambda: not s.used())


# kube-scheduler does not ask for scores then: the chips are promised by filter.
def single_node(s):
    count = 'chipweave_decisions_total{result="fits",verb="prioritize"}'
    before = s.chipweave.metric(count)
    s.create("alone", 2)
    s.bound("alone")
    s.check("with one node left prioritize is skipped", s.chipweave.metric(count) == before)
    s.delete("alone")
    s.must_come("the chips back", lambda: not s.used())


# Four pods of two chips fill the node; one of four chips with a higher priority wants in.
def preemption(s):
    for name, value in ((SMALL, 10), (BIG, 1000)):
        s.bed.must("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": name}, "value": value})
        s.undo.append(lambda name=name: s.bed.ask("DELETE", f"/apis/scheduling.k8s.io/v1/priorityclasses/{name}"))
    victims = [f"low-{number}" for number in range(4)]
    for name in victims:
        s.create(name, 2, priorityClassName=SMALL)
    s.bound(*victims)
    s.create("high", 4, priorityClassName=BIG)
    # No kubelet ends the victims here.
    def ended():
        for pod in s.pods():
            if pod["metadata"].get("deletionTimestamp"):
                s.delete(pod["metadata"]["name"])
        return s.is_bound("high")

    pod = s.eventually("a pod of higher priority makes room for itself", ended)
    left = [p["metadata"]["name"] for p in s.pods() if p["metadata"]["name"] in victims]
    s.check("two of four pods are enough", len(left) == 2, left)
    if pod:
        s.check("it has four chips", len(s.chips_of(pod) or []) == asks(pod)["nvidia.com/gpu"] == 4, s.used())
        healthy = set(range(8)) - {c for name in left for c in s.chips_of(s.pod(name))}
        s.check("those of the victims", set(s.chips_of(pod)) == healthy, s.used())
