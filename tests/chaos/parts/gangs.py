"""Gangs as the API server shows them, and what must never be true of them. Pure: the time comes with each version.

Findings: a pod of a gang was bound before as many pods were there as must start together; its placement does not say its place
in the gang, or says another one than its index; two pods that live have one rank; a gang is half-placed (some pods are bound,
fewer than must start together, the others wait) for HALF_SECONDS in which there was room for the missing ones all the time."""
import copy, json

from audit import asks, example, holds_chips, name_of, placement_of
from lib.bed import NS

MARK = "chipweave.dev/gang"
# Of gangs whose owner object says how many pods they have; what the judge knows of them is in labels that mean nothing to
# chipweave. Without the object their pods are placed one by one.
POD_GROUP, POD_GROUPS = "scheduling.x-k8s.io/pod-group", "/apis/scheduling.x-k8s.io/v1alpha1"
JUDGES = "chaos.example.com/gang"
RANK, PLAN = "chipweave.dev/rank", "chipweave.dev/gang-plan"
GATE = "chipweave.dev/gang"
PLANS = f"/api/v1/namespaces/{NS}/configmaps?labelSelector=chipweave.dev%2Fgang-plan"
# An uncertain binding is cleared up after 75 s, and a leader that dies may leave another one.
HALF_SECONDS = 150


def labels_of(pod):
    return pod["metadata"].get("labels") or {}


# Namespace and name; None: it is in none.
def gang_of(pod):
    name = labels_of(pod).get(MARK) or labels_of(pod).get(POD_GROUP)
    return (pod["metadata"]["namespace"], name) if name else None


def number(pod, what, otherwise=0):
    return int(labels_of(pod).get(f"{MARK if MARK in labels_of(pod) else JUDGES}-{what}", otherwise))


def has_owner(pod):
    return POD_GROUP in labels_of(pod)


def size_of(pod):
    return number(pod, "size")


# How many must start together.
def quorum_of(pod):
    return number(pod, "minimum", size_of(pod))


def is_elastic(pod):
    return quorum_of(pod) < size_of(pod)


def is_over(pod):
    return pod.get("status", {}).get("phase") in ("Succeeded", "Failed")


def waits(pod):
    return not pod["spec"].get("nodeName") and not is_over(pod) and not pod["metadata"].get("deletionTimestamp")


def gates_of(pod):
    return [gate["name"] for gate in pod["spec"].get("schedulingGates", [])]


# How many pods of these, which are those of one gang, must get chips together, now; 0: none.
def missing(pods):
    bound, waiting = sum(map(holds_chips, pods)), sum(map(waits, pods))
    if not waiting:
        return 0
    needed = max(quorum_of(pods[0]) - bound, 1)
    return needed if waiting >= needed else 0


