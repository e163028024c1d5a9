"""Route planning for a Volcano Job of ModelArts that is submitted as users do, and the tables of prefill and decode instances:
the driver that plays Volcano binds the pods, their ConfigMaps fill, and the init command writes each pod's rank. A pod comes back
elsewhere, the scheduler is killed, a ConfigMap that a user made beforehand is filled in."""
import base64, gzip, json, os, subprocess

from lib.ascend import machine_file, users_manifests
from lib.gangs import BLOCK, RACK
from lib.mindie import Kubelets
from lib.scenario import SOON
from lib.volcano import GROUP, MEMBERS, NAME, ROLE, Driver, admission

NPU = "huawei.com/ascend-1980"
NODES = [f"route-{number}" for number in range(7)]  # six pods, and one more
RACKS = ["r0", "r1", "r0", "r1", "r1", "r0", "r1"]
JOB = "yourvcjobname"  # as the manifest has it
BATCH = "batch.volcano.sh"
TABLES = ["--rank-tables=modelarts,pd", "--gang-kinds=volcano"]
LABELS = {"accelerator/huawei-npu": "ascend-1980"}
INITIALIZING = {"status": "initializing"}
LONG = 3 * SOON


def run(s):
    if not s.chipweave.https:
        print("     the API server asks webhooks over TLS only", flush=True)
        return
    s.maps = f"/api/v1/namespaces/{s.ns}/configmaps"
    s.serve("scheduling.volcano.sh", "PodGroup", "v1beta1")
    s.serve(BATCH, "Job", "v1alpha1")
    switch_on(s)
    machines(s)
    admission(s)
    submitted(s)
    replaced(s)
    killed(s)
    prefill_and_decode(s)
    refused = [line for line in s.chipweave.log.read_text().splitlines() if "HTTP 4" in line and "configmaps" in line]
    s.check("no ConfigMap was refused to the scheduler", not refused, refused)
    s.remove_all()
    s.settled(LONG)


def switch_on(s):
    s.undo.append(lambda: s.chipweave.helm("upgrade", "--reset-values"))
    s.chipweave.helm("upgrade", "--set", "scheduler.gangs.kinds={volcano}", "--set", "scheduler.rankTables.write={modelarts,pd}")
    token = s.bed.token("chipweave-scheduler")
    nobodys = lambda: s.bed.ask("POST", f"{s.maps}?dryRun=All", {"metadata": {"name": "nobodys"}}, token)[1]
    s.must_come("the scheduler's right to write ConfigMaps", lambda: "may not write" in str(nobodys()))
    s.chipweave.flags += TABLES
    s.chipweave.restart()


def address(node, chip):
    return f"10.9.{NODES.index(node)}.{chip + 1}"


def machines(s):
    for node, rack in zip(NODES, RACKS):
        file = machine_file(s.bed, s.chipweave.binaries, s.folder / f"{node}.json", lambda chip: address(node, chip))
        s.add_node(node, {NPU: "8"})
        s.bed.must("PATCH", f"/api/v1/nodes/{node}", {"metadata": {"labels": {**LABELS, BLOCK: "b0", RACK: rack}}})
        s.chipweave.start_agent(s.folder, node, f"file:{file}", NPU)
    s.known(*NODES)
    s.kubelets = Kubelets(s, NODES)


def manifest(s):
    if users := users_manifests("modelarts-volcano-job.yaml"):
        return users[0].replace("namespace: default", f"namespace: {s.ns}")
    resources = {"limits": {NPU: "8"}, "requests": {NPU: "8"}}
    template = {"metadata": {"annotations": {"cabinet": "cabinet"}, "labels": {"ring-controller.cce": "ascend-1980"}},
                "spec": {"containers": [{"name": "train", "image": "registry.example.com/none", "resources": resources}],
                         "nodeSelector": LABELS}}
    return json.dumps({"apiVersion": f"{BATCH}/v1alpha1", "kind": "Job", "metadata": {"name": JOB, "namespace": s.ns},
                       "spec": {"minAvailable": 6, "schedulerName": NAME, "plugins": {"svc": []},
                                "tasks": [{"name": "worker", "replicas": 6, "template": template}]}})


