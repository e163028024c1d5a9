#!/usr/bin/env python3
"""Installs charts/chipweave into a real control plane and checks what comes of it: the objects, what each account may
and may not do, that an agent can write for its own node only, upgrade, kube-scheduler's configuration, removal.

  tests/e2e/chart_test.py [--kubernetes 1.34] [--agent build/release/bin/chipweave-agent]

It starts a testbed named chart and prints a line for each check. Nodes and pods are fake (kwok), so nothing runs in
them; --agent runs that program with the token and the arguments of such a pod. Exit status: 0 all checks passed, or no
Go here to build the testbed with; 1 otherwise. Logs of a failed run are kept and their folder is named."""
import argparse, base64, json, re, shutil, signal, sys, tempfile, time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from chart_agent import agent_tokens, built_agent, own_node_only, pools, published_config_maps, write_kubeconfig
from chart_config_maps import cluster_info, clusterd, dlrover_topology, gang_plans, hostfiles, rank_tables
from chart_device_plugin import device_plugins
from chart_leftovers import removal
from chart_rights import AGENT_RIGHTS, NOTE, PREEMPTION_RIGHTS, SCHEDULER_RIGHTS, TOKEN_REVIEW, TOKEN_REVIEWS, TOKEN_RIGHTS
from chart_rights import agent_requests, lease
from chart_rights import REQUEUE, SCHEDULER_NODE_PATCHES, scheduler_requests
from lib.bed import CHART, NO_GO, NS, ROOT, Bed
from lib.rights import exact_rights, named, rights, try_requests
from stand_in import StandIn
from testbed.build import VERSIONS
from testbed.started import TESTBED

DOCS = ROOT / "docs/tasks/configure-kube-scheduler.md"


# --- kube-scheduler's configuration


# Whether this kube-scheduler takes a configuration, with files of ours in place of those it names.
def scheduler_takes(bed, text):
    for key, file in (("caFile", bed.work / "ca.crt"), ("certFile", bed.work / "tls.crt"),
                      ("keyFile", bed.work / "tls.key"), ("kubeconfig", bed.folder / "kubeconfig")):
        text = re.sub(f"{key}: .*", f"{key}: {file}", text)
    (bed.work / "checked.yaml").write_text(text)
    return bed.run(bed.folder / "bin/kube-scheduler", f"--config={bed.work}/checked.yaml",
                   f"--write-config-to={bed.work}/effective.yaml", good=False)


# The lines that helm prints, in a whole file.
def extenders_in(notes):
    return ("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
            "clientConnection:\n  kubeconfig: none\n" + re.search(r"^extenders:\n(?:[- ].*\n)+", notes, re.M)[0])


# --- installation


def fake_nodes(bed):
    bed.testbed("kwok", "--nodes", "2", "--resource", "nvidia.com/gpu=8")
    bed.kubectl("label", "node", "fake-0", "fake-1", "chipweave.dev/agent=true")


def install(bed, helm):
    done = bed.run(helm, "install", "chipweave", CHART, "-n", NS, "--create-namespace", "--wait", "--timeout", "2m",
                   good=False)
    bed.check("helm install, until all pods are ready", done.returncode == 0, done.stderr)
    manifest = bed.run(helm, "get", "manifest", "chipweave", "-n", NS).stdout
    wanted = len(re.findall(r"^kind:", manifest, re.M))
    found = bed.kubectl("get", "-f", "-", "-o", "name", text=manifest, good=False)
    names = found.stdout.split()
    bed.check(f"all {wanted} objects exist", found.returncode == 0 and len(names) == wanted, found.stderr or names)
    bed.check("kubectl knows NodeInventories as ninv", bed.kubectl("get", "ninv", good=False).returncode == 0)
    pods = bed.must("GET", f"/api/v1/namespaces/{NS}/pods")["items"]
    where = sorted(p["spec"]["nodeName"] for p in pods if "agent" in p["metadata"]["name"])
    bed.check("one agent on each labelled node", where == ["fake-0", "fake-1"], where)
    where = sorted(p["spec"]["nodeName"] for p in pods if "scheduler" in p["metadata"]["name"])
    bed.check("two schedulers, on two nodes", where == ["fake-0", "fake-1"], where)
    return manifest


