"""That the judge of rank tables finds what is planted, and nothing else."""
import copy, json

from audit import PLACEMENT
from parts import gangs
from parts.tables.ledger import (AHEAD_SECONDS, COMPLETE_SECONDS, DISTURBED_SECONDS, GONE_SECONDS, INITIALIZING, KEY, LATE_SECONDS,
                                 MARK, NPU, POD_UID, PREFIX, USER, VERSION, Tables, address)

HOSTS = {"v0": "10.1.0.1", "v1": "10.1.0.2"}
NOW = 1_800_000_000


# A pod of a gang of two; of another life: with another uid and address.
def pod(index, node=None, chips=(0, 1), life=0, rank=None, size=2, reported=True, **status):
    rank = index if rank is None else rank
    uid, ip = f"uid-{index}-{life}", f"10.244.{life}.{index + 1}"
    marks = {gangs.MARK: "train", f"{gangs.MARK}-size": str(size), f"{gangs.MARK}-index": str(index), MARK: "auto"}
    made = {"metadata": {"namespace": "a", "name": f"train-{index}", "uid": uid, "labels": marks, "annotations": {}},
            "spec": {"containers": [{"resources": {"limits": {NPU: str(len(chips))}}}]}, "status": {"phase": "Pending", **status}}
    if node:
        made["spec"]["nodeName"] = node
        made["metadata"]["annotations"] = {gangs.RANK: str(rank), PLACEMENT: json.dumps(
            {"v": 1, "node": node, "podUid": uid, "chips": [{"index": chip, "id": ""} for chip in chips]})}
        if reported:
            made["status"] |= {"hostIP": HOSTS[node], "podIP": ip}
    return made


# As chipweave writes it for such pods.
def table(*pods, ids=None, **more):
    servers, rank = {}, 0
    for one in pods:
        host, its = one["status"]["hostIP"], one["status"]["podIP"]
        name = one["metadata"]["uid"] if ids == POD_UID else host
        if name in servers:
            servers[name].pop("container_ip", None)
        server = servers.setdefault(name, {"server_id": name, "host_ip": host, "container_ip": its, "device": []})
        for chip in json.loads(one["metadata"]["annotations"][PLACEMENT])["chips"]:
            server["device"].append({"device_id": str(chip["index"]), "device_ip": address(host, chip["index"]), "rank_id": str(rank)})
            rank += 1
    return json.dumps({"status": "completed", "version": "1.0", "server_count": str(len(servers)),
                       "server_list": list(servers.values()), **more})


# A change of a text; it must be one.
def changed(text, old, new):
    assert old in text, (text, old)
    return text.replace(old, new, 1)


class Story:
    """Versions of pods and ConfigMaps one after another, and what is found."""

    def __init__(self, ids):
        self.tables, self.revision, self.now, self.version, self.found = Tables(HOSTS, *ids, wall=lambda: NOW), 10, 1000.0, NOW, []
        self.pods = {}

    def tell(self, what):
        self.revision += 1
        if isinstance(what, (int, float)):
            self.now += what
            self.found += self.tables.left_over(self.now)
        elif isinstance(what, str):
            self.version += 1
            self.config_map(what)
        elif isinstance(what, dict):
            self.pod("MODIFIED", what)
        else:
            getattr(self, what[0])(*what[1:])

    def pod(self, kind, one):
        one = copy.deepcopy(one)
        one["metadata"]["resourceVersion"] = str(self.revision)
        self.pods[one["metadata"]["uid"]] = one
        if kind == "DELETED":
            del self.pods[one["metadata"]["uid"]]
        self.tables.pod(kind, one, self.now)
        self.found += self.tables.judged(self.revision)

    def gone(self, one):
        self.pod("DELETED", one)

    def config_map(self, text, version=None, uid="map", user=None, data=(), **meta):
        stored = {**({} if text is None else {KEY: text}), VERSION: str(version or self.version), **dict(data)}
        made = {"metadata": {"namespace": "a", "name": f"{PREFIX}train", "uid": uid, "resourceVersion": str(self.revision),
                             "labels": user or {}, **meta}, "data": stored}
        self.found += self.tables.config_map("MODIFIED", made, self.now)

    # The watch of ConfigMaps is ahead of that of pods.
    def early(self, text):
        self.revision += 10
        self.config_map(text)
        self.revision -= 10

    # After versions of pods were missed.
    def listed(self, *pods):
        for number, one in enumerate(pods):
            one["metadata"]["resourceVersion"] = str(self.revision + number)
            self.pods[one["metadata"]["uid"]] = one
        self.revision += len(pods)
        self.tables.pods_listed(pods, self.revision, self.now)

    def foreign(self, text):
        self.tables.will_be_foreign(text)
        self.config_map(text, 7)

    def reset(self, text, foreign):
        self.tables.will_be_reset(text, foreign)
        self.config_map(text, 7)

    def end(self, known=True):
        left, late = self.tables.unrest(list(self.pods.values()), self.now, lambda _: known)
        self.found += [f"at rest: {text}" for text in left] + late

    def told(self, versions):
        for what in versions:
            self.tell(what)
        self.found += self.tables.judged(self.revision + 1)
        return self.found