# As Volcano's controller makes them of its Job, without what needs files of the host.
def make_pods(s):
    job = s.bed.must("GET", f"/apis/{BATCH}/v1alpha1/namespaces/{s.ns}/jobs/{JOB}")
    (task,) = job["spec"]["tasks"]
    template = task["template"]
    container = {"name": "c", "image": "registry.example.com/none",
                 "resources": template["spec"]["containers"][0]["resources"]}
    for index in range(task["replicas"]):
        marks = {"volcano.sh/job-name": JOB, ROLE: task["name"]}
        meta = {"name": f"{JOB}-{task['name']}-{index}",
                "labels": {**template["metadata"]["labels"], **marks, "volcano.sh/task-index": str(index)},
                "annotations": {**template["metadata"].get("annotations", {}), **marks, GROUP: JOB,
                                "volcano.sh/task-index": str(index), MEMBERS: str(task["replicas"])}}
        spec = {"containers": [container], "schedulerName": NAME, "subdomain": JOB, "terminationGracePeriodSeconds": 0,
                "nodeSelector": template["spec"]["nodeSelector"], "affinity": template["spec"].get("affinity", {})}
        code, answer = s.bed.ask("POST", s.pods_path, {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec})
        if code not in (201, 409):
            raise RuntimeError(f"no pod {index}: {code}: {answer}")
    return [f"{JOB}-{task['name']}-{index}" for index in range(task["replicas"])]


# The files of a ConfigMap.
def files(s, name):
    code, answer = s.bed.ask("GET", f"{s.maps}/{name}")
    return answer["data"] if code == 200 else {}


def table(s):
    return json.loads(files(s, f"ranktable-{JOB}").get("jobstart_hccl.json", "{}"))


def tors(s):
    packed = files(s, f"torlist-{JOB}").get("ranktable_tor.json")
    return json.loads(gzip.decompress(base64.b64decode(packed))) if packed else {}


def is_complete(s):
    return table(s).get("status") == "completed" and tors(s).get("status") == "completed"


def workers(s, names):
    return [s.pod(name) for name in names]


# device_ids and ranks by server_id.
def ranks(of):
    return {server["server_id"]: [(one["device_id"], one["device_ip"], one["rank_id"]) for one in server["device"]]
            for server in of.get("server_list", [])}


# A user has made the first one, as the guides of ModelArts say.
def submitted(s):
    body = {"metadata": {"name": f"ranktable-{JOB}", "labels": {"team": "a"}},
            "data": {"jobstart_hccl.json": json.dumps(INITIALIZING)}}
    s.bed.must("POST", s.maps, body)
    s.bed.kubectl("create", "-f", "-", text=manifest(s))
    s.bed.must("POST", f"/apis/scheduling.volcano.sh/v1beta1/namespaces/{s.ns}/podgroups",
               {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": JOB},
                "spec": {"minMember": 6}})
    s.names = make_pods(s)
    s.eventually("pods that wait have a table to mount", lambda: tors(s) == INITIALIZING and
                 table(s)["status"] == "initializing", why=lambda: (table(s), tors(s)))
    s.driver = Driver(s)
    s.bound(*s.names, seconds=LONG)
    s.check("before pods have addresses the table is not complete", not is_complete(s))
    s.kubelets.report()
    s.order = complete(s)
    crosses_few(s, s.order)
    meta = s.bed.must("GET", f"{s.maps}/ranktable-{JOB}")["metadata"]
    s.check("the ConfigMap that the user made keeps its labels", meta["labels"]["team"] == "a", meta)


