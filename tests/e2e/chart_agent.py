"""The part of chart_test.py that is about the agents of the chart: each writes for its own node only."""
import json

from chart_rights import AGENT_RIGHTS, FOREIGN_EVENTS, FOREIGN_MARKS, NOTE, OWN_MARKS, PUBLISH_NAMESPACES, PUBLISH_RIGHTS
from chart_rights import EVENTS, WATCH, changed_by_agent, config_map, config_maps, event_about, made_by_agent, named_later
from lib.bed import CHART, NS
from lib.rights import named, rights, try_requests


# By node: as the kubelet gets them for the agents' pods.
def agent_tokens(bed):
    pods = bed.must("GET", f"/api/v1/namespaces/{NS}/pods")["items"]
    return {p["spec"]["nodeName"]: bed.token("chipweave-agent", p) for p in pods
            if "agent" in p["metadata"]["name"] and "deletionTimestamp" not in p["metadata"]}


def write_kubeconfig(bed, file, token):
    kubeconfig = json.loads(bed.kubectl("config", "view", "--raw", "-o", "json").stdout)
    kubeconfig["users"][0]["user"] = {"token": token}
    (bed.work / file).write_text(json.dumps(kubeconfig))


# Our own agent, with the token and the arguments of its pod but for what only a pod has. Once as it is meant, once as
# an attacker who took over fake-0 and acts for fake-1.
def built_agent(bed, program):
    daemon_set = bed.must("GET", f"/apis/apps/v1/namespaces/{NS}/daemonsets/chipweave-agent")
    arguments = daemon_set["spec"]["template"]["spec"]["containers"][0]["args"]
    write_kubeconfig(bed, "agent.kubeconfig", agent_tokens(bed)["fake-0"])
    for node in ("fake-0", "fake-1"):
        here = {"--kubernetes": f"--kubeconfig={bed.work}/agent.kubeconfig", "--node=$(NODE_NAME)": f"--node={node}",
                "--probe=auto": "--probe=profile:hgx-h100-8", "--metrics=0.0.0.0:9400": "--metrics=127.0.0.1:0",
                **{f"--metrics-tls-{part}=/etc/chipweave/tls/tls.{end}":
                   f"--metrics-tls-{part}={bed.work}/agent-tls.{end}" for part, end in (("cert", "crt"), ("key", "key"))}}
        bed.check(f"arguments of the DaemonSet: {' '.join(arguments)}", set(here) <= set(arguments))
        bed.start(bed.work / f"agent-{node}.log", program, *(here.get(argument, argument) for argument in arguments),
                  f"--port-file={bed.work}/{node}.port")
    status = lambda node: bed.must("GET", f"/apis/chipweave.dev/v1alpha1/nodeinventories/{node}").get("status", {})
    bed.check("the built agent reports its chips", bed.poll(lambda: status("fake-0").get("chips") == 8))
    lease = f"/apis/coordination.k8s.io/v1/namespaces/{NS}/leases/fake-0"
    bed.check("and renews its Lease", bed.poll(lambda: bed.must("GET", lease).get("spec", {}).get("renewTime")))
    metrics_over_tls(bed, json.loads((bed.work / "fake-0.port").read_text())["metrics"])
    log = lambda node: (bed.work / f"agent-{node}.log").read_text()
    bed.check("nothing was refused to it", "403" not in log("fake-0"), log("fake-0"))
    bed.check("with the token of another node it is refused", bed.poll(lambda: "may not write" in log("fake-1")),
              log("fake-1"))
    bed.check("and nothing is changed", not status("fake-1"), status("fake-1"))


# As the ServiceMonitor tells Prometheus to.
def metrics_over_tls(bed, port):
    name = f"chipweave-agent.{NS}.svc"
    url = f"https://{name}:{port}/metrics"
    way = ("curl", "-sS", "--cacert", bed.work / "agent-ca.crt", "--resolve", f"{name}:{port}:127.0.0.1")
    done = bed.run(*way, url, good=False)
    bed.check("its metrics are there over TLS", "chipweave_agent_" in done.stdout, done.stderr or done.stdout)
    done = bed.run(*way, url.replace("https", "http"), good=False)
    bed.check("and only so", "chipweave_agent_" not in done.stdout, done.stdout)


