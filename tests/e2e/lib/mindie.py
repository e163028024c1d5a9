"""MindIE on a testbed: its AscendJobs and their manifests, their pods as ascend-operator makes them, the addresses that kubelets
report, and its controller as a subscriber to the global rank table."""
import contextlib, json, subprocess, tempfile
from pathlib import Path

from lib.ascend import users_manifests
from lib.volcano import GROUP as GANG
from lib.volcano import MEMBERS, ROLE

NS, DEPLOYMENT = "mindie", "mindie-ms-test"  # as the manifests have them
GROUP, VERSION = "mindxdl.gitee.com", "v1"
JOBS = f"/apis/{GROUP}/{VERSION}/namespaces/{NS}/ascendjobs"
NPU = "huawei.com/Ascend910"
NODE_LABELS = {"accelerator": "huawei-Ascend910", "accelerator-type": "module-910b-8"}
MARKS = {"ring-controller.atlas": "ascend-910b"}
PYTHON = "/usr/bin/python3"  # Debian's, for which scripts/setup installs gRPC
OPERATOR = "ascendjob-controller"
SCHEDULING = "scheduling.volcano.sh"


# --- what users submit

# An AscendJob with one pod in each role.
def ascend_job(name, labels, roles, chips=0):
    resources = {"limits": {NPU: chips}, "requests": {NPU: chips}} if chips else {}
    spec = {"containers": [{"name": "ascend", "image": "registry.example.com/none", "resources": resources}]}
    if chips:
        spec["nodeSelector"] = NODE_LABELS
    template = {"metadata": {"labels": labels}, "spec": spec}
    return {"apiVersion": f"{GROUP}/{VERSION}", "kind": "AscendJob",
            "metadata": {"name": name, "namespace": NS, "labels": labels},
            "spec": {"schedulerName": "volcano",
                     "runPolicy": {"schedulingPolicy": {"minAvailable": len(roles), "queue": "default"}},
                     "replicaSpecs": {role: {"replicas": 1, "template": template} for role in roles}}}


# As files, like those of MindIE's examples.
def own_manifests():
    labels = lambda part: {"app": f"mindie-ms-{part}", "jobID": DEPLOYMENT, **MARKS}
    table = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"hccl.json": '{"status":"initializing"}'},
             "metadata": {"name": "rings-config-mindie-server-0", "namespace": NS,
                          "labels": {"jobID": DEPLOYMENT, "mx-consumer-cim": "true", **MARKS}}}
    server = ascend_job("mindie-server-0", labels("server"), ("Master", "Worker"), 8)
    return (json.dumps(ascend_job(f"{DEPLOYMENT}-controller", labels("controller"), ("Master",))),
            json.dumps(table) + "\n---\n" + json.dumps(server))


# Texts of the controller and of the first server with its ConfigMap.
def manifests():
    return users_manifests("mindie-controller.yaml", "mindie-server-0.yaml") or own_manifests()


# --- what MindCluster and the kubelet do

# Makes the pods of a job that are not there, as ascend-operator does; for Volcano if there is a driver that plays it, with
# the job's PodGroup, else for kube-scheduler.
def make_pods(s, name):
    job, rank = s.bed.must("GET", f"{JOBS}/{name}"), 0
    members = sum(replica["replicas"] for replica in job["spec"]["replicaSpecs"].values())
    if s.driver:
        body = {"apiVersion": f"{SCHEDULING}/v1beta1", "kind": "PodGroup", "metadata": {"name": name, "ownerReferences": [owner_of(job)]},
                "spec": {"minMember": members}}
        code, answer = s.bed.ask("POST", f"/apis/{SCHEDULING}/v1beta1/namespaces/{NS}/podgroups", body)
        if code not in (201, 409):
            raise RuntimeError(f"no PodGroup of {name}: {code}: {answer}")
    for role, replica in job["spec"]["replicaSpecs"].items():
        for index in range(replica["replicas"]):
            pod = pod_of(job, role, index, rank, replica["template"])
            if s.driver:
                pod["spec"]["schedulerName"] = job["spec"]["schedulerName"]
                pod["metadata"]["annotations"] |= {GANG: name, MEMBERS: str(members), ROLE: role.lower()}
            code, answer = s.bed.ask("POST", s.pods_path, pod)
            if code not in (201, 409):
                raise RuntimeError(f"no pod of {name}: {code}: {answer}")
            rank += 1


def owner_of(job):
    meta = job["metadata"]
    return {"apiVersion": job["apiVersion"], "kind": job["kind"], "name": meta["name"], "uid": meta["uid"],
            "controller": True, "blockOwnerDeletion": True}


def pod_of(job, role, index, rank, template):
    meta = job["metadata"]
    labels = {"group-name": GROUP, "job-name": meta["name"], "training.kubeflow.org/job-name": meta["name"],
              "training.kubeflow.org/operator-name": OPERATOR, "training.kubeflow.org/replica-type": role.lower(),
              "training.kubeflow.org/replica-index": str(index)}
    return {"apiVersion": "v1", "kind": "Pod", "spec": {**template["spec"], "terminationGracePeriodSeconds": 0},
            "metadata": {"name": f"{meta['name']}-{role.lower()}-{index}", "ownerReferences": [owner_of(job)],
                         "labels": {**template["metadata"]["labels"], **labels}, "annotations": {"hccl/rankIndex": str(rank)}}}


# The machines of the nodes, and what their kubelets report of pods: nothing runs on these nodes.
class Kubelets:
    def __init__(self, s, nodes):
        self.s, self.started = s, 0
        self.hosts = {node: f"10.1.0.{number}" for number, node in enumerate(nodes, 1)}

    # The pods that are bound have their addresses; those of `later` not yet.
    def report(self, *later):
        for pod in self.s.pods():
            name, node = pod["metadata"]["name"], pod["spec"].get("nodeName")
            if not node or name in later or pod["status"].get("podIP"):
                continue
            self.started += 1
            host, address = self.hosts[node], f"10.244.0.{self.started}"
            self.s.bed.must("PATCH", f"{self.s.pods_path}/{name}/status", {"status": {
                "phase": "Running", "hostIP": host, "hostIPs": [{"ip": host}], "podIP": address, "podIPs": [{"ip": address}]}})


# --- the subscriber

class Controller:
    """MindIE's controller, as far as its rank table goes, in a process of its own."""

    def __init__(self, s, port, deployment=DEPLOYMENT):
        if subprocess.run([PYTHON, "-c", "import grpc, google.protobuf"], capture_output=True).returncode != 0:
            raise RuntimeError(f"gRPC for {PYTHON} is not installed; scripts/setup test installs it")
        self.log = s.folder / f"controller-{deployment}.log"
        self.process = s.bed.start(self.log, PYTHON, Path(__file__).parent / "mindie_controller.py",
                                   tempfile.mkdtemp(dir=s.folder), f"127.0.0.1:{port}", deployment)
        s.undo.append(lambda: s.bed.end(self.process))

    # What happened so far; the last line may be half.
    def lines(self):
        found = []
        for line in self.log.read_text().splitlines():
            with contextlib.suppress(ValueError):
                found.append(json.loads(line))
        return found

    def tables(self):
        return [line["table"] for line in self.lines() if "table" in line]

    # Statuses with which calls and streams ended.
    def ends(self):
        return [line["end"] for line in self.lines() if "end" in line]
