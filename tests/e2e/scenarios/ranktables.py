"""Rank tables of a MindIE deployment that is submitted as users do: those of its server jobs and the global one, in ConfigMaps and
at a subscriber that plays MindIE's controller; a driver plays Volcano. A server pod comes back elsewhere, an instance is removed, the scheduler is
killed; a ConfigMap is another program's; and of two replicas, the leader is killed."""
import json, subprocess

from lib.ascend import machine_file
from lib.mindie import DEPLOYMENT, GROUP, JOBS, MARKS, NODE_LABELS, NPU, NS, SCHEDULING, VERSION
from lib.mindie import Controller, Kubelets, ascend_job, make_pods, manifests
from lib.replicas import CLUSTERD, Replicas, Way
from lib.scenario import SOON
from lib.volcano import Driver, admission
from testbed.processes import free_ports

TABLES = ["--rank-tables=jobs,mindie", "--gang-kinds=ascend,volcano"]
NODES = [f"mindie-{number}" for number in range(5)]  # two servers of two pods each, and one more
MAPS = f"/api/v1/namespaces/{NS}/configmaps"
GLOBAL, FIRST, SECOND = f"global-ranktable-{DEPLOYMENT}", "mindie-server-0", "mindie-server-1"
HEADS = [f"{DEPLOYMENT}-coordinator", f"{DEPLOYMENT}-controller"]
LOST = f"{FIRST}-worker-0"
ELSEWHERE, FROM_THE_HOST = "trained-elsewhere", "from-the-host"
INITIALIZING = {"status": "initializing"}
TRIED_EVERY = 30  # seconds: a ConfigMap of another program's
LONG = 3 * SOON


def run(s):
    lives_in(s, NS)
    s.serve(GROUP, "AscendJob", VERSION)
    s.serve(SCHEDULING, "PodGroup", "v1beta1")
    switch_on(s)
    machines(s)
    # The manifests say that Volcano schedules; the API server asks webhooks over TLS only.
    s.driver = None
    if s.chipweave.https:
        admission(s)
        s.driver = Driver(s)
    s.writes = s.watch_of(MAPS)
    early_subscriber(s)
    submitted(s)
    completed(s)
    replaced(s)
    removed(s)
    killed(s)
    written_by_another(s)
    files_on_the_node(s)
    versions_of_the_tables(s)
    if s.driver:
        s.check("the driver of Volcano ends with 0", s.driver.stop() == 0)
    another_leads(s)
    s.nothing_was_refused(*NODES)
    for pod in s.pods():
        s.delete(pod["metadata"]["name"])
    s.settled()


# The manifests name their namespace.
def lives_in(s, namespace):
    before = s.ns
    s.undo.append(lambda: s.bed.ask("DELETE", f"/api/v1/namespaces/{before}"))
    s.ns, s.pods_path = namespace, f"/api/v1/namespaces/{namespace}/pods"
    s.begin()


# As an operator does. The scheduler would try refused requests again, but this waits until it has the rights.
def switch_on(s):
    s.undo.append(lambda: s.chipweave.helm("upgrade", "--reset-values"))
    s.chipweave.helm("upgrade", "--set", "scheduler.gangs.kinds={ascend,volcano}", "--set",
                     "scheduler.rankTables.write={jobs,mindie}", "--set", "scheduler.clusterd.enabled=true", "--set",
                     f"agent.rankTableFiles.namespaces={{{NS}}},agent.asRoot=true")
    token = s.bed.token("chipweave-scheduler")
    nobodys = lambda: s.bed.ask("POST", f"{MAPS}?dryRun=All", {"metadata": {"name": "nobodys"}}, token)[1]
    s.must_come("the scheduler's right to write ConfigMaps", lambda: "may not write" in str(nobodys()))
    (s.port,) = free_ports(1)
    s.chipweave.flags += [*TABLES, f"--clusterd=127.0.0.1:{s.port}"]
    s.chipweave.restart()


def address(node, chip):
    return f"10.9.{NODES.index(node)}.{chip + 1}"


# Where the agent of the node keeps files.
def tables_of(s, node):
    return s.folder / f"tables-{node}"


