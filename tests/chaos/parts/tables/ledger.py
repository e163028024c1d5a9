"""Rank tables as the API server shows them, and what must never be true of them. Pure: the time comes with each version.

Pods and ConfigMaps are compared by their resource versions, which count all changes in the order in which they were made: a
pod belongs to a table from the version with its addresses until the one that deletes or fails it. A ConfigMap is judged
as soon as the watch of pods is past it, so it does not matter which of the two watches is faster. The findings are listed
in the README."""
import itertools, json, math

from audit import asks, holds_chips, indices_of, name_of, placement_of
from parts import gangs

NPU = "huawei.com/Ascend910"
PREFIX, KEY, VERSION = "rings-config-", "hccl.json", "version"
INITIALIZING = '{"status":"initializing"}'
USER = "chaos.example.com/user"  # a label of ConfigMaps that users make beforehand
MARK = "chipweave.dev/ranktable"
# The chart's default, and the other one.
HOST_IP, POD_UID = "host-ip", "pod-uid"
# A writer that is stopped, cut off, or has a late watch, for as long as the faults last, writes what was true before.
LATE_SECONDS = 60
# As long a table may have a pod that is gone: the leader may be another one by then, and its requests are refused.
GONE_SECONDS = 150
# At the end: how soon a table must be complete. One that others wrote or deleted is read every two minutes, and one that
# cannot be written is tried again after 30 seconds.
COMPLETE_SECONDS, DISTURBED_SECONDS = 60, 150
# A scheduler does not go on from a version that is a day ahead of its clock, which the suite may have set back by an hour.
AHEAD_SECONDS = 86_400 - 3_600 - 600


def address(host, chip):
    return f"10.9.{host.rpartition('.')[2]}.{chip + 1}"


# Whether its gang has a table.
def is_marked(pod):
    meta = pod["metadata"]
    return (MARK in (meta.get("labels") or {}) or MARK in (meta.get("annotations") or {})) and NPU in asks(pod)


def counts(pod):
    return not gangs.is_over(pod) and not pod["metadata"].get("deletionTimestamp")


def revision_of(thing):
    return int(thing["metadata"]["resourceVersion"])


class Life:
    """A pod of a gang: of which versions of the cluster it could be in a table, and what it would be there."""

    def __init__(self, pod):
        self.uid, self.name, self.size, self.elastic = pod["metadata"]["uid"], name_of(pod), gangs.size_of(pod), gangs.is_elastic(pod)
        self.chips = asks(pod)[NPU]
        self.start, self.end = None, None  # versions
        self.started_at, self.ended_at = None, None  # seconds
        self.host, self.address, self.devices, self.rank = None, None, [], None

    def take(self, pod, revision, now, hosts):
        placement, status = placement_of(pod), pod.get("status", {})
        if self.start is not None or not pod["spec"].get("nodeName") or not placement or not status.get("podIP"):
            return
        self.start, self.host, self.address = revision, hosts[pod["spec"]["nodeName"]], status["podIP"]
        self.started_at, self.devices = now, indices_of(placement)
        rank = pod["metadata"]["annotations"].get(gangs.RANK)
        self.rank = int(rank) if rank is not None else None


class Slot:
    """A device of a table."""

    def __init__(self, server, device):
        self.server, self.host, self.pod = server["server_id"], server["host_ip"], server.get("container_ip")
        self.device, self.address, self.rank = int(device["device_id"]), device.get("device_ip"), int(device["rank_id"])


