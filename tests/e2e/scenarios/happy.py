"""Pods that fit: every one is bound to the right chips, and has its annotations from its first bound version on."""
import json

from audit import PLACEMENT, placement_of

ASCEND = "huawei.com/Ascend910"


def run(s):
    s.v100("h-a", "h-b")
    watch = s.watch()
    sizes(s)
    job(s)
    for name in ("one", "two", "four", "eight"):
        kinds = [kind for kind, _ in watch.of(name)]
        s.check(f"{name}: the watch told of its making first, then of one binding", kinds[:2] == ["ADDED", "MODIFIED"]
                and watch.of(name)[1][1]["spec"].get("nodeName"), kinds)
    wrong = watch.bound_without_placement()
    s.check("no version of a bound pod lacks its placement", not wrong, wrong)
    ack_group(s)
    group_too_large(s)
    plan(s)
    ascend(s)
    s.settled()


def sizes(s):
    wanted = {"one": 1, "two": 2, "four": 4, "eight": 8}
    for name, chips in wanted.items():
        s.create(name, chips)
    pods = s.bound(*wanted)
    notes = {name: placement_of(pod) for name, pod in pods.items()}
    s.check("each has as many chips as it asks for", {n: len(p["chips"]) for n, p in notes.items()} == wanted, notes)
    s.check("the pair has two NVLinks, 40 GB/s", notes["two"]["gbps"] == 40, notes["two"])
    s.check("the pod of 8 is alone on its node", len({pods[n]["spec"]["nodeName"] for n in ("one", "two", "four")}) == 1
            and pods["eight"]["spec"]["nodeName"] != pods["one"]["spec"]["nodeName"], notes)
    told = s.eventually("each has one event ChipsAssigned",
                        lambda: all(len(s.events(name, "ChipsAssigned")) == 1 for name in wanted))
    if told:
        event = s.events("two", "ChipsAssigned")[0]
        chips = ",".join(str(chip["index"]) for chip in notes["two"]["chips"])
        s.check("the event names node, chips and bandwidth", all(words in event["note"] for words in
                (f"chips {chips} of node {notes['two']['node']}", "40.0 GB/s predicted")), event["note"])
        s.check("and the pod as kubectl describe looks for it", event["regarding"]["uid"] == pods["two"]["metadata"]["uid"])
    for name in wanted:
        s.delete(name)
    s.must_come("the chips back", lambda: not s.used())


# Four pods that the controller manager makes.
def job(s):
    template = s.pod_body("", 2)
    spec = {**template["spec"], "restartPolicy": "Never"}
    s.bed.must("POST", f"/apis/batch/v1/namespaces/{s.ns}/jobs",
               {"metadata": {"name": "train"}, "spec": {"parallelism": 4, "completions": 4, "completionMode": "Indexed",
                                                        "template": {"spec": spec}}})
    mine = lambda: [pod for pod in s.pods() if pod["metadata"]["labels"].get("job-name") == "train"]
    s.eventually("the four pods of a Job are bound", lambda: len(mine()) == 4 and all(p["spec"].get("nodeName") for p in mine()))
    s.check("each with two chips", all(len(s.chips_of(pod) or []) == 2 for pod in mine()))
    s.check("on one node, so that they talk over NVLink", len({pod["spec"].get("nodeName") for pod in mine()}) == 1)
    s.bed.must("DELETE", f"/apis/batch/v1/namespaces/{s.ns}/jobs/train?propagationPolicy=Background")
    s.must_come("the end of the Job's pods", lambda: not [s.delete(pod["metadata"]["name"]) for pod in mine()])


# Alibaba Cloud's labels: both pods or none, and its annotations beside ours.
def ack_group(s):
    s.nodes(**{"h-ack": ("hgx-v100-8", "aliyun.com/gpu", 8)})
    labels = {"gpu-topology": "mnist", "gpu-topology-replica": "2"}
    for name in ("master", "worker"):
        s.create(name, 1, "aliyun.com/gpu", labels=labels)
    pods = s.bound("master", "worker")
    chips = {name: s.chips_of(pod) for name, pod in pods.items()}
    union = ",".join(str(chip) for chip in sorted(chips["master"] + chips["worker"]))
    for name, pod in pods.items():
        notes = pod["metadata"]["annotations"]
        group, visible = (notes.get(f"topology.kubernetes.io/gpu-{word}") for word in ("group", "visible"))
        s.check(f"{name}: gpu-group is its chip, gpu-visible those of both", group == str(chips[name][0])
                and visible == union, notes)


# Two pods of four chips beside two others on a node of eight: neither of them is bound until both can be.
def group_too_large(s):
    labels = {"gpu-topology": "llm", "gpu-topology-replica": "2"}
    for name in ("large-0", "large-1"):
        s.create(name, 4, "aliyun.com/gpu", labels=labels)
    for name in ("large-0", "large-1"):
        s.given_up(name)
    s.check("of a group for which there is no room no pod is bound", not s.is_bound("large-0") and
            not s.is_bound("large-1"))
    for name in ("master", "worker"):
        s.delete(name)
    s.bound("large-0", "large-1")


# The annotations that Ascend's device plugin and its scheduler's users read.
def ascend(s):
    s.nodes(**{"h-910b": ("ascend-910b-8", ASCEND, 8)})
    s.create("npu", 2, ASCEND)
    pod = s.bound("npu")["npu"]
    notes = pod["metadata"]["annotations"]
    placement = json.loads(notes[PLACEMENT])
    names = ",".join(f"Ascend910-{chip['index']}" for chip in placement["chips"])
    s.check("huawei.com/Ascend910 lists the chips", notes.get(ASCEND) == names, notes)
    s.check("predicate-time is a time in nanoseconds", notes.get("predicate-time", "").isdecimal()
            and len(notes["predicate-time"]) == 19, notes)
    s.check("distributed-job is said", notes.get("distributed-job") == "false", notes)


# The command line's plan of a gang from this control plane: its nodes and pods, and the scheduler's machines.
def plan(s):
    s.create("beside", 3)
    node = s.bound("beside")["beside"]["spec"]["nodeName"]
    asked = ["plan", "--kubeconfig", s.bed.folder / "kubeconfig", "--levels", "kubernetes.io/hostname", "--pods", "3",
             "--chips", "4", "-o", "json"]
    with_chips = s.chipweave.cli(*asked)
    s.check("a gang is planned on the chips that are free", with_chips.returncode == 0, with_chips.stderr)
    if with_chips.returncode == 0:
        pods = json.loads(with_chips.stdout)["pods"]
        taken = {chip["index"] for chip in placement_of(s.pod("beside"))["chips"]}
        beside = [set(pod["chips"]) for pod in pods if pod["node"] == node]
        s.check("one pod beside the other one, two on the other node", len(beside) == 1 and not beside[0] & taken, pods)
    counted = s.bed.run(s.chipweave.binaries / "chipweave", *asked)
    s.check("without a scheduler by the nodes' counts", counted.returncode == 0 and
            sorted(json.loads(counted.stdout)["assignment"].values()) == [1, 2], counted.stdout + counted.stderr)
    s.delete("beside")
    s.must_come("the chips back after the plan", lambda: not s.taken(node))