# Agents that know the addresses of devices, as those of real machines do.
def machines(s):
    for node in NODES:
        file = machine_file(s.bed, s.chipweave.binaries, s.folder / f"{node}.json", lambda chip: address(node, chip))
        s.add_node(node, {NPU: "8"})
        s.bed.must("PATCH", f"/api/v1/nodes/{node}", {"metadata": {"labels": NODE_LABELS}})
        s.chipweave.start_agent(s.folder, node, f"file:{file}", NPU, "--rank-table-files", NS, "--rank-table-folder",
                                tables_of(s, node))
    s.known(*NODES)
    s.kubelets = Kubelets(s, NODES)


# Before any pod exists. A scheduler that has just started may refuse it for a moment.
def early_subscriber(s):
    s.controller = Controller(s, s.port)
    subscribed = lambda: s.chipweave.metric("chipweave_rank_table_subscribers") == 1
    s.eventually("MindIE's controller registers and subscribes", subscribed, why=s.controller.lines)
    s.refusals = len(s.controller.ends())


# The second server has no ConfigMap beforehand.
def submitted(s):
    head, server = manifests()
    job = server.split("\n---\n")[1].replace(FIRST, SECOND)
    for text in (head, head.replace("controller", "coordinator"), server, job):
        s.bed.kubectl("create", "-f", "-", text=text)
    s.labels = stored(s, f"rings-config-{FIRST}")["metadata"]["labels"]
    for name in (*HEADS, FIRST, SECOND):
        make_pods(s, name)
    names = sorted(pod["metadata"]["name"] for pod in s.pods())
    s.bound(*names, seconds=LONG)
    made = s.must_come("the ConfigMap of the second server", lambda: stored(s, f"rings-config-{SECOND}"))
    meta, owner = made["metadata"], s.bed.must("GET", f"{JOBS}/{SECOND}")["metadata"]["uid"]
    s.check("a ConfigMap that is absent is made for the job", [one["uid"] for one in meta["ownerReferences"]] == [owner] and
            meta["labels"].items() >= {"jobID": DEPLOYMENT, "mx-consumer-cim": "true", **MARKS}.items(), made)
    s.kubelets.report(LOST)
    s.eventually("the server whose pods have addresses has a table", lambda: is_complete(s, SECOND),
                 why=lambda: table(s, SECOND))
    s.check("the one with a pod without address has none", table(s, FIRST) == INITIALIZING, table(s, FIRST))
    s.check("nor has the deployment", not stored(s, GLOBAL) and not s.controller.tables(), s.controller.lines())


def stored(s, name):
    code, answer = s.bed.ask("GET", f"{MAPS}/{name}")
    return answer if code == 200 else None


# hccl.json of a job.
def table(s, job):
    found = stored(s, f"rings-config-{job}")
    return json.loads(found["data"]["hccl.json"]) if found else None


def is_complete(s, job):
    return (table(s, job) or {}).get("status") == "completed"


def global_text(s):
    found = stored(s, GLOBAL)
    return found["data"]["global_ranktable.json"] if found else None


# Of the plan; a job of one pod has none.
def rank_of(pod):
    return int(pod["metadata"]["annotations"].get("chipweave.dev/rank", "0"))


def pods_of(s, job):
    pods = [pod for pod in s.pods() if pod["metadata"]["labels"].get("training.kubeflow.org/job-name") == job]
    return sorted(pods, key=rank_of)


# By what the pods say themselves.
def expected_servers(s, job):
    servers, rank = [], 0
    for pod in pods_of(s, job):
        devices = []
        for name in pod["metadata"]["annotations"][NPU].split(","):
            chip = int(name.removeprefix("Ascend910-"))
            devices.append({"device_id": str(chip), "device_ip": address(pod["spec"]["nodeName"], chip),
                            "rank_id": str(rank)})
            rank += 1
        status = pod["status"]
        servers.append({"server_id": status["hostIP"], "host_ip": status["hostIP"], "container_ip": status["podIP"],
                        "device": devices})
    return servers


def expected_job(s, job):
    servers = expected_servers(s, job)
    return {"status": "completed", "version": "1.0", "server_count": str(len(servers)), "server_list": servers}


