"""The part of chart_test.py that is about the end: real agents write all that they can, helm removes the chart, and the
commands of docs/tasks/upgrade-and-uninstall.md leave nothing of ours, and everything of others."""
import json, re, shlex

from chart_agent import agent_tokens, write_kubeconfig
from lib.bed import CHART, NS, ROOT

PAGE = ROOT / "docs/tasks/upgrade-and-uninstall.md"
CLEAN = ROOT / "scripts/clean-cluster"
# By node: the machine, what its agent publishes, and the ConfigMap that comes of it.
AGENTS = {"fake-0": ("hgx-h100-8", "labels,gfd-labels,ack", "kube-system/configmaps/chipweave-gpu-topology-fake-0"),
          "fake-1": ("ascend-910b-16", "labels,mindcluster", "kube-system/configmaps/mindx-dl-deviceinfo-fake-1")}
FOREIGN = {"labels": {"nvidia.com/gpu.memory": "1", "nvidia.com/gpu.present": "true", "kubernetes.io/hostname": "fake-0"},
           "annotations": {"example.com/note": "a"}}
BY_PEOPLE = {"labels": {"chipweave.dev/agent": "true"}, "annotations": {"chipweave.dev/cordon-chips": "3"}}


# Commands of the page's part about the removal of the chart, in order.
def commands_of_the_page():
    text = PAGE.read_text().partition("\n## Uninstall\n")[2]
    blocks = re.findall(r"^ *```\n(.*?)^ *```", text, re.M | re.S)
    return [line.strip() for block in blocks for line in block.splitlines()]


def ours(key):
    return key.startswith("chipweave.dev/")


def metadata(bed, node):
    found = bed.must("GET", f"/api/v1/nodes/{node}")["metadata"]
    return {kind: found.get(kind, {}) for kind in ("labels", "annotations")}


# helm waits only until enough of them are.
def replaced(daemon_set):
    status = daemon_set["status"]
    return (status["observedGeneration"] == daemon_set["metadata"]["generation"] and
            status.get("updatedNumberScheduled") == status.get("numberReady") == status["desiredNumberScheduled"] ==
            status["currentNumberScheduled"])


# Agents with the rights of the chart's account, on nodes that others have marked before.
def written_by_agents(bed, helm, program):
    for node in AGENTS:  # what earlier parts of the test have left there
        old = metadata(bed, node)
        gone = {kind: {key: None for key in old[kind] if ours(key) and key != "chipweave.dev/agent"} for kind in old}
        bed.must("PATCH", f"/api/v1/nodes/{node}", {"metadata": gone})
    bed.must("PATCH", "/api/v1/nodes/fake-0", {"metadata": {**FOREIGN, "labels": {
        **FOREIGN["labels"], "ack.node.gpu.schedule": "topology"}}})
    before = {node: metadata(bed, node) for node in AGENTS}
    for process in list(bed.running):
        if process.args[0] == str(program):  # those of built_agent()
            bed.end(process)
    bed.run(helm, "upgrade", "chipweave", CHART, "-n", NS, "--set", "agent.publish.mindcluster=true", "--set",
            "agent.publish.ack=true", "--set", "agent.asRoot=true", "--wait", "--timeout", "2m")
    path = f"/apis/apps/v1/namespaces/{NS}/daemonsets/chipweave-agent"
    bed.check("new pods for the agents", bed.poll(lambda: replaced(bed.must("GET", path))))
    tokens = agent_tokens(bed)
    agents = []
    for node, (machine, publish, _) in AGENTS.items():
        write_kubeconfig(bed, f"last-{node}.kubeconfig", tokens[node])
        agents.append(bed.start(bed.work / f"last-{node}.log", program, f"--node={node}", f"--probe=profile:{machine}",
                                f"--kubeconfig={bed.work}/last-{node}.kubeconfig", f"--lease-namespace={NS}",
                                f"--publish={publish}"))
    log = lambda node: (bed.work / f"last-{node}.log").read_text()
    for node, (_, _, path) in AGENTS.items():
        there = lambda: bed.ask("GET", f"/api/v1/namespaces/{path}")[0] == 200
        bed.check(f"the agent of {node} writes its ConfigMap, which it may not GET", bed.poll(there), log(node))
        marked = lambda: "chipweave.dev/agent-keys" in metadata(bed, node)["annotations"]
        bed.check(f"and labels of {node}", bed.poll(marked), log(node))
        lease = f"/apis/coordination.k8s.io/v1/namespaces/{NS}/leases/{node}"
        bed.check(f"and renews its Lease {node}", bed.poll(lambda: bed.must("GET", lease)["spec"].get("renewTime")))
        bed.check(f"nothing was refused to the agent of {node}", "HTTP 403" not in log(node), log(node))
    for agent in agents:
        bed.end(agent)
    return before


