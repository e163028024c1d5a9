"""Volcano in a test: the driver that plays its scheduler (tests/volcano_driver), gangs for it, and the webhook that gives
its bindings their placements."""
import contextlib, json, os, re, signal, subprocess

from lib.bed import ROOT
from testbed.build import go_environment

NAME = "volcano"
VERBS = "predicate,prioritize,allocate,deallocate"  # as an operator configures them
ALL_VERBS = ("onSessionOpen,onSessionClose,predicate,prioritize,preemptable,reclaimable,queueOverused,jobEnqueueable,jobReady,"
             "allocate,deallocate")
GROUP, MEMBERS = "scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-min-member"
ROLE = "volcano.sh/task-spec"
HOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
END_SECONDS = 15


def build(bed):
    program = bed.work / "volcano-driver"
    if not program.exists():
        command = ["go", "build", "-o", program, "."]
        subprocess.run(command, cwd=ROOT / "tests/volcano_driver", env=go_environment(), check=True)
    return program


# The rights of kube-scheduler are what the driver needs: to list, to bind, to evict.
def token_of_a_scheduler(bed):
    return re.search(r"token: (\S+)", (bed.folder / "kube-scheduler.kubeconfig").read_text())[1]


class Driver:
    """One process of the driver. Its log is a JSON line a session."""

    def __init__(self, s, *flags, verbs=VERBS, url=None):
        self.s, bed = s, s.bed
        self.log = s.folder / f"volcano-{len(list(s.folder.glob('volcano-*.log')))}.log"
        environment = {**os.environ, "TOKEN": token_of_a_scheduler(bed)}
        if s.chipweave.https:
            environment["SSL_CERT_FILE"] = str(bed.work / "ca.crt")  # Volcano trusts the system's roots
        command = [build(bed), "--server", bed.server, "--ca", bed.ca, "--verbs", verbs, "--seed", s.seed,
                   "--extender", f"chipweave={url or s.chipweave.url_of('volcano') + '/volcano'}", *flags]
        self.process = bed.start(self.log, *command, env=environment)
        s.undo.append(lambda: bed.end(self.process))

    # What it has written so far; the last line may be half.
    def lines(self):
        found = []
        for line in self.log.read_text().splitlines():
            with contextlib.suppress(ValueError):
                found.append(json.loads(line))
        return found

    def sessions(self):
        return [line for line in self.lines() if "session" in line]

    # Calls of an action in all sessions.
    def calls(self, action):
        return sum(line["verbs"].get(action, {}).get("calls", 0) for line in self.sessions())

    # Replies that could not be used, or did not come.
    def errors(self):
        return {action: verb["errors"] for line in self.sessions() for action, verb in line["verbs"].items() if verb["errors"]}

    def pods_that_could_not_be_bound(self):
        return {pod: why for line in self.lines() for pod, why in line.get("bind_failed", {}).items()}

    # Until so many more sessions have ended.
    def sees(self, count, seconds=30):
        target = len(self.sessions()) + count
        self.s.must_come(f"{count} more sessions", lambda: len(self.sessions()) >= target, seconds)

    # As a rollout ends it: SIGTERM. Its exit status.
    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(END_SECONDS)
        status = self.process.returncode
        self.s.bed.end(self.process)
        return status


    # Pods that it bound, and their nodes.
    def bound(self):
        return {pod: node for line in self.lines() for pod, node in line.get("bound", {}).items()}


# Pods of one PodGroup that needs all of them. Their names.
def gang(s, name, members, chips, resource=None, **spec):
    names = [f"{name}-{number}" for number in range(members)]
    for pod in names:
        body = s.pod_body(pod, chips, *([resource] if resource else []), schedulerName=NAME, **spec)
        body["metadata"]["annotations"] = {GROUP: name, MEMBERS: str(members), ROLE: "worker", "example.com/user": "kept"}
        s.bed.must("POST", s.pods_path, body)
    return names


# The API server asks us about every binding in the scenario's namespace.
# The chart's own webhook and its path with a secret, except for the address: no Service can be reached here. It is called for namespaces with its label.
def admission(s, url=None, seconds=5):
    path = f"{HOOKS}/chipweave-scheduler"
    as_it_was = s.bed.must("GET", path)["webhooks"]
    (hook,) = (one for one in as_it_was if "service" in one["clientConfig"] and one["name"] != "gate.chipweave.dev")
    others = [one for one in as_it_was if one is not hook]
    service = hook["clientConfig"]["service"]
    client = {"url": f"{url or s.chipweave.url}{service['path']}", "caBundle": hook["clientConfig"]["caBundle"]}
    s.bed.must("PATCH", path, {"webhooks": [{**hook, "clientConfig": client, "timeoutSeconds": seconds}, *others]})
    s.undo.append(lambda: s.bed.must("PATCH", path, {"webhooks": as_it_was}))
    ((label, value),) = hook["namespaceSelector"]["matchLabels"].items()
    s.bed.must("PATCH", f"/api/v1/namespaces/{s.ns}", {"metadata": {"labels": {label: value}}})
    s.create("probe", 1, schedulerName="nobody")
    binding = {"metadata": {"name": "probe"}, "target": {"kind": "Node", "name": "no-such-node"}}
    asked = lambda: "no-such-node" in str(s.bed.ask("POST", f"{s.pods_path}/probe/binding?dryRun=All", binding)[1])
    s.must_come("the API server's questions about bindings", asked)
    s.delete("probe")