def expected_deployment(s, *jobs):
    groups = []
    for name in HEADS:
        (pod,) = [pod for pod in s.pods() if pod["metadata"]["labels"]["training.kubeflow.org/job-name"] == name]
        groups.append([{"server_id": pod["status"]["hostIP"], "server_ip": pod["status"]["podIP"]}])
    for job in jobs:
        groups.append([{"server_id": server["host_ip"], "server_ip": server["container_ip"], "device": [
            {**device, "device_logical_id": str(i)} for i, device in enumerate(server["device"])]}
            for server in expected_servers(s, job)])
    return {"status": "completed", "version": "1.0", "server_group_list": [
        {"group_id": str(i), "server_count": str(len(group)), "server_list": group} for i, group in enumerate(groups)]}


# Checks the table of a job by its pods, and by our linter.
def is_right(s, job):
    s.eventually(f"the table of {job} is complete", lambda: is_complete(s, job),
                 why=lambda: (table(s, job), incomplete(s, job)))
    wanted = expected_job(s, job)
    s.eventually("it has the devices and addresses of the pods, in the order of the plan", lambda: table(s, job) == wanted,
                 why=lambda: (table(s, job), wanted))
    servers = wanted["server_list"]
    s.check("which ranks all its pods", [rank_of(pod) for pod in pods_of(s, job)] == [0, 1], s.pods())
    s.check("every pod has all chips of a machine of its own", [len(one["device"]) for one in servers] == [8, 8] and
            len({one["host_ip"] for one in servers}) == 2, wanted)
    lint(s, f"{job}.json", stored(s, f"rings-config-{job}")["data"]["hccl.json"], "--profile", "hccl-a2", "--strict")


def lint(s, name, text, *flags):
    file = s.folder / name
    file.write_text(text)
    file.chmod(0o640)  # of which the linter warns otherwise
    for more in ((), flags):
        done = subprocess.run([s.chipweave.binaries / "chipweave", "ranktable", "lint", file, *more], capture_output=True,
                              text=True)
        s.check(" ".join((f"{name} passes chipweave ranktable lint", *more)), done.returncode == 0, done)


# Checks that the subscriber has so many tables now, the last of them with these servers.
def subscriber_has(s, count, *jobs, seconds=SOON):
    tables = s.controller.tables
    s.eventually(f"table {count} arrives at the subscriber", lambda: len(tables()) == count, seconds,
                 why=lambda: (tables(), s.chipweave.ask("GET", f"/api/v1/ranktables/{NS}/{DEPLOYMENT}")))
    wanted = expected_deployment(s, *jobs)
    s.check(f"it has the coordinator, the controller and {' and '.join(jobs)}", json.loads(tables()[-1]) == wanted,
            (tables()[-1:], wanted))
    s.eventually("the ConfigMap is equal", lambda: global_text(s) == tables()[-1], why=lambda: (global_text(s), tables()[-1]))
    lint(s, f"global-{count}.json", tables()[-1], "--profile", "mindie-motor")


def completed(s):
    s.kubelets.report()
    for job in (FIRST, SECOND):
        is_right(s, job)
    subscriber_has(s, 1, FIRST, SECOND)
    now = stored(s, f"rings-config-{FIRST}")["metadata"]
    s.check("the ConfigMap that the user made keeps its labels", now["labels"].items() >= s.labels.items() and
            not now.get("ownerReferences"), (s.labels, now))
    owners = [one["kind"] for one in stored(s, GLOBAL)["metadata"]["ownerReferences"]]
    s.check("the ConfigMap of the deployment goes with a job, and not with a pod", owners == ["AscendJob"], owners)
    s.eventually("an event of the job says so", lambda: job_events(s, FIRST, "RankTableComplete"), why=s.all_events)


def job_events(s, job, reason):
    return [event["note"] for event in s.events(job, reason) if event["regarding"]["kind"] == "AscendJob"]


def incomplete(s, job):
    return job_events(s, job, "RankTableIncomplete")


# Its node is cordoned, so that it comes back on the free one.
def replaced(s):
    before, text = s.pod(LOST), s.controller.tables()[-1]
    node = before["spec"]["nodeName"]
    s.bed.must("PATCH", f"/api/v1/nodes/{node}", {"spec": {"unschedulable": True}})
    s.delete(LOST)
    s.eventually("without one of its pods the table of a server is empty", lambda: table(s, FIRST) == INITIALIZING,
                 why=lambda: table(s, FIRST))
    make_pods(s, FIRST)
    after = s.bound(LOST, seconds=LONG)[LOST]
    s.check("the pod comes back on another node, with its rank", after and after["spec"]["nodeName"] != node and
            rank_of(after) == rank_of(before), after)
    s.check("before it has its address, no table is complete", table(s, FIRST) == INITIALIZING and
            s.controller.tables() == [text] and global_text(s) == text, s.controller.lines())
    s.kubelets.report()
    is_right(s, FIRST)
    subscriber_has(s, 2, FIRST, SECOND)
    s.check("the table of the other server stays", table(s, SECOND) == expected_job(s, SECOND), table(s, SECOND))
    s.bed.must("PATCH", f"/api/v1/nodes/{node}", {"spec": {"unschedulable": None}})


