"""A gang behind the gate ends pods of lower priority: single pods before a gang, the gang as a whole, none that a
PodDisruptionBudget keeps; and with the program killed in the middle the same ones. It is bound as it was planned."""
import json

from lib.gangs import GATE, fabric, gate_webhook, gates_of
from lib.scenario import SOON
from scenarios.gangs import bound, create, member, of

FLAGS = ["--inventory-stale-after", "30m", "--gang-preemption=true"]
NODES = 16
LONG = 3 * SOON
WORST, LOW, HIGH = "e2e-gang-worst", "e2e-gang-low", "e2e-gang-high"


def run(s):
    if not s.chipweave.https:
        print("     the API server asks webhooks over TLS only", flush=True)
        return
    for name, value in ((WORST, 5), (LOW, 10), (HIGH, 1000)):
        s.bed.must("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": name}, "value": value})
        s.undo.append(lambda name=name: s.bed.ask("DELETE", f"/apis/scheduling.k8s.io/v1/priorityclasses/{name}"))
    fabric(s, NODES)
    gate_webhook(s, "scheduler.gangs.preemption=true")
    s.must_come("the gate of a new pod", lambda: gates_of(member(s, "probe", 0, 2, "?dryRun=All")) == [GATE])
    fill(s)
    singles_first(s)
    gang_as_a_whole(s)
    restarted(s)
    s.remove_all()
    s.settled(LONG)


def single(s, name, cls, **more):
    s.create(name, 8, priorityClassName=cls, **more)
    return name


def names(s):
    return {pod["metadata"]["name"] for pod in s.pods() if not pod["metadata"].get("deletionTimestamp")}


def as_planned(s, gang, count):
    placed = bound(s, gang, count)
    planned = [json.loads(pod["metadata"]["annotations"]["chipweave.dev/gang-plan"])["node"] for pod in placed]
    s.check(f"gang {gang} is bound exactly as planned", planned == [pod["spec"].get("nodeName") for pod in placed], planned)
    s.check("each pod on a node of its own", len(set(planned)) == count, planned)


# Half of the nodes for a gang, half for single pods, of which a budget keeps two.
def fill(s):
    create(s, "low", 8, spec={"priorityClassName": LOW})
    bound(s, "low", 8)
    kept = [single(s, f"kept-{number}", LOW, labels={"keep": "yes"}) for number in range(2)]
    s.bound(*kept, *[single(s, f"single-{number}", LOW) for number in range(6)])
    budgets = f"/apis/policy/v1/namespaces/{s.ns}/poddisruptionbudgets"
    s.bed.must("POST", budgets, {"metadata": {"name": "keep"}, "spec": {
        "minAvailable": 2, "selector": {"matchExpressions": [{"key": "keep", "operator": "In", "values": ["yes"]}]}}})
    status = lambda: s.bed.must("GET", f"{budgets}/keep").get("status", {})
    s.must_come("the budget's status", lambda: status().get("expectedPods") == 2 and status().get("disruptionsAllowed") == 0)


def singles_first(s):
    before = names(s)
    create(s, "first", 4, spec={"priorityClassName": HIGH})
    as_planned(s, "first", 4)
    gone = before - names(s)
    s.check("four single pods end for it", len(gone) == 4 and all(name.startswith("single-") for name in gone), gone)
    told = lambda: all(s.events(name, "Preempted") for name in gone)
    s.eventually("each has an event that says so", told, why=lambda: [event["reason"] for event in s.all_events()])
    note = s.events(sorted(gone)[0], "Preempted")[0]["note"]
    s.check("and for which gang", f"gang {s.ns}/first" in note, note)
    s.check("the metric counts them", s.chipweave.metric('chipweave_gang_events_total{event="preempted"}') == 4)


# The gang alone is enough; with the two single pods that are left it would be more.
def gang_as_a_whole(s):
    before = names(s)
    create(s, "second", 4, spec={"priorityClassName": HIGH})
    as_planned(s, "second", 4)
    s.eventually("all pods of the gang are gone", lambda: not of(s, "low"), LONG, lambda: names(s))
    gone = before - names(s)
    s.check("and no others", gone == {f"low-{index}" for index in range(8)}, gone)


# Victims that take their time: what plays the kubelet stands still, so that they end when they are deleted at once.
def restarted(s):
    slow = [single(s, f"slow-{number}", WORST, terminationGracePeriodSeconds=600) for number in range(4)]
    s.bound(*slow)
    before = names(s)
    stop, go_on = s.freeze("kwok")
    stop()
    create(s, "third", 4, spec={"priorityClassName": HIGH})
    s.must_come("the evictions", lambda: not any(name in names(s) for name in slow))
    gang = lambda: s.chipweave.ask("GET", f"/api/v1/gangs/{s.ns}/third")[1]["items"][0]
    waits = lambda: gang()["summary"] == "waits for 4 pods to end"
    s.eventually("the gang says what it waits for", waits, why=gang)
    s.chipweave.kill()
    s.chipweave.launch()
    s.eventually("after a restart, too", lambda: s.chipweave.ask("GET", f"/api/v1/gangs/{s.ns}/third")[0] == 200 and waits(),
                 LONG, gang)
    s.delete(slow[0])
    single(s, "competitor", LOW)
    s.given_up("competitor")
    s.check("nobody else gets the chips of one that is gone", not s.is_bound("competitor"))
    for name in slow[1:]:
        s.delete(name)
    go_on()
    as_planned(s, "third", 4)
    s.check("no others end", before - names(s) == set(slow), before - names(s))
    s.check("and the other pod waits", not s.is_bound("competitor"))