# The policies take some seconds to be in force.
def own_node_only(bed, agents):
    unbound = bed.token("chipweave-agent")
    for method, path, body in made_by_agent(NS, "fake-0"):
        probe = lambda: "may not write" in str(bed.ask(method, f"{path}?dryRun=All", body, unbound)[1])
        bed.check(f"the policy for {path} is in force", bed.poll(probe))

    def may(whose, token, method, path, body):
        code, answer = bed.ask(method, path, body, token)
        bed.check(f"{whose} may {method} {path}", code in (200, 201), f"{code}: {answer}")

    def may_not(whose, token, method, path, body, name):
        code, answer = bed.ask(method, path, body, token)
        bed.check(f"{whose} may not {method} {path} of {name}", code == 403 and "may not write" in str(answer),
                  f"{code}: {answer}")

    first, second = "the agent of fake-0", "the agent of fake-1"
    made, changed = (lambda node: made_by_agent(NS, node)), (lambda node: changed_by_agent(NS, node, bed.must))
    for row in made("fake-0"):
        may(first, agents["fake-0"], *row)
    for row in changed("fake-0"):
        may(first, agents["fake-0"], *row)
    for row in made("fake-0") + changed("fake-0"):
        may_not("a token that is bound to no pod", unbound, *row, "fake-0")
    for row in [*made("fake-1"), named_later("fake-1")]:
        may_not(first, agents["fake-0"], *row, "fake-1")
    for row in made("fake-1"):
        may(second, agents["fake-1"], *row)
    for row in changed("fake-1"):
        may_not(first, agents["fake-0"], *row, "fake-1")
    for row in changed("fake-1"):
        may(second, agents["fake-1"], *row)
    others_write_no_inventory(bed, agents)
    own_marks(bed, agents["fake-0"])
    own_events(bed, agents["fake-0"])


# A report with another boot id, as a false agent would make it: neither by the agent of another node nor by users who may
# change everything in namespaces, nor by our scheduler.
def others_write_no_inventory(bed, agents):
    path = "/apis/chipweave.dev/v1alpha1/nodeinventories/fake-0/status"
    forged = {**bed.must("GET", path.removesuffix("/status")), "status": {
        "bootId": "forged", "sequence": 9223372036854775807, "resources": ["nvidia.com/gpu"], "chips": 1, "unhealthy": 0,
        "topology": {"vendor": "nvidia", "model": "none", "chips": [{"index": 0}]}}}
    bed.kubectl("create", "serviceaccount", "editor", "-n", NS)
    bed.kubectl("create", "clusterrolebinding", "editor", "--clusterrole=admin", f"--serviceaccount={NS}:editor")
    for who, token in (("the agent of another node", agents["fake-1"]), ("a token of no pod", bed.token("chipweave-agent")),
                       ("the scheduler", bed.token("chipweave-scheduler")), ("an admin of namespaces", bed.token("editor"))):
        code, answer = bed.ask("PUT", path, forged, token)
        bed.check(f"{who} may not claim the inventory of fake-0", code == 403, f"{code}: {answer}")
    code, answer = bed.ask("PUT", path, forged, agents["fake-0"])
    bed.check("the node's own agent may write what it likes there", code == 200, f"{code}: {answer}")
    now = bed.must("GET", path.removesuffix("/status"))
    now.pop("status", None)
    bed.must("PUT", path, now)
    bed.kubectl("delete", "clusterrolebinding", "editor")
    bed.kubectl("delete", "serviceaccount", "editor", "-n", NS)