# Strict: a field that the server would drop is an error. And what helm prints in each case.
def values_sets(bed, helm):
    more = {"everything": ["--set", "scheduler.service.clusterIP=10.0.0.77"],  # the range of a testbed
            "mutual-tls": ["--set", "serviceMonitor.force=false"]}  # its API is not in a testbed
    words = {"defaults": "WARNING: image.repository", "agent-off": "deployment/other-chipweave-scheduler",
             "everything": "https://kube-scheduler:SECRET@10.0.0.77:8443/kube",
             "mutual-tls": "WARNING: no ServiceMonitor was created",
             "tokens": f"is installed in namespace {NS}",
             "pools": "npu-910b: daemonset/other-chipweave-agent-npu-910b"}
    for name, said in words.items():
        rendered = bed.run(helm, "install", "other", CHART, "-n", NS, "--dry-run=server",
                           "-f", CHART / f"ci/{name}.yaml", *more.get(name, [])).stdout
        manifest, notes = rendered.split("MANIFEST:\n")[1].split("NOTES:\n")
        done = bed.kubectl("apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", "-", text=manifest,
                           good=False)
        bed.check(f"the API server takes the objects of ci/{name}.yaml", done.returncode == 0, done.stderr)
        done = scheduler_takes(bed, extenders_in(notes))
        bed.check(f"kube-scheduler takes what helm prints with ci/{name}.yaml", done.returncode == 0,
                  done.stderr[-500:])
        bed.check(f"helm says: {said}", said in notes, notes)


# What a namespace that enforces the Pod Security Standard "restricted" would say.
def pod_security(bed, manifest):
    bed.kubectl("label", "namespace", NS, "pod-security.kubernetes.io/warn=restricted")
    for kind, expected in (("Deployment", []), ("DaemonSet", ["restricted volume types"])):
        part = next(p for p in manifest.split("\n---\n") if f"\nkind: {kind}\n" in p)
        said = bed.kubectl("apply", "--server-side", "--dry-run=server", "--force-conflicts", "-f", "-",
                           text=part).stderr
        found = re.search(r'would violate PodSecurity "restricted:latest": (.*)', said)
        broken = re.findall(r"(?:^|, )([\w /\"]+?) \(", found[1]) if found else []
        bed.check(f"{kind} against the standard 'restricted': {', '.join(expected) or 'nothing to say'}",
                  broken == expected, said)


SECRETS = {"scheduler": "", "agent": "agent-"}  # and what their files begin with


def secrets(bed):
    return {who: bed.must("GET", f"/api/v1/namespaces/{NS}/secrets/chipweave-{who}-tls")["data"] for who in SECRETS}


def certificates(bed):
    data = secrets(bed)
    services = {"scheduler": ["chipweave-scheduler", "chipweave-scheduler-read", "chipweave-scheduler-clusterd"], "agent": ["chipweave-agent"]}
    for who, prefix in SECRETS.items():
        for name, value in data[who].items():
            (bed.work / f"{prefix}{name}").write_text(bed.run("base64", "-d", text=value).stdout)
        for name in (*(f"{service}.{NS}.svc" for service in services[who]), "localhost"):
            done = bed.run("openssl", "verify", "-CAfile", bed.work / f"{prefix}ca.crt", "-purpose", "sslserver",
                           "-verify_hostname", name, bed.work / f"{prefix}tls.crt", good=False)
            bed.check(f"the certificate of the {who} is good for {name}", done.returncode == 0,
                      done.stdout + done.stderr)
    bed.check("agents do not have the scheduler's key", data["agent"]["tls.key"] != data["scheduler"]["tls.key"])
    return data


def caller_secrets(bed):
    data = bed.must("GET", f"/api/v1/namespaces/{NS}/secrets/chipweave-callers")["data"]
    return {name: base64.b64decode(secret).decode() for name, secret in data.items()}


