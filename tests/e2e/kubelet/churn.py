"""Pods of mixed sizes that come and go on the real kubelet, each checked while it runs, and what disturbs them."""
import http.client, json, random, threading, time

from checker import Table, asked, chip_of, differences, twice
from kubelet_ends import KubeletEnds
from node import AUDITOR
from wrong import GPU, WrongPods, not_started

COLUMNS = ["created", "checked", "containers", "again", "refused", "adopted", "forced", "mismatches", "chips twice", "books wrong"]
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
    if shape == "rewritten":
        return {"containers": [container("main", size, "--end-after", "5s", "--status", "1")]}
    spec = {"containers": [container("main", {"burst": 2, "wrong": 1}.get(shape, size))]}
    if shape == "refused early":  # before the kubelet allocates devices
        spec["securityContext"] = {"sysctls": [{"name": "kernel.msgmax", "value": "65536"}]}
    if shape == "refused late":  # after it
        spec["os"] = {"name": "windows"}
    return spec


SHAPES = ["plain", "two containers", "init", "restarts", "burst", "refused early", "refused late", "wrong", "rewritten"]
# The kubelet's words for pods that it shall refuse.
REFUSED = {"refused early": "SysctlForbidden", "refused late": "PodOSNotSupported"}
REFUSED_AT_START = "the kubelet has given"  # chipweave-device-plugin's words
IN_USE = "requested number of devices unavailable"  # the kubelet's
FORCED = 0.15  # of the deletions


