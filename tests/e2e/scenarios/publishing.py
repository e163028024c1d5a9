"""What agents tell programs of others, where the chart lets them: labels, ACK's and MindCluster's ConfigMaps."""
import hashlib, json, re

from lib.fake_nvml import hgx_h100
from lib.scenario import GPU

NVIDIA, ASCEND = "pb-nvidia", "pb-ascend"
NPU = "huawei.com/Ascend910"
OURS = "app.kubernetes.io/managed-by"


def run(s):
    switch_on(s)
    s.add_node(NVIDIA, {GPU: "8"})
    patch_node(s, NVIDIA, labels={"nvidia.com/gpu.memory": "1"})  # set by another client
    driver = s.nvidia(NVIDIA, hgx_h100(), "--publish=labels,gfd-labels,ack")
    s.add_node(ASCEND, {NPU: "16"})
    s.chipweave.start_agent(s.folder, ASCEND, "profile:ascend-910b-16", NPU, "--publish=mindcluster")
    s.known(NVIDIA, ASCEND)
    labels(s)
    ack(s, driver)
    mindcluster(s)
    separated_by_hand(s)
    s.nothing_was_refused(NVIDIA, ASCEND)
    switched_off(s)


# As an operator does. Agents that are refused at first would try again only after half a minute, so this waits until it
# is in force.
def switch_on(s):
    s.bed.kubectl("create", "namespace", "mindx-dl")
    s.undo.append(lambda: s.bed.ask("DELETE", "/api/v1/namespaces/mindx-dl"))
    s.undo.append(lambda: s.chipweave.helm("upgrade", "--reset-values"))
    s.undo.append(lambda: [s.bed.ask("DELETE", path) for path in (ack_map(), device_info())])
    s.chipweave.helm("upgrade", "--set", "agent.publish.mindcluster=true", "--set", "agent.asRoot=true", "--set",
                     "agent.publish.ack=true")
    token, body = s.bed.token("chipweave-agent"), {"metadata": {"name": "nobodys"}}
    ask = lambda ns: s.bed.ask("POST", f"/api/v1/namespaces/{ns}/configmaps?dryRun=All", body, token)[1]
    for namespace in ("kube-system", "mindx-dl"):
        s.must_come(f"the right to write ConfigMaps in {namespace}", lambda: "may not write" in str(ask(namespace)))


def ack_map():
    return f"/api/v1/namespaces/kube-system/configmaps/chipweave-gpu-topology-{NVIDIA}"


def device_info():
    return f"/api/v1/namespaces/kube-system/configmaps/mindx-dl-deviceinfo-{ASCEND}"


# Data and labels, both empty while there is none.
def config_map(s, path):
    code, answer = s.bed.ask("GET", path)
    return (answer.get("data", {}), answer["metadata"].get("labels", {})) if code == 200 else ({}, {})


def patch_node(s, node, **metadata):
    s.bed.must("PATCH", f"/api/v1/nodes/{node}", {"metadata": metadata})


def node_labels(s, node):
    return s.bed.must("GET", f"/api/v1/nodes/{node}")["metadata"]["labels"]


def labels(s):
    wanted = {"chipweave.dev/vendor": "nvidia", "chipweave.dev/topology": "nvswitch-8", "chipweave.dev/chips": "8",
              "nvidia.com/gpu.count": "8", "nvidia.com/gpu.family": "hopper", "nvidia.com/cuda.driver-version.major": "550"}
    there = lambda: wanted.items() <= node_labels(s, NVIDIA).items()
    s.eventually("labels of the node say what is in it", there, why=lambda: node_labels(s, NVIDIA))
    s.check("a label that was there already is left alone", node_labels(s, NVIDIA)["nvidia.com/gpu.memory"] == "1")
    patch_node(s, NVIDIA, labels={"chipweave.dev/topology": "pcie-8", "nvidia.com/gpu.count": None})
    s.eventually("labels that somebody changed and removed come back", there, why=lambda: node_labels(s, NVIDIA))


