"""More than one kube-scheduler, one that sends whole nodes, preemption, a single node."""
from audit import asks

NODES = ("s-a", "s-b")
SMALL, BIG = "e2e-small", "e2e-big"


def run(s):
    s.v100(*NODES)
    two_at_once(s)
    everything_ends(s)
    whole_nodes(s)
    s.chipweave.agents.pop(NODES[1]).kill()
    s.remove_node(NODES[1])
    s.must_come("the end of the second node", lambda: NODES[1] not in s.chipweave.nodes())
    single_node(s)
    priorities(s)
    preemption(s)
    everything_ends(s)
    nomination(s)
    everything_ends(s)
    in_vain(s)
    s.settled()


def everything_ends(s):
    for pod in s.pods():
        s.delete(pod["metadata"]["name"])
    s.must_come("the chips back", lambda: not s.used())


def priorities(s):
    for name, value in ((SMALL, 10), (BIG, 1000)):
        s.bed.must("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": name}, "value": value})
        s.undo.append(lambda name=name: s.bed.ask("DELETE", f"/apis/scheduling.k8s.io/v1/priorityclasses/{name}"))


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


# A kube-scheduler with nodeCacheCapable: false. Half of the first node is unhealthy, which only chipweave knows.
def whole_nodes(s):
    s.second_kube_scheduler("whole", whole_nodes=True)
    unhealthy = [0, 1, 2, 3]
    s.agent(NODES[0]).say_health(unhealthy=unhealthy)
    s.must_come("the unhealthy chips", lambda: s.chipweave.nodes()[NODES[0]]["unhealthy"] == unhealthy)
    s.create("whole", 5, schedulerName="whole")
    pod = s.bound("whole")["whole"]
    s.check("asked about whole nodes: bound where five chips are", pod and pod["spec"]["nodeName"] == NODES[1], s.used())
    s.check("with five chips", pod and len(s.chips_of(pod) or []) == 5, s.used())
    s.create("more", 5, schedulerName="whole")
    s.given_up("more")
    said = s.eventually("another one waits, and why", lambda: s.events("more", "ChipsUnavailable"))
    s.check("in words of chips", said and "chips" in said[0]["note"], said)
    for name in ("whole", "more"):
        s.delete(name)
    s.agent(NODES[0]).say_health()
    s.must_come("the chips back", lambda: len(s.free(NODES[0])) == 8 and not s.used())


# kube-scheduler then does not call prioritize: filter reserves the chips.
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


# The victims are gone, and kube-scheduler has not tried the preemptor again. To another kube-scheduler, which does not
# count pods that are nominated by the first, the node has room by the number of its GPUs.
def nomination(s):
    s.second_kube_scheduler("beside")
    low = [f"low-{number}" for number in range(4)]
    for name in low:
        s.create(name, 2, priorityClassName=SMALL, finalizers=["example.com/wait"])
    chips = {name: s.chips_of(pod) for name, pod in s.bound(*low).items() if pod}
    s.create("high", 4, priorityClassName=BIG)
    s.must_come("a nomination", lambda: s.pod("high").get("status", {}).get("nominatedNodeName") == NODES[0])
    ending = lambda: [pod["metadata"]["name"] for pod in s.pods() if pod["metadata"].get("deletionTimestamp")]
    s.must_come("the evictions", lambda: len(ending()) == 2)
    victims = ending()
    stop, go_on = s.freeze("kube-scheduler")
    stop()
    for name in victims:
        s.bed.must("PATCH", f"{s.pods_path}/{name}", {"metadata": {"finalizers": None}})
        s.delete(name)
    s.must_come("their end", lambda: not any(f"{s.ns}/{name}" in s.used()[NODES[0]] for name in victims))
    s.create("competitor", 2, priorityClassName=SMALL, schedulerName="beside")
    s.given_up("competitor")
    s.check("no other pod of lower priority gets what the victims freed", not s.is_bound("competitor"), s.used())
    go_on()
    pod = s.bound("high")["high"]
    freed = sorted(chip for name in victims for chip in chips.get(name) or [])
    s.check("the preemptor does", pod and sorted(s.chips_of(pod) or []) == freed, s.used())
    left = [name for name in low if name not in victims]
    s.check("the others stay", all(s.is_bound(name) for name in left) and not ending(), ending())
    s.check("and the other pod waits", not s.is_bound("competitor"), s.used())
    for name in left:
        s.bed.must("PATCH", f"{s.pods_path}/{name}", {"metadata": {"finalizers": None}})


# By numbers seven GPUs are free beside the small pod, but two are unhealthy: its end would not help.
def in_vain(s):
    s.create("low", 1, priorityClassName=SMALL)
    s.bound("low")
    unhealthy = s.free(NODES[0])[:2]
    s.agent(NODES[0]).say_health(unhealthy=unhealthy)
    s.must_come("the unhealthy chips", lambda: s.chipweave.nodes()[NODES[0]]["unhealthy"] == unhealthy)
    s.create("vain", 7, priorityClassName=BIG)
    s.given_up("vain")
    notes = lambda: [event["note"] for event in s.events("vain", "FailedScheduling")]
    s.eventually("preemption is not helpful, kube-scheduler says",
                 lambda: any("Preemption is not helpful" in note for note in notes()), why=notes)
    rejected = lambda: s.chipweave.metric('chipweave_decisions_total{result="rejected",verb="filter"}') or 0
    for number in range(3):
        before = rejected()
        s.bed.must("PATCH", f"/api/v1/nodes/{NODES[0]}", {"metadata": {"annotations": {"example.com/poke": str(number)}}})
        s.must_come("another attempt", lambda before=before: rejected() > before)
    low = s.pod("low")
    s.check("nothing is evicted in vain", low["spec"].get("nodeName") and not low["metadata"].get("deletionTimestamp"), low)
    s.check("and nothing is nominated", not s.pod("vain").get("status", {}).get("nominatedNodeName"), s.pod("vain"))
    s.agent(NODES[0]).say_health()
    s.delete("low")
    s.bound("vain")
