"""The account of the device plugins: what it may, and what the policy leaves of its right to patch pods. Part of
chart_test.py."""
from chart_rights import ACK_LABEL_RIGHTS, DEVICE_PLUGIN_POD_PATCHES, DEVICE_PLUGIN_RIGHTS, NOTE, device_plugin_requests
from lib.bed import CHART, NS
from lib.rights import exact_rights, try_requests

ACCOUNT = "chipweave-agent-device-plugin"
PODS = "/api/v1/namespaces/default/pods"
PLACEMENT = "chipweave.dev/placement"


# Tokens by node, bound to the plugins' pods.
def plugin_tokens(bed):
    pods = bed.must("GET", f"/api/v1/namespaces/{NS}/pods?labelSelector=app.kubernetes.io%2Fcomponent%3Ddevice-plugin")["items"]
    return {p["spec"]["nodeName"]: bed.token(ACCOUNT, p) for p in pods if p["spec"].get("nodeName")}


def pod_with_chips(bed, name, node):
    spec = {"containers": [{"name": "c", "image": "registry.example.com/none"}], "schedulerName": "nobody"}
    if node:
        spec["nodeName"] = node
    bed.must("POST", PODS, {"apiVersion": "v1", "kind": "Pod", "spec": spec, "metadata": {
        "name": name, "labels": {"app": "x"}, "annotations": {PLACEMENT: "{}", "example.com/kept": "1"}}})
    return f"{PODS}/{name}"


def placement(value):
    return {"metadata": {"annotations": {PLACEMENT: value}}}


# In a chart that has none of it before and afterwards.
def device_plugins(bed, helm):
    bed.run(helm, "upgrade", "chipweave", CHART, "-n", NS, "--set", "agent.devicePlugin.enabled=true",
            "--set", "agent.devicePlugin.resource=nvidia.com/gpu", "--set", "serviceMonitor.enabled=true")
    bed.check("device plugins run on the nodes of agents", bed.poll(lambda: {"fake-0", "fake-1"} <= set(plugin_tokens(bed))))
    tokens = plugin_tokens(bed)
    exact_rights(bed, "device plugin", tokens["fake-0"], DEVICE_PLUGIN_RIGHTS, {})
    own, other = pod_with_chips(bed, "own", "fake-0"), pod_with_chips(bed, "other", "fake-1")
    unbound = pod_with_chips(bed, "unbound", None)
    try_requests(bed, "the device plugin", tokens["fake-0"], device_plugin_requests(NS))
    only_its_annotation(bed, tokens["fake-0"], own)
    only_its_node(bed, tokens, own, {"of another node": other, "of no node": unbound})
    for path in (own, other, unbound):
        bed.must("DELETE", f"{path}?gracePeriodSeconds=0")
    bed.run(helm, "upgrade", "chipweave", CHART, "-n", NS, "--reuse-values", "--set", "agent.devicePlugin.ackLabel=true")
    exact_rights(bed, "device plugin on ACK", tokens["fake-0"], {**DEVICE_PLUGIN_RIGHTS, **ACK_LABEL_RIGHTS}, {})
    bed.run(helm, "upgrade", "chipweave", CHART, "-n", NS, "--reset-values")
    bed.check("without device plugins their pods go", bed.poll(lambda: not plugin_tokens(bed)))


# A policy takes some seconds to be in force.
def only_its_annotation(bed, token, pod):
    refused = lambda answer: "may change only the annotation" in str(answer)
    bed.check("the policy for device plugins is in force",
              bed.poll(lambda: refused(bed.ask("PATCH", f"{pod}?dryRun=All", NOTE, token)[1])))
    containers = bed.must("GET", pod)["spec"]["containers"]
    image = {"spec": {"containers": [{**containers[0], "image": "example.com/other"}]}}
    for what, patch in [*DEVICE_PLUGIN_POD_PATCHES, ("the image", image)]:
        code, answer = bed.ask("PATCH", pod, patch, token)
        bed.check(f"the device plugin may not patch of a pod: {what}", code == 403 and refused(answer), f"{code}: {answer}")
        both = {**patch, "metadata": {**patch.get("metadata", {}), "annotations": {
            **patch.get("metadata", {}).get("annotations", {}), **placement("{}")["metadata"]["annotations"]}}}
        if what != "its annotation away":
            code, answer = bed.ask("PATCH", pod, both, token)
            bed.check(f"nor {what} beside its annotation", code == 403 and refused(answer), f"{code}: {answer}")
    for value in ('{"v":1}', '{"v":1,"adopted":true}'):
        code, answer = bed.ask("PATCH", pod, placement(value), token)
        bed.check(f"the device plugin may correct the annotation to {value}",
                  code == 200 and answer["metadata"]["annotations"] == {PLACEMENT: value, "example.com/kept": "1"},
                  f"{code}: {answer}")


def only_its_node(bed, tokens, own, foreign):
    refused = lambda answer: "may not write pods of node" in str(answer)
    for what, pod in foreign.items():
        code, answer = bed.ask("PATCH", pod, placement("{}  "), tokens["fake-0"])
        bed.check(f"a device plugin may not correct a pod {what}", code == 403 and refused(answer), f"{code}: {answer}")
    code, answer = bed.ask("PATCH", own, placement("{}  "), tokens["fake-1"])
    bed.check("nor may that of another node", code == 403 and refused(answer), f"{code}: {answer}")
    code, answer = bed.ask("PATCH", own, placement("{}  "), bed.token(ACCOUNT))
    bed.check("nor a token of no pod", code == 403 and refused(answer), f"{code}: {answer}")
    bed.check("others may patch pods", bed.ask("PATCH", own, NOTE)[0] == 200)