# free: chips by node, of nodes with the pods' resource.
def fits(pods, free):
    chips = next(iter(asks(pods[0]).values()))
    return sum(max(room, 0) // chips for room in free) >= missing(pods)


class Gang:
    def __init__(self):
        self.pods = {}  # by uid, that live
        self.complete = False  # whether as many were there as must start together, ever since the first of these pods
        self.lost = False  # whether a pod went
        self.half = None  # (since when it is half-placed with room, its pods then)


class Gangs:
    def __init__(self):
        self.gangs = {}  # by gang_of
        self.excused = set()  # uids of pods that are bound by hand, past all schedulers
        self.placed = set()  # plans of which as many pods were bound as must start together

    # Sentences. seen: whether no version was missed before.
    def pod(self, kind, pod, seen=True):
        key = gang_of(pod)
        if not key:
            return []
        uid, gang = pod["metadata"]["uid"], self.gangs.setdefault(key, Gang())
        before = gang.pods.pop(uid, None)
        if kind == "DELETED" or is_over(pod):
            gang.lost = True
            if not gang.pods:
                del self.gangs[key]
            return []
        gang.pods[uid] = pod
        there = len(gang.pods)
        gang.complete |= there >= quorum_of(pod)
        if not holds_chips(pod) or before and holds_chips(before) or uid in self.excused:
            return []
        if sum(map(holds_chips, gang.pods.values())) >= quorum_of(pod):
            self.placed.add(place_of(pod).get("plan"))
        if has_owner(pod):
            return []
        early = [] if gang.complete or not seen else [
            f"{name_of(pod)} was bound when its gang had {there} of the {quorum_of(pod)} pods that must start together"]
        return [*early, *(f"{name_of(pod)} {wrong}" for wrong in wrong_place(pod)), *self.same_rank(gang, pod)]

    # Elastic gangs may have gaps in their indices, so ranks move when pods come.
    def same_rank(self, gang, pod):
        others = [other for other in gang.pods.values() if other is not pod and holds_chips(other) and
                  other["metadata"]["uid"] not in self.excused and rank_of(other) == rank_of(pod)]
        return [] if is_elastic(pod) else [f"{name_of(pod)} has the rank of {name_of(other)}, {rank_of(pod)}" for other in others]

    # room: a function of the pods of a gang that gives the chips that are free on each of the nodes for them.
    def half_placed(self, room, now):
        found = []
        for gang in self.gangs.values():
            pods = list(gang.pods.values())
            bound = sum(map(holds_chips, pods))
            half = (0 < bound < quorum_of(pods[0]) and missing(pods) and not has_owner(pods[0]) and
                    not any(set(gates_of(pod)) - {GATE} for pod in pods))
            if not half or gang.pods.keys() & self.excused or not fits(pods, room(pods)):
                gang.half = None
            elif gang.half is None or gang.half[1] != set(gang.pods):
                gang.half = now, set(gang.pods)
            elif now - gang.half[0] > HALF_SECONDS:
                names = ", ".join(sorted(name_of(pod) for pod in pods if waits(pod)))
                found.append(f"{bound} pods of a gang are bound, of {quorum_of(pods[0])} that must start together, and {names} "
                             f"waited for {HALF_SECONDS} s though there was room")
        return found


# The place in its gang that the placement gives.
def place_of(pod):
    return (placement_of(pod) or {}).get("gang") or {}


def rank_of(pod):
    return place_of(pod).get("rank")


def wrong_place(pod):
    place, size, index = place_of(pod), size_of(pod), number(pod, "index")
    rank = place.get("rank")
    if not place:
        return ["was bound without a place in its gang"]
    wrong = []
    if place.get("name") != "/".join(gang_of(pod)):
        wrong.append(f"has a place in the gang {place.get('name')}")
    if not place.get("plan"):
        wrong.append("has a place in no plan")
    if not (quorum_of(pod) <= place.get("size", 0) <= size):
        wrong.append(f"has a place in a gang of {place.get('size')} pods, not {size}")
    if not isinstance(rank, int) or not 0 <= rank < size or not is_elastic(pod) and rank != index:
        wrong.append(f"has the index {index} and the rank {rank}")
    text = pod["metadata"]["annotations"].get(RANK)
    if text != str(rank):
        wrong.append(f"has the rank {rank} in its placement and {text} as text")
    return wrong


# --- self-test


def member(index, size=2, node=None, rank=None, gang="train", minimum=None, of=None, phase="Pending", gates=()):
    (pod, *_), _ = example()
    pod = copy.deepcopy(pod)
    uid = f"uid-{gang}-{index}"
    marks = {MARK: gang, f"{MARK}-size": str(size), f"{MARK}-index": str(index)}
    if minimum:
        marks[f"{MARK}-minimum"] = str(minimum)
    pod["metadata"] = {"namespace": "a", "name": f"{gang}-{index}", "uid": uid, "labels": marks, "annotations": {}}
    pod["spec"].pop("nodeName")
    pod["spec"]["schedulingGates"] = [{"name": gate} for gate in gates]
    pod["status"] = {"phase": phase}
    if node:
        rank = index if rank is None else rank
        pod["spec"]["nodeName"] = node
        place = {"name": f"a/{gang}", "plan": "3f2a91c0", "rank": rank, "size": of or size, "path": []}
        pod["metadata"]["annotations"] = {RANK: str(rank), "chipweave.dev/placement": json.dumps(
            {"v": 1, "node": node, "podUid": uid, "chips": [{"index": 0, "id": ""}, {"index": 3, "id": ""}], "gang": place})}
    return pod


# Rows: versions of pods, a number: so many seconds pass; and words of what must be found.
def stories():
    zero, one = member(0), member(1)
    bound = [member(0, node="n1"), member(1, node="n1")]
    bare = member(0, node="n1")
    del bare["metadata"]["annotations"][RANK]
    alone = copy.deepcopy(bound[0])
    alone["metadata"]["annotations"]["chipweave.dev/placement"] = '{"v": 1, "chips": []}'
    gone, over = ("DELETED", one), member(1, node="n1", phase="Failed")
    again, its_binding = copy.deepcopy(zero), copy.deepcopy(bound[0])
    again["metadata"]["uid"] = its_binding["metadata"]["uid"] = "again"
    elastic = [member(index, 3, minimum=2) for index in range(3)]
    return [
        ("all is well", [zero, one, *bound], []),
        ("one pod only", [zero, bound[0]], ["1 of the 2 pods"]),
        ("one that is missing", [zero, bound[0], one], ["1 of the 2 pods"]),
        ("complete a moment ago", [zero, one, gone, bound[0]], []),
        ("complete in an earlier life", [zero, one, gone, ("DELETED", zero), again, its_binding], ["1 of the 2 pods"]),
        ("complete, and over", [zero, one, over, bound[0]], []),
        ("a name in two gangs", [zero, member(1, gang="other"), bound[0]], ["1 of the 2 pods"]),
        ("another's rank", [zero, one, bound[0], member(1, node="n1", rank=0)], ["the index 1 and the rank 0", "has the rank of"]),
        ("a rank that is too large", [zero, one, member(0, node="n1", rank=2)], ["the rank 2"]),
        ("another size", [zero, one, member(0, node="n1", of=3)], ["gang of 3 pods"]),
        ("no rank as text", [zero, one, bare], ["None as text"]),
        ("no place", [zero, one, alone], ["without a place"]),
        ("the minimum of an elastic gang", [*elastic[:2], member(0, 3, "n1", minimum=2, of=2)], []),
        ("less than the minimum", [elastic[0], member(0, 3, "n1", minimum=2, of=2)], ["1 of the 2 pods"]),
        ("half-placed", [zero, one, bound[0], 1, HALF_SECONDS + 1], ["1 pods of a gang are bound, of 2"]),
        ("half-placed for a moment", [zero, one, bound[0], 1, HALF_SECONDS - 1], []),
        ("half-placed, then a pod is another", [zero, one, bound[0], 1, 100, gone, again, 100], []),
        ("half-placed, behind a gate of ours", [zero, member(1, gates=[GATE]), bound[0], 1, HALF_SECONDS + 1], ["a/train-1"]),
        ("half-placed, behind another's gate", [zero, member(1, gates=["x"]), bound[0], 1, HALF_SECONDS + 1], []),
        ("half-placed, the others are missing", [zero, one, bound[0], gone, 1, HALF_SECONDS + 1], []),
        ("half-placed, no room", [zero, one, bound[0], "full", 1, HALF_SECONDS + 1], []),
        ("nothing is bound", [zero, one, 1, HALF_SECONDS + 1], []),
    ]


def self_test():
    wrong = 0
    for name, story, expected in stories():
        gangs, now, free, found = Gangs(), 0, [1, 5], []
        for what in story:
            if what == "full":
                free = [1, 1]
            elif isinstance(what, int):
                now += what
                found += gangs.half_placed(lambda _: free, now)
            else:
                found += gangs.pod(*what) if isinstance(what, tuple) else gangs.pod("MODIFIED", what)
        good = len(found) == len(expected) and all(words in text for words, text in zip(expected, found))
        wrong += not good
        print(f"{'ok  ' if good else 'FAIL'} judge, gangs: {name}: {'; '.join(found) or 'no finding'}")
    return wrong
