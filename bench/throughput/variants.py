"""The three ways to schedule that are compared, and one run of one of them."""
import contextlib, http.client, json, time

from testbed.api import request
from testbed.processes import kill_program, last_lines, launch
from throughput.cluster import CLAIMS as CLAIMS_PATH, add_pods_at, by_claims
from throughput.cluster import CHIPS, NS, PODS, RESOURCE, WAIT_SECONDS, Wrong, group
from throughput.figures import cpu_of, cpu_of_all, less, mean_ms, metrics_of, total

PLACEMENT = "chipweave.dev/placement"
STALL_SECONDS = 60  # without a bound pod
ALGORITHM = "scheduler_scheduling_algorithm_duration_seconds"
ATTEMPT = "scheduler_scheduling_attempt_duration_seconds"
STEP, BOUND_HOW = "scheduler_framework_extension_point_duration_seconds", "scheduler_schedule_attempts_total"
OF_SCHEDULER = [f"{name}_{part}" for name in (ALGORITHM, ATTEMPT, STEP) for part in ("sum", "count")] + [BOUND_HOW]
API_CALLS, API_TIME = "apiserver_request_total", "apiserver_request_duration_seconds"
OF_API_SERVER = [API_CALLS, f"{API_TIME}_sum", f"{API_TIME}_count"]
HTTP_TIME = "chipweave_http_request_duration_seconds"
VERBS = ("filter", "prioritize", "bind")  # nothing is preempted


class Extender:
    """A started extender: its process and where it listens. times() tells its calls and mean ms by verb."""

    def __init__(self, process, port, path, times):
        self.process, self.url, self.times = process, f"http://127.0.0.1:{port}{path}", times


# --- (a)


@contextlib.contextmanager
def chipweave(cluster, options, flags=()):
    ports, log_file = cluster.folder / "chipweave.ports", cluster.folder / "chipweave.log"
    ports.unlink(missing_ok=True)
    callers, secret = cluster.folder / "callers", "k" * 48
    callers.mkdir(exist_ok=True)
    (callers / "kube-scheduler").write_text(secret)
    command = [options.scheduler, "--kubeconfig", cluster.kubeconfig, "--namespace", "default",
               "--http", "127.0.0.1:0", "--port-file", ports, "--inventory-stale-after", "24h",
               "--caller-secrets", callers, *flags]
    with open(log_file, "w") as log, group(command, stdout=log, stderr=log) as process:
        wait_for(lambda: "synced with the cluster" in log_file.read_text() and ports.exists(), process, log_file)
        port = json.loads(ports.read_text())["http"]

        def times():
            metrics = metrics_of(request(port, "/metrics", tls=False)[1], [f"{HTTP_TIME}_sum", f"{HTTP_TIME}_count"])
            return {verb: {"calls": total(metrics, f"{HTTP_TIME}_count", path=f"/kube/{verb}"),
                           "ms": mean_ms(metrics, HTTP_TIME, path=f"/kube/{verb}")} for verb in VERBS}
        yield Extender(process, port, f"/callers/{secret}/kube", times)


# --- (b)


@contextlib.contextmanager
def do_nothing(cluster, options):
    port_file, log_file = cluster.folder / "do-nothing.port", cluster.folder / "do-nothing.log"
    port_file.unlink(missing_ok=True)
    command = [options.do_nothing, "--server", cluster.server, "--ca", cluster.ca, "--port-file", port_file]
    with open(log_file, "w") as log, group(command, stdout=log, stderr=log, env={"TOKEN": cluster.token}) as process:
        wait_for(lambda: port_file.exists() and port_file.read_text().endswith("\n"), process, log_file)
        port = int(port_file.read_text())

        def times():
            told = json.loads(request(port, "/times", tls=False)[1])
            return {verb: {"calls": told[verb]["calls"],
                           "ms": told[verb]["seconds"] / max(1, told[verb]["calls"]) * 1000} for verb in VERBS}
        yield Extender(process, port, "", times)


# --- (c)


@contextlib.contextmanager
def no_extender(_cluster, _options):
    yield None


VARIANTS = {"chipweave": chipweave, "do-nothing": do_nothing, "none": no_extender}
CLAIMS = "chipweave, claims"  # the same with ResourceClaims for the chips; with --claims only


def wait_for(test, process, log_file):
    deadline = time.monotonic() + WAIT_SECONDS
    while not test():
        if process.poll() is not None or time.monotonic() > deadline:
            raise Wrong(f"{process.args[0]} does not start:\n{log_file.read_text()}")
        time.sleep(0.05)


# --- a run


