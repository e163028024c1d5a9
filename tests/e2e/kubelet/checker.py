"""Compares a pod's chips by its annotation, by the environment and the devices that its containers see, by the kubelet and
by its claim. All in numbers of chips."""
import re
from collections import Counter, defaultdict

from audit import placement_of

DEVICE = re.compile(r"(?:GPU|gpu|nvidia)-?(\d+)$")


def chip_of(name):
    found = DEVICE.search(name)
    if not found:
        raise ValueError(f"{name} is no device of this test")
    return int(found[1])


def chips_of(names):
    return sorted(chip_of(name) for name in names if name)


# What the environment tells a program in the container to use.
def told(environment):
    listed = environment.get("NVIDIA_VISIBLE_DEVICES", "").split(",")
    single = [value for name, value in environment.items() if name.startswith(("CHIPWEAVE_DEVICE_", "CHIPWEAVE_CHIP_"))]
    return sorted(set(chips_of([name for name in listed if name not in ("", "void", "none")] + single)))


# {container: chips} of the containers that run together, sidecars too; {container: chips} of the other init containers.
def asked(pod, resource):
    count = lambda c: int(c.get("resources", {}).get("limits", {}).get(resource, 0))
    init = pod["spec"].get("initContainers", [])
    together = [c for c in init if c.get("restartPolicy") == "Always"] + pod["spec"]["containers"]
    return ({c["name"]: count(c) for c in together},
            {c["name"]: count(c) for c in init if c.get("restartPolicy") != "Always"})


# {container: chips} by the annotation; None without one.
def annotated(pod, resource):
    placement = placement_of(pod)
    if not placement:
        return None
    having = [name for name, count in asked(pod, resource)[0].items() if count]
    parts = defaultdict(list)
    for chip in placement["chips"]:
        parts[chip.get("container") or (having[0] if len(having) == 1 else "?")].append(chip["index"])
    return {name: sorted(chips) for name, chips in parts.items()}


# The devices of a container by the kubelet, and of all claims it uses: the kubelet tells all devices of a claim for each
# container that uses any of them.
def kubelet_says(container, resource):
    devices = chips_of(d["id"] for d in container["devices"] if d["resource"] == resource)
    return devices, sorted({chip_of(c["device"]) for c in container["claims"]})


# Every difference, in words. sights: of its auditors; resources: of PodResources, or None; claim: the chips of its
# claim, or None.
def differences(pod, resource, sights, resources, claim=None, without_annotation=False):
    found, (together, before) = [], asked(pod, resource)
    chosen = annotated(pod, resource)
    if chosen is None and any(together.values()):
        found.append("no annotation")
    seen_of_pod = set()
    for container, attempt, sight in sights:
        where = f"{container}#{attempt}"
        nodes, env = chips_of(node["name"] for node in sight["nodes"]), told(sight["environment"])
        if any(chip_of(node["name"]) != node["minor"] for node in sight["nodes"]):
            found.append(f"{where}: device nodes are {sight['nodes']}")
        for text in sight.get("trouble", []):
            found.append(f"{where}: {text}")
        for what, chips in (("environment", env), ("what it can open", sight["opens"])):
            if chips != nodes:
                found.append(f"{where}: {what} {chips}, device nodes {nodes}")
        count = together.get(container, before.get(container))
        if len(nodes) != count:
            found.append(f"{where}: {len(nodes)} devices for {count} asked")
        if container in together:
            if seen_of_pod & set(nodes) and attempt == 0:
                found.append(f"{where}: {nodes} shares chips with another container")
            seen_of_pod |= set(nodes)
            if chosen is not None and not without_annotation and nodes != chosen.get(container, []):
                found.append(f"{where}: device nodes {nodes}, annotation {chosen.get(container, [])}")
        elif chosen is not None and not without_annotation and not set(nodes) <= set().union(*chosen.values(), set()):
            found.append(f"{where}: device nodes {nodes} are not of the annotation {chosen}")
    for container, count in together.items():
        if not any(name == container for name, _, _ in sights):
            found.append(f"{container}: it has said nothing")
    if resources is not None:
        for container, count in together.items():
            devices, claimed = kubelet_says(resources.get(container, {"devices": [], "claims": []}), resource)
            seen = next((chips_of(n["name"] for n in s["nodes"]) for c, _, s in reversed(sights) if c == container), [])
            if count and not claimed and devices != seen:
                found.append(f"{container}: PodResources {devices}, device nodes {seen}")
            if claimed and not set(seen) <= set(claimed):
                found.append(f"{container}: PodResources' claim {claimed}, device nodes {seen}")
    if claim is not None and chosen is not None:
        all_chosen = sorted(chip for chips in chosen.values() for chip in chips)
        if claim != all_chosen:
            found.append(f"claim {claim}, annotation {all_chosen}")
    return found


# Chips that more than one pod has: {pod: chips} of pods that run.
def twice(chips_by_pod):
    count = Counter(chip for chips in chips_by_pod.values() for chip in set(chips))
    return sorted(chip for chip, times in count.items() if times > 1)


REJECTED = ("rejected", "caught", "between", "in use")  # why pods were, with --kubelet-ends
# Its line of hyphens is made of it.
SUMMARY = ("| mode | seed | pods | checked | containers | checked again | refused, adopted | rejected, caught, between, in use | kubelet restarts | agent | scheduler | "
           "containerd | mismatches | chips twice | books wrong | drift told | p99 Prepare, Allocate |")


class Table:
    """What was found, by shape of pod."""

    def __init__(self):
        self.rows = defaultdict(Counter)
        self.words, self.times = [], defaultdict(list)
        self.disturbed, self.examples = Counter(), {}

    def add(self, shape, what, words=""):
        self.rows[shape][what] += 1
        if words:
            self.words.append(f"{shape}: {what}: {words}")

    def total(self, what):
        return sum(row[what] for row in self.rows.values())

    # A row of a table of runs (SUMMARY).
    def summary(self, mode, seed, drifts):
        ended = lambda what: sum(times for name, times in self.disturbed.items() if what in name)
        took = sorted(self.times["Prepare or Allocate"])
        return " | ".join(str(cell) for cell in (
            f"| {mode}", seed, self.total("created"), self.total("checked"), self.total("containers"), self.total("again"),
            self.total("refused") + self.total("adopted"),
            ", ".join(str(self.total(what)) for what in REJECTED) if ended("kubelet is ended") else "-",
            ended("kubelet is") - ended("is asked"),
            ended("agent is"), ended("scheduler is"), ended("containerd is"), self.total("mismatches"), self.total("chips twice"),
            self.total("books wrong"), f"{self.total('told')} of {self.total('drifted')}" if drifts else "-",
            f"{took[min(len(took) - 1, int(.99 * len(took)))] * 1000:.0f} ms of {len(took)}" if took else "-")) + " |\n"

    def print(self, columns):
        print(f"{'pods':16}" + "".join(f"{column:>14}" for column in columns))
        for shape, row in [*sorted(self.rows.items()), ("all", sum(self.rows.values(), Counter()))]:
            print(f"{shape:16}" + "".join(f"{row[column]:>14}" for column in columns))
        for name, values in self.times.items():
            if not values:
                continue
            values = sorted(values)
            at = lambda share: values[min(len(values) - 1, int(share * len(values)))]
            print(f"{name}: median {at(.5):.3f} s, p99 {at(.99):.3f} s, most {values[-1]:.3f} s of {len(values)}")
        for name, times in sorted(self.disturbed.items()):
            print(f"{name}: {times} times")
        for name, text in self.examples.items():
            print(f"{name}: {text}")
        for text in self.words[:40]:
            print(f"  {text}")
