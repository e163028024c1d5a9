"""Pods that are created and deleted all the time, under a few names that are reused: single pods, jobs and ACK groups for
kube-scheduler, gangs for Volcano, pods that the test binds itself, pods without chips. They are deleted at once, end by
themselves, or take a while to end."""
import random, threading, time

from audit import holds_chips
from lib.scenario import GPU
from lib.volcano import GROUP, MEMBERS, NAME, ROLE
from parts.world import ACK, Client

PER_SECOND = 7.0  # things done
MOST_PODS = 60
SIZES = (1, 1, 1, 1, 2, 2, 2, 4, 4, 8)
BY_HAND = "by-hand"  # schedulerName of pods that no scheduler binds
ENDING_SECONDS = (1, 8)
BOUND_SHARE = 0.8  # of the pods that go


class Load:
    def __init__(self, world, judge, note):
        self.world, self.judge, self.note = world, judge, note
        self.random = random.Random(f"{world.options.seed}/load")
        self.client, self.stopping, self.made = Client(world.bed), threading.Event(), 0
        self.path = world.s.pods_path
        self.ending = []  # (when, name): pods that end until then
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

    # --- they come

    def come(self, dice):
        number, chips = self.random.randrange(40), self.random.choice(SIZES)
        rows = [(0.50, lambda: self.single(f"p-{number}", chips)),
                (0.62, lambda: self.single(f"j-{number}", min(chips, 4), labels={"job-name": f"job-{number % 4}"})),
                (0.70, lambda: self.ack(number % 10, min(chips, 4))),
                (0.86, lambda: self.gang(number % 15, 1 + number % 3, chips)),
                (0.96, lambda: self.single(f"h-{number}", chips, schedulerName=BY_HAND)),
                (1.01, lambda: self.single(f"n-{number}", 0))]
        next(make for upto, make in rows if dice < upto)()

    def post(self, body):
        code, _ = self.client.ask("POST", self.path, body)
        if code == 201:
            self.made += 1
            self.note(load="made", pod=body["metadata"]["name"])

    def single(self, name, chips, resource=GPU, labels=None, **spec):
        self.post(self.world.s.pod_body(name, chips, resource, labels=labels, **spec))

    def ack(self, number, chips):
        labels = {"gpu-topology": f"ack-{number}", "gpu-topology-replica": "2"}
        for member in range(2):
            self.single(f"a-{number}-{member}", chips, ACK, labels)

    def gang(self, number, members, chips):
        if not self.world.driver:
            return
        for member in range(members):
            body = self.world.s.pod_body(f"g-{number}-{member}", chips, schedulerName=NAME)
            body["metadata"]["annotations"] = {GROUP: f"g-{number}", MEMBERS: str(members), ROLE: "worker"}
            self.post(body)

    # --- they go

    # The chosen one, with all of its group; mostly one that is bound, so that chips change hands.
    def go(self, dice, pick):
        ending = {name for _, name in self.ending}
        mine = [pod for pod in self.judge.live() if pod["metadata"]["namespace"] == self.world.s.ns
                and pod["metadata"]["name"] not in ending]
        names = sorted(pod["metadata"]["name"] for pod in mine)
        bound = sorted(pod["metadata"]["name"] for pod in mine if pod["spec"].get("nodeName"))
        among = bound if bound and self.random.random() < BOUND_SHARE else names
        if not among:
            return
        chosen = among[int(pick * len(among))]
        together = chosen.rsplit("-", 1)[0] + "-"
        for name in [name for name in names if name.startswith(together)] if chosen[0] in "ag" else [chosen]:
            if dice < 0.6:
                self.client.ask("DELETE", f"{self.path}/{name}?gracePeriodSeconds=0")
            elif dice < 0.8:
                phase = "Failed" if dice < 0.7 else "Succeeded"
                self.client.ask("PATCH", f"{self.path}/{name}/status", {"status": {"phase": phase}})
                self.ending.append((time.monotonic() + 3 * pick, name))
            else:
                self.client.ask("DELETE", f"{self.path}/{name}?gracePeriodSeconds=30")
                self.ending.append((time.monotonic() + ENDING_SECONDS[0] + pick * ENDING_SECONDS[1], name))
            self.note(load="gone" if dice < 0.6 else "over" if dice < 0.8 else "ends", pod=name)

    def finish(self, now):
        due, self.ending = [one for one in self.ending if one[0] <= now], [one for one in self.ending if one[0] > now]
        for when, name in due:
            if self.client.ask("DELETE", f"{self.path}/{name}?gracePeriodSeconds=0")[0] not in (200, 404):
                self.ending.append((now + 1, name))

    # As a client that does not give up.
    def delete(self, name):
        while self.client.ask("DELETE", f"{self.path}/{name}?gracePeriodSeconds=0")[0] not in (200, 404):
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
                          "gang": first.get("annotations", {}).get(MEMBERS, 0)}.get(kind, 0))
            for pod in members:
                waits = not holds_chips(pod) and pod["spec"].get("schedulerName") == BY_HAND
                over = pod["metadata"].get("deletionTimestamp") or pod.get("status", {}).get("phase") in ("Succeeded", "Failed")
                if waits or over or len(members) < needed:
                    self.delete(pod["metadata"]["name"])


# Its kind and what it is called.
def group_of(pod):
    meta = pod["metadata"]
    if "gpu-topology" in meta.get("labels", {}):
        return "ack", meta["labels"]["gpu-topology"]
    if GROUP in meta.get("annotations", {}):
        return "gang", meta["annotations"][GROUP]
    return "single", meta["uid"]