# NOTES show no secret to those who may not read Secrets; the webhook's path has a secret of its own.
def callers(bed, helm):
    found = caller_secrets(bed)
    bed.check("each caller has a secret of its own", sorted(found) == ["kube-scheduler", "reader", "volcano", "webhook"] and
              len(set(found.values())) == 4 and all(re.fullmatch("[a-z0-9]{48}", s) for s in found.values()), list(found))
    hook = bed.must("GET", "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/chipweave-scheduler")
    path = hook["webhooks"][0]["clientConfig"]["service"]["path"]
    bed.check("the webhook is called with its secret", path == f"/callers/{found['webhook']}/admission/binding")
    notes = bed.run(helm, "get", "notes", "chipweave", "-n", NS).stdout
    bed.check("helm prints no secret", not any(secret in notes for secret in found.values()))
    (command,) = re.findall(r"kubectl -n \S+ (get secret chipweave-callers .*?) \| base64 -d", notes)
    shown = bed.kubectl(*command.replace("'", "").split(), "-n", NS).stdout
    bed.check("the command that it prints shows kube-scheduler's",
              base64.b64decode(shown).decode() == found["kube-scheduler"])
    return found


# --- rights


def pending_pod(bed, name, **spec):
    container = {"name": "c", "image": "registry.example.com/none", **spec.pop("container", {})}
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"schedulerName": "nobody", "containers": [container], **spec}}
    return bed.must("POST", "/api/v1/namespaces/default/pods", body)


def account_rights(bed):
    scheduler = bed.token("chipweave-scheduler")
    exact_rights(bed, "scheduler", scheduler, *SCHEDULER_RIGHTS)
    pending_pod(bed, "to-bind")
    bed.must("POST", f"/apis/coordination.k8s.io/v1/namespaces/{NS}/leases", lease("other"))
    for what, patch in (("phase", {"status": {"phase": "Failed"}}), ("annotations", NOTE)):
        denied = bed.ask("PATCH", "/api/v1/namespaces/default/pods/to-bind/status", patch, scheduler)
        bed.check(f"in the status of a pod the scheduler may not change the {what}", "may not change this" in str(denied), denied)
    try_requests(bed, "scheduler", scheduler, scheduler_requests(NS))
    pod = bed.must("GET", "/api/v1/namespaces/default/pods/to-bind")
    bed.check("a binding by the scheduler carries the annotation",
              pod["spec"].get("nodeName") == "fake-0" and "chipweave.dev/placement" in pod["metadata"]["annotations"])

    leader_label(bed)
    node_annotation(bed, scheduler)

    agents = agent_tokens(bed)
    exact_rights(bed, "agent", agents["fake-0"], *AGENT_RIGHTS)
    own_node_only(bed, agents)
    try_requests(bed, "agent", agents["fake-0"], agent_requests(NS, "fake-0"))