# Of events, an agent may write those about its own Node and in its own name.
def own_events(bed, token):
    for what, change in FOREIGN_EVENTS:
        code, answer = bed.ask("POST", EVENTS, {**event_about("fake-0"), "metadata": {"name": "fake-0.2"}, **change}, token)
        bed.check(f"the agent may not write an event {what}", code == 403 and "may not write" in str(answer),
                  f"{code}: {answer}")
    as_scheduler = {**event_about("fake-1"), "reportingController": "chipweave.dev/scheduler"}
    as_scheduler["metadata"] = {"name": "fake-1.3"}
    code, answer = bed.ask("POST", EVENTS, as_scheduler, bed.token("chipweave-scheduler"))
    bed.check("others may write theirs", code == 201, f"{code}: {answer}")


# Of its own Node, an agent may change what agents write there and nothing else.
def own_marks(bed, token):
    node = "/api/v1/nodes/fake-0"
    bed.must("PATCH", node, {"metadata": {"annotations": {"chipweave.dev/clear-faults": "3"}}})
    for what, patch in FOREIGN_MARKS:
        code, answer = bed.ask("PATCH", node, patch, token)
        bed.check(f"the agent may not change of its Node: {what}", code == 403 and "may not change this" in str(answer),
                  f"{code}: {answer}")
    for patch in OWN_MARKS:
        code, answer = bed.ask("PATCH", node, patch, token)
        bed.check(f"the agent may patch {json.dumps(patch['metadata'])}", code == 200, f"{code}: {answer}")
    bed.check("others may patch it", bed.ask("PATCH", node, NOTE)[0] == 200)


# An empty patch answers with the object and leaves it as it is.
def read_by_patch(bed, path, answer):
    now = bed.must("GET", path)
    bed.check(f"an empty patch reads {path} and changes nothing",
              answer == now and "chipweave.dev/test" in now["metadata"]["annotations"], f"{answer} {now}")


# Where the agents speak MindCluster and ACK, each may keep the ConfigMaps of its own node.
def published_config_maps(bed, helm):
    bed.run(helm, "upgrade", "chipweave", CHART, "-n", NS, "--set", "agent.publish.mindcluster=true", "--set",
            "agent.asRoot=true", "--set", "agent.publish.ack=true", "--wait", "--timeout", "2m")
    token = bed.token("chipweave-agent", next(
        p for p in bed.must("GET", f"/api/v1/namespaces/{NS}/pods")["items"]
        if "agent" in p["metadata"]["name"] and p["spec"].get("nodeName") == "fake-0" and
        "deletionTimestamp" not in p["metadata"]))
    path = lambda namespace: f"/api/v1/namespaces/{namespace}/configmaps"
    foreign = config_map("other")
    refused = lambda answer: "may not write" in str(answer)
    bed.check("the policy for ConfigMaps is in force",
              bed.poll(lambda: refused(bed.ask("POST", f"{path('kube-system')}?dryRun=All", foreign, token)[1])))
    for namespace in PUBLISH_NAMESPACES:
        wanted = named(AGENT_RIGHTS[0], PUBLISH_RIGHTS)
        found = rights(bed, token, namespace)
        bed.check(f"rights of the agent in {namespace}: {len(wanted)}, no more and no less", found == wanted,
                  f"missing {sorted(wanted - found)}, too many {sorted(found - wanted)}")
        bed.must("POST", path(namespace), foreign)
        for method, what, body in (("PATCH", "/other", NOTE), ("PATCH", "/other", {}), ("DELETE", "/other", None),
                                   ("POST", "", config_map("another"))):
            code, answer = bed.ask(method, path(namespace) + what, body, token)
            bed.check(f"the agent may not {method} other ConfigMaps of {namespace}", code == 403 and refused(answer),
                      f"{code}: {answer}")
        try_requests(bed, "the agent", token, [(False, "GET", path(namespace) + what, None)
                                               for what in ("/other", "", WATCH, "/kube-root-ca.crt")])
    for node, may in (("fake-0", True), ("fake-1", False)):
        for namespace, name in config_maps(node):
            if not may:
                bed.must("POST", path(namespace), config_map(name))
            for method, what, body in (("POST", "", config_map(name)), ("PATCH", f"/{name}", NOTE),
                                       ("PATCH", f"/{name}", {}), ("DELETE", f"/{name}", None)):
                code, answer = bed.ask(method, path(namespace) + what, body, token)
                good = code in (200, 201) if may else code == 403 and refused(answer)
                bed.check(f"the agent of fake-0 may {'' if may else 'not '}{method} {namespace}/{name}", good,
                          f"{code}: {answer}")
                if may and body == {}:
                    read_by_patch(bed, f"{path(namespace)}/{name}", answer)
            if not may:
                bed.must("DELETE", f"{path(namespace)}/{name}")


