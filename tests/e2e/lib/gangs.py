"""Gangs and their gate: the webhook for new pods, and nodes with places in a network."""
from lib.scenario import GPU, INVENTORIES
from lib.volcano import HOOKS

GATE = "chipweave.dev/gang"
BLOCK, RACK = "cloud.provider.com/topology-block", "cloud.provider.com/topology-rack"


def gates_of(pod):
    return [gate["name"] for gate in pod["spec"].get("schedulingGates", [])]


# The chart's webhook calls our process instead of its Service, for the namespace of this scenario.
def gate_webhook(s, *values):
    s.chipweave.helm("upgrade", "--set", ",".join(("scheduler.gangs.gate.enabled=true", *values)))
    s.undo.append(lambda: s.chipweave.helm("upgrade", "--reset-values"))
    path = f"{HOOKS}/chipweave-scheduler"
    hooks = s.bed.must("GET", path)["webhooks"]
    hook = next(hook for hook in hooks if hook["name"] == "gate.chipweave.dev")
    service = hook["clientConfig"]["service"]
    s.check("any replica is asked, and need not answer", service["name"] == "chipweave-scheduler-read" and
            hook["failurePolicy"] == "Ignore", hook)
    hook["clientConfig"] = {"url": f"{s.chipweave.url}{service['path']}", "caBundle": hook["clientConfig"]["caBundle"]}
    hook["timeoutSeconds"] = 5
    s.bed.must("PATCH", path, {"webhooks": hooks})
    ((label, value),) = hook["namespaceSelector"]["matchLabels"].items()
    s.bed.must("PATCH", f"/api/v1/namespaces/{s.ns}", {"metadata": {"labels": {label: value}}})


# Nodes fake-0 … with kwok as their kubelet and the inventory of one real agent, in blocks of 16 and racks of 4.
def fabric(s, count):
    s.v100("k-real")
    s.bed.testbed("kwok", "--nodes", str(count), "--resource", f"{GPU}=8")
    names = [f"fake-{number}" for number in range(count)]
    s.made_nodes += names
    status = s.inventory("k-real")
    for number, name in enumerate(names):
        labels = {BLOCK: f"b{number // 16}", RACK: f"r{number // 4 % 4}"}
        node = s.bed.must("PATCH", f"/api/v1/nodes/{name}", {"metadata": {"labels": labels}})["metadata"]
        owner = [{"apiVersion": "v1", "kind": "Node", "name": name, "uid": node["uid"]}]
        body = {"apiVersion": "chipweave.dev/v1alpha1", "kind": "NodeInventory",
                "metadata": {"name": name, "ownerReferences": owner}}
        s.bed.must("POST", INVENTORIES, body)
        s.bed.must("PATCH", f"{INVENTORIES}/{name}/status", {"status": {**status, "bootId": f"boot-{name}"}})
    s.must_come("our scheduler's word of all nodes", lambda: len(s.chipweave.nodes()) == count + 1)
    s.chipweave.agents.pop("k-real").kill()
    s.remove_node("k-real")
    s.must_come("the end of the first node", lambda: "k-real" not in s.chipweave.nodes())
    return names