# Patches of pods: the policy leaves nothing of that right but one label. It takes some seconds to be in force. And the
# Services go by this label.
def leader_label(bed):
    scheduler, home = bed.token("chipweave-scheduler"), f"/api/v1/namespaces/{NS}/pods"
    listed = bed.must("GET", home)["items"]
    path = lambda what: next(f"{home}/{p['metadata']['name']}" for p in listed if what in p["metadata"]["name"])
    own, agents = path("chipweave-scheduler"), path("chipweave-agent")
    label = lambda value, name="chipweave.dev/leader": {"metadata": {"labels": {name: value}}}
    refused = lambda answer: "may not change this part of a pod" in str(answer)
    bed.check("the policy for pods is in force",
              bed.poll(lambda: refused(bed.ask("PATCH", f"{own}?dryRun=All", NOTE, scheduler)[1])))
    containers = bed.must("GET", own)["spec"]["containers"]
    for what, patch in (("an annotation", NOTE), ("another label", label("x", "example.com/x")),
                        ("a label away", label(None, "app.kubernetes.io/component")),
                        ("the image", {"spec": {"containers": [{**containers[0], "image": "example.com/other"}]}}),
                        ("a finalizer", {"metadata": {"finalizers": ["example.com/x"]}}),
                        ("owners away", {"metadata": {"ownerReferences": None}})):
        code, answer = bed.ask("PATCH", own, patch, scheduler)
        bed.check(f"the scheduler may not patch its own pod: {what}", code == 403 and refused(answer), f"{code}: {answer}")
    code, answer = bed.ask("PATCH", agents, label("true"), scheduler)
    bed.check("nor its label onto an agent", code == 403 and refused(answer), f"{code}: {answer}")
    bed.check("others may patch them", bed.ask("PATCH", own, NOTE)[0] == 200)

    behind = lambda service: {endpoint["targetRef"]["name"] for part in bed.must("GET",
        f"/apis/discovery.k8s.io/v1/namespaces/{NS}/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3D{service}")["items"]
        for endpoint in part["endpoints"] or [] if endpoint["conditions"]["ready"]}
    bed.check("without the label no replica is behind the Service for decisions", not behind("chipweave-scheduler"))
    bed.check("behind that for readers are all", bed.poll(lambda: len(behind("chipweave-scheduler-read")) == 2))
    code, answer = bed.ask("PATCH", own, label("true"), scheduler)
    bed.check("the scheduler may label its own pod", code == 200, f"{code}: {answer}")
    bed.check("which is behind the Service then", bed.poll(lambda: behind("chipweave-scheduler") == {own.split("/")[-1]}))
    code, answer = bed.ask("PATCH", own, label(None), scheduler)
    bed.check("and take the label off", code == 200, f"{code}: {answer}")
    bed.check("afterwards no replica is behind it", bed.poll(lambda: not behind("chipweave-scheduler")))


# Patches of nodes: the policy leaves nothing of that right but the annotation that makes kube-scheduler retry pods.
def node_annotation(bed, token):
    node = "/api/v1/nodes/fake-1"
    refused = lambda answer: "may not change this of a node" in str(answer)
    bed.must("PATCH", node, {"metadata": {"annotations": {"chipweave.dev/clear-faults": "3"}}})
    bed.check("the policy for nodes is in force",
              bed.poll(lambda: refused(bed.ask("PATCH", f"{node}?dryRun=All", NOTE, token)[1])))
    for what, patch in SCHEDULER_NODE_PATCHES:
        code, answer = bed.ask("PATCH", node, patch, token)
        bed.check(f"the scheduler may not change of a node: {what}", code == 403 and refused(answer), f"{code}: {answer}")
    code, answer = bed.ask("PATCH", node, {"metadata": {**REQUEUE["metadata"], "labels": {"example.com/x": "1"}}}, token)
    bed.check("nor a label beside its annotation", code == 403 and refused(answer), f"{code}: {answer}")
    for value in ("1", "2"):
        patch = {"metadata": {"annotations": {"chipweave.dev/chips-freed": value}}}
        code, answer = bed.ask("PATCH", node, patch, token)
        bed.check(f"the scheduler may set its annotation to {value}", code == 200, f"{code}: {answer}")
    long = {"metadata": {"annotations": {"chipweave.dev/chips-freed": "x" * 65}}}
    code, answer = bed.ask("PATCH", node, long, token)
    bed.check("but not to a long text", code == 403 and refused(answer), f"{code}: {answer}")
    bed.check("others may patch the node", bed.ask("PATCH", node, {"metadata": {"annotations": {
        "chipweave.dev/clear-faults": None, "chipweave.dev/chips-freed": None}}})[0] == 200)


# Where it writes placements after the bind it may patch annotations everywhere, and still nothing else.
def late_annotations(bed):
    scheduler, pod = bed.token("chipweave-scheduler"), "/api/v1/namespaces/default/pods/to-bind"
    allowed = lambda: bed.ask("PATCH", pod, NOTE, scheduler)[0] == 200
    bed.check("with annotateAfterBind it may annotate pods", bed.poll(allowed))
    spec = {"spec": {"containers": [{**bed.must("GET", pod)["spec"]["containers"][0], "image": "example.com/other"}]}}
    for what, patch in (("label", {"metadata": {"labels": {"chipweave.dev/leader": "true"}}}), ("image", spec)):
        code, answer = bed.ask("PATCH", pod, patch, scheduler)
        bed.check(f"and not change their {what}", code == 403 and "may not change this" in str(answer), f"{code}: {answer}")


