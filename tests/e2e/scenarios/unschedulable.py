"""Pods that do not fit: they get the reason once, and are retried within seconds when chips come free for any reason."""
import json, time

NODE = "u-a"
REQUEUE = "chipweave.dev/chips-freed"


def run(s):
    s.v100(NODE)
    waits_with_a_reason(s)
    a_chip_recovers(s)
    a_pod_ends(s)
    nobody_waits(s)
    s.settled()


# kube-scheduler alone would bind it: the node object has eight GPUs, six are in use and one is unhealthy.
def waits_with_a_reason(s):
    s.create("first", 6)
    s.bound("first")
    unhealthy = s.free(NODE)[0]
    s.agent(NODE).say_health(unhealthy=[unhealthy])
    s.must_come("an unhealthy chip", lambda: s.chipweave.nodes()[NODE]["unhealthy"] == [unhealthy])
    s.create("waiting", 2)
    s.given_up("waiting")
    said = [event["note"] for event in s.events("waiting", "FailedScheduling")]
    s.check("kube-scheduler's event FailedScheduling carries our reason", any("enough healthy chips" in note or
            "unhealthy" in note or "not enough free" in note for note in said), said)
    warnings = lambda: s.events("waiting", "ChipsUnavailable")
    s.eventually("an event ChipsUnavailable gives the reason", lambda: len(warnings()) == 1, why=warnings)
    poke(s, 3)
    s.check("repeated rejections make no further events", len(warnings()) == 1, warnings())
    s.check("the pod is not bound", not s.is_bound("waiting"))
    explained = s.chipweave.cli("explain", f"{s.ns}/waiting")
    s.check("chipweave explain gives the reason and a remedy", explained.returncode == 0 and
            "waiting" in explained.stdout and f"chip {unhealthy}" in explained.stdout, explained.stdout + explained.stderr)


# Makes kube-scheduler retry, as any change of a Node does.
def poke(s, times):
    asked = lambda: s.chipweave.metric('chipweave_decisions_total{result="rejected",verb="filter"}') or 0
    for number in range(times):
        before = asked()
        s.bed.must("PATCH", f"/api/v1/nodes/{NODE}", {"metadata": {"annotations": {"example.com/poke": str(number)}}})
        s.must_come("another attempt", lambda: asked() > before)


def touches(s):
    return s.bed.must("GET", f"/api/v1/nodes/{NODE}")["metadata"].get("annotations", {}).get(REQUEUE)


# Nothing else changes in this cluster, so a retry is our doing.
def a_chip_recovers(s):
    s.check("nothing came free, so no Node was annotated", touches(s) is None, touches(s))
    began = time.monotonic()
    s.agent(NODE).say_health()
    s.must_come("the binding", lambda: s.is_bound("waiting"))
    s.check("a recovered chip gets the pod placed within seconds", time.monotonic() - began < 15, time.monotonic() - began)
    s.check("by annotating the Node", touches(s) is not None)


# An ordinary end: kube-scheduler sees it itself.
def a_pod_ends(s):
    s.create("next", 4)
    s.given_up("next")
    s.bed.must("PATCH", f"{s.pods_path}/first/status", {"status": {"phase": "Succeeded"}})
    s.bound("next")
    s.check("a pod that is over has no chips", f"{s.ns}/first" not in s.used()[NODE], s.used())
    s.create("ending", 1, finalizers=["example.com/wait"])
    s.bound("ending")
    s.bed.must("DELETE", f"{s.pods_path}/ending")
    s.check("one that is being deleted still has", len(s.used()[NODE].get(f"{s.ns}/ending", [])) == 1, s.used())
    s.bed.must("PATCH", f"{s.pods_path}/ending", {"metadata": {"finalizers": None}})
    s.eventually("until it is gone", lambda: f"{s.ns}/ending" not in s.used()[NODE], why=s.used)


# Chips that come free while no pod waits trigger nothing. Each change gives the trigger time to act on those before it.
def nobody_waits(s):
    before = touches(s)
    unhealthy = s.free(NODE)[0]
    for faults in [{"unhealthy": [unhealthy]}, {}] * 5:
        s.agent(NODE).say_health(**faults)
        s.must_come("the change of health", lambda: s.chipweave.nodes()[NODE]["unhealthy"] == faults.get("unhealthy", []))
    s.check("no touch when nothing waits", touches(s) == before, touches(s))