def complete(s):
    s.eventually("the tables are complete", lambda: is_complete(s), LONG,
                 lambda: (table(s), tors(s), s.chipweave.ask("GET", f"/api/v1/ranktables/{s.ns}/{JOB}")))
    pods = workers(s, s.names)
    wanted = {pod["status"]["hostIP"]: [(str(chip), address(pod["spec"]["nodeName"], chip)) for chip in range(8)]
              for pod in pods}
    found = {server: [one[:2] for one in devices] for server, devices in ranks(table(s)).items()}
    s.check("they have the devices and addresses of the pods", found == wanted, (found, wanted))
    numbers = sorted(int(one[2]) for devices in ranks(table(s)).values() for one in devices)
    s.check("ranked from 0", numbers == [*range(48)], numbers)
    s.check("each pod with the switch of its node", [server["device"][0]["tor_ip"] for server in tors(s)["server_list"]] ==
            [f"b0/{RACKS[NODES.index(pod['spec']['nodeName'])]}" for pod in pods], tors(s))
    s.check("with equal ranks in both", {one["pod_name"]: one["device"][0]["rank_id"] for one in tors(s)["server_list"]} ==
            {pod["metadata"]["name"]: ranks(table(s))[pod["status"]["hostIP"]][0][2] for pod in pods}, tors(s))
    return planned(s, pods)


# What the init container of each pod does with the files that are mounted there.
def planned(s, pods):
    folder = s.folder / "config"
    folder.mkdir(exist_ok=True)
    for name in (f"ranktable-{JOB}", f"torlist-{JOB}"):
        for key, text in files(s, name).items():
            (folder / key).write_text(text)
    order, masters = [], set()
    for index in range(len(pods)):
        out = s.folder / f"init-{index}"
        out.mkdir(exist_ok=True)
        done = subprocess.run([s.chipweave.binaries / "chipweave", "route", "init", "--config", folder, "--dir", out, "--wait", "5s"],
                              capture_output=True, text=True, env={**os.environ, "VC_TASK_INDEX": str(index), "MA_NUM_HOSTS": "6"})
        s.check(f"init of pod {index} ends with 0", done.returncode == 0, done)
        order.append(int((out / "RANK_AFTER_ACC").read_text()))
        masters.add(int((out / "MASTER_INDEX").read_text()))
    s.check("each pod has its rank", sorted(order) == [*range(len(pods))], order)
    s.check("and all the same master, which has rank 0", [order[one] for one in masters] == [0], (order, masters))
    return order


def crosses_few(s, order):
    pods = workers(s, s.names)
    racks = [RACKS[NODES.index(pod["spec"]["nodeName"])] for _, pod in sorted(zip(order, pods), key=lambda one: one[0])]
    borders = sum(a != b for a, b in zip(racks, racks[1:] + racks[:1]))
    s.check("the ring of ranks crosses as few switches as can be", borders == 2, racks)


def replaced(s):
    before, pod = ranks(table(s)), s.pod(s.names[1])
    node = pod["spec"]["nodeName"]
    s.bed.must("PATCH", f"/api/v1/nodes/{node}", {"spec": {"unschedulable": True}})
    s.delete(s.names[1])
    s.eventually("without one of its pods the status is initializing, and the list stays", lambda:
                 table(s).get("status") == "initializing" and ranks(table(s)) == before and tors(s) == INITIALIZING,
                 why=lambda: (table(s), tors(s)))
    make_pods(s)
    s.bound(s.names[1], seconds=LONG)
    s.kubelets.report()
    order = complete(s)
    s.check("no pod that runs has another rank by the plan", order == s.order, (order, s.order))
    after = ranks(table(s))
    gone = pod["status"]["hostIP"]
    s.check("machines that stay keep their ranks", {host: after.get(host) for host in before if host != gone} ==
            {host: one for host, one in before.items() if host != gone}, (before, after))
    s.check("the new one has those that are free", sorted(one[2] for host, all in after.items() if host not in before
                                                          for one in all) == sorted(one[2] for one in before[gone]), after)
    s.bed.must("PATCH", f"/api/v1/nodes/{node}", {"spec": {"unschedulable": None}})