# The webhook for new pods comes with the right to patch pods; tests/e2e/scenarios/gates.py shows what the policy leaves of it.
def gates(bed, helm):
    scheduler, path = bed.token("chipweave-scheduler"), "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/chipweave-scheduler"
    with_gate = lambda *more: bed.run(helm, "upgrade", "chipweave", CHART, "-n", NS, "--set", ",".join(("scheduler.gangs.gate.enabled=true", *more)))
    hooks = lambda: {hook["name"]: hook for hook in bed.must("GET", path)["webhooks"]}
    bed.check("without gates there is one webhook", list(hooks()) == ["binding.chipweave.dev"], hooks())
    with_gate()
    hook, secret = hooks().get("gate.chipweave.dev", {}), caller_secrets(bed)["webhook"]
    service = hook.get("clientConfig", {}).get("service", {})
    bed.check("with gates another one asks any replica", service.get("name") == "chipweave-scheduler-read" and
              service.get("path") == f"/callers/{secret}/admission/gate" and hook["failurePolicy"] == "Ignore", hook)
    has_exactly = lambda name, wanted: (bed.poll(lambda: named(wanted) == rights(bed, scheduler, "default")),  # a moment later
                                        exact_rights(bed, name, scheduler, wanted, SCHEDULER_RIGHTS[1]))
    with_patch = {**SCHEDULER_RIGHTS[0], "pods": f"{SCHEDULER_RIGHTS[0]['pods']} patch"}
    has_exactly("scheduler that removes gates", with_patch)
    with_gate("admission.enabled=false")
    bed.check("also without the other webhook", list(hooks()) == ["gate.chipweave.dev"], hooks())
    with_gate("scheduler.gangs.preemption=true")
    has_exactly("scheduler that ends pods for gangs", {**with_patch, **PREEMPTION_RIGHTS})
    with_gate("scheduler.gangs.faultScheduling=true")
    has_exactly("scheduler that ends pods of failed nodes", {**with_patch, "pods/eviction": "create"})
    bed.run(helm, "upgrade", "chipweave", CHART, "-n", NS, "--reset-values")
    gone = lambda: rights(bed, scheduler, "default") == named(SCHEDULER_RIGHTS[0]) and len(hooks()) == 1
    bed.check("switched off, all of that is gone", bed.poll(gone))


# --- upgrade, kube-scheduler, removal


def upgrade(bed, helm, before, callers_before):
    path = f"/apis/apps/v1/namespaces/{NS}/deployments/chipweave-scheduler"
    settings = lambda: bed.must("GET", path)["spec"]["template"]["metadata"]["annotations"]["chipweave.dev/config"]
    old = settings()
    bed.run(helm, "upgrade", "chipweave", CHART, "-n", NS)
    bed.check("an upgrade without changes starts nothing again", settings() == old)
    bed.run(helm, "upgrade", "chipweave", CHART, "-n", NS, "--set", "scheduler.logLevel=debug")
    bed.check("other settings start the scheduler again", settings() != old)
    bed.check("an upgrade keeps the certificates and their CAs", secrets(bed) == before)
    bed.check("and the callers' secrets", caller_secrets(bed) == callers_before)
    more = {"stringData": {"volcano-2": "v" * 48}}
    bed.must("PATCH", f"/api/v1/namespaces/{NS}/secrets/chipweave-callers", more)
    bed.run(helm, "upgrade", "chipweave", CHART, "-n", NS)
    bed.check("also one that was added", caller_secrets(bed) == {**callers_before, "volcano-2": "v" * 48})
    bed.run(helm, "upgrade", "chipweave", CHART, "-n", NS, "-f", CHART / "ci/tokens.yaml")
    scheduler = bed.token("chipweave-scheduler")
    bed.poll(lambda: bed.ask("POST", TOKEN_REVIEWS, TOKEN_REVIEW, scheduler)[0] == 201)  # RBAC takes a moment
    exact_rights(bed, "scheduler that reviews tokens", scheduler, {**SCHEDULER_RIGHTS[0], **TOKEN_RIGHTS},
                 SCHEDULER_RIGHTS[1])
    try_requests(bed, "a scheduler that reviews tokens", scheduler, [(True, "POST", TOKEN_REVIEWS, TOKEN_REVIEW)])
    bed.run(helm, "upgrade", "chipweave", CHART, "-n", NS, "--set", "scheduler.annotateAfterBind=true")
    late_annotations(bed)
    bed.run(helm, "upgrade", "chipweave", CHART, "-n", NS, "--reset-values")


