"""Pods of higher priority make room: by number, on a machine with rules, and not where it would not help."""
from audit import asks

NODE, RINGS = "pr-gpu", "pr-rings"
NPU = "huawei.com/Ascend910"
SMALL, BIG = "e2e-small", "e2e-big"


def run(s):
    priorities(s)
    s.v100(NODE)
    for step in (room_by_number, nomination, in_vain):
        step(s)
        s.remove_all()
    rules(s)
    s.remove_all()
    s.settled()


def priorities(s):
    for name, value in ((SMALL, 10), (BIG, 1000)):
        s.bed.must("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": name}, "value": value})
        s.undo.append(lambda name=name: s.bed.ask("DELETE", f"/apis/scheduling.k8s.io/v1/priorityclasses/{name}"))


# No kubelet ends the victims here. The preemptor, once it is bound.
def victims_end(s):
    for pod in s.pods():
        if pod["metadata"].get("deletionTimestamp"):
            s.delete(pod["metadata"]["name"])
    return s.is_bound("high")


# Four pods of two chips fill the node; one of four chips with a higher priority wants in.
def room_by_number(s):
    victims = [f"low-{number}" for number in range(4)]
    for name in victims:
        s.create(name, 2, priorityClassName=SMALL)
    s.bound(*victims)
    s.create("high", 4, priorityClassName=BIG)
    pod = s.eventually("a pod of higher priority makes room for itself", lambda: victims_end(s))
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
    s.must_come("a nomination", lambda: s.pod("high").get("status", {}).get("nominatedNodeName") == NODE)
    ending = lambda: [pod["metadata"]["name"] for pod in s.pods() if pod["metadata"].get("deletionTimestamp")]
    s.must_come("the evictions", lambda: len(ending()) == 2)
    victims = ending()
    stop, go_on = s.freeze("kube-scheduler")
    stop()
    for name in victims:
        s.bed.must("PATCH", f"{s.pods_path}/{name}", {"metadata": {"finalizers": None}})
        s.delete(name)
    s.must_come("their end", lambda: not any(f"{s.ns}/{name}" in s.used()[NODE] for name in victims))
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
    unhealthy = s.free(NODE)[:2]
    s.agent(NODE).say_health(unhealthy=unhealthy)
    s.must_come("the unhealthy chips", lambda: s.chipweave.nodes()[NODE]["unhealthy"] == unhealthy)
    s.create("vain", 7, priorityClassName=BIG)
    s.given_up("vain")
    notes = lambda: [event["note"] for event in s.events("vain", "FailedScheduling")]
    s.eventually("preemption is not helpful, kube-scheduler says",
                 lambda: any("Preemption is not helpful" in note for note in notes()), why=notes)
    rejected = lambda: s.chipweave.metric('chipweave_decisions_total{result="rejected",verb="filter"}') or 0
    for number in range(3):
        before = rejected()
        s.bed.must("PATCH", f"/api/v1/nodes/{NODE}", {"metadata": {"annotations": {"example.com/poke": str(number)}}})
        s.must_come("another attempt", lambda before=before: rejected() > before)
    low = s.pod("low")
    s.check("nothing is evicted in vain", low["spec"].get("nodeName") and not low["metadata"].get("deletionTimestamp"), low)
    s.check("and nothing is nominated", not s.pod("vain").get("status", {}).get("nominatedNodeName"), s.pod("vain"))
    s.agent(NODE).say_health()
    s.delete("low")
    s.bound("vain")


# As a kubelet would say.
def started(s, time, *names):
    for name in names:
        s.create(name, 2, NPU, priorityClassName=SMALL)
    s.bound(*names)
    for name in names:
        s.bed.must("PATCH", f"{s.pods_path}/{name}/status", {"status": {"startTime": time}})


# Two rings of four. Of the pods of two chips those that started last are in different rings: kube-scheduler, which
# counts, proposes these two for a pod of four chips, but only the end of two pods in one ring makes room for it.
def rules(s):
    s.nodes(**{RINGS: ("ascend-910a-8", NPU, 8)})
    ring = lambda name: (s.chips_of(s.pod(name)) or [0])[0] // 4
    first, last = [f"first-{number}" for number in range(4)], ["last-0", "last-1"]
    started(s, "2026-01-01T00:00:00Z", *first)
    gone = [next(name for name in first if ring(name) == number) for number in (0, 1)]
    for name in gone:
        s.delete(name)
    s.must_come("a free pair in each ring", lambda: len(s.free(RINGS)) == 4)
    started(s, "2026-01-02T00:00:00Z", *last)
    s.check("the last two are in different rings", {ring(name) for name in last} == {0, 1}, s.used())
    held = {name: s.chips_of(s.pod(name)) for name in {*first, *last} - {*gone}}
    s.create("high", 4, NPU, priorityClassName=BIG)
    pod = s.eventually("a pod of four chips makes room for itself", lambda: victims_end(s))
    left = {p["metadata"]["name"] for p in s.pods()} & set(held)
    s.check("two of four pods are enough", len(left) == 2, left)
    chips = sorted(s.chips_of(pod) or []) if pod else []
    s.check("it has one ring", chips in ([0, 1, 2, 3], [4, 5, 6, 7]), s.used())
    s.check("that of its victims", chips == sorted(c for name in set(held) - left for c in held[name]), (held, left))
