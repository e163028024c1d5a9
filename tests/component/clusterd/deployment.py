"""A MindIE deployment on a standalone scheduler, and a client that follows its rank table as MindIE's controller does."""
import importlib, json, subprocess, sys, tempfile, threading, time, urllib.request
from pathlib import Path

import grpc

PATIENCE = 60  # for what must come; never how long it takes
RESOURCE = "huawei.com/Ascend910"


def make_stubs(source, work, name="config"):
    """The messages of config.proto, or another one, as a client in another language makes them of the proto alone."""
    subprocess.run(["protoc", f"-I{source}/proto/mindcluster", f"--python_out={work}", f"{name}.proto"], check=True)
    if str(work) not in sys.path:
        sys.path.insert(0, str(work))
    return importlib.import_module(f"{name}_pb2")


class Controller(threading.Thread):
    """Registers, subscribes and reads until the stream ends; then again, a moment later if it failed."""

    def __init__(self, stubs, address, job, role="controller"):
        super().__init__(daemon=True)
        self.stubs, self.address, self.job, self.role = stubs, address, job, role
        self.tables, self.ends, self.news, self.stopped = [], [], threading.Condition(), False
        self.channel = None

    def run(self):
        while not self.stopped:
            try:
                self.follow()
                self.told("OK")
            except grpc.RpcError as error:
                self.told(error.code().name)
                time.sleep(0.2)

    def told(self, end):
        with self.news:
            self.ends.append(end)
            self.news.notify_all()

    def follow(self):
        options = [("grpc.keepalive_time_ms", 3000), ("grpc.keepalive_permit_without_calls", 1),
                   ("grpc.use_local_subchannel_pool", 1)]
        with grpc.insecure_channel(self.address(), options) as self.channel:
            register, subscribe = methods(self.stubs, self.channel)
            client = self.stubs.ClientInfo(jobId=self.job, role=self.role)
            for _ in range(2):  # the real one does, too
                status = register(client, timeout=PATIENCE)
                assert status.code == 0, status
            for message in subscribe(client):
                assert message.jobId == self.job, message
                with self.news:
                    self.tables.append(message.rankTable)
                    self.news.notify_all()

    def wait(self, what, condition):
        with self.news:
            if not self.news.wait_for(condition, PATIENCE):
                raise AssertionError(f"{what} did not come: {len(self.tables)} tables, ends {self.ends[-5:]}")

    def stop(self):
        self.stopped = True
        if self.channel:
            self.channel.close()


def methods(stubs, channel):
    return (channel.unary_unary("/config.Config/Register", stubs.ClientInfo.SerializeToString, stubs.Status.FromString),
            channel.unary_stream("/config.Config/SubscribeRankTable", stubs.ClientInfo.SerializeToString,
                                 stubs.RankTableStream.FromString))


def job_methods(stubs, channel):
    """Register, SubscribeJobSummarySignal and SubscribeJobSummarySignalList of job.Job."""
    send = stubs.ClientInfo.SerializeToString
    return (channel.unary_unary("/job.Job/Register", send, stubs.Status.FromString),
            channel.unary_stream("/job.Job/SubscribeJobSummarySignal", send, stubs.JobSummarySignal.FromString),
            channel.unary_stream("/job.Job/SubscribeJobSummarySignalList", send, stubs.JobSummarySignalList.FromString))


