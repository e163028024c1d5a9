"""Reads only the API server, from the beginning of a run to its end, and reports what must never be true.

It watches pods and NodeInventories, so it sees every version in order, also an overlap of a millisecond. Every few seconds
tests/e2e/audit.py checks a fresh list, independently of watches. While the API server is down nothing can be read;
afterwards the judge lists again, and has not seen what came and went in between.

Findings: a bound pod without a placement of its own that matches its request; a placement that is newer than its pod's node,
or changes; a chip of two live pods (a pod is live until it is deleted or over, also while it ends); a chip that was healthy
in none of the node's inventories of the last GRACE_SECONDS when the pod was bound to it. Chips that become unhealthy or
vanish from the inventory after the pod got them are not a finding: neither Kubernetes nor chipweave moves a running pod.
Findings about gangs are those of gangs.py."""
import collections, contextlib, copy, http.client, json, threading, time

from audit import ACCELERATORS, PLACEMENT, asks, example, findings, holds_chips, indices_of, name_of, placement_of, wrong_with
from parts import gangs

CLAIMS, MAPS = "/apis/resource.k8s.io/v1/resourceclaims", "/api/v1/configmaps"
PODS, INVENTORIES = "/api/v1/pods", "/apis/chipweave.dev/v1alpha1/nodeinventories"
# A binding whose answer did not come may be sent again, word for word, for 75 s; it may arrive a minute after that.
GRACE_SECONDS = 150
LOOK_SECONDS = 2.0


class Ledger:
    """What is known of pods and machines from their versions in order. Pure: the time comes with each of them."""

    # by_claims: nodes whose chips are handed over by claims.
    def __init__(self, by_claims=()):
        self.by_claims = by_claims
        self.pods = {}  # by uid
        self.text = {}  # placement of each bound pod, by uid
        self.owner = {}  # (node, chip): uid
        self.ever = collections.defaultdict(set)  # node: every chip it ever had
        self.healthy = collections.defaultdict(list)  # node: [time, chips] in order
        self.made, self.bound = set(), set()  # uids
        self.gangs = gangs.Gangs()

    # Sentences. seen: whether no version was missed before.
    def pod(self, kind, pod, now, seen=True):
        return self.chips_of(kind, pod, now) + self.gangs.pod(kind, pod, seen)

    def chips_of(self, kind, pod, now):
        uid = pod["metadata"]["uid"]
        if kind == "DELETED":
            self.release(uid)
            self.pods.pop(uid, None)
            return []
        self.pods[uid] = pod
        if not asks(pod):
            return []
        self.made.add(uid)
        if not holds_chips(pod):
            self.release(uid)
            return []
        text = pod["metadata"].get("annotations", {}).get(PLACEMENT)
        if uid in self.text:
            was, self.text[uid] = self.text[uid], text
            return [] if text == was else [f"{name_of(pod)} had the placement {was}, has {text}"] + self.take(pod)
        self.bound.add(uid)
        self.text[uid] = text
        found = [f"{name_of(pod)} {wrong}" for wrong in wrong_with(pod, asks(pod), self.ever)]
        return found + self.unclaimed(pod) + self.unusable(pod, now) + self.take(pod)

    # The kubelet hands over what the claim has that the pod's status names: it must do so from the beginning.
    def unclaimed(self, pod):
        named = pod.get("status", {}).get("extendedResourceClaimStatus", {}).get("resourceClaimName")
        right = named == claim_of(pod) or pod["spec"]["nodeName"] not in self.by_claims
        return [] if right else [f"{name_of(pod)} was bound to {pod['spec']['nodeName']} with the claim {named}"]

    def release(self, uid):
        self.text.pop(uid, None)
        for key in [key for key, owner in self.owner.items() if owner == uid]:
            del self.owner[key]

    def take(self, pod):
        found, node, uid = [], pod["spec"]["nodeName"], pod["metadata"]["uid"]
        for chip in sorted(set(indices_of(placement))) if (placement := placement_of(pod)) else []:
            other = self.owner.setdefault((node, chip), uid)
            if other != uid:
                found.append(f"chip {chip} of {node} belongs to {name_of(self.pods[other])} and {name_of(pod)}")
        return found

    def unusable(self, pod, now):
        placement, node = placement_of(pod), pod["spec"]["nodeName"]
        if not placement or not self.healthy[node]:
            return []
        since, fine = now - GRACE_SECONDS, set()
        for number, (_, chips) in enumerate(self.healthy[node]):
            later = self.healthy[node][number + 1:]
            if not later or later[0][0] >= since:
                fine |= chips
        unhealthy = sorted(set(indices_of(placement)) - fine)
        return [f"{name_of(pod)} was bound to {unhealthy} of {node}, which are unhealthy or away for {GRACE_SECONDS} s"] if unhealthy else []

    def inventory(self, kind, inventory, now):
        if kind == "DELETED" or not inventory.get("status"):
            return
        chips = inventory["status"]["topology"]["chips"]
        node = inventory["metadata"]["name"]
        self.ever[node] |= {chip["index"] for chip in chips}
        healthy = {chip["index"] for chip in chips if chip.get("health", "healthy") != "unhealthy"}
        if not self.healthy[node] or self.healthy[node][-1][1] != healthy:
            self.healthy[node].append((now, healthy))

    # All pods that there are, after versions were missed.
    def listed(self, pods, now):
        there = {pod["metadata"]["uid"] for pod in pods}
        for uid in set(self.pods) - there:
            self.pod("DELETED", self.pods[uid], now)
        # first those that are over now, so that no chips count twice
        return [one for pod in sorted(pods, key=holds_chips) for one in self.pod("MODIFIED", pod, now, seen=False)]

    # Chips of each machine that are healthy now and belong to no pod.
    def free(self):
        taken = [node for node, _ in self.owner]
        return {node: max(len(healthy[-1][1]) - taken.count(node), 0) for node, healthy in self.healthy.items() if healthy}