# What is wrong with a text by itself, or its devices by rank.
def read(text, hosts):
    try:
        table = json.loads(text)
        if table["status"] != "completed" or table["version"] != "1.0":
            return [f"has the status {table['status']} and the version {table['version']}"], []
        servers = table["server_list"]
        slots = sorted((Slot(server, device) for server in servers for device in server["device"]), key=lambda slot: slot.rank)
        count = int(table["server_count"])
    except (ValueError, KeyError, TypeError) as error:
        return [f"has a text that is no table ({type(error).__name__}: {error}): {text[:200]}"], []
    wrong, names = [], [server["server_id"] for server in servers]
    if count != len(servers):
        wrong.append(f"says that it has {count} servers, and has {len(servers)}")
    if len(set(names)) != len(names) or any(not server["device"] for server in servers):
        wrong.append(f"has a server twice, or one without devices: {', '.join(names)}")
    if [slot.rank for slot in slots] != list(range(len(slots))):
        wrong.append(f"has the ranks {[slot.rank for slot in slots]}")
    devices = [(slot.host, slot.device) for slot in slots]
    if len(set(devices)) != len(devices):
        wrong.append(f"has a device twice: {devices}")
    for slot in slots:
        if slot.host not in hosts.values():
            wrong.append(f"has the host {slot.host}, which no machine has")
        elif slot.address != address(slot.host, slot.device):
            wrong.append(f"has the address {slot.address} for device {slot.device} of {slot.host}")
    return wrong, slots


class Map:
    """A ConfigMap, from the version that made it until it is deleted."""

    def __init__(self, meta, data):
        self.name, self.text, self.version = (meta["namespace"], meta["name"].removeprefix(PREFIX)), None, 0
        self.foreign = False  # another program wrote it, and it was not reset since
        labels = meta.get("labels") or {}
        self.labels = labels if USER in labels else None  # of the user who made it
        self.others = {key: value for key, value in data.items() if key not in (KEY, VERSION)}
        self.annotations, self.owners = meta.get("annotations"), meta.get("ownerReferences")
        self.lives = []  # of the pods in it

    # What of the user's is not there any more.
    def lost(self, meta, data):
        if self.labels is None:
            return []
        kept = ((meta.get("labels") or {}).items() >= self.labels.items() and data.items() >= self.others.items() and
                meta.get("annotations") == self.annotations and meta.get("ownerReferences") == self.owners)
        return [] if kept else [f"is a user's and has lost what he wrote: {meta}, {sorted(data)}"]


