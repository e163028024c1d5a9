"""Pods of mixed sizes that come and go on the real kubelet, each checked while it runs, and what disturbs them."""
import random, time

from checker import Table, asked, chip_of, differences, twice
from node import AUDITOR

GPU = "nvidia.com/gpu"
COLUMNS = ["created", "checked", "again", "refused", "forced", "mismatches", "chips twice", "books wrong"]
STUCK_SECONDS = 120
PATIENCE_SECONDS = 30  # after a disturbance: the kubelet says nothing of a pod until it has looked at it again
REFUSAL_SECONDS = 40
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
    spec = {"containers": [container("main", {"burst": 2, "wrong": 1}.get(shape, size))]}
    if shape == "refused early":  # before the kubelet allocates devices
        spec["securityContext"] = {"sysctls": [{"name": "kernel.msgmax", "value": "65536"}]}
    if shape == "refused late":  # after it
        spec["os"] = {"name": "windows"}
    return spec


SHAPES = ["plain", "two containers", "init", "restarts", "burst", "refused early", "refused late", "wrong"]
# The kubelet's words for pods that it shall refuse.
REFUSED = {"refused early": "SysctlForbidden", "refused late": "PodOSNotSupported"}
FORCED = 0.15  # of the deletions


class Churn:
    """mode: how pods get chips (modes.py). disturb: {name: function}, one of them is called after every `every` pods."""

    def __init__(self, bed, node, mode, pods, seed, shapes, disturb=None, every=25):
        self.bed, self.node, self.mode, self.wanted = bed, node, mode, pods
        self.draw, self.shapes = random.Random(seed), [shape for shape in shapes if shape not in mode.cannot]
        self.disturb, self.every, self.disturbed = disturb or {}, every, 0
        self.table, self.shape, self.checked, self.since = Table(), {}, set(), {}
        self.created, self.ended, self.path = 0, set(), "/api/v1/namespaces/churn/pods"
        self.progress, self.patient_until, self.again = time.monotonic(), 0, set()
        self.next_shape = None
        self.wrong, self.kept = {}, set()  # pods that must not run, and those whose chips they are bound with

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
        waiting = sum(sum(asked(pod, GPU)[0].values()) for name, pod in pods.items() if self.shape[name] != "wrong")
        while self.created < self.wanted and waiting < MOST_WAITING:
            shape, self.next_shape = self.next_shape or self.draw.choice(self.shapes), None
            for _ in range(4 if shape == "burst" else 1):
                name = f"p{self.created}"
                spec = {"hostNetwork": True, "terminationGracePeriodSeconds": 1, **self.mode.spec, **spec_of(shape, self.draw)}
                if shape == "wrong":
                    spec["schedulerName"] = "nobody"
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
            if self.shape[name] == "wrong":
                self.must_not_run(pod, pods)
            elif pod["status"].get("phase") == "Failed" and pod["status"].get("reason") == REFUSED.get(self.shape[name]):
                self.table.add(self.shape[name], "refused")
                self.delete(name)
            elif self.shape[name] in REFUSED and pod["status"].get("phase") == "Running":
                self.table.add(self.shape[name], "mismatches", f"{name} runs")
                self.delete(name)
            elif pod["status"].get("phase") in ("Failed", "Succeeded"):  # the latter if the kubelet ended one that ran
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
        if any(self.shape[name] == "wrong" and name not in self.wrong for name in living):
            return
        for name in list(living):
            if name in self.checked - self.again - self.kept and (self.created == self.wanted or self.draw.random() < 0.3):
                self.delete(name)

    # A pod that another client has bound with the chips of another one: as long as that one runs, it must not.
    def must_not_run(self, pod, pods):
        name = pod["metadata"]["name"]
        if not pod["spec"].get("nodeName"):
            others = [other for other in pods if other in self.checked - self.again - self.kept and
                      not pods[other]["metadata"].get("deletionTimestamp")]
            if others:
                self.wrong[name] = others[0]
                self.kept.add(others[0])
                self.mode.bind_wrongly(pod, pods[others[0]])
            elif self.created == self.wanted and all(self.shape[other] == "wrong" for other in pods):
                self.wanted += 1
                self.next_shape = "plain"
            return
        if pod["status"].get("phase") == "Running":
            sights = self.node.sights(pod)
            if not sights:
                return
            if words := self.mode.adopted(pod, sights):
                self.table.add("wrong", "mismatches", f"{name}: {words}")
            else:
                self.table.add("wrong", "adopted")
        elif why := self.mode.refused(pod):
            self.table.add("wrong", "refused")
            self.table.examples["wrong"] = why
        elif time.time() - self.since[name] < REFUSAL_SECONDS:
            return
        else:
            self.table.add("wrong", "mismatches", f"{name}: neither refused nor adopted")
        self.kept.discard(self.wrong.pop(name))
        self.delete(name)

    def delete(self, name):
        forced = self.draw.random() < FORCED
        if forced:
            self.table.add(self.shape[name], "forced")
        self.bed.ask("DELETE", f"{self.path}/{name}", {"gracePeriodSeconds": 0} if forced else None)
        self.checked.discard(name)
        self.again.discard(name)
        self.progress = time.monotonic()

    def perhaps_disturb(self):
        done = self.table.total("checked") // self.every
        if self.disturb and done > self.disturbed:
            self.disturbed = done
            name = sorted(self.disturb)[done % len(self.disturb)]
            print(f"   after {self.table.total('checked')} pods, {self.table.total('mismatches')} mismatches: {name}", flush=True)
            self.table.disturbed[name] += 1
            self.disturb[name]()
            self.again, self.patient_until = set(self.checked), time.monotonic() + PATIENCE_SECONDS

    def good(self):
        return not any(self.table.total(what) for what in ("mismatches", "chips twice", "books wrong", "stuck")) and \
            sum(self.table.total(what) for what in ("checked", "refused", "adopted")) >= self.wanted