class Judge:
    """The threads that read, and what they found: `findings`, each with its second. Judge.live is what pods there are."""

    # machines: the resource of each. tables: what is known of rank tables, if there are any.
    def __init__(self, bed, note, machines, by_claims=(), tables=None):
        self.bed, self.note, self.machines, self.by_claims, self.ledger = bed, note, machines, by_claims, Ledger(by_claims)
        self.tables = tables
        self.lock, self.stopping = threading.Lock(), threading.Event()
        self.findings, self.said, self.looks, self.lists = [], set(), 0, 0
        self.began = time.monotonic()
        self.connections = {}
        watches = [lambda path=path: self.follow(path) for path in (INVENTORIES, PODS, *([MAPS] if tables else []))]
        self.threads = [threading.Thread(target=self.guarded, args=(target,), daemon=True) for target in
                        (*watches, self.look_again)]
        for thread in self.threads:
            thread.start()

    # A judge that is blind must not look like one that finds nothing.
    def guarded(self, target):
        try:
            target()
        except Exception as error:
            self.find([f"the judge itself failed: {type(error).__name__}: {error}"], "judge")
            raise

    def find(self, sentences, source):
        for text in sentences:
            if text not in self.said:
                self.said.add(text)
                at = round(time.monotonic() - self.began, 2)
                self.findings.append({"at": at, "source": source, "finding": text})
                self.note(finding=text, source=source)
                print(f"FINDING {at:.1f} s: {text}", flush=True)

    def live(self):
        with self.lock:
            return list(self.ledger.pods.values())

    # --- watches

    def follow(self, path):
        version = None
        while not self.stopping.is_set():
            # the end of a connection, an answer that is none; everything else is a bug of this file
            with contextlib.suppress(OSError, http.client.HTTPException, json.JSONDecodeError):
                version = version or self.list_all(path)
                version = version and self.watch(path, version)
            self.stopping.wait(0.1)

    def list_all(self, path):
        code, answer = self.bed.ask("GET", path)
        if code != 200 or not isinstance(answer, dict):
            return None
        with self.lock:
            if path == PODS:
                self.lists += 1
                self.find(self.ledger.listed(answer["items"], time.monotonic()), "list")
                if self.tables:
                    self.tables.pods_listed(answer["items"], int(answer["metadata"]["resourceVersion"]), time.monotonic())
            elif path == MAPS:
                self.find(self.tables.listed(answer["items"], time.monotonic()), "tables")
            else:
                for one in answer["items"]:
                    self.ledger.inventory("MODIFIED", one, time.monotonic())
        return answer["metadata"]["resourceVersion"]

    # The version to go on from, or None if that is too old.
    def watch(self, path, version):
        connection, answer = self.bed.stream(f"{path}?watch=true&allowWatchBookmarks=true&resourceVersion={version}")
        self.connections[path] = connection
        try:
            if answer.status != 200:
                return None
            for line in answer:
                event = json.loads(line)
                kind, thing = event["type"], event["object"]
                if kind == "ERROR":
                    return None
                version = thing["metadata"]["resourceVersion"]
                if kind != "BOOKMARK":
                    self.take(path, kind, thing)
        except (OSError, http.client.HTTPException, json.JSONDecodeError):
            pass
        finally:
            connection.close()
        return version

    def take(self, path, kind, thing):
        with self.lock:
            if path == PODS:
                known = len(self.ledger.bound)
                self.find(self.ledger.pod(kind, thing, time.monotonic()), "watch")
                if len(self.ledger.bound) > known:
                    self.note(load="bound", pod=name_of(thing), node=thing["spec"]["nodeName"])
                if self.tables:
                    self.tables.pod(kind, thing, time.monotonic())
                    self.find(self.tables.judged(int(thing["metadata"]["resourceVersion"])), "tables")
            elif path == MAPS:
                self.find(self.tables.config_map(kind, thing, time.monotonic()), "tables")
            else:
                self.ledger.inventory(kind, thing, time.monotonic())

    # --- lists

    def look_again(self):
        while not self.stopping.wait(LOOK_SECONDS):
            self.look()

    # None if the API server cannot be read. strict: chips must be in the inventory of now, not of any time.
    def look(self, strict=False):
        answers = [self.bed.ask("GET", path) for path in (PODS, INVENTORIES)]
        if any(code != 200 or not isinstance(answer, dict) for code, answer in answers):
            return None
        pods, machines = (answer["items"] for _, answer in answers)
        if not strict:
            with self.lock:
                machines = [{"metadata": {"name": node}, "status": {"topology": {"chips": [{"index": i} for i in chips]}}}
                            for node, chips in self.ledger.ever.items()]
        found = findings(pods, machines, ACCELERATORS)
        # An inventory that the other list knows only now.
        found = [text for text in found if strict or "no inventory" not in text and "does not have" not in text]
        self.looks += 1
        self.find(found, "audit")
        with self.lock:
            self.find(self.ledger.gangs.half_placed(self.room, time.monotonic()), "audit")
            self.find(self.tables.left_over(time.monotonic()) if self.tables else [], "tables")
        if self.by_claims:
            claims = self.claims()
            if claims is None:
                return None
            self.find(wrong_claims(pods, claims), "claims")
        return pods

    # Free chips by machine of those for these pods.
    def room(self, pods):
        free, resource = self.ledger.free(), next(iter(asks(pods[0])))
        return [free.get(node, 0) for node, its in self.machines.items() if its == resource]

    # Pods that are bound by hand, past all schedulers, are exempt from the rules about gangs.
    def excuse(self, pod, on=True):
        excused = self.ledger.gangs.excused
        with self.lock:
            (excused.add if on else excused.discard)(pod["metadata"]["uid"])

    # None if the API server cannot be read.
    def claims(self):
        code, answer = self.bed.ask("GET", CLAIMS)
        return answer["items"] if code == 200 and isinstance(answer, dict) else None

    def stop(self):
        self.stopping.set()
        for connection in list(self.connections.values()):
            with contextlib.suppress(OSError, AttributeError):
                connection.sock.shutdown(2)
        for thread in self.threads:
            thread.join(15)