def ack(s, driver):
    devices = lambda: json.loads(config_map(s, ack_map())[0].get("devices", "{}"))
    s.check("no ConfigMap of ACK's where its label is missing", not config_map(s, ack_map())[0])
    patch_node(s, NVIDIA, labels={"ack.node.gpu.schedule": "topology"})
    s.eventually("with the label there is one", lambda: devices() == {str(i): "Healthy" for i in range(8)}, why=devices)
    data, marks = config_map(s, ack_map())
    s.check("its links are NVLinks", json.loads(data["linkType"])[0] == ["X", *["NV18"] * 7], data["linkType"])
    s.check("ACK's clients find it by its labels", marks.get("ack.node.gpu.schedule") == "topology" and
            marks.get("nodename") == NVIDIA and marks.get(OURS) == "chipweave-agent", marks)
    driver.xid(2, 79)
    s.eventually("it says that a chip is unhealthy", lambda: devices().get("2") == "Unhealthy", why=devices)
    patch_node(s, NVIDIA, labels={"ack.node.gpu.schedule": None})
    s.eventually("without the label it goes", lambda: not config_map(s, ack_map())[0])


def listed(s, end=""):
    text = config_map(s, device_info())[0].get("DeviceInfoCfg", "")
    return json.loads(text)["DeviceInfo"]["DeviceList"][NPU + end].split(",") if text else None


def mindcluster(s):
    every = [f"Ascend910-{i}" for i in range(16)]
    s.eventually("MindCluster's ConfigMap has all chips", lambda: listed(s) == every, why=lambda: listed(s))
    text = config_map(s, device_info())[0]["DeviceInfoCfg"]
    covered = re.search(r'"DeviceInfo":(\{.*\}),"SuperPodID"', text)[1]
    s.check("its CheckCode is right", json.loads(text)["CheckCode"] == hashlib.sha256(covered.encode()).hexdigest(), text)
    s.check("ClusterD finds it by its label", config_map(s, device_info())[1].get("mx-consumer-cim") == "true")
    s.eventually("the node has MindCluster's label", lambda: node_labels(s, ASCEND).get("accelerator") == "huawei-Ascend910",
                 why=lambda: node_labels(s, ASCEND))
    s.agent(ASCEND).say_health(unhealthy=[3])
    s.eventually("an unhealthy chip is not offered", lambda: listed(s) == every[:3] + every[4:] and
                 listed(s, "-Unhealthy") == ["Ascend910-3"], why=lambda: listed(s))


# Seen within a minute, or with the agent's next write.
def separated_by_hand(s):
    s.bed.must("PATCH", device_info(), {"data": {"ManuallySeparateNPU": "Ascend910-5"}})
    s.agent(ASCEND).say_health()
    unhealthy = lambda: s.chipweave.nodes()[ASCEND]["unhealthy"]
    s.eventually("a chip that an operator separates is out of service", lambda: unhealthy() == [5], why=unhealthy)
    s.eventually("and not offered", lambda: "Ascend910-5" not in listed(s), why=lambda: listed(s))
    s.check("the operator's list stays", config_map(s, device_info())[0].get("ManuallySeparateNPU") == "Ascend910-5")
    watch, agent, boot = s.watch_inventories(), s.agent(ASCEND), s.inventory(ASCEND)["bootId"]
    agent.kill()
    agent.start()
    s.must_come("another run of the agent", lambda: s.inventory(ASCEND)["bootId"] != boot)
    s.must_come("what it knows of chip 5", lambda: unhealthy() == [5])
    told = [what["status"]["unhealthy"] for _, what in watch.of(ASCEND)]
    s.check("its next run does not give it out for a moment", told and set(told) == {1}, told)
    s.bed.must("PATCH", device_info(), {"data": {"ManuallySeparateNPU": ""}})
    s.eventually("until the operator takes it off the list", lambda: unhealthy() == [], 90, why=unhealthy)


def switched_off(s):
    agent = s.agent(NVIDIA)
    agent.kill()
    agent.command = [part for part in agent.command if not str(part).startswith("--publish")]
    agent.start()
    mine = lambda: [key for key in node_labels(s, NVIDIA) if key in ("chipweave.dev/vendor", "chipweave.dev/topology",
                    "chipweave.dev/chips") or key.startswith(("nvidia.com/gpu.", "nvidia.com/cuda."))]
    s.eventually("switched off, the agent takes its labels back and no others", lambda: mine() == ["nvidia.com/gpu.memory"],
                 why=mine)
