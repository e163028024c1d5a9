"""Pods that others bound: each takes its chips, those that its annotation says if that can be true, else as many."""

import json

NODE, OTHER = "f-a", "f-b"


def run(s):
    s.v100(NODE, OTHER)
    by_hand(s)
    with_placement(s)
    forged(s)
    nowhere(s)
    before_the_start(s)
    everything_back(s)


def unattributed(s):
    return s.chipweave.metric(f'chipweave_unattributed_chips{{node="{NODE}"}}')


# A pod that kube-scheduler leaves alone.
def make(s, name, chips):
    return s.create(name, chips, schedulerName="nobody")


def by_hand(s):
    make(s, "plain", 3)
    s.bind_by_hand("plain", NODE)
    s.eventually("a pod bound by hand takes three chips", lambda: len(s.taken(NODE)) == 3, why=s.used)
    s.check("nobody can say which: chipweave_unattributed_chips is 3", unattributed(s) == 3, unattributed(s))
    s.create("six", 6, nodeSelector={"kubernetes.io/hostname": NODE})
    s.given_up("six")
    s.check("so that six more do not fit", not s.is_bound("six"))
    s.delete("six")
    found = s.audit()
    s.check("the auditor names it", found == [f"{s.ns}/plain is bound without a placement"], found)


# Of the five free chips others may be better: what the annotation says counts.
def with_placement(s):
    pod = make(s, "says", 2)
    chips = s.free(NODE)[-2:]
    s.bind_by_hand("says", NODE, s.placement_text(pod, NODE, chips))
    used = lambda: s.used().get(NODE, {}).get(f"{s.ns}/says")
    s.eventually("a pod bound by hand with a placement takes exactly these chips", lambda: used() == chips, why=s.used)
    # Chips that were only thought to be those of another pod.
    thought = s.used()[NODE][f"{s.ns}/plain"]
    pod = make(s, "knows", 2)
    s.bind_by_hand("knows", NODE, s.placement_text(pod, NODE, thought[:2]))
    s.eventually("also those that somebody was only thought to have",
                 lambda: s.used()[NODE].get(f"{s.ns}/knows") == thought[:2], why=s.used)
    s.check("who then counts with others", len(s.taken(NODE)) == 7, s.used())
    s.check("and still cannot be told", unattributed(s) == 3, unattributed(s))
    for name in ("plain", "says", "knows"):
        s.delete(name)
    s.must_come("the chips back", lambda: not s.taken(NODE))


# What cannot be true is not believed; the pod takes as many chips as it asks for, and those of others stay theirs.
def forged(s):
    owner = s.create("owner", 2, nodeSelector={"kubernetes.io/hostname": NODE})
    s.bound("owner")
    owned, free = s.used()[NODE][f"{s.ns}/owner"], s.free(NODE)
    lies = {"wrong-uid": lambda pod: s.placement_text(pod, NODE, free[:1], uid=owner["metadata"]["uid"]),
            "wrong-node": lambda pod: s.placement_text(pod, OTHER, free[:1]),
            "too-many": lambda pod: s.placement_text(pod, NODE, free[:2]),
            "of-another": lambda pod: s.placement_text(pod, NODE, owned[:1]),
            "no-json": lambda pod: {"chipweave.dev/placement": "{"}}
    for number, (name, lie) in enumerate(lies.items(), 1):
        s.bind_by_hand(name, NODE, lie(make(s, name, 1)))
        s.eventually(f"{name}: one more chip is taken", lambda: len(s.taken(NODE)) == 2 + number, why=s.used)
        s.check(f"{name}: the owner keeps its chips", s.used()[NODE][f"{s.ns}/owner"] == owned, s.used())
    s.check("nobody can say which chips these have", unattributed(s) == len(lies), unattributed(s))
    # As of a chip that fell off the bus: it is the pod's again when it is back.
    before = s.taken(NODE)
    s.bind_by_hand("no-such-chip", NODE, s.placement_text(make(s, "no-such-chip", 1), NODE, [99]))
    s.eventually("no-such-chip: it is known", lambda: f"{s.ns}/no-such-chip" in s.chipweave.nodes()[NODE]["used"])
    s.check("no-such-chip: and takes none that exists", s.taken(NODE) == before, s.used())
    found = s.audit()
    accused = {name for name in (*lies, "no-such-chip", "owner") if any(f"{s.ns}/{name}" in one for one in found)}
    s.check("the auditor names all of them, and that of-another has a chip of the owner's",
            accused == {*lies, "no-such-chip", "owner"}, found)
    remove(s)


def remove(s):
    for pod in s.pods():
        s.delete(pod["metadata"]["name"])
    s.must_come("the chips back", lambda: not s.taken(NODE))


# The API server takes a binding to a node that does not exist.
def nowhere(s):
    make(s, "nowhere", 2)
    s.bind_by_hand("nowhere", "no-such-node")
    path = f"/api/v1/explain/{s.ns}/nowhere"
    explained = lambda: '"state": "assumed"' in json.dumps(s.chipweave.ask("GET", path))
    s.eventually("a pod on a node that never was is explained, although its chips are not known", explained, why=lambda: s.chipweave.ask("GET", path))
    node = s.chipweave.nodes().get("no-such-node", {})
    s.check("such a node has no chips", node.get("chips") == 0 and node["used"] == {f"{s.ns}/nowhere": []}, node)
    s.delete("nowhere")


# Bound while our scheduler was away.
def before_the_start(s):
    s.chipweave.kill()
    make(s, "early", 4)
    s.bind_by_hand("early", NODE)
    pod = make(s, "early-says", 2)
    s.bind_by_hand("early-says", NODE, s.placement_text(pod, NODE, [0, 7]))
    s.chipweave.launch()
    s.must_come("our scheduler", lambda: NODE in s.chipweave.nodes())
    s.check("a pod bound before the start is counted", len(s.taken(NODE)) == 6, s.used())
    s.check("and one that says its chips has them", s.used()[NODE].get(f"{s.ns}/early-says") == [0, 7], s.used())
    s.check("chipweave_unattributed_chips is 4", unattributed(s) == 4, unattributed(s))
    s.create("fits", 2, nodeSelector={"kubernetes.io/hostname": NODE})
    s.bound("fits")


def everything_back(s):
    remove(s)
    s.check("deletion gives the chips back", s.free(NODE) == [*range(8)], s.chipweave.nodes()[NODE])
    s.check("and nothing is unattributed", unattributed(s) == 0, unattributed(s))
    s.create("whole", 8, nodeSelector={"kubernetes.io/hostname": NODE})
    s.bound("whole")
    s.settled()