POOLS = """
agent:
  pools:
  - {name: h100, preset: nvidia-gpu-operator}
  - {name: mi300x, preset: amd}
  - {name: npu-910b, preset: ascend, publish: {mindcluster: true}}
"""
NFD = "feature.node.kubernetes.io/pci-"


# Three vendors in one release: nodes get the agent of the pool whose labels they have, by Node Feature Discovery or by
# hand, and no second one. And back again.
def pools(bed, helm):
    (bed.work / "pools.yaml").write_text(POOLS)
    label = lambda node, **labels: bed.must("PATCH", f"/api/v1/nodes/{node}", {"metadata": {"labels": labels}})
    marks = {"fake-0": f"{NFD}0302_10de.present", "fake-1": f"{NFD}1200_1002.present"}
    for node, key in marks.items():
        label(node, **{key: "true"})
    bed.run(helm, "upgrade", "chipweave", CHART, "-n", NS, "--reset-values", "-f", bed.work / "pools.yaml")
    listed = lambda: bed.must("GET", f"/api/v1/namespaces/{NS}/pods?labelSelector=app.kubernetes.io%2Fcomponent%3Dagent")["items"]
    where = lambda: sorted((p["spec"].get("nodeName", ""), p["metadata"]["labels"].get("chipweave.dev/pool")) for p in listed())
    daemon_sets = lambda: sorted(d["metadata"]["name"] for d in bed.must(
        "GET", f"/apis/apps/v1/namespaces/{NS}/daemonsets")["items"])
    names = [f"chipweave-agent-{name}" for name in ("h100", "mi300x", "npu-910b")]
    bed.check("pools: a DaemonSet each, and the one of before is gone", bed.poll(lambda: daemon_sets() == names), daemon_sets())
    wanted = [("fake-0", "h100"), ("fake-1", "mi300x")]
    bed.check("pools: each node has the agent of its vendor", bed.poll(lambda: where() == wanted), where())
    label("fake-1", **{marks["fake-1"]: None, "chipweave.dev/agent": "npu-910b"})
    wanted = [("fake-0", "h100"), ("fake-1", "npu-910b")]
    bed.check("pools: or of that whose name it is labelled with", bed.poll(lambda: where() == wanted), where())
    one = next(p for p in listed() if p["spec"]["nodeName"] == "fake-1")
    token = bed.token("chipweave-agent", one)
    code, answer = bed.ask("PATCH", "/api/v1/nodes/fake-1", {"metadata": {"labels": {"chipweave.dev/chips": "8"}}}, token)
    bed.check("pools: the policies know its node", code == 200, f"{code}: {answer}")
    code, answer = bed.ask("PATCH", "/api/v1/nodes/fake-0", {"metadata": {"labels": {"chipweave.dev/chips": "8"}}}, token)
    bed.check("pools: and no other", code == 403 and "may not write" in str(answer), f"{code}: {answer}")

    label("fake-0", **{marks["fake-0"]: None})
    label("fake-1", **{"chipweave.dev/agent": "true", "chipweave.dev/chips": None})
    bed.run(helm, "upgrade", "chipweave", CHART, "-n", NS, "--reset-values", "--wait", "--timeout", "2m")
    back = lambda: daemon_sets() == ["chipweave-agent"] and where() == [("fake-0", None), ("fake-1", None)]
    bed.check("pools: and back to one DaemonSet", bed.poll(back), (daemon_sets(), where()))
