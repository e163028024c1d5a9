"""The part of scripts/check-chart that is about agent.pools: what the DaemonSets of rendered values are.

usage: chart_pools.py FOLDER    with pools.yaml and preset-NAME.yaml
"""
import sys
from pathlib import Path

import yaml

FOLDER = Path(sys.argv[1])
PCI = "feature.node.kubernetes.io/pci-"
# Of each preset: some of its arguments; paths of the node by their mount paths; fields of the pod and its container.
# An agent that runs as root asks the kubelet which chips pods have.
KUBELET = {path: path for path in ("/var/lib/kubelet/pod-resources", "/var/lib/kubelet/device-plugins")}
DRIVERS = {
    "nvidia": (["--probe=nvidia"], {}, {"runtimeClassName": "nvidia", "privileged": None, "runAsUser": None}),
    "nvidia-gpu-operator": (["--probe=nvidia", "--driver-root=/driver-root/driver"], {"/driver-root": "/run/nvidia"},
                            {"runtimeClassName": None, "privileged": True, "runAsUser": None}),
    "amd": (["--probe=amd"], {}, {"runtimeClassName": None, "privileged": True, "runAsUser": None}),
    "ascend": (["--probe=ascend"], {"/usr/local/Ascend/driver": "/usr/local/Ascend/driver", "/etc/hccn.conf": "/etc/hccn.conf",
                                      **KUBELET},
               {"runtimeClassName": None, "privileged": True, "runAsUser": 0}),
    "metax": (["--probe=metax"], {}, {"runtimeClassName": None, "privileged": None, "runAsUser": None}),
}
LABELS = {
    "nvidia": {"nvidia.com/gpu.present", f"{PCI}0300_10de.present", f"{PCI}0302_10de.present", f"{PCI}10de.present"},
    "amd": {"feature.node.kubernetes.io/amd-gpu", f"{PCI}0380_1002.present", f"{PCI}1200_1002.present"},
    "ascend": {"accelerator", f"{PCI}1200_19e5.present"},
    "metax": {f"{PCI}{kind}_9999.present" for kind in ("0300", "0302", "0380", "1200")},
}
LABELS["nvidia-gpu-operator"] = LABELS["nvidia"]
failed = []


def check(what, found, wanted):
    if found != wanted:
        failed.append(f"{what}: {found!r}, not {wanted!r}")


def daemon_sets(file):
    objects = filter(None, yaml.safe_load_all((FOLDER / file).read_text()))
    return {one["metadata"]["name"]: one for one in objects if one["kind"] == "DaemonSet"}


def parts(daemon_set):
    pod = daemon_set["spec"]["template"]["spec"]
    return pod, pod["containers"][0]


# Mount path to path of the node, without /sys.
def host_paths(daemon_set):
    pod, container = parts(daemon_set)
    paths = {volume["name"]: volume["hostPath"]["path"] for volume in pod["volumes"] if "hostPath" in volume}
    return {mount["mountPath"]: paths[mount["name"]] for mount in container["volumeMounts"]
            if mount["name"] in paths and mount["name"] != "sys"}


def mount(daemon_set, path):
    return next(one for one in parts(daemon_set)[1]["volumeMounts"] if one["mountPath"] == path)


# Alternatives of node affinity: key to values.
def chosen(daemon_set):
    needed = parts(daemon_set)[0]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    (expressions,) = zip(*(term["matchExpressions"] for term in needed["nodeSelectorTerms"]))
    return {one["key"]: one["values"] for one in expressions}


