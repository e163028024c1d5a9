#!/usr/bin/env python3
"""Audits the chips of a cluster by what its API server says, and by nothing else: every bound pod that asks for accelerators
carries a chipweave.dev/placement that is its own and possible, and no chip of a node belongs to two pods.

  tests/e2e/audit.py [--kubeconfig FILE]      # prints findings
  tests/e2e/audit.py --self-test              # finds planted errors, needs no cluster

It asks with kubectl, which must be in PATH; the right to list pods and nodeinventories everywhere is enough. Pods that
are over are not looked at: their chips are free. Exit status: 0 nothing found, 1 findings, 2 the cluster cannot be read."""
import argparse, copy, json, subprocess, sys

PLACEMENT = "chipweave.dev/placement"
ACCELERATORS = ["nvidia.com/gpu", "amd.com/gpu", "metax-tech.com/gpu", "aliyun.com/gpu", "huawei.com/Ascend910",
                "huawei.com/Ascend310", "huawei.com/Ascend310P", "huawei.com/npu", "huawei.com/ascend-1980"]


# As Kubernetes counts: the containers that run together, or an init container with the sidecars before it.
def chips_asked(pod, resource):
    def of(container):
        resources = container.get("resources", {})
        return int(resources.get("requests", {}).get(resource) or resources.get("limits", {}).get(resource) or 0)

    sidecars, most = 0, 0
    for container in pod["spec"].get("initContainers", []):
        if container.get("restartPolicy") == "Always":
            sidecars += of(container)
            most = max(most, sidecars)
        else:
            most = max(most, sidecars + of(container))
    return max(most, sidecars + sum(of(container) for container in pod["spec"]["containers"]))


def asks(pod, accelerators=ACCELERATORS):
    return {name: count for name in accelerators if (count := chips_asked(pod, name))}


def holds_chips(pod):
    return bool(pod["spec"].get("nodeName")) and pod.get("status", {}).get("phase") not in ("Succeeded", "Failed")


def name_of(pod):
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


# What the pod's annotation says, if it is JSON of the right form.
def placement_of(pod):
    try:
        placement = json.loads(pod["metadata"].get("annotations", {})[PLACEMENT])
        [int(chip["index"]) for chip in placement["chips"]]
        return placement if placement["v"] == 1 else None
    except (KeyError, TypeError, ValueError):
        return None


def indices_of(placement):
    return sorted(chip["index"] for chip in placement["chips"])


# What is wrong with one bound pod, taken alone. `machines`: the chips of every node that has an inventory.
def wrong_with(pod, asked, machines):
    meta, node = pod["metadata"], pod["spec"]["nodeName"]
    if PLACEMENT not in meta.get("annotations", {}):
        return ["is bound without a placement"]
    placement = placement_of(pod)
    if placement is None:
        return ["has a placement that cannot be read"]
    wrong, chips = [], indices_of(placement)
    if placement.get("node") != node:
        wrong.append(f"is on {node}, but its placement says {placement.get('node')}")
    if placement.get("podUid") != meta["uid"]:
        wrong.append("has a placement with another pod's uid")
    if len(asked) != 1 or placement.get("resource") not in asked:
        wrong.append(f"asks for {', '.join(asked)}, but its placement is of {placement.get('resource')}")
    elif len(chips) != asked[placement["resource"]]:
        wrong.append(f"asks for {asked[placement['resource']]} chips, but its placement has {len(chips)}")
    if len(set(chips)) != len(chips):
        wrong.append("has a chip twice")
    if node not in machines:
        wrong.append(f"has chips of {node}, which has no inventory")
    elif missing := sorted(set(chips) - machines[node]):
        wrong.append(f"has chips that {node} does not have: {', '.join(map(str, missing))}")
    return wrong


# One sentence per violation.
def findings(pods, inventories, accelerators=ACCELERATORS):
    machines = {one["metadata"]["name"]: {chip["index"] for chip in one["status"]["topology"]["chips"]}
                for one in inventories if one.get("status")}
    found, owners = [], {}
    for pod in sorted(filter(holds_chips, pods), key=name_of):
        if not (asked := asks(pod, accelerators)):
            continue
        found += [f"{name_of(pod)} {wrong}" for wrong in wrong_with(pod, asked, machines)]
        if placement := placement_of(pod):
            for chip in sorted(set(indices_of(placement))):
                owners.setdefault((pod["spec"]["nodeName"], chip), []).append(name_of(pod))
    for (node, chip), names in sorted(owners.items()):
        if len(names) > 1:
            found.append(f"chip {chip} of {node} belongs to {' and '.join(names)}")
    return found


# --- a cluster


def listed(kubeconfig, kind):
    command = ["kubectl", *([f"--kubeconfig={kubeconfig}"] if kubeconfig else []), "get", kind, "-A", "-o", "json"]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)["items"]