# As docs/tasks/configure-kube-scheduler.md has it, without TLS.
def write_config(cluster, extender, percentage, claims):
    kubeconfig = str(cluster.folder / "kube-scheduler.kubeconfig")
    config = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
              "leaderElection": {"leaderElect": False},
              "clientConnection": {"kubeconfig": kubeconfig, "qps": 1000, "burst": 2000}}
    if percentage is not None:
        config["percentageOfNodesToScore"] = percentage
    if extender:
        config["extenders"] = [{
            "urlPrefix": extender.url, "filterVerb": "filter", "prioritizeVerb": "prioritize", "preemptVerb": "preempt",
            "bindVerb": "bind", "weight": 20, "httpTimeout": "5s", "nodeCacheCapable": True, "ignorable": False,
            "managedResources": [{"name": RESOURCE, "ignoredByScheduler": claims}]}]
    (cluster.folder / "scheduler.yaml").write_text(json.dumps(config, indent=2) + "\n")


# The pods are there and wait (with a rate: they come meanwhile); kube-scheduler is started. The clock runs from the first
# bound pod to the last one, so that the start of kube-scheduler is not counted. Returns the figures of this run.
def run(cluster, variant, options, percentage):
    claims = variant == CLAIMS
    if options.claims:
        by_claims(cluster, claims)
    with (chipweave if claims else VARIANTS[variant])(cluster, options) as extender:
        write_config(cluster, extender, percentage, claims)
        before = api_metrics(cluster)
        watch = bound_pods(cluster)
        next(watch)
        (cluster.folder / "kube-scheduler.log").write_text("")
        scheduler = launch(cluster.folder, cluster.state, "kube-scheduler")
        try:
            processes = {name: int((cluster.folder / f"{name}.pid").read_text()) for name in ("etcd", "kube-apiserver")}
            processes |= {"kube-scheduler": scheduler.pid, **({"extender": extender.process.pid} if extender else {})}
            adding = add_pods_at(cluster, options.rate, options.pods, options.chips) if options.rate else None
            clock = clocked(cluster, watch, options.nodes, options.pods, processes)
            if adding:
                adding.result()
            calls = less(api_metrics(cluster), before)
            seen = scheduler_metrics(cluster)
        finally:
            kill_program(cluster.folder, "kube-scheduler")
            scheduler.wait()
        verbs = extender.times() if extender else {}
    pods = cluster.get(PODS)["items"]
    check(variant, pods, options, verbs)
    if claims:
        check_claims(pods, cluster.get(CLAIMS_PATH)["items"])
    figures = clock | {"extender_ms": {verb: t["ms"] for verb, t in verbs.items()}}
    figures["api_calls_per_pod"] = {
        "bind": total(calls, API_CALLS, resource="pods", subresource="binding") / options.pods,
        "event": total(calls, API_CALLS, resource="events", verb="POST") / options.pods,
        "status": total(calls, API_CALLS, resource="pods", subresource="status") / options.pods,
        "claim": total(calls, API_CALLS, resource="resourceclaims", verb="POST") / options.pods +
                 total(calls, API_CALLS, resource="resourceclaims", verb="PUT") / options.pods}
    figures["api_bind_ms"] = mean_ms(calls, API_TIME, resource="pods", subresource="binding")
    figures["scheduler_ms"] = scheduler_times(seen)
    figures["failed_attempts"] = total(seen, BOUND_HOW) - total(seen, BOUND_HOW, result="scheduled")
    return figures


# Lines of a watch, as pods get a node; the first thing it yields says that it watches. The API server ends the watch of
# a client that is too slow for it, as this one is where processors are scarce: then it goes on where it was.
def bound_pods(cluster):
    version, begun = cluster.get(f"{PODS}?limit=1")["metadata"]["resourceVersion"], False
    while True:
        connection = cluster.connect()
        with contextlib.closing(connection):
            path = f"{PODS}?watch=1&fieldSelector=spec.nodeName!%3D&resourceVersion={version}"
            connection.request("GET", path, headers={"Authorization": f"Bearer {cluster.token}"})
            response, last = connection.getresponse(), None
            if not begun:
                begun = True
                yield None
            for line in response:
                if line.startswith(b'{"type":"ERROR"'):
                    raise Wrong(f"the watch of the pods failed: {line.decode()}")
                last = line
                if line.startswith(b'{"type":"ADDED"'):  # not what becomes of it later
                    yield line
        if last:
            version = json.loads(last)["object"]["metadata"]["resourceVersion"]