# --- claims


def claim_of(pod):
    return f"chipweave-{pod['metadata']['uid']}"


def devices_of(claim):
    results = claim.get("status", {}).get("allocation", {}).get("devices", {}).get("results", [])
    return sorted((one["pool"], one["device"]) for one in results)


# What the pod's placement says.
def devices_of_placement(pod):
    placement = placement_of(pod)
    return sorted((pod["spec"]["nodeName"], f"gpu-{chip}") for chip in indices_of(placement)) if placement else None


# Of claims that were read after the pods: a pod may be gone by then, and so may its claim.
def wrong_claims(pods, claims):
    found, owners = [], {}
    by_name = {claim["metadata"]["name"]: claim for claim in claims}
    for claim in claims:
        for device in devices_of(claim):
            owners.setdefault(device, []).append(claim["metadata"]["name"])
    for (node, device), names in sorted(owners.items()):
        if len(names) > 1:
            found.append(f"{device} of {node} is allocated to {' and '.join(sorted(names))}")
    for pod in filter(holds_chips, pods):
        claim = by_name.get(claim_of(pod)) if asks(pod) and pod["spec"].get("nodeName") else None
        if claim and claim.get("status", {}).get("allocation") and devices_of(claim) != devices_of_placement(pod):
            found.append(f"{name_of(pod)} has the devices {devices_of(claim)}, its placement says {devices_of_placement(pod)}")
    return found


