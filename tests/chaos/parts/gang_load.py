"""The load's gangs: complete at once or with one pod late, never complete, elastic; of one name in both namespaces; of several
priorities; some with an owner object, a PodGroup, which may come later than its pods. They go as a whole, at once or one pod after
the other, or lose a pod, which another one of its index replaces soon."""
import time

from audit import holds_chips
from parts.gangs import JUDGES, MARK, POD_GROUP, POD_GROUPS, fits, gang_of, is_elastic, quorum_of, size_of
from parts.tables.ledger import PREFIX
from parts.tables.world import Users, maps_of
from parts.world import ACK, PRIORITIES

CHIPS = (2, 2, 2, 4, 4, 8)
KINDS = ("whole",) * 5 + ("late",) * 3 + ("elastic",) * 2 + ("never",) + ("owned",) * 2
BOTH_SHARE = 0.25  # of the gangs, which are made in both namespaces
LATE_SECONDS, REPLACED_SECONDS, ONE_BY_ONE_SECONDS = 6, 3, 4
RETRY_SECONDS = 0.5
LASTS_SECONDS = (0, 5, 10, 20, 30)  # of gangs with rank tables, which are complete late
OWNER, TABLE = "owner", "table"
# A gang behind the gate that does not fit may keep others waiting after 5 minutes.
PATIENCE_SECONDS = 60


class Gang:
    def __init__(self, key, kind, bodies):
        self.key, self.kind, self.bodies, self.made = key, kind, bodies, time.monotonic()
        self.table, self.lasts = None, 0  # its user's ConfigMap; seconds that it is left alone


class GangLoad:
    def __init__(self, load):
        self.load, self.random = load, load.random
        self.gangs = {}  # by namespace and name
        self.coming = []  # (when, gang, index): pods to be made; OWNER: the owner object; TABLE: the ConfigMap of its user
        self.users = Users(load.world.options.seed) if load.world.options.tables else None

    # --- they come

    def come(self, now):
        d = self.random
        kind, number, size, chips = d.choice(KINDS), d.randrange(8), d.choice((2, 2, 3, 4)), d.choice(CHIPS)
        chips = min(chips, 4) if self.users else chips  # so that more of them run
        resource, priority = (ACK if d.random() < 0.15 else None), d.choice((None, None, *PRIORITIES))
        namespaces = self.load.world.namespaces
        where = namespaces if d.random() < BOTH_SHARE else [namespaces[d.random() < 0.4]]
        late = now + d.uniform(0, LATE_SECONDS)
        there = {gang_of(pod) for pod in self.load.judge.live()}
        for namespace in where:
            # 2 of 4 pods are enough
            marks = {"size": 4, "minimum": 2} if kind == "elastic" else {"size": size + (kind == "never")}
            bodies = [self.body(f"{kind}-{number}", index, chips, marks, resource, priority)
                      for index in range(4 if kind == "elastic" else size)]
            gang = Gang((namespace, f"{kind}-{number}"), kind, bodies)
            if gang.key in self.gangs or gang.key in there:
                continue  # pods that still end would be of one gang with the new ones
            self.gangs[gang.key] = gang
            for index in range(len(bodies)):
                waits = kind == "late" and index == size - 1 or kind == "elastic" and index > 1
                self.coming.append((late + index if waits else now, gang, index))
            if kind == "owned":
                self.coming.insert(0, (d.choice((now, late)), gang, OWNER))
            if self.users and resource != ACK:
                self.users.mark(f"{kind}-{number}", bodies)
                gang.table, gang.lasts = self.users.config_map(f"{kind}-{number}"), self.users.random.choice(LASTS_SECONDS)
                self.coming.insert(0, (now, gang, TABLE))
        self.go_on(now)

    def body(self, name, index, chips, marks, resource, priority):
        owned = name.startswith("owned")
        marks = {f"{JUDGES if owned else MARK}-{key}": str(value) for key, value in {**marks, "index": index}.items()}
        labels = {POD_GROUP if owned else MARK: name, **marks}
        spec = {"priorityClassName": priority} if priority else {}
        return self.load.world.s.pod_body(f"{name}-{index}", chips, resource or self.load.world.resource, labels=labels, **spec)

    # As a controller that makes its pods until they are there.
    def go_on(self, now):
        due, self.coming = [one for one in self.coming if one[0] <= now], [one for one in self.coming if one[0] > now]
        for when, gang, index in due:
            if self.gangs.get(gang.key) is gang and not self.make(gang, index):
                self.coming.append((now + RETRY_SECONDS, gang, index))  # also if the earlier one is not gone yet

    def make(self, gang, index):
        namespace, name = gang.key
        if index == TABLE:
            return not gang.table or self.load.client.ask("POST", maps_of(namespace), gang.table)[0] in (201, 409)
        if index != OWNER:
            return self.load.post(gang.bodies[index], namespace) == 201
        body = {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup", "metadata": {"name": name},
                "spec": {"minMember": len(gang.bodies)}}
        return self.load.client.ask("POST", f"{POD_GROUPS}/namespaces/{namespace}/podgroups", body)[0] in (201, 409)

    # --- they go

    # One of the pods of a gang is to go.
    def go(self, chosen, pods, dice, pick):
        gang = self.gangs.get(gang_of(chosen))
        if gang is not None and time.monotonic() - gang.made < gang.lasts:
            return
        if gang is not None and dice < 0.35 and gang.kind != "never":
            index = int(chosen["metadata"]["name"].rsplit("-", 1)[1])
            self.load.end(chosen, 0, 0)
            self.coming.append((time.monotonic() + pick * REPLACED_SECONDS, gang, index))
            return
        self.gangs.pop(gang_of(chosen), None)
        if gang is not None and gang.kind == "owned":
            self.load.ending.append((time.monotonic(), "{}/namespaces/{}/podgroups/{}".format(POD_GROUPS, *gang.key)))
        if gang is not None and gang.table and pick < 0.5:  # others leave theirs to the next gang of this name
            self.load.ending.append((time.monotonic() + pick, f"{maps_of(gang.key[0])}/{PREFIX}{gang.key[1]}"))
        one_by_one = ONE_BY_ONE_SECONDS * pick if 0.35 <= dice < 0.45 else 0
        for number, pod in enumerate(pods):
            self.load.end(pod, dice, pick, number * one_by_one / len(pods))

    # --- the end

    # What was whole and is not any more; parts of it are kept for the missing pods. And what does not fit, if it could keep
    # others waiting.
    def is_broken(self, pods):
        judge, key = self.load.judge, gang_of(pods[0])
        with judge.lock:
            seen = judge.ledger.gangs.gangs.get(key)
            room = judge.room(pods)
        if seen is None:
            return False
        incomplete = len(pods) < (size_of(pods[0]) if is_elastic(pods[0]) and seen.lost else quorum_of(pods[0]))
        made = self.gangs[key].made if key in self.gangs else 0
        waits = not any(map(holds_chips, pods)) and time.monotonic() - made > PATIENCE_SECONDS
        return seen.complete and (incomplete or waits and not fits(pods, room))