class Deployment:
    """Its scheduler, nodes n0, n1 … with addresses of devices, and its pods."""

    def __init__(self, bin, nodes, host="127.0.0.1"):
        self.bin, self.nodes, self.host = bin, nodes, host
        self.work = Path(tempfile.mkdtemp())
        self.processes = []

    def start(self):
        self.start_scheduler()
        self.start_nodes()

    def start_scheduler(self):
        ports = self.work / "ports.json"
        ports.unlink(missing_ok=True)
        self.run("chipweave-scheduler", "--standalone", "--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0",
                 "--clusterd", f"{self.host}:0", "--port-file", ports)
        until("the scheduler's ports", lambda: ports.exists() and ports.read_text().strip())
        self.ports = json.loads(ports.read_text())

    def start_nodes(self):
        shown = subprocess.run([self.bin / "chipweave", "topo", "show", "ascend-910b-8", "-o", "json"], check=True,
                               capture_output=True, text=True)
        for node in range(self.nodes):
            machine = json.loads(shown.stdout)
            for chip in machine["chips"]:
                chip["device_ips"] = [f"192.168.{node}.{chip['index'] + 1}"]
            file = self.work / f"n{node}.json"
            file.write_text(json.dumps(machine))
            self.run("chipweave-agent", "--node", f"n{node}", "--probe", f"file:{file}", "--scheduler",
                     "127.0.0.1:%d" % self.ports["grpc"])
        until("the nodes", lambda: len(self.http("GET", "/api/v1/nodes")["items"]) == self.nodes)

    def run(self, program, *flags):
        log = open(self.work / f"{program}-{len(self.processes)}.log", "w")
        self.processes.append(subprocess.Popen([str(self.bin / program), *map(str, flags)], stdin=subprocess.DEVNULL,
                                               stdout=log, stderr=subprocess.STDOUT))
        log.close()

    def end(self, hard=False):
        for process in reversed(self.processes):
            process.kill() if hard else process.terminate()
        ends = [process.wait(PATIENCE) for process in self.processes]
        self.processes = []
        if not hard and any(ends):
            raise AssertionError(f"programs ended with {ends}")

    def address(self, host="127.0.0.1"):
        return "%s:%d" % (host, self.ports["clusterd"])

    def http(self, method, path, body=None):
        request = urllib.request.Request("http://127.0.0.1:%d%s" % (self.ports["http"], path), method=method,
                                         data=json.dumps(body).encode() if body is not None else None)
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.loads(answer.read() or "null")

    def create(self, name, app, job, size=1, chips=0, index=0, deployment="chat", annotations=None):
        labels = {"app": f"mindie-ms-{app}", "jobID": deployment, "ring-controller.atlas": "ascend-910b",
                  "chipweave.dev/gang": job, "chipweave.dev/gang-size": str(size), "chipweave.dev/gang-index": str(index)}
        resources = {"limits": {RESOURCE: str(chips)}} if chips else {}
        pod = {"metadata": {"name": name, "namespace": "mindie", "labels": labels, "annotations": annotations or {}},
               "spec": {"containers": [{"name": "c", "resources": resources}]}}
        return self.http("POST", "/standalone/pods", pod)["metadata"]["uid"]

    def bind(self, name, uid, node=None, names=None):
        if node is None:
            names = names or [f"n{i}" for i in range(self.nodes)]
            pod = self.http("GET", f"/standalone/pods/mindie/{name}")
            answer = self.http("POST", "/kube/filter", {"Pod": pod, "NodeNames": names})
            assert answer["NodeNames"], answer
            node = answer["NodeNames"][0]
        answer = self.http("POST", "/kube/bind",
                           {"PodName": name, "PodNamespace": "mindie", "PodUID": uid, "Node": node})
        assert answer == {"Error": ""}, answer
        return node

    def address_of(self, name, node, number):
        self.put_addresses(name, f"10.0.0.{node[1:]}", f"10.244.{node[1:]}.{number}")

    def put_addresses(self, name, host, pod):
        """What a kubelet reports."""
        self.http("PUT", f"/standalone/pods/mindie/{name}/status", {"hostIP": host, "podIP": pod})

    def head(self, role, deployment="chat"):
        uid = self.create(f"{deployment}-{role}", role, f"{deployment}-{role}", deployment=deployment)
        self.bind(f"{deployment}-{role}", uid, "n0")
        self.address_of(f"{deployment}-{role}", "n0", 100 if role == "controller" else 101)

    def servers(self, job, pods=2):
        """All pods of a server job; those of the last one have no address yet."""
        uids = {f"{job}-{i}": self.create(f"{job}-{i}", "server", job, pods, 8, i) for i in range(pods)}
        nodes = {name: self.bind(name, uid) for name, uid in uids.items()}
        for number, (name, node) in enumerate(list(nodes.items())[:-1]):
            self.address_of(name, node, number + 1)
        return list(nodes.items())[-1]

    def replace(self, name, job, without):
        """Another pod of that name, on another node than the one that was lost."""
        uid = self.create(name, "server", job, 2, 8, int(name.rsplit("-", 1)[1]))
        names = [f"n{i}" for i in range(self.nodes) if f"n{i}" != without]
        node = self.bind(name, uid, names=names)
        self.address_of(name, node, 9)
        return node

    def delete(self, name):
        self.http("DELETE", f"/standalone/pods/mindie/{name}")

    def shown(self, name="chat"):
        items = self.http("GET", f"/api/v1/ranktables/mindie/{name}")["items"]
        return next(item for item in items if item["kind"] == "deployment")

    def subscribers(self):
        url = "http://127.0.0.1:%d/metrics" % self.ports["http"]
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            for line in answer.read().decode().splitlines():
                if line.startswith("chipweave_rank_table_subscribers "):
                    return int(float(line.split()[1]))
        return -1


def until(what, condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"{what} did not come")
        time.sleep(0.02)