# At rest each bound pod of these nodes has its claim, and no other pod has one.
def unclaimed(pods, claims, by_claims):
    bound = {claim_of(pod): pod for pod in filter(holds_chips, pods) if asks(pod) and pod["spec"]["nodeName"] in by_claims}
    stored = {claim["metadata"]["name"] for claim in claims}
    return ([f"{name_of(pod)} has no claim" for name, pod in bound.items() if name not in stored] +
            [f"the claim {name} is left" for name in stored - set(bound) if name.startswith("chipweave-")])


# --- self-test


def version(pod, node=None, chips=(), uid=None, phase="Pending"):
    new = copy.deepcopy(pod)
    new["metadata"].pop("annotations", None)
    new["spec"].pop("nodeName", None)
    new["status"] = {"phase": phase}
    if uid:
        new["metadata"]["uid"] = uid
    if node:
        new["spec"]["nodeName"] = node
    if chips:
        placement = {"v": 1, "node": node, "podUid": new["metadata"]["uid"], "resource": "nvidia.com/gpu",
                     "chips": [{"index": chip, "id": ""} for chip in chips]}
        new["metadata"]["annotations"] = {PLACEMENT: json.dumps(placement)}
    return new


# Rows: a story of versions, and words of what must be found.
def stories():
    (one, two, _), _ = example()
    waits, other = version(one), version(two)
    at = lambda *chips, pod=one, node="n1", **more: ("MODIFIED", version(pod, node, chips, **more))
    born = [("ADDED", waits), ("ADDED", other)]
    return [
        ("all is well", [*born, at(0, 1), at(2, 3, pod=two), at(0, 1), at(2, 3, pod=two, phase="Running")], []),
        ("without a placement", [*born, at()], ["without a placement"]),
        ("a placement that comes later", [*born, at(), at(0, 1)], ["without a placement", "had the placement None"]),
        ("a placement that changes", [*born, at(0, 1), at(0, 2)], ["had the placement"]),
        ("a placement that goes", [*born, at(0, 1), at()], ["had the placement"]),
        ("a chip twice", [*born, at(0, 1), at(1, 2, pod=two)], ["chip 1 of n1 belongs to a/one and a/two"]),
        ("for a moment", [*born, at(0, 1), at(1, 2, pod=two), ("DELETED", version(one, "n1", (0, 1)))], ["chip 1 of n1"]),
        ("one after the other", [*born, at(0, 1), ("DELETED", waits), at(1, 2, pod=two)], []),
        ("after one that is over", [*born, at(0, 1), at(0, 1, phase="Failed"), at(1, 2, pod=two)], []),
        ("a namesake", [*born, at(0, 1), ("DELETED", waits), ("ADDED", version(one, uid="x")), at(0, 1, uid="x")], []),
        ("fewer chips than asked for", [*born, at(3)], ["asks for 2 chips, but its placement has 1"]),
        ("no such chip", [*born, at(3, 9)], ["does not have: 9", "bound to [9]"]),
        ("a chip that was unhealthy for long", [("UNHEALTHY", 3), ("LATER", GRACE_SECONDS + 1), *born, at(2, 3)], ["bound to [3]"]),
        ("a chip that became unhealthy a moment ago", [("UNHEALTHY", 3), ("LATER", 1), *born, at(2, 3)], []),
        ("missed versions", [*born, at(0, 1), ("LIST", [version(two, "n1", (0, 1))])], []),
        ("missed versions, a chip twice", [*born, at(0, 1), ("LIST", [version(one, "n1", (0, 1)), version(two, "n1", (1, 2))])],
         ["chip 1 of n1"]),
    ]