def audit(options):
    try:
        # Inventories last: a machine that came in between is known then.
        pods, inventories = (listed(options.kubeconfig, kind) for kind in ("pods", "nodeinventories.chipweave.dev"))
    except (OSError, subprocess.CalledProcessError, ValueError) as error:
        print(f"audit: the cluster cannot be read: {error}", file=sys.stderr)
        return 2
    found = findings(pods, inventories, options.accelerators)
    for one in found:
        print(one)
    holding = sum(1 for pod in pods if holds_chips(pod) and asks(pod, options.accelerators))
    print(f"audit: {holding} pods with chips on {len(inventories)} nodes with inventory, {len(found)} findings")
    return 1 if found else 0


# --- self-test


def example():
    def pod(name, chips):
        placement = {"v": 1, "node": "n1", "podUid": f"uid-{name}", "resource": "nvidia.com/gpu",
                     "chips": [{"index": index, "id": ""} for index in chips]}
        limits = {"resources": {"limits": {"nvidia.com/gpu": str(len(chips))}}}
        return {"metadata": {"namespace": "a", "name": name, "uid": f"uid-{name}",
                             "annotations": {PLACEMENT: json.dumps(placement)}},
                "spec": {"nodeName": "n1", "containers": [limits]}, "status": {"phase": "Running"}}

    pods = [pod("one", [0, 3]), pod("two", [1, 2])]
    pods.append({"metadata": {"namespace": "a", "name": "plain", "uid": "p"},
                 "spec": {"nodeName": "n1", "containers": [{}]}})
    chips = [{"index": index} for index in range(4)]
    return pods, [{"metadata": {"name": "n1"}, "status": {"topology": {"chips": chips}}}]


# Rows: what is changed in the example, and words of the findings that must come of it; none: it is fine.
def planted():
    def says(change):
        def plant(pods, _):
            notes = pods[0]["metadata"]["annotations"]
            placement = json.loads(notes[PLACEMENT])
            change(placement)
            notes[PLACEMENT] = json.dumps(placement)
        return plant

    chips = lambda *indices: says(lambda p: p.update(chips=[{"index": index} for index in indices]))
    container = lambda pod, **more: pod["spec"].update(more)
    gpus = lambda count: {"resources": {"limits": {"nvidia.com/gpu": str(count)}}}
    return [
        ("nothing", lambda pods, _: None, []),
        ("no annotation", lambda pods, _: pods[0]["metadata"].pop("annotations"), ["without a placement"]),
        ("no JSON", lambda pods, _: pods[0]["metadata"]["annotations"].update({PLACEMENT: "{"}), ["cannot be read"]),
        ("another version", says(lambda p: p.update(v=2)), ["cannot be read"]),
        ("another node", says(lambda p: p.update(node="n2")), ["its placement says n2"]),
        ("another uid", says(lambda p: p.update(podUid="uid-two")), ["another pod's uid"]),
        ("another resource", says(lambda p: p.update(resource="amd.com/gpu")), ["placement is of amd.com/gpu"]),
        ("too few chips", chips(0), ["asks for 2 chips, but its placement has 1"]),
        ("a chip of another pod", chips(0, 1), ["chip 1 of n1 belongs to a/one and a/two"]),
        ("a chip twice", chips(3, 3), ["has a chip twice"]),
        ("no such chip", chips(3, 9), ["does not have: 9"]),
        ("no inventory", lambda _, inventories: inventories.clear(), ["no inventory", "no inventory"]),
        ("inventory without status", lambda _, i: i[0].pop("status"), ["no inventory", "no inventory"]),
        ("over", lambda pods, _: (pods[0]["status"].update(phase="Failed"), pods[0]["metadata"].pop("annotations")), []),
        ("not bound", lambda pods, _: (pods[0]["spec"].pop("nodeName"), pods[0]["metadata"].pop("annotations")), []),
        ("an init container that asks for more", lambda pods, _: container(pods[0], initContainers=[gpus(3)]),
         ["asks for 3 chips"]),
        ("a sidecar", lambda pods, _: container(pods[0], initContainers=[{**gpus(1), "restartPolicy": "Always"}]),
         ["asks for 3 chips"]),
    ]


def self_test():
    wrong = 0
    for name, plant, expected in planted():
        pods, inventories = copy.deepcopy(example())
        plant(pods, inventories)
        found = findings(pods, inventories)
        good = len(found) == len(expected) and all(words in one for words, one in zip(expected, found))
        wrong += not good
        print(f"{'ok  ' if good else 'FAIL'} audit: {name}: {'; '.join(found) or 'no finding'}")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kubeconfig", metavar="FILE", help="default: as kubectl finds it")
    parser.add_argument("--accelerators", metavar="NAMES", type=lambda text: text.split(","), default=ACCELERATORS,
                        help="extended resources that are chips, with commas")
    parser.add_argument("--self-test", action="store_true", help="try the auditor itself")
    options = parser.parse_args()
    return self_test() if options.self_test else audit(options)


if __name__ == "__main__":
    sys.exit(main())