for preset, (arguments, paths, fields) in DRIVERS.items():
    found = daemon_sets(f"preset-{preset}.yaml")
    check(f"{preset}: DaemonSets", list(found), ["chipweave-agent-p"])
    (one,) = found.values()
    pod, container = parts(one)
    check(f"{preset}: arguments", [a for a in arguments if a in container["args"]], arguments)
    check(f"{preset}: paths of the node", host_paths(one), paths)
    security = container["securityContext"]
    check(f"{preset}: rights", {"runtimeClassName": pod.get("runtimeClassName"), "privileged": security.get("privileged"),
                                "runAsUser": security.get("runAsUser")}, fields)
    check(f"{preset}: read-only", security["readOnlyRootFilesystem"], True)
    for path in paths:
        check(f"{preset}: {path} is read-only", mount(one, path)["readOnly"], True)
        if path not in ("/etc/hccn.conf", *KUBELET):  # a file, and what no driver container mounts
            check(f"{preset}: propagation of {path}", mount(one, path).get("mountPropagation"), "HostToContainer")
    labels = chosen(one)
    check(f"{preset}: the pool's name", labels.pop("chipweave.dev/agent"), ["p"])
    check(f"{preset}: labels of its nodes", set(labels), LABELS[preset])

pools = daemon_sets("pools.yaml")
check("pools", list(pools), [f"chipweave-agent-{name}" for name in ("h100", "mi300x", "npu-910b", "lab")])
selectors = {tuple(sorted(one["spec"]["selector"]["matchLabels"].items())) for one in pools.values()}
check("pools: selectors differ", len(selectors), len(pools))
for name, one in pools.items():
    pod, container = parts(one)
    wanted = one["spec"]["selector"]["matchLabels"].items()
    check(f"{name}: its selector is in its pods' labels", wanted <= one["spec"]["template"]["metadata"]["labels"].items(), True)
    check(f"{name}: account", pod["serviceAccountName"], "chipweave-agent")
    check(f"{name}: agent.nodeSelector is kept", pod["nodeSelector"]["kubernetes.io/os"], "linux")
    check(f"{name}: agent.extraEnv", container["env"][-1], {"name": "TZ", "value": "UTC"})

h100, mi300x, npu, lab = pools.values()
publish = lambda one: [a for a in parts(one)[1]["args"] if a.startswith("--publish=")]
check("publish is merged", [publish(one) for one in pools.values()],
      [["--publish=labels,gfd-labels"], ["--publish=labels"], ["--publish=mindcluster,labels"], ["--publish=labels"]])
check("h100: lldp of agent.*", "/run/systemd/netif/lldp" in host_paths(h100), True)
check("h100: board", "--fabric-partitions=hgx-8" in parts(h100)[1]["args"], True)
check("mi300x: tolerations", parts(mi300x)[0]["tolerations"],
      [{"key": "amd.com/gpu", "operator": "Exists", "effect": "NoSchedule"}])
check("h100: tolerations of agent.*", parts(h100)[0]["tolerations"], [{"operator": "Exists"}])
check("mi300x: resources", parts(mi300x)[1]["resources"],
      {"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {"memory": "256Mi"}})
check("npu-910b: update", npu["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"], 2)
check("npu-910b: policy", "--health-policy=/etc/chipweave/policy/health-policy.yaml" in parts(npu)[1]["args"], True)
check("h100: no policy", [v["name"] for v in parts(h100)[0]["volumes"] if v["name"] == "policy"], [])
check("lab: extraArgs come last, in order", parts(lab)[1]["args"][-2:],
      ["--lldpctl=/tools/lldpctl", "--ascend-fault-codes=/codes/faultCode.json"])
check("lab: its own nodes only", (parts(lab)[0]["nodeSelector"].get("example.com/pool"), "affinity" in parts(lab)[0]),
      ("lab", False))
check("lab: paths of the node", host_paths(lab), {"/etc/machines": "/etc/machines", "/tools": "/opt/tools"})
check("lab: read-only unless it says otherwise", [mount(lab, path)["readOnly"] for path in ("/etc/machines", "/tools", "/codes")],
      [True, False, True])
check("lab: pods' labels", lab["spec"]["template"]["metadata"]["labels"].get("example.com/team"), "b")

print(f"chart: pools: {len(DRIVERS)} presets and {len(pools)} DaemonSets of one release are as documented" if not failed else "")
sys.exit("\n".join(failed) if failed else 0)