# First its pods go: as long as its AscendJob is there, they may come back.
def removed(s):
    pods = [pod["metadata"]["name"] for pod in pods_of(s, SECOND)]
    for name in pods:
        s.delete(name)
    s.eventually("without its pods the table of a server is empty", lambda: table(s, SECOND) in (INITIALIZING, None),
                 why=lambda: table(s, SECOND))
    shown = lambda: s.chipweave.ask("GET", f"/api/v1/ranktables/{NS}/{DEPLOYMENT}")[1]
    s.eventually("the deployment misses them", lambda: SECOND in str(shown()), why=shown)
    s.check("which is no reason for another table", len(s.controller.tables()) == 2, s.controller.lines())
    s.bed.must("DELETE", f"{JOBS}/{SECOND}")
    # Its PodGroup speaks of the job until Kubernetes' garbage collector removes it, which looks for new kinds twice a minute.
    subscriber_has(s, 3, FIRST, seconds=LONG)
    s.eventually("its ConfigMap goes with the job", lambda: not stored(s, f"rings-config-{SECOND}"), LONG,
                 lambda: stored(s, f"rings-config-{SECOND}"))


def versions(s):
    return {name: stored(s, name)["metadata"]["resourceVersion"] for name in (GLOBAL, f"rings-config-{FIRST}")}


def killed(s):
    s.versions, tables = versions(s), s.controller.tables
    ends = lambda: s.controller.ends()[s.refusals:]
    s.check("until then the subscription has not ended", not ends(), ends())
    s.chipweave.restart()
    s.eventually("after kill -9 the subscriber subscribes again and has the same table", lambda: len(tables()) == 4 and
                 tables()[3] == tables()[2], LONG, lambda: s.controller.lines()[-5:])
    s.check("its stream failed, as its server was gone", ends() and ends()[0] == "UNAVAILABLE", s.controller.lines())


# A job of one pod, without MindIE.
def written_by_another(s):
    job = ELSEWHERE
    text = json.dumps({"status": "completed", "version": "1.0", "server_count": "1", "server_list": [
        {"server_id": "10.1.0.99", "device": [{"device_id": "0", "device_ip": "192.0.2.99", "rank_id": "0"}]}]})
    body = {"metadata": {"name": f"rings-config-{job}"}, "data": {"hccl.json": text}}
    version = s.bed.must("POST", MAPS, body)["metadata"]["resourceVersion"]
    s.bed.kubectl("create", "-f", "-", text=json.dumps(ascend_job(job, MARKS, ("Master",), 8)))
    make_pods(s, job)
    s.bound(f"{job}-master-0", seconds=LONG)
    s.kubelets.report()
    s.eventually("an event of the job says that the ConfigMap is another program's", lambda: any(
        "not written" in note for note in incomplete(s, job)), LONG, s.all_events)
    s.check("and none that it is complete", not job_events(s, job, "RankTableComplete"), s.all_events())
    now = stored(s, f"rings-config-{job}")
    s.check("which is left alone", now["metadata"]["resourceVersion"] == version and now["data"] == {"hccl.json": text}, now)
    s.bed.must("DELETE", f"{MAPS}/rings-config-{job}")
    s.eventually("when it is gone, ours comes", lambda: table(s, job) == expected_job(s, job), TRIED_EVERY + LONG,
                 lambda: (table(s, job), expected_job(s, job)))
    s.eventually("with the event", lambda: job_events(s, job, "RankTableComplete"), why=s.all_events)