# What the scheduler leaves, which does not run here, and what people do.
def written_by_others(bed):
    component = {"metadata": {"labels": {"chipweave.dev/component": "scheduler"}}}
    bed.must("PATCH", f"/apis/coordination.k8s.io/v1/namespaces/{NS}/leases/chipweave-scheduler", component)
    bed.must("POST", "/api/v1/namespaces/mindx-dl/configmaps", {
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cluster-info-device-0", "labels": {
            "app.kubernetes.io/managed-by": "chipweave-scheduler"}}})
    bed.must("PATCH", "/api/v1/nodes/fake-1", {"metadata": {"annotations": {"chipweave.dev/chips-freed": "7"}}})
    bed.must("PATCH", "/api/v1/nodes/fake-0", {"metadata": BY_PEOPLE})
    bed.must("PATCH", f"/api/v1/namespaces/mindx-dl", {"metadata": {"labels": {"chipweave.dev/admission": "enabled"}}})
    # A list that an attacker on the node has lengthened must not make an administrator remove labels of others.
    listed = metadata(bed, "fake-0")["annotations"]["chipweave.dev/agent-keys"]
    forged = listed.replace("labels=", "labels=kubernetes.io/hostname,").replace("annotations=", "annotations=example.com/note")
    bed.must("PATCH", "/api/v1/nodes/fake-0", {"metadata": {"annotations": {"chipweave.dev/agent-keys": forged}}})


# All objects of all kinds that carry our name or a label of ours.
def left(bed):
    kinds = bed.kubectl("api-resources", "--verbs=list", "-o", "name").stdout.split()
    kinds = [kind for kind in kinds if not kind.startswith("event")]
    listed = json.loads(bed.kubectl("get", ",".join(kinds), "-A", "-o", "json").stdout)["items"]
    out = set()
    for one in listed:
        of = one["metadata"]
        marks = {**of.get("labels", {}), **of.get("annotations", {})}
        by_us = marks.get("app.kubernetes.io/managed-by", "").startswith("chipweave-")
        if one["kind"] in ("Namespace", "APIService"):
            by_us = any(ours(key) for key in marks)
        elif one["kind"] != "Pod":  # a pod's annotations end with it
            by_us = by_us or "chipweave" in of["name"] or any(ours(key) for key in marks)
        if by_us:
            out.add(f"{one['kind']} {of['name']}")
    return out


def removal(bed, helm, program, manifest):
    bed.environment["PATH"] = f"{bed.folder}/bin:{bed.environment['PATH']}"  # kubectl
    before = written_by_agents(bed, helm, program)
    written_by_others(bed)
    commands = [shlex.split(command) for command in commands_of_the_page()]
    bed.check("the page has the commands", [command[0] for command in commands] ==
              ["helm", "scripts/clean-cluster", "scripts/clean-cluster", "kubectl"], commands)
    done = bed.run(CLEAN, good=False)
    bed.check("clean-cluster does nothing while the chart is installed", done.returncode == 1 and "helm uninstall" in
              done.stderr and bed.must("GET", "/apis/chipweave.dev/v1alpha1/nodeinventories/fake-0"), done.stderr)
    done = bed.run(helm, *commands[0][1:], good=False)
    bed.check(" ".join(commands[0]), done.returncode == 0, done.stderr)
    found = bed.kubectl("get", "-f", "-", "-o", "name", "--ignore-not-found", text=manifest).stdout.split()
    bed.check("no object of the chart is left", not found, found)

    dry = bed.run(ROOT / commands[1][0], *commands[1][1:])
    unchanged = left(bed)
    bed.check("a dry run names what it would do and does nothing", "kubectl delete customresourcedefinition" in dry.stdout and
              "CustomResourceDefinition nodeinventories.chipweave.dev" in unchanged, unchanged)
    done = bed.run(ROOT / commands[2][0], *commands[2][1:], good=False)
    bed.check("clean-cluster removes the rest", done.returncode == 0, done.stdout + done.stderr)
    bed.check("the same commands as in the dry run", [line for line in done.stdout.splitlines() if line.startswith("kubectl ")] ==
              dry.stdout.splitlines(), f"{dry.stdout}\n{done.stdout}")
    for node in AGENTS:
        wanted = {kind: {key: value for key, value in marks.items() if not ours(key)} for kind, marks in before[node].items()}
        now = metadata(bed, node)
        rest = {kind: {key: value for key, value in marks.items() if not ours(key)} for kind, marks in now.items()}
        bed.check(f"{node} has the labels and annotations of others that it had before", rest == wanted, f"{rest} {wanted}")
        written = {key for kind in now.values() for key in kind if ours(key)}
        people = {"chipweave.dev/agent", "chipweave.dev/cordon-chips"} if node == "fake-0" else {"chipweave.dev/agent"}
        bed.check(f"of ours only what people have set on {node}", written == people, written)
    wanted = {"Node fake-0", "Node fake-1", "Namespace mindx-dl"}
    bed.check("of all kinds only what people have set is left", bed.poll(lambda: left(bed) == wanted), left(bed))
    bed.run(CLEAN, "--all")
    bed.check("with --all nothing is left", bed.poll(lambda: not left(bed)), left(bed))
    again = bed.run(CLEAN, good=False)
    bed.check("clean-cluster may run again", again.returncode == 0, again.stderr)
    bed.kubectl(*commands[3][1:], "--wait=false")