# Rows: what the pods and claims are of nodes with DRA, and words of what must be found.
def claim_stories():
    (one, two, _), _ = example()
    a, b = version(one, "n1", (0, 1)), version(two, "n1", (2, 3))

    def claim(pod, *chips, pool="n1"):
        results = [{"pool": pool, "device": f"gpu-{chip}"} for chip in chips]
        return {"metadata": {"name": claim_of(pod)},
                "status": {"allocation": {"devices": {"results": results}}} if chips else {}}

    both = [claim(a, 0, 1), claim(b, 2, 3)]
    return [("all is well", [a, b], both, []),
            ("other devices", [a, b], [claim(a, 0, 2), claim(b, 3, 1)], ["has the devices", "has the devices"]),
            ("another node's", [a], [claim(a, 0, 1, pool="n2")], ["has the devices"]),
            ("a device twice", [a, version(two)], [claim(a, 0, 1), claim(b, 1)], ["gpu-1 of n1 is allocated to", "is left"]),
            ("no claim", [a, b], both[:1], ["a/two has no claim"]),
            ("one that is left", [a], both, ["is left"]),
            ("one of a pod that waits", [a, version(two)], [both[0], claim(b)], ["is left"])]


def unnamed_claims():
    (one, _, _), _ = example()
    bound = version(one, "n1", (0, 1))
    named = copy.deepcopy(bound)
    named["status"]["extendedResourceClaimStatus"] = {"resourceClaimName": claim_of(bound)}
    return [("a pod without a claim", bound, ["n1"], 1), ("with its claim", named, ["n1"], 0), ("elsewhere", bound, ["n2"], 0)]


def self_test():
    wrong = gangs.self_test()
    for name, pods, claims, expected in claim_stories():
        found = wrong_claims(pods, claims) + unclaimed(pods, claims, ["n1"])
        good = len(found) == len(expected) and all(words in text for words, text in zip(expected, found))
        wrong += not good
        print(f"{'ok  ' if good else 'FAIL'} judge, claims: {name}: {'; '.join(found) or 'no finding'}")
    for name, pod, nodes, expected in unnamed_claims():
        good = len(Ledger(nodes).unclaimed(pod)) == expected
        wrong += not good
        print(f"{'ok  ' if good else 'FAIL'} judge, claims: {name}")
    for name, story, expected in stories():
        ledger, now, found = Ledger(), 1000.0, []
        inventory = copy.deepcopy(example()[1][0])
        ledger.inventory("ADDED", inventory, now)
        for kind, what in story:
            if kind == "LATER":
                now += what
            elif kind == "UNHEALTHY":
                inventory["status"]["topology"]["chips"][what]["health"] = "unhealthy"
                ledger.inventory("MODIFIED", inventory, now)
            else:
                found += ledger.listed(what, now) if kind == "LIST" else ledger.pod(kind, what, now)
        good = len(found) == len(expected) and all(words in text for words, text in zip(expected, found))
        wrong += not good
        print(f"{'ok  ' if good else 'FAIL'} judge: {name}: {'; '.join(found) or 'no finding'}")
    return wrong
