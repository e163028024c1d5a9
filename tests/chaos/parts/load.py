"""Pods that are created and deleted all the time, under a few names that are reused: single pods, jobs, ACK groups and gangs
(gang_load.py) for kube-scheduler, gangs for Volcano, pods that the test binds itself, pods without chips. They are deleted at
once, end by themselves, or take a while to end."""
import random, threading, time

from audit import holds_chips, name_of
from lib.volcano import GROUP, MEMBERS, NAME, ROLE
from parts.gang_load import GangLoad
from parts.gangs import gang_of
from parts.world import ACK, Client

PER_SECOND = 7.0  # things done
MOST_PODS = 60
SIZES = (1, 1, 1, 1, 2, 2, 2, 4, 4, 8)
BY_HAND = "by-hand"  # schedulerName of pods that no scheduler binds
ENDING_SECONDS = (1, 8)
BOUND_SHARE = 0.8  # of the pods that go
TABLES_SHARE = 0.4  # of what comes, where gangs have rank tables; beside the gangs of other runs


class Load:
    def __init__(self, world, judge, note):
        self.world, self.judge, self.note = world, judge, note
        self.random = random.Random(f"{world.options.seed}/load")
        self.client, self.stopping, self.made = Client(world.bed), threading.Event(), 0
        self.gangs = GangLoad(self)
        self.ending = []  # (when, path): pods that end until then
        self.thread = threading.Thread(target=self.guarded, daemon=True)
        self.trouble = None

    def start(self):
        self.thread.start()

    def stop(self):
        self.stopping.set()
        self.thread.join(60)

    def guarded(self):
        try:
            self.run()
        except Exception as error:
            self.trouble = f"{type(error).__name__}: {error}"
            raise

    def run(self):
        while not self.stopping.wait(self.random.expovariate(PER_SECOND)):
            # The dice are rolled whatever the cluster looks like: a seed's pods do not depend on it more than needed.
            dice, kind, pick = (self.random.random() for _ in range(3))
            if dice > len(self.judge.live()) / MOST_PODS:
                self.come(kind)
            else:
                self.go(kind, pick)
            self.finish(time.monotonic())
            self.gangs.go_on(time.monotonic())

    # --- they come

    def come(self, dice):
        number, chips = self.random.randrange(40), self.random.choice(SIZES)
        if self.world.options.tables:
            chips = min(chips, 2)
            if self.random.random() < TABLES_SHARE:
                return self.gangs.come(time.monotonic())
        rows = [(0.37, lambda: self.single(f"p-{number}", chips)),
                (0.47, lambda: self.single(f"j-{number}", min(chips, 4), labels={"job-name": f"job-{number % 4}"})),
                (0.54, lambda: self.ack(number % 10, min(chips, 4))),
                (0.65, lambda: self.for_volcano(number % 15, 1 + number % 3, chips)),
                (0.87, lambda: self.gangs.come(time.monotonic())),
                (0.96, lambda: self.single(f"h-{number}", chips, schedulerName=BY_HAND)),
                (1.01, lambda: self.single(f"n-{number}", 0))]
        next(make for upto, make in rows if dice < upto)()

    # The answer's status.
    def post(self, body, namespace=None):
        namespace = namespace or self.world.s.ns
        code, _ = self.client.ask("POST", f"/api/v1/namespaces/{namespace}/pods", body)
        if code == 201:
            self.made += 1
            self.note(load="made", pod=f"{namespace}/{body['metadata']['name']}")
        return code

    def single(self, name, chips, resource=None, labels=None, **spec):
        self.post(self.world.s.pod_body(name, chips, resource or self.world.resource, labels=labels, **spec))

    def ack(self, number, chips):
        labels = {"gpu-topology": f"ack-{number}", "gpu-topology-replica": "2"}
        for member in range(2):
            self.single(f"a-{number}-{member}", chips, ACK, labels)

    def for_volcano(self, number, members, chips):
        if not self.world.driver:
            return
        for member in range(members):
            body = self.world.s.pod_body(f"g-{number}-{member}", chips, self.world.resource, schedulerName=NAME)
            body["metadata"]["annotations"] = {GROUP: f"g-{number}", MEMBERS: str(members), ROLE: "worker"}
            self.post(body)

    # --- they go

    # The chosen one, with all of its group; mostly one that is bound, so that chips change hands.
    def go(self, dice, pick):
        ending = {path for _, path in self.ending}
        mine = {path_of(pod): pod for pod in self.judge.live() if pod["metadata"]["namespace"] in self.world.namespaces
                and path_of(pod) not in ending}
        bound = sorted(path for path, pod in mine.items() if pod["spec"].get("nodeName"))
        among = bound if bound and self.random.random() < BOUND_SHARE else sorted(mine)
        if not among:
            return
        chosen = mine[among[int(pick * len(among))]]
        together = [pod for pod in mine.values() if group_of(pod) == group_of(chosen)]
        if gang_of(chosen):
            return self.gangs.go(chosen, together, dice, pick)
        for pod in together:
            self.end(pod, dice, pick)

    def end(self, pod, dice, pick, after=0):
        path, now = path_of(pod), time.monotonic() + after
        if dice < 0.6 and after:
            self.ending.append((now, path))
        elif dice < 0.6:
            self.client.ask("DELETE", f"{path}?gracePeriodSeconds=0")
        elif dice < 0.8:
            phase = "Failed" if dice < 0.7 else "Succeeded"
            self.client.ask("PATCH", f"{path}/status", {"status": {"phase": phase}})
            self.ending.append((now + 3 * pick, path))
        else:
            self.client.ask("DELETE", f"{path}?gracePeriodSeconds=30")
            self.ending.append((now + ENDING_SECONDS[0] + pick * ENDING_SECONDS[1], path))
        self.note(load="gone" if dice < 0.6 else "over" if dice < 0.8 else "ends", pod=name_of(pod))

    def finish(self, now):
        due, self.ending = [one for one in self.ending if one[0] <= now], [one for one in self.ending if one[0] > now]
        for when, path in due:
            if self.client.ask("DELETE", f"{path}?gracePeriodSeconds=0")[0] not in (200, 404):
                self.ending.append((now + 1, path))

    # As a client that does not give up.
    def delete(self, pod):
        while self.client.ask("DELETE", f"{path_of(pod)}?gracePeriodSeconds=0")[0] not in (200, 404):
            time.sleep(0.3)

    # --- the end

    # Groups of which only a part is there, pods that end, pods that no scheduler binds: they would wait forever.
    def tidy(self, pods):
        by_group = {}
        for pod in pods:
            by_group.setdefault(group_of(pod), []).append(pod)
        for (kind, _), members in by_group.items():
            first = members[0]["metadata"]
            needed = int({"ack": first.get("labels", {}).get("gpu-topology-replica", 0),
                          "volcano": first.get("annotations", {}).get(MEMBERS, 0)}.get(kind, 0))
            broken = kind == "gang" and self.gangs.is_broken(members)
            for pod in members:
                waits = not holds_chips(pod) and pod["spec"].get("schedulerName") == BY_HAND
                over = pod["metadata"].get("deletionTimestamp") or pod.get("status", {}).get("phase") in ("Succeeded", "Failed")
                if waits or over or len(members) < needed or broken:
                    self.delete(pod)


def path_of(pod):
    return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"


# Its kind and what it is called.
def group_of(pod):
    meta = pod["metadata"]
    if gang := gang_of(pod):
        return "gang", gang
    if "gpu-topology" in meta.get("labels", {}):
        return "ack", meta["labels"]["gpu-topology"]
    if GROUP in meta.get("annotations", {}):
        return "volcano", meta["annotations"][GROUP]
    return "single", meta["uid"]