def printed_configuration(bed, helm):
    printed = extenders_in(bed.run(helm, "get", "notes", "chipweave", "-n", NS).stdout)
    address = bed.must("GET", f"/api/v1/namespaces/{NS}/services/chipweave-scheduler")["spec"]["clusterIP"]
    bed.check("helm prints the address of the Service", f"urlPrefix: https://kube-scheduler:SECRET@{address}:8443/kube\n" in printed, printed)
    done = scheduler_takes(bed, printed.replace("managedResources", "managedResource"))
    bed.check("kube-scheduler refuses a misspelt key in it", "managedResource" in done.stderr, done.stderr[-500:])
    written = re.findall(r"^```yaml\n(.*?)^```", DOCS.read_text(), re.M | re.S)
    done = scheduler_takes(bed, written[0])
    bed.check("kube-scheduler takes the file in docs/tasks/configure-kube-scheduler.md", done.returncode == 0, done.stderr[-500:])
    return written[1]


# Step 2b of the page with its account and its configuration, asking a stand-in for chipweave-scheduler that has the
# chart's certificate and the scheduler's token. Its own Deployment runs nothing here.
def second_scheduler(bed, objects):
    bed.kubectl("apply", "--validate=strict", "-f", "-", text=objects)
    stand_in = StandIn(bed.work, bed.server, bed.ca, bed.token("chipweave-scheduler"))
    write_kubeconfig(bed, "second.kubeconfig", bed.token("chipweave-kube-scheduler"))
    path = f"/api/v1/namespaces/{NS}/secrets/chipweave-kube-scheduler"
    config = base64.b64decode(bed.must("GET", path)["data"]["kube-scheduler.yaml"]).decode()
    config = re.sub(r"urlPrefix: .*", f"urlPrefix: https://127.0.0.1:{stand_in.port}/kube", config)
    config = re.sub(r"caFile: .*", f"caFile: {bed.work}/ca.crt", config)
    (bed.work / "second.yaml").write_text(f"{config}clientConnection:\n  kubeconfig: {bed.work}/second.kubeconfig\n")
    bed.start(bed.work / "second-kube-scheduler.log", bed.folder / "bin/kube-scheduler", f"--config={bed.work}/second.yaml",
              "--secure-port=0")

    accelerator = {"resources": {"limits": {"nvidia.com/gpu": 2}}}
    pending_pod(bed, "plain", schedulerName="chipweave")
    pending_pod(bed, "training", schedulerName="chipweave", container=accelerator)
    pod = lambda name: bed.must("GET", f"/api/v1/namespaces/default/pods/{name}")
    node = lambda name: pod(name)["spec"].get("nodeName")
    bed.check("the second scheduler places a pod without accelerators", bed.poll(lambda: node("plain")))
    lease = bed.must("GET", f"/apis/coordination.k8s.io/v1/namespaces/{NS}/leases/kube-scheduler")
    bed.check("and holds its Lease", lease["spec"].get("holderIdentity"))
    bed.check("it asks chipweave for one with accelerators, over TLS", bed.poll(lambda: node("training")))
    annotations = pod("training")["metadata"].get("annotations", {})
    bed.check("which binds it with its chips", "chipweave.dev/placement" in annotations, annotations)
    bed.check(f"the verbs it used: {' '.join(stand_in.verbs)}", stand_in.verbs == ["filter", "prioritize", "bind"])

    stand_in.stop()
    pending_pod(bed, "waiting", schedulerName="chipweave", container=accelerator)
    pending_pod(bed, "plain-too", schedulerName="chipweave")
    events = "/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3Dwaiting"
    said = lambda: [e["message"] for e in bed.must("GET", events)["items"] if "connection refused" in e["message"]]
    bed.check("chipweave is down: a pod with accelerators waits and says why", bed.poll(said) and not node("waiting"))
    bed.check("chipweave is down: other pods are placed", bed.poll(lambda: node("plain-too")))
    bed.kubectl("delete", "-f", "-", text=objects)