# A job of one pod that mounts its table from the host, on the node that is free.
def files_on_the_node(s):
    (node,) = [node for node in NODES if len(s.free(node)) == 8][:1]
    s.bed.must("PATCH", f"/api/v1/nodes/{node}", {"metadata": {"labels": {"files": "yes"}}})
    job = ascend_job(FROM_THE_HOST, MARKS, ("Master",), 8)
    spec, folder = job["spec"]["replicaSpecs"]["Master"]["template"]["spec"], tables_of(s, node) / f"{NS}.{FROM_THE_HOST}"
    spec["volumes"] = [{"name": "ranktable", "hostPath": {"path": str(folder), "type": "DirectoryOrCreate"}}]
    spec["nodeSelector"] = {"files": "yes"}
    s.bed.kubectl("create", "-f", "-", text=json.dumps(job))
    make_pods(s, FROM_THE_HOST)
    name = f"{FROM_THE_HOST}-master-0"
    s.bound(name, seconds=LONG)
    there = lambda: {file.name: file.read_text() for file in folder.glob("*")}
    s.eventually("a pod that mounts its table from the host finds one that is not complete", lambda: json.loads(
        there().get("hccl.json", "{}")) == INITIALIZING, why=there)
    s.kubelets.report()
    same = lambda: is_complete(s, FROM_THE_HOST) and there() == stored(s, f"rings-config-{FROM_THE_HOST}")["data"]
    s.eventually("and then that of the ConfigMap", same, LONG, lambda: (there(), stored(s, f"rings-config-{FROM_THE_HOST}")))
    before = there()
    s.agent(node).kill()
    s.agent(node).start()
    s.known(node)
    s.check("a new agent leaves it as it is", there() == before, there())
    s.delete(name)
    s.eventually("without the pod it is empty", lambda: json.loads(there().get("hccl.json", "{}")) == INITIALIZING, why=there)
    s.check("no other node has one", not [one for one in NODES if one != node and list(tables_of(s, one).glob("[a-z]*"))])


# All that was written, in the order in which it was.
def versions_of_the_tables(s):
    s.check("after kill -9 no table was written again", versions(s) == s.versions, (versions(s), s.versions))
    texts = [what["data"]["global_ranktable.json"] for kind, what in s.writes.of(GLOBAL) if kind != "DELETED"]
    s.check("the ConfigMap had the tables of the subscriber and no others", texts == s.controller.tables()[:3], texts)
    seen = [json.loads(what["data"]["hccl.json"])["status"] for _, what in s.writes.of(f"rings-config-{FIRST}")]
    changes = [status for i, status in enumerate(seen) if i == 0 or status != seen[i - 1]]
    s.check("that of the first server was complete, empty and complete", changes == ["initializing", "completed"] * 2, seen)
    s.check("the subscriber had no other table", len(s.controller.tables()) == 4, s.controller.lines())
    refused = [line for line in s.chipweave.log.read_text().splitlines() if "HTTP 4" in line and
               ("configmaps" in line or "ascendjobs" in line)]
    s.check("no ConfigMap and no AscendJob was refused to the scheduler", not refused, refused)
    warned = {event["regarding"]["name"] for event in s.all_events() if event["reason"] == "RankTableIncomplete"}
    s.check("no other job has a warning about its table", warned == {ELSEWHERE}, s.all_events())


# Two replicas, as the chart runs them; the subscriber reaches the leader by the Service.
def another_leads(s):
    if not s.chipweave.https:
        print("     replicas ask and answer over TLS only", flush=True)
        return
    before, tables = versions(s), s.controller.tables
    last, count = tables()[-1], len(tables())
    same = lambda more: tables()[count:] == [last] * more
    r = Replicas(s)
    r.ways.append(Way(r.loop, s.port, lambda: r.port_behind(CLUSTERD)))
    s.eventually("by the chart's Service the subscriber has the table of the leader", lambda: same(1), LONG,
                 lambda: (r.state(), s.controller.lines()[-5:]))
    old = r.leader()
    s.check("the Service leads to the leader alone", r.behind(CLUSTERD) == [old.pod], r.state())
    old.kill()
    s.must_come("another leader", lambda: r.leads_instead_of(old), why=r.state)
    s.eventually("after kill -9 the subscriber has the same table from the other replica", lambda: same(2), LONG,
                 lambda: (r.state(), s.controller.lines()[-5:]))
    s.check("which has not written it again", versions(s) == before, (versions(s), before))
    r.stop()
    s.must_come("one scheduler for all", lambda: set(NODES) <= set(s.chipweave.nodes()))