# Rows: versions of pods, texts of the ConfigMap, seconds that pass, calls of Story; and words of what must be found.
def stories():
    zero, one = pod(0, "v0"), pod(1, "v1")
    beside, waits = pod(1, "v0", (2, 3)), pod(1, "v1", reported=False)
    both, good = [zero, one], table(zero, one)
    again, moved = pod(1, "v1", life=1), pod(1, "v0", (4, 5), life=1)
    servers = json.loads(good)["server_list"]
    user = {USER: "true", "app": "x"}
    users = lambda text, **more: ("config_map", text, None, "map", user, {"notes.txt": "keep"} | more.pop("data", {}))
    foreign, reset = table(pod(0, "v1", (6, 7)), by=1), '{"status":"initializing","by":1}'
    disturbed = [*both, ("foreign", foreign), ("reset", reset, foreign)]
    whole = [
        ("all is well", [zero, INITIALIZING, one, good], []),
        ("the table is seen before the pods", [("early", good), *both, *both * 5], []),
        ("two pods on one machine", [zero, beside, table(zero, beside)], []),
        ("a part", [*both, table(zero)], ["has 2 devices"]),
        ("a text that is cut", [*both, good[:-9]], ["no table"]),
        ("another status", [*both, changed(good, "completed", "complete")], ["has the status complete"]),
        ("neither", [*both, "{}"], ["no table"]),
        ("a wrong number of servers", [*both, changed(good, '"server_count": "2"', '"server_count": "1"')], ["says that it has 1"]),
        ("a rank twice", [*both, changed(good, '"rank_id": "3"', '"rank_id": "2"')], ["has the ranks [0, 1, 2, 2]"]),
        ("a rank that is missing", [*both, changed(good, '"rank_id": "3"', '"rank_id": "4"')], ["has the ranks [0, 1, 2, 4]"]),
        ("a server twice", [*both, json.dumps({**json.loads(good), "server_list": servers[:1] * 2})],
         ["a server twice", "has the ranks", "a device twice"]),
        ("another device's address", [*both, changed(good, "10.9.1.2", "10.9.1.3")], ["has the address 10.9.1.3 for device 1"]),
        ("no such machine", [*both, good.replace("10.1.0.2", "10.1.0.9")], ["has the host 10.1.0.9"] * 2),
        ("another device", [*both, table(zero, pod(1, "v1", (2, 3)))], ["no pod of its gang has, in the places 1"]),
        ("another pod's address", [*both, table(zero, again)], ["no pod of its gang has"]),
        ("another order", [one, zero, table(one, zero)], ["not the order of the ranks [1, 0]"]),
        ("before a pod has its address", [zero, waits, good, one], ["never there together"]),
        ("with a pod that is gone", [*both, ("gone", one), again, good], []),  # written late, and right then
        ("one of the old and one of the new pods", [zero, one, ("gone", zero), pod(0, "v0", life=1), ("gone", one), again,
                                                    table(zero, again)], ["never there together"]),
        ("with a pod that failed before", [pod(1, "v1", phase="Failed"), one, zero, good], ["never there together"]),
        ("with a pod that was ending", [{**one, "metadata": {**one["metadata"], "deletionTimestamp": "x"}}, zero, good],
         ["never there together"]),
        ("written long after", [*both, ("gone", one), LATE_SECONDS + 1, good], ["was written 60 s after a/train-1"]),
        ("a version twice", [*both, INITIALIZING, ("config_map", good, NOW + 1)], ["had the version 1800000001, and another table"]),
        ("a version that goes back", [*both, INITIALIZING, ("config_map", good, NOW)], ["another table has 1800000000"]),
        ("from a clock that is far ahead", [("config_map", INITIALIZING, NOW + AHEAD_SECONDS + 5), *both, good], []),
        ("a new ConfigMap", [*both, good, ("config_map", good, 5, "other")], []),
        ("the user's, empty", [users(""), *both, users(good)], []),
        ("the user's, labels", [users(""), *both, ("config_map", good, None, "map", {USER: "true"}, {"notes.txt": "keep"})],
         ["is a user's and has lost"]),
        ("the user's, another key", [users(""), *both, ("config_map", good, None, "map", user)], ["is a user's and has lost"]),
        ("another program's, left alone", [*both, good, ("foreign", foreign), zero, ("reset", reset, foreign), INITIALIZING, good], []),
        ("another program's, written", [*both, good, ("foreign", foreign), good], ["was written by another program"]),
        ("another program's, emptied", [*both, good, ("foreign", foreign), INITIALIZING], ["was written by another program"]),
        ("versions of pods were missed", [("listed", copy.deepcopy(zero), copy.deepcopy(one)), good], []),
        ("at rest", [*both, good, one, ("end",), COMPLETE_SECONDS + 1, ("end",)], []),
        ("at rest, none", [*both, INITIALIZING, ("end",)], ["at rest: a/train has no complete rank table"]),
        ("at rest, none for long", [*both, INITIALIZING, ("end",), COMPLETE_SECONDS + 1, ("end",)],
         ["at rest", "at rest", "for 60 s"]),
        ("at rest, no ConfigMap", [*both, ("end",)], ["at rest"]),
        ("at rest, another program's until now", [*disturbed, ("end",), COMPLETE_SECONDS + 1, ("end",)], ["at rest", "at rest"]),
        ("at rest, another program's some time ago", [*disturbed, ("end",), DISTURBED_SECONDS + 1, ("end",)],
         ["at rest", "at rest", "for 60 s"]),
        ("at rest, that of earlier pods", [*both, good, ("gone", one), again, ("end",)], ["at rest: a/train has no"]),
        ("at rest, no pods", [*both, good, ("gone", one), ("gone", zero), ("end",)], ["at rest: a/train has no pods"]),
        ("at rest, incomplete", [zero, INITIALIZING, ("end",)], []),
        ("at rest, without an address", [zero, waits, INITIALIZING, ("end",)], []),
        ("at rest, of a size that is not known", [*both, INITIALIZING, ("end", False)], []),
        ("at rest, a rank twice", [zero, pod(1, "v1", rank=0), INITIALIZING, ("end",)], []),
    ]
    by_uid = table(zero, beside, ids=POD_UID)
    return [*((name, (), *rest) for name, *rest in whole),
            ("servers are pods", (POD_UID,), [zero, beside, by_uid], []),
            ("servers are pods, no address", (POD_UID,), [zero, beside, changed(by_uid, '"container_ip": "10.244.0.2", ', "")],
             ["no pod of its gang has"]),
            ("servers are pods, another's uid", (POD_UID,), [zero, beside, by_uid.replace("uid-1-0", "uid-1-9")],
             ["no pod of its gang has"]),
            ("at rest, the same devices", (), [zero, beside, table(zero, beside), ("gone", beside), pod(1, "v0", (2, 3), life=1),
                                               GONE_SECONDS + 1, ("end",)], []),
            ("it stays", (), [*both, good, ("gone", one), moved, GONE_SECONDS + 1], ["train-1, which is gone for"])]


def self_test():
    wrong = 0
    for name, ids, versions, expected in stories():
        found = Story(ids).told(versions)
        good = len(found) == len(expected) and all(words in text for words, text in zip(expected, found))
        wrong += not good
        print(f"{'ok  ' if good else 'FAIL'} judge, tables: {name}: {'; '.join(found) or 'no finding'}")
    return wrong