def uninstall(bed, helm, manifest):
    done = bed.run(helm, "uninstall", "chipweave", "-n", NS, "--wait", "--timeout", "1m", good=False)
    bed.check("helm uninstall", done.returncode == 0, done.stderr)
    left = bed.kubectl("get", "-f", "-", "-o", "name", "--ignore-not-found", text=manifest).stdout.split()
    bed.check("no object of the chart is left", not left, left)
    kinds = bed.kubectl("api-resources", "--verbs=list", "-o", "name").stdout.split()
    ignored = ("event", "namespace/", "apiservice")  # the last ones are made of CRDs by the API server
    named = lambda: [line for line in bed.kubectl("get", ",".join(kinds), "-A", "-o", "name").stdout.split()
                     if "chipweave" in line.split("/")[-1] and not line.startswith(ignored)]
    kept = ["customresourcedefinition.apiextensions.k8s.io/nodeinventories.chipweave.dev",
            "lease.coordination.k8s.io/chipweave-scheduler"]
    bed.check("of all kinds only the CRD and the leader's Lease are left", bed.poll(lambda: named() == kept), named())


def checks(bed, agent):
    helm = bed.run(TESTBED, "build", "helm").stdout.split()[1]
    fake_nodes(bed)
    manifest = install(bed, helm)
    data = certificates(bed)
    known_callers = callers(bed, helm)
    bed.kubectl("create", "namespace", "mindx-dl")  # as MindCluster's installation does
    values_sets(bed, helm)
    pod_security(bed, manifest)
    account_rights(bed)
    if agent:
        built_agent(bed, agent.absolute())
    pools(bed, helm)
    published_config_maps(bed, helm)
    gang_plans(bed)
    cluster_info(bed, helm)
    hostfiles(bed, helm)
    rank_tables(bed, helm)
    clusterd(bed, helm)
    dlrover_topology(bed, helm)
    gates(bed, helm)
    device_plugins(bed, helm)
    upgrade(bed, helm, data, known_callers)
    second_scheduler(bed, printed_configuration(bed, helm))
    if agent:
        removal(bed, helm, agent.absolute(), manifest)
    else:
        uninstall(bed, helm, manifest)


def interrupt(number, _):
    raise SystemExit(128 + number)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kubernetes", choices=VERSIONS, default=VERSIONS[0], help="default: %(default)s")
    parser.add_argument("--agent", type=Path, metavar="PROGRAM", help="also run this chipweave-agent")
    options = parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    work, began = Path(tempfile.mkdtemp(prefix="chipweave-chart-")), time.monotonic()
    try:
        bed = Bed("chart", work, options.kubernetes)
    except (SystemExit, KeyboardInterrupt) as ended:
        shutil.rmtree(work)
        if getattr(ended, "code", None) != NO_GO:
            raise
        print("\n******** CHART NOT TESTED: Go is missing or too old (see above) ********\n", flush=True)
        return 0
    try:
        checks(bed, options.agent)
    except BaseException as error:
        bed.check("the test goes through to its end", False, f"{type(error).__name__}: {error}")
        if not isinstance(error, Exception):
            raise
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)  # being impatient must not leave anything behind
        bed.stop()
        if not bed.failed:
            shutil.rmtree(work)
    print(f"chart: {bed.passed} checks passed, {len(bed.failed)} failed, {time.monotonic() - began:.0f} s")
    if bed.failed:
        print(f"chart: logs are in {work} and {bed.folder} (scripts/testbed down --name chart removes it)")
    return 1 if bed.failed else 0


if __name__ == "__main__":
    sys.exit(main())