class Churn:
    """mode: how pods get chips (modes.py). disturb: {name: function}, one of them is called after every `every` pods.
    ends: how often the kubelet is ended and started, meanwhile."""

    def __init__(self, bed, node, mode, pods, seed, shapes, disturb=None, every=25, ends=0):
        self.bed, self.node, self.mode, self.wanted = bed, node, mode, pods
        self.draw, self.shapes = random.Random(seed), [shape for shape in shapes if shape not in mode.cannot]
        self.disturb, self.every, self.disturbed = disturb or {}, every, 0
        self.table, self.shape, self.checked, self.since = Table(), {}, set(), {}
        self.created, self.ended, self.path = 0, set(), "/api/v1/namespaces/churn/pods"
        self.progress, self.patient_until, self.again = time.monotonic(), 0, set()
        self.next_shape, self.failed_at = None, {}
        self.wrong = WrongPods(self)
        self.ends = KubeletEnds(mode, ends, self.draw, lambda: self.table.total("checked")) if ends else None

    def run(self):
        self.bed.must("POST", "/api/v1/namespaces", {"metadata": {"name": "churn"}})
        account = "/api/v1/namespaces/churn/serviceaccounts/default"
        self.node.must_come("the account of the namespace", lambda: self.bed.ask("GET", account)[0] == 200)
        threading.Thread(target=self.watch_pods, daemon=True).start()
        while len(self.ended) < self.wanted:
            pods = {pod["metadata"]["name"]: pod for pod in self.bed.must("GET", self.path)["items"]}
            self.ended |= set(self.shape) - set(pods)
            for pod in pods.values():
                self.note_times(pod)
            self.create(pods)
            self.mode.step(pods)
            self.look_at(pods)
            self.perhaps_disturb()
            if self.ends:
                self.perhaps_end_kubelet()
            if time.monotonic() - self.progress > STUCK_SECONDS:
                self.table.add("all of them", "stuck", f"nothing happened for {STUCK_SECONDS} s: " + str(
                    {name: pod["status"].get("phase") for name, pod in pods.items()}))
                break
            time.sleep(0.05)

    # When pods were bound, and when they failed, to a few milliseconds.
    def watch_pods(self):
        while not self.mode.over:
            try:
                connection, answer = self.bed.stream(f"{self.path}?watch=true&timeoutSeconds=600")
                while line := answer.readline():
                    self.note_times(json.loads(line)["object"])
                connection.close()
            except (OSError, http.client.HTTPException, ValueError, KeyError):
                time.sleep(0.1)

    def note_times(self, pod):
        name = pod["metadata"]["name"]
        if pod["spec"].get("nodeName"):
            self.since.setdefault(name, time.time())
        if pod["status"].get("phase") == "Failed":
            self.failed_at.setdefault(name, time.time())

    def create(self, pods):
        waiting = sum(sum(asked(pod, GPU)[0].values()) for name, pod in pods.items() if self.shape[name] != "wrong")
        if self.ends and self.created == self.wanted and not self.ends.over():
            self.wanted += 1
        while self.created < self.wanted and waiting < MOST_WAITING:
            shape, self.next_shape = self.next_shape or self.draw.choice(self.shapes), None
            for _ in range(4 if shape == "burst" else 1):
                name = f"p{self.created}"
                spec = {"hostNetwork": True, "terminationGracePeriodSeconds": 1, **self.mode.spec, **spec_of(shape, self.draw)}
                if shape == "wrong":
                    spec["schedulerName"] = "nobody"
                body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}
                waiting += sum(asked(body, GPU)[0].values())
                self.shape[name] = shape
                self.bed.must("POST", self.path, body)
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
                self.wrong.must_not_run(pod, pods)
            elif name in self.wrong.changed and pod["status"].get("phase") not in ("Failed", "Succeeded"):
                self.wrong.look_at_rewritten(pod)
            elif why := not_started(pod, REFUSED_AT_START):
                self.table.add(self.shape[name], "refused")
                self.table.examples["refused at its start"] = why
                self.delete(name)
            elif pod["status"].get("phase") == "Failed" and pod["status"].get("reason") == REFUSED.get(self.shape[name]):
                self.table.add(self.shape[name], "refused")
                self.delete(name)
            elif self.shape[name] in REFUSED and pod["status"].get("phase") == "Running":
                self.table.add(self.shape[name], "mismatches", f"{name} runs")
                self.delete(name)
            elif pod["status"].get("phase") in ("Failed", "Succeeded"):  # the latter if the kubelet ended one that ran
                self.table.add(self.shape[name], "refused", f"{name}: {pod['status'].get('reason')}: {pod['status'].get('message')}"
                               if pod["status"].get("reason") != "UnexpectedAdmissionError" else "")
                if self.ends and pod["status"]["phase"] == "Failed":
                    self.rejected(pod)
                self.wrong.changed.pop(name, None)
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
        resources = self.kubelet_says()
        if resources is None:
            return
        for name in new:
            self.check(living[name], ready[name], resources.get(f"churn/{name}"))
        chips = {name: [chip_of(n["name"]) for _, _, s in sights for n in s["nodes"]] for name, sights in ready.items()}
        for chip in twice(chips):
            self.table.add("all of them", "chips twice", f"chip {chip}: {[n for n, c in chips.items() if chip in c]}")
        self.delete_some(living)

    # None: it does not say, which may be between its end and its start.
    def kubelet_says(self):
        if not self.ends:
            return self.node.pod_resources()
        try:
            return self.node.pod_resources() if self.node.kubelet else None
        except RuntimeError:
            return None

    # By the kubelet, for want of the device plugin. No gate helps those that were bound before the kubelet ended ("caught"),
    # and those that ran and that it admits again, because one of their containers, maybe an init container, does not run
    # ("between"); nor those whose chips such a pod still has, for which its end has been told too early ("in use").
    def rejected(self, pod):
        name = pod["metadata"]["name"]
        words = f"{name}: {pod['status'].get('reason')}: {pod['status'].get('message')}"
        what = "between" if self.node.sights(pod) else "in use" if IN_USE in words else \
            "caught" if self.ends.caught(self.since[name], self.failed_at[name]) else "rejected"
        if what == "caught":
            words += f" (bound {self.ends.ended_at[-1] - self.since[name]:.1f} s before)"
        self.table.add(self.shape[name], what, words if what == "rejected" else "")
        self.table.examples[what] = words

    def check(self, pod, sights, resources):
        name = pod["metadata"]["name"]
        shape = self.shape[name]
        found = differences(pod, GPU, sights, resources or {}, self.mode.claim_of(pod), self.mode.drifts)
        if found and time.monotonic() < self.patient_until:
            return
        if found and self.ends and not self.node.kubelet:
            return
        if not found and name in self.again:
            self.again.discard(name)
            self.table.add(shape, "again")
            return
        if not sights[0][1] and name not in self.again:
            self.table.times["from the bind to what the container says"].append(sights[0][2]["timeMs"] / 1000 - self.since[name])
        self.again.discard(name)
        self.table.add(shape, "checked")
        self.table.rows[shape]["containers"] += len({(container, attempt) for container, attempt, _ in sights})
        self.checked.add(name)
        self.progress = time.monotonic()
        if found:
            self.table.add(shape, "mismatches", f"{name}: {'; '.join(found)}")
        wrong = self.mode.books_wrong(pod, sights, self.table)
        if wrong and self.bed.ask("GET", f"{self.path}/{name}")[1].get("status", {}).get("phase") == "Running":
            self.table.add(shape, "books wrong", f"{name}: {wrong}")
        if shape == "rewritten" and not found:
            self.wrong.rewrite(pod, sights)

    # Some live longer than others.
    def delete_some(self, living):
        if self.wrong.waits(living):
            return
        for name in list(living):
            if name in self.checked - self.again and not self.wrong.keeps(name) and \
                    (self.created == self.wanted or self.draw.random() < 0.3):
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
            self.look_again()

    def perhaps_end_kubelet(self):
        if self.ends.step():
            self.progress = time.monotonic()
            self.table.disturbed["the kubelet is ended and started"] += 1
            if self.ends.done % 10 == 0:
                print(f"   the kubelet has ended {self.ends.done} times, {self.table.total('checked')} pods, "
                      f"{self.table.total('rejected')} rejected, {self.table.total('mismatches')} mismatches", flush=True)
            self.look_again()

    # At all pods that run.
    def look_again(self):
        self.again, self.patient_until = set(self.checked), time.monotonic() + PATIENCE_SECONDS

    def good(self):
        return not any(self.table.total(what) for what in ("mismatches", "chips twice", "books wrong", "rejected", "stuck")) and \
            sum(self.table.total(what) for what in ("checked", "refused", "adopted")) >= self.wanted
