"""Pods of mixed sizes that come and go on the real kubelet, each checked while it runs, and what disturbs them."""
import random, time

from checker import Table, asked, chip_of, differences, twice
from node import AUDITOR

GPU = "nvidia.com/gpu"
COLUMNS = ["created", "checked", "again", "refused", "mismatches", "chips twice", "books wrong"]
STUCK_SECONDS = 120
PATIENCE_SECONDS = 30  # after a disturbance: the kubelet says nothing of a pod until it has looked at it again
MOST_WAITING = 12  # chips that pods ask for, of 8


def container(name, chips, *command, **more):
    one = {"name": name, "image": AUDITOR, "imagePullPolicy": "Never", **more}
    if command:
        one["command"] = ["/auditor", *command]
    if chips:
        one["resources"] = {"limits": {GPU: str(chips)}}
    return one


# What a pod's spec has, by its shape.
def spec_of(shape, draw):
    size = draw.choice([1, 1, 2, 4])
    brief = ("--end-after", "200ms")
    if shape == "two containers":
        return {"containers": [container("a", draw.choice([1, 2])), container("b", draw.choice([1, 3])), container("none", 0)]}
    if shape == "init":
        small = draw.randint(1, size)
        return {"initContainers": [container("prepare", small, *brief)], "containers": [container("main", size)]}
    if shape == "restarts":
        return {"containers": [container("main", size, "--end-after", "1500ms", "--status", "1")]}
    return {"containers": [container("main", 2 if shape == "burst" else size)]}


SHAPES = ["plain", "two containers", "init", "restarts", "burst"]


class Churn:
    """mode: how pods get chips (modes.py). disturb: {name: function}, one of them is called after every `every` pods."""

    def __init__(self, bed, node, mode, pods, seed, shapes, disturb=None, every=25):
        self.bed, self.node, self.mode, self.wanted = bed, node, mode, pods
        self.draw, self.shapes = random.Random(seed), [shape for shape in shapes if shape not in mode.cannot]
        self.disturb, self.every, self.disturbed = disturb or {}, every, 0
        self.table, self.shape, self.checked, self.since = Table(), {}, set(), {}
        self.created, self.ended, self.path = 0, set(), "/api/v1/namespaces/churn/pods"
        self.progress, self.patient_until, self.again = time.monotonic(), 0, set()

    def run(self):
        self.bed.must("POST", "/api/v1/namespaces", {"metadata": {"name": "churn"}})
        account = "/api/v1/namespaces/churn/serviceaccounts/default"
        self.node.must_come("the account of the namespace", lambda: self.bed.ask("GET", account)[0] == 200)
        while len(self.ended) < self.wanted:
            pods = {pod["metadata"]["name"]: pod for pod in self.bed.must("GET", self.path)["items"]}
            self.ended |= set(self.shape) - set(pods)
            for name, pod in pods.items():
                if pod["spec"].get("nodeName") and not self.since[name]:
                    self.since[name] = time.time()
            self.create(pods)
            self.mode.step(pods)
            self.look_at(pods)
            self.perhaps_disturb()
            if time.monotonic() - self.progress > STUCK_SECONDS:
                self.table.add("all of them", "stuck", f"nothing happened for {STUCK_SECONDS} s: " + str(
                    {name: pod["status"].get("phase") for name, pod in pods.items()}))
                break
            time.sleep(0.05)

    def create(self, pods):
        waiting = sum(sum(asked(pod, GPU)[0].values()) for pod in pods.values())
        while self.created < self.wanted and waiting < MOST_WAITING:
            shape = self.draw.choice(self.shapes)
            for _ in range(4 if shape == "burst" else 1):
                name = f"p{self.created}"
                spec = {"hostNetwork": True, "terminationGracePeriodSeconds": 1, **self.mode.spec, **spec_of(shape, self.draw)}
                body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}
                waiting += sum(asked(body, GPU)[0].values())
                self.bed.must("POST", self.path, body)
                self.shape[name], self.since[name] = shape, None
                self.table.add(shape, "created")
                self.created += 1
                self.progress = time.monotonic()
                if self.created == self.wanted:
                    break

    # Pods that run are checked once they have said what they see, and then deleted, now or later.
    def look_at(self, pods):
        living = {name: pod for name, pod in pods.items() if not pod["metadata"].get("deletionTimestamp")}
        ready = {}
        for name, pod in living.items():
            if pod["status"].get("phase") == "Failed":
                self.table.add(self.shape[name], "refused", f"{name}: {pod['status'].get('reason')}: {pod['status'].get('message')}"
                               if pod["status"].get("reason") != "UnexpectedAdmissionError" else "")
                self.delete(name)
            elif pod["status"].get("phase") == "Running":
                sights = self.node.sights(pod)
                need = 2 if self.shape[name] == "restarts" else 1
                if all(sum(1 for c, _, _ in sights if c == one) >= need for one, count in asked(pod, GPU)[0].items() if count) \
                        and {c for c, _, _ in sights} >= set(asked(pod, GPU)[0]):
                    ready[name] = sights
        new = [name for name in ready if name not in self.checked or name in self.again]
        if not new:
            self.delete_some(living)
            return
        resources = self.node.pod_resources()
        for name in new:
            self.check(living[name], ready[name], resources.get(f"churn/{name}"))
        chips = {name: [chip_of(n["name"]) for _, _, s in sights for n in s["nodes"]] for name, sights in ready.items()}
        for chip in twice(chips):
            self.table.add("all of them", "chips twice", f"chip {chip}: {[n for n, c in chips.items() if chip in c]}")
        self.delete_some(living)

    def check(self, pod, sights, resources):
        name = pod["metadata"]["name"]
        shape = self.shape[name]
        found = differences(pod, GPU, sights, resources or {}, self.mode.claim_of(pod), self.mode.drifts)
        if found and time.monotonic() < self.patient_until:
            return
        if not found and name in self.again:
            self.again.discard(name)
            self.table.add(shape, "again")
            return
        if self.since[name] and not sights[0][1] and name not in self.again:
            self.table.times["from the bind to what the container says"].append(sights[0][2]["timeMs"] / 1000 - self.since[name])
        self.again.discard(name)
        self.table.add(shape, "checked")
        self.checked.add(name)
        self.progress = time.monotonic()
        if found:
            self.table.add(shape, "mismatches", f"{name}: {'; '.join(found)}")
        if wrong := self.mode.books_wrong(pod, sights, self.table):
            self.table.add(shape, "books wrong", f"{name}: {wrong}")

    # Some live longer than others.
    def delete_some(self, living):
        for name in list(living):
            if name in self.checked - self.again and (self.created == self.wanted or self.draw.random() < 0.3):
                self.delete(name)

    def delete(self, name):
        self.bed.ask("DELETE", f"{self.path}/{name}")
        self.checked.discard(name)
        self.again.discard(name)
        self.progress = time.monotonic()

    def perhaps_disturb(self):
        done = self.table.total("checked") // self.every
        if self.disturb and done > self.disturbed:
            self.disturbed = done
            name = sorted(self.disturb)[done % len(self.disturb)]
            print(f"   after {self.table.total('checked')} pods, {self.table.total('mismatches')} mismatches: {name}", flush=True)
            self.disturb[name]()
            self.again, self.patient_until = set(self.checked), time.monotonic() + PATIENCE_SECONDS

    def good(self):
        return not any(self.table.total(what) for what in ("mismatches", "chips twice", "books wrong", "stuck")) and \
            self.table.total("checked") + self.table.total("refused") >= self.wanted