def clocked(cluster, watch, nodes, pods, processes):
    now = lambda: {"all": cpu_of_all(), "self": time.process_time(),
                   **{name: cpu_of(pid) for name, pid in processes.items()}}
    lines = []
    try:
        for line in watch:
            lines.append(line)
            if len(lines) == 1:
                began, spent = time.monotonic(), now()
            if len(lines) == pods:
                break
    except (OSError, http.client.HTTPException) as error:
        raise Wrong(f"{len(lines)} of {pods} pods are bound, then nothing ({error}):\n"
                    f"{waiting_pods(cluster)}\n{last_lines(cluster.folder, 'kube-scheduler')}") from None
    seconds = time.monotonic() - began
    spent = less(now(), spent)
    found = [json.loads(line) for line in lines]
    if len({event["object"]["metadata"]["uid"] for event in found}) != pods:
        raise Wrong("the watch told of a pod twice")
    others = max(0, spent.pop("all") - sum(spent.values()))
    spent.pop("self")
    return {"pods_per_second": (pods - 1) / seconds, "seconds": seconds, "other_cores": others / seconds,
            "nodes_with_room": room(found, nodes),
            "cpu_ms_per_pod": {name: cpu / (pods - 1) * 1000 for name, cpu in spent.items()}}


# Nodes that still had room when a pod was bound, in the mean: a variant that packs nodes sends fewer names later on.
def room(found, nodes):
    full, left, seen = 0, {}, 0
    for event in found:
        spec = event["object"]["spec"]
        asked, node = asked_by(spec), spec["nodeName"]
        left[node] = left.get(node, CHIPS) - asked
        seen += nodes - full
        full += left[node] < asked
    return seen / len(found)


def asked_by(spec):
    return int(spec["containers"][0]["resources"]["limits"][RESOURCE])


def waiting_pods(cluster):
    left = [pod for pod in cluster.get(PODS)["items"] if not pod["spec"].get("nodeName")]
    why = {c.get("message", "") for pod in left for c in pod["status"].get("conditions", [])}
    return f"{len(left)} pods wait: {'; '.join(sorted(why))[:2000]}"


def api_metrics(cluster):
    return metrics_of(cluster.must("GET", "/metrics").decode(), OF_API_SERVER)


def scheduler_metrics(cluster):
    code, page = request(cluster.state["ports"]["kube-scheduler"], "/metrics", token=cluster.token)
    if code != 200:
        raise Wrong(f"metrics of kube-scheduler: {code}: {page[:500]}")
    return metrics_of(page, OF_SCHEDULER)


# Mean ms a pod as kube-scheduler sees it. It does not time its extenders, but the choice of a node as a whole and its
# own steps; what is left of the choice is the extender's filter and prioritize, and little else.
def scheduler_times(seen):
    own = sum(mean_ms(seen, STEP, extension_point=step) or 0 for step in ("PreFilter", "Filter", "PreScore", "Score"))
    choice, attempt = mean_ms(seen, ALGORITHM), mean_ms(seen, ATTEMPT, result="scheduled")
    return {"choice": choice, "choice_own": own, "choice_rest": choice - own, "bind": attempt - choice}


# --- what a run must not have done


# Each pod's claim has the chips of its placement.
def check_claims(pods, claims):
    devices = {claim["metadata"]["name"]: sorted(one["device"] for one in claim["status"]["allocation"]["devices"]["results"])
               for claim in claims}
    for pod in pods:
        meta = pod["metadata"]
        chips = sorted(f"gpu-{chip['index']}" for chip in json.loads(meta["annotations"][PLACEMENT])["chips"])
        if devices.get(f"chipweave-{meta['uid']}") != chips:
            raise Wrong(f"the claim of {meta['name']} has {devices.get('chipweave-' + meta['uid'])}, not {chips}")


def check(variant, pods, options, verbs):
    problems = []
    if len(pods) != options.pods or any(not pod["spec"].get("nodeName") for pod in pods):
        problems.append("not all pods are bound")
    if variant != "none" and verbs["bind"]["calls"] < options.pods:
        problems.append(f"the extender bound only {verbs['bind']['calls']:.0f} pods")
    used, taken = {}, {}
    for pod in pods:
        meta, spec = pod["metadata"], pod["spec"]
        asked, node = asked_by(spec), spec.get("nodeName")
        used[node] = used.get(node, 0) + asked
        text = meta.get("annotations", {}).get(PLACEMENT)
        if variant not in ("chipweave", CLAIMS):
            if text:
                problems.append(f"{meta['name']} has chips of chipweave, which was not asked")
            continue
        if not text:
            problems.append(f"{meta['name']} has no {PLACEMENT}")
            continue
        placement = json.loads(text)
        if (placement["node"], placement["podUid"], len(placement["chips"])) != (node, meta["uid"], asked):
            problems.append(f"{meta['name']} on {node} asks for {asked} chips, but has {text}")
        for chip in placement["chips"]:
            owner = taken.setdefault((node, chip["index"]), meta["name"])
            if owner != meta["name"]:
                problems.append(f"chip {chip['index']} of {node} belongs to {owner} and to {meta['name']}")
    problems += [f"{node} has {count} chips given away" for node, count in used.items() if count > CHIPS]
    if problems:
        more = f" and {len(problems) - 10} more" if len(problems) > 10 else ""
        raise Wrong(f"{variant} bound pods wrongly: {'; '.join(problems[:10])}{more}")
