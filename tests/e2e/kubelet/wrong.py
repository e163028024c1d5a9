"""Pods with wrong chips in their annotation: they must not run with them, or must get
it corrected.

wrong      another client binds it with the chips of a pod that runs
rewritten  another client changes its annotation while it runs, and its container ends and starts again"""
import json, time

from audit import PLACEMENT, placement_of
from checker import annotated, chips_of

GPU = "nvidia.com/gpu"
REFUSAL_SECONDS, RESTART_SECONDS = 40, 90
REFUSAL = "the kubelet has given"  # in what the device plugin says at the start of a container
CHIPS = 8


# Why the kubelet could not start a container, where it contains `text`; "" if it could.
def not_started(pod, text=""):
    for status in pod["status"].get("containerStatuses", []):
        waiting = status.get("state", {}).get("waiting", {})
        if waiting.get("reason") in ("CreateContainerConfigError", "CreateContainerError", "RunContainerError") and \
                text in waiting.get("message", ""):
            return waiting.get("message", "")
    return ""


class WrongPods:
    def __init__(self, churn):
        self.churn = churn
        self.victim, self.kept = {}, set()  # of pods that must not run, and all of these
        self.changed = {}  # {pod: (when, the chips that it has)}

    # Not to be deleted yet.
    def keeps(self, name):
        return name in self.kept or name in self.changed

    def waits(self, living):
        return any(self.churn.shape[name] == "wrong" and name not in self.victim for name in living)

    # As long as the other pod runs, this one must not.
    def must_not_run(self, pod, pods):
        churn, name = self.churn, pod["metadata"]["name"]
        if not pod["spec"].get("nodeName"):
            others = [other for other in pods if other in churn.checked - churn.again and not self.keeps(other) and
                      churn.shape[other] != "rewritten" and not pods[other]["metadata"].get("deletionTimestamp")]
            if others:
                self.victim[name] = others[0]
                self.kept.add(others[0])
                churn.mode.bind_wrongly(pod, pods[others[0]])
            elif churn.created == churn.wanted and all(churn.shape[other] == "wrong" for other in pods):
                churn.wanted += 1
                churn.next_shape = "plain"
            return
        if pod["status"].get("phase") == "Running":
            sights = churn.node.sights(pod)
            if not sights:
                return
            if words := churn.mode.adopted(pod, sights):
                churn.table.add("wrong", "mismatches", f"{name}: {words}")
            else:
                churn.table.add("wrong", "adopted")
        elif why := churn.mode.refused(pod):
            churn.table.add("wrong", "refused")
            churn.table.examples["wrong"] = why
        elif time.time() - churn.since[name] < REFUSAL_SECONDS:
            return
        else:
            churn.table.add("wrong", "mismatches", f"{name}: neither refused nor adopted")
        self.kept.discard(self.victim.pop(name))
        churn.delete(name)

    # It has been checked; its annotation now gets other chips.
    def rewrite(self, pod, sights):
        meta, placement = pod["metadata"], placement_of(pod)
        for chip in placement["chips"]:
            chip["index"] = (chip["index"] + 1) % CHIPS
            chip["id"] = f"GPU-{chip['index']}"
        path = f"{self.churn.path}/{meta['name']}"
        self.churn.bed.must("PATCH", path, {"metadata": {"uid": meta["uid"], "annotations": {PLACEMENT: json.dumps(placement)}}})
        self.changed[meta["name"]] = time.time(), chips_of(node["name"] for node in sights[-1][2]["nodes"])

    # Whether its container starts again only with the right annotation.
    def look_at_rewritten(self, pod):
        churn, name = self.churn, pod["metadata"]["name"]
        when, have = self.changed[name]
        again = any(sight["timeMs"] / 1000 > when + 2 for _, _, sight in churn.node.sights(pod))
        if again:  # its annotation may have been corrected after this pod was read
            pod = churn.bed.must("GET", f"{churn.path}/{name}")
        why = not_started(pod, REFUSAL)
        if not why and time.time() - when > RESTART_SECONDS:  # its status shows it only while the kubelet tries
            why = churn.mode.event_of(pod, lambda event: REFUSAL in event.get("note", ""))
        if why:
            churn.table.add("rewritten", "refused")
            churn.table.examples["rewritten"] = why
        elif annotated(pod, GPU) == {"main": have}:
            churn.table.add("rewritten", "adopted")
        elif again:
            # A kubelet that has just started asks no plugin before that has registered.
            churn.table.add("rewritten", "unasked" if churn.ends else "mismatches",
                            f"{name}: its container runs again with {have}, not those of the annotation")
        elif time.time() - when <= RESTART_SECONDS:
            return
        else:
            churn.table.add("rewritten", "mismatches", f"{name}: its container was neither started again nor refused")
        del self.changed[name]
        churn.delete(name)