class Tables:
    # hosts: the address of each machine by its name; ids: how servers are called.
    def __init__(self, hosts, ids=HOST_IP, wall=lambda: 0):
        self.hosts, self.ids, self.wall = hosts, ids, wall
        self.lives, self.by_gang = {}, {}  # Life by uid; those of each gang
        self.maps, self.waiting = {}, []  # Map by uid; (revision, its Map, text, time) that are to be judged
        self.foreign, self.resets = set(), {}  # texts of the suite, each used once; of a reset, what is reset
        self.disturbed = {}  # by gang: when its ConfigMap was deleted or written by others last
        self.delays = []  # seconds from the last address of its pods to each complete table
        self.since = {}  # pods of gangs that lack their table, and since when

    # --- pods

    def pod(self, kind, pod, now, seen=True):
        if not gangs.gang_of(pod) or not is_marked(pod):
            return
        uid, revision = pod["metadata"]["uid"], revision_of(pod)
        if uid not in self.lives:
            self.lives[uid] = Life(pod)
            self.by_gang.setdefault(gangs.gang_of(pod), []).append(self.lives[uid])
        life = self.lives[uid]
        life.take(pod, revision if seen else 0, now, self.hosts)
        if life.end is None and (kind == "DELETED" or pod.get("status", {}).get("phase") == "Failed"
                                 or pod["metadata"].get("deletionTimestamp")):
            life.end, life.ended_at = revision, now

    # All that there are, after versions were missed: what happened meanwhile is taken for possible.
    def pods_listed(self, pods, revision, now):
        there = {pod["metadata"]["uid"] for pod in pods}
        for life in self.lives.values():
            if life.end is None and life.uid not in there:
                life.end, life.ended_at = revision, now
        for pod in pods:
            self.pod("MODIFIED", pod, now, seen=False)

    # --- ConfigMaps

    # Sentences. seen: whether no version was missed before.
    def config_map(self, kind, thing, now, seen=True):
        meta, data = thing["metadata"], thing.get("data") or {}
        if not meta["name"].startswith(PREFIX):
            return []
        if kind == "DELETED":
            if gone := self.maps.pop(meta["uid"], None):
                self.disturbed[gone.name] = now
            return []
        text, stored = data.get(KEY), self.maps.get(meta["uid"])
        is_new = stored is None
        if is_new:
            stored = self.maps[meta["uid"]] = Map(meta, data)
        found = stored.lost(meta, data)
        if not self.is_suites(text) and not (is_new and stored.labels is not None):
            found += self.version_back(stored, data)
        if self.is_suites(text):
            self.disturbed[stored.name] = now
            stored.foreign, stored.version = text in self.foreign, self.number(data)
        elif stored.foreign:
            stored.foreign = False
            if seen or stored.text not in self.resets.values():
                found.append(f"was written by another program, and then by the scheduler: {str(text)[:200]}")
        if text != stored.text and not self.is_suites(text) and not (stored.labels is not None and not text):
            self.waiting.append((revision_of(thing), stored, text, now))
        if text != stored.text:
            stored.text, stored.lives = text, []
        return [f"{'/'.join(stored.name)}: its ConfigMap {wrong}" for wrong in found]

    def listed(self, things, now):
        there = {thing["metadata"]["uid"] for thing in things}
        for uid in set(self.maps) - there:
            self.disturbed[self.maps.pop(uid).name] = now
        return [one for thing in things for one in self.config_map("MODIFIED", thing, now, seen=False)]

    @staticmethod
    def number(data):
        return int(data[VERSION]) if data.get(VERSION, "").isdigit() else 0

    def version_back(self, stored, data):
        before, stored.version = stored.version, self.number(data)
        back = stored.version < before and before - self.wall() < AHEAD_SECONDS
        same = stored.version == before and data.get(KEY) != stored.text
        if back or same and before:
            return [f"had the version {before}, and another table has {data.get(VERSION)}"]
        return []

    # --- another program

    def is_suites(self, text):
        return text in self.foreign or text in self.resets

    # The texts are like no others; call it before they are written.
    def will_be_foreign(self, text):
        self.foreign.add(text)

    def will_be_reset(self, text, foreign):
        self.resets[text] = foreign

    # --- what was seen, when the watch of pods is past it

    def judged(self, revision):
        due = [one for one in self.waiting if one[0] < revision]
        self.waiting = [one for one in self.waiting if one[0] >= revision]
        return [f"{'/'.join(stored.name)}: its rank table {wrong}" for at, stored, text, now in due
                for wrong in self.wrong_text(stored, text, at, now)]

    def wrong_text(self, stored, text, revision, now):
        if text == INITIALIZING:
            return []
        wrong, slots = read(text, self.hosts)
        if wrong:
            return wrong
        lives, why = self.pods_in(stored.name, slots, revision)
        if not lives:
            return [f"{why}: {text}"]
        self.delays.append(now - max(life.started_at for life in lives))
        if stored.text == text:
            stored.lives = lives
        gone = [life for life in lives if life.ended_at is not None and now - life.ended_at > LATE_SECONDS]
        return [f"was written {LATE_SECONDS} s after {gone[0].name} was gone: {text}"] if gone else []

    # The pods of a table, which were there at one moment before this version; else what speaks against it.
    def pods_in(self, gang, slots, revision):
        its = self.by_gang.get(gang, [])
        shapes = {(life.size, life.chips, life.elastic) for life in its}
        why = [f"has {len(slots)} devices; its gang has {sorted((size, chips) for size, chips, _ in shapes)} pods and chips of each"]
        for size, chips, elastic in shapes:
            if size * chips != len(slots):
                continue
            parts = [slots[first:first + chips] for first in range(0, len(slots), chips)]
            candidates = [[life for life in reversed(its) if (life.size, life.chips, life.elastic) == (size, chips, elastic) and
                           self.is_of(part, life)] for part in parts]
            if lacking := [str(number) for number, lives in enumerate(candidates) if not lives]:
                why.append(f"has devices that no pod of its gang has, in the places {', '.join(lacking)}")
                continue
            why.append("has pods that were never there together")
            for lives in itertools.product(*candidates):
                if self.together(lives, revision):
                    if elastic or in_order(lives):
                        return list(lives), None
                    why.append(f"has not the order of the ranks {[life.rank for life in lives]}")
        return None, why[-1]

    def is_of(self, part, life):
        server = life.host if self.ids == HOST_IP else life.uid
        return (life.start is not None and [slot.device for slot in part] == life.devices and
                all(slot.server == server and slot.host == life.host and slot.pod in (None, life.address) for slot in part) and
                (self.ids == HOST_IP or part[0].pod is not None))

    @staticmethod
    def together(lives, revision):
        ends = [life.end for life in lives if life.end is not None]
        return (len({life.uid for life in lives}) == len(lives) and max(life.start for life in lives) < min([revision + 1, *ends]))

    # --- now and then

    # Tables whose pods are gone for long.
    def left_over(self, now):
        found = []
        for stored in self.maps.values():
            if any(self.long_gone(life, now) for life in stored.lives):
                # pods that came later may have the same devices, and nothing else of a pod is in some tables
                stored.lives = self.pods_in(stored.name, read(stored.text, self.hosts)[1], math.inf)[0]
                found += [f"{'/'.join(stored.name)}: its rank table has {life.name}, which is gone for {GONE_SECONDS} s"
                          for life in stored.lives if self.long_gone(life, now)]
        return found

    @staticmethod
    def long_gone(life, now):
        return life.ended_at is not None and now - life.ended_at > GONE_SECONDS

    # --- the end

    # What is not as it should be at rest, and findings. sizes_known: whether the size of this pod's gang is known.
    def unrest(self, pods, now, sizes_known):
        by_gang, left, late = {}, [], []
        for pod in pods:
            if gangs.gang_of(pod) and is_marked(pod) and counts(pod) and pod.get("status", {}).get("phase") != "Succeeded":
                by_gang.setdefault(gangs.gang_of(pod), []).append(pod)
        since, self.since = self.since, {}
        for gang, members in by_gang.items():
            lives = [self.lives.get(pod["metadata"]["uid"]) for pod in members]
            if any(life is None or life.start is None for life in lives) or len(lives) != lives[0].size or not sizes_known(members[0]):
                continue
            if not in_order(sorted(lives, key=lambda life: life.rank or 0)):
                continue  # two have one rank, as may happen in elastic gangs
            if self.has_exactly(gang, lives):
                continue
            key = gang, frozenset(life.uid for life in lives)
            self.since[key] = since.get(key, now)
            text = f"{'/'.join(gang)} has no complete rank table, though its {len(lives)} pods have addresses"
            left.append(text)
            disturbed = now - self.disturbed.get(gang, now - 2 * DISTURBED_SECONDS) < DISTURBED_SECONDS
            if now - self.since[key] > COMPLETE_SECONDS and not disturbed:
                late.append(f"{text} for {COMPLETE_SECONDS} s")
        for stored in self.maps.values():
            if not by_gang.get(stored.name) and is_complete(stored.text):
                left.append(f"{'/'.join(stored.name)} has no pods, and a complete rank table: {stored.text}")
        return left, late

    def has_exactly(self, gang, lives):
        texts = [stored.text for stored in self.maps.values() if stored.name == gang and is_complete(stored.text)]
        if len(texts) != 1 or texts[0] in self.foreign:
            return False
        slots = read(texts[0], self.hosts)[1]
        chips = len(slots) // len(lives)
        parts = [slots[first:first + chips] for first in range(0, len(slots), chips or 1)]
        return any(all(map(self.is_of, parts, order)) for order in itertools.permutations(lives) if in_order(order))


def is_complete(text):
    try:
        return json.loads(text or "")["status"] == "completed"
    except (ValueError, KeyError, TypeError):
        return False


# Pods that were planned are in the order of their ranks; of others chipweave chooses it.
def in_order(lives):
    ranks = [life.rank for life in lives]
    return None in ranks or all(first < second for first, second in itertools.pairwise(ranks))