def killed(s):
    versions = lambda: {name: s.bed.must("GET", f"{s.maps}/{name}")["metadata"]["resourceVersion"]
                        for name in (f"ranktable-{JOB}", f"torlist-{JOB}")}
    before, kept = versions(), ranks(table(s))
    s.chipweave.restart()
    shown = lambda: s.chipweave.ask("GET", f"/api/v1/ranktables/{s.ns}/{JOB}")
    same = lambda: shown()[0] == 200 and ranks(shown()[1]["items"][0]["table"]) == kept
    s.eventually("after kill -9 our scheduler has the same table", same, LONG, shown)
    s.check("and has not written it again", versions() == before, (versions(), before))
    s.check("every reply to Volcano could be used", not s.driver.errors(), s.driver.errors())
    s.check("the driver ends with 0", s.driver.stop() == 0)
    s.remove_all()
    # A Job that is there makes its pods again, so its table waits for them.
    s.eventually("without its pods the table is not complete", lambda: table(s).get("status") == "initializing",
                 why=lambda: table(s))
    for path in ("scheduling.volcano.sh/v1beta1", "podgroups"), (f"{BATCH}/v1alpha1", "jobs"):
        s.bed.must("DELETE", f"/apis/{path[0]}/namespaces/{s.ns}/{path[1]}/{JOB}")
    s.eventually("without the Job, too", lambda: table(s) == INITIALIZING, LONG, lambda: table(s))


# Three instances of four chips and an API server, as pods of Deployments; kube-scheduler binds them.
def prefill_and_decode(s):
    name = "pd-ranktable-chat"
    marks = lambda role: {"chipweave.dev/pd-deployment": "chat", "chipweave.dev/pd-role": role}
    for role, pods, chips in (("scheduler", 1, 0), ("prefill", 2, 4), ("decode", 1, 4)):
        for index in range(pods):
            body = s.pod_body(f"{role}-{index}", chips, NPU, labels=marks(role), nodeSelector=LABELS)
            body["metadata"]["annotations"] = {"chipweave.dev/pd-pods": str(pods)}
            s.bed.must("POST", s.pods_path, body)
    names = ["scheduler-0", "prefill-0", "prefill-1", "decode-0"]
    s.eventually("pods that wait have a table to mount", lambda: set(files(s, name)) == {
        "global_ranktable.json", "version", *(f"local_ranktable_{pod}.json" for pod in names)}, why=lambda: files(s, name))
    s.bound(*names, seconds=LONG)
    s.kubelets.report()
    shown = lambda: json.loads(files(s, name)["global_ranktable.json"])
    s.eventually("the table of the deployment is complete", lambda: shown().get("status") == "completed", why=lambda: (
        shown(), s.chipweave.ask("GET", f"/api/v1/ranktables/{s.ns}/chat")))
    host = lambda pod: s.pod(pod)["status"]["hostIP"]
    found = {group["group_id"]: [(server["server_id"], [one["device_ip"] for one in server.get("device", [])])
                                 for server in group["server_list"]] for group in shown()["server_group_list"]}
    devices = lambda pod: [address(s.pod(pod)["spec"]["nodeName"], chip) for chip in s.chips_of(s.pod(pod))]
    wanted = {"0": [(host("scheduler-0"), [])], "1": [(host(pod), devices(pod)) for pod in ("prefill-0", "prefill-1")],
              "2": [(host("decode-0"), devices("decode-0"))]}
    s.check("it has the API server, the instances that prefill and those that decode", found == wanted, (found, wanted))
    for key, text in files(s, name).items():
        if key == "version":
            continue
        file = s.folder / key
        file.write_text(text)
        done = subprocess.run([s.chipweave.binaries / "chipweave", "ranktable", "lint", file, "--profile", "modelarts"],
                              capture_output=True, text=True)
        s.check(f"{key} passes chipweave ranktable lint", done.returncode == 0, done)
    local = json.loads(files(s, name)["local_ranktable_decode-0.json"])
    s.check("a local table is the entry of its pod", local["server_list"] == shown()["server_group_list"][2]["server_list"], local)
