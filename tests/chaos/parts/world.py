"""The cluster of a chaos run: a testbed with the chart, agents, kube-scheduler, Volcano's driver, one or two of our schedulers,
and a proxy on every way between them:

  kube-scheduler, Volcano ──▶ calls ──▶ the scheduler that leads ──▶ api-a, api-b ──▶ API server
  API server ──▶ hook ──▶ the scheduler that leads (bindings), any (new pods of gangs)

`calls` and `hook` play the Service: they go to the scheduler whose pod bore the label chipweave.dev/leader when last looked at,
or to both in turn where both do."""
import base64, contextlib, http.client, json, os, re, signal, ssl, struct, subprocess, threading
from urllib.parse import urlsplit

from lib.bed import NS, ROOT
from lib.gangs import BLOCK, RACK, gates_of
from lib.programs import Chipweave
from lib.scenario import GPU, Scenario
from lib.volcano import HOOKS, Driver
from lib.dra import SLICES, slice_body
from parts.proxy import Loop, Proxy
from parts.tables.ledger import NPU
from parts.tables.world import host_of, ids_of, machine_with_addresses
from testbed.processes import free_ports, living_pid

HERE = ROOT / "tests/chaos"
ACK = "aliyun.com/gpu"
MACHINES = {**{f"v{number}": GPU for number in range(6)}, "k0": ACK, "k1": ACK}
CHIPS = 8
# Two blocks of two racks.
PLACES = {**{f"v{number}": (f"b{number // 3}", f"r{number // 2}") for number in range(6)}, "k0": ("b0", "r0"), "k1": ("b1", "r2")}
PRIORITIES = {"low": -10, "high": 1000}
READY_SECONDS, ROUTE_SECONDS = 90, 0.5
# As much of scheduler-plugins' kind as is needed here.
POD_GROUP_KIND = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": "podgroups.scheduling.x-k8s.io", "annotations": {"api-approved.kubernetes.io": "a test's copy"}},
    "spec": {"group": "scheduling.x-k8s.io", "scope": "Namespaced",
             "names": {"kind": "PodGroup", "listKind": "PodGroupList", "plural": "podgroups", "singular": "podgroup"},
             "versions": [{"name": "v1alpha1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                 "type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}
# As docs/tasks/admit-bindings.md has it.
HOOK_SECONDS = 5
# As the chart has it.
GATE_SECONDS = 2


# As the API server's requests are called in rules.
def kind_of_api(method, target):
    path, _, query = target.partition("?")
    if "watch=true" in query or "watch=1" in query:
        return "watch"
    if path.endswith("/binding"):
        return "bind"
    if "/leases" in path:
        return "lease"
    if "/configmaps" in path and (method != "GET"):
        return "plan" if f"/namespaces/{NS}/" in path else "table"
    if method == "GET":
        return "list" if path.endswith("s") else "pod"
    if method == "PATCH" and "/pods/" in path and f"/namespaces/{NS}/" not in path:
        return "nominate" if path.endswith("/status") else "ungate"
    return "event" if "/events" in path else "write"


# "/kube/bind": "kube-bind"; of "/callers/SECRET/admission/binding" only what follows the secret.
def kind_of_call(method, target):
    return re.sub("^/callers/[^/]*", "", target.partition("?")[0]).strip("/").replace("/", "-")


class Client:
    """Requests to the API server as its administrator, on one connection; for one thread."""

    def __init__(self, bed):
        self.bed, self.connection = bed, None
        self.trust = ssl.create_default_context(cafile=bed.ca)

    # Status and answer; ("no answer", reason) if there was none.
    def ask(self, method, path, body=None):
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        headers = {"Authorization": f"Bearer {self.bed.admin}", "Content-Type": kind}
        try:
            if self.connection is None:
                self.connection = http.client.HTTPSConnection("127.0.0.1", urlsplit(self.bed.server).port, timeout=12,
                                                              context=self.trust)
            self.connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = self.connection.getresponse()
            text = answer.read().decode(errors="replace")
            with contextlib.suppress(ValueError):
                text = json.loads(text)
            return answer.status, text
        except (OSError, http.client.HTTPException) as error:
            self.connection.close()
            self.connection = None
            return "no answer", str(error)


class Replica:
    """One of our schedulers: a process that is killed, stopped and told another time."""

    def __init__(self, world, name):
        self.world, self.name, self.bed = world, name, world.bed
        self.pod = f"chipweave-scheduler-{name}"
        self.http, = free_ports(1)
        self.lock = threading.RLock()  # of what is done to the process
        self.process = None
        self.log = world.folder / f"chipweave-scheduler-{name}.log"
        self.clock = world.folder / f"clock-{name}"
        self.clock.write_bytes(bytes(8))
        self.api = Proxy(world.loop, f"api-{name}", world.server_tls, world.api_trust,
                         lambda _: urlsplit(world.bed.server).port, kind_of_api)
        self.config = world.folder / f"scheduler-{name}.kubeconfig"
        text = (world.bed.folder / "scheduler.kubeconfig").read_text()
        ca = base64.b64encode((world.folder / "chaos-ca.crt").read_bytes()).decode()
        lines = [f"    server: https://127.0.0.1:{self.api.port}" if "server:" in line else
                 f"    certificate-authority-data: {ca}" if "certificate-authority-data:" in line else line
                 for line in text.splitlines()]
        self.config.write_text("\n".join(lines) + "\n")

    def launch(self):
        world = self.world
        command = [world.binaries / "chipweave-scheduler", "--kubeconfig", self.config, "--namespace", NS,
                   "--http", f"127.0.0.1:{self.http}",
                   f"--tls-cert={world.work}/tls.crt", f"--tls-key={world.work}/tls.key",
                   "--caller-secrets", world.chipweave.callers, *world.flags(self)]
        self.process = self.bed.start(self.log, *command, env=world.shifted(self.clock))

    def kill(self):
        self.bed.end(self.process)
        self.process = None

    def send(self, sign):
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.process.pid, sign)

    # Status and answer of one request to it, past all proxies.
    def ask(self, method, path, body=None, seconds=3):
        connection = http.client.HTTPSConnection("127.0.0.1", self.http, timeout=seconds, context=self.world.chart_trust)
        try:
            headers = {"Content-Type": "application/json", **self.world.chipweave.credentials(path)}
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            reply = connection.getresponse()
            text = reply.read().decode(errors="replace")
            with contextlib.suppress(ValueError):
                text = json.loads(text)
            return reply.status, text
        except (OSError, http.client.HTTPException) as error:
            return "no answer", str(error)
        finally:
            connection.close()

    def ready(self):
        return self.ask("GET", "/readyz", seconds=1)[0] == 200

    def used(self):
        code, answer = self.ask("GET", "/api/v1/nodes")
        if code != 200:
            return None
        return {node["name"]: {pod: sorted(chips) for pod, chips in node["used"].items()}
                for node in answer["items"] if node["used"]}


class World:
    def __init__(self, bed, binaries, options, folder):
        self.bed, self.work, self.binaries, self.options, self.folder = bed, bed.work, binaries, options, folder
        self.loop, self.client = Loop(), Client(bed)
        self.control_plane = threading.RLock()  # of what is done to the API server, etcd and kube-scheduler
        self.make_certificates()
        self.chipweave = Chipweave(bed, binaries, https=True)
        self.chart_trust = ssl.create_default_context(cafile=bed.work / "ca.crt")
        chart_tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        chart_tls.load_cert_chain(bed.work / "tls.crt", bed.work / "tls.key")
        self.replicas = [Replica(self, name) for name in ("a", "b")[:options.schedulers]]
        self.endpoints, self.pinned = self.replicas[:1], None
        self.turn = 0
        self.calls = Proxy(self.loop, "calls", chart_tls, self.chart_trust, self.route, kind_of_call)
        self.readers = self.replicas  # that answer about new pods
        self.hook = Proxy(self.loop, "hook", chart_tls, self.chart_trust, self.route, kind_of_call)
        self.binds = []  # bodies of /kube/bind, the newest last
        self.calls.seen = self.remember
        # (replica, path, body) of requests that open a gate, and of those that write rank tables
        self.sent, self.sending = {"ungate": [], "table": []}, threading.Condition()
        for replica in self.replicas:
            replica.api.seen = lambda kind, request, replica=replica: self.remember_sent(replica, kind, request)
        self.chipweave.port = self.calls.port
        self.s = Scenario(bed, self.chipweave, "chaos", folder)
        self.s.seed, self.driver = options.seed, None
        # The pods of gangs in the first get a gate, in the second they do not.
        self.namespaces = [self.s.ns, f"{self.s.ns}-ungated"]
        self.judge, self.volcano = None, threading.RLock()
        self.nodes = {node: threading.RLock() for node in MACHINES}
        self.machine = "profile:hgx-v100-8"
        self.by_claims = [node for node in MACHINES if MACHINES[node] == GPU] if options.claims else []
        self.resource = NPU if options.tables else GPU  # of the load
        self.machines = {node: self.resource if MACHINES[node] == GPU else MACHINES[node] for node in MACHINES}
        self.hosts = {node: host_of(number) for number, node in enumerate(MACHINES)}
        self.ids = ids_of(options.seed)
        self.stopping, self.healing = threading.Event(), threading.Event()
        self.router = threading.Thread(target=self.look_after, daemon=True)

    # --- certificates and the clock

    # The proxies' certificates are older than any clock of a scheduler is set back.
    def make_certificates(self):
        compiler = ["cc", "-std=c11", "-O2", "-shared", "-fPIC"]
        subprocess.run([*compiler, "-o", self.folder / "clock.so", HERE / "clock.c"], check=True)
        past = self.folder / "clock-past"
        past.write_bytes(struct.pack("<q", -30 * 86400 * 10**9))
        (self.folder / "openssl.cnf").write_text(
            "[req]\ndistinguished_name=dn\n[dn]\n[ca]\nbasicConstraints=critical,CA:TRUE\n[server]\nsubjectAltName=IP:127.0.0.1\n")
        key = "-newkey rsa:2048 -nodes -config openssl.cnf"
        for arguments in (f"req -x509 {key} -extensions ca -days 400 -subj /CN=chaos-ca -keyout chaos-ca.key -out chaos-ca.crt",
                          f"req {key} -subj /CN=proxy -keyout proxy.key -out proxy.csr",
                          "x509 -req -in proxy.csr -CA chaos-ca.crt -CAkey chaos-ca.key -set_serial 2 -days 400 "
                          "-extfile openssl.cnf -extensions server -out proxy.crt"):
            subprocess.run(["openssl", *arguments.split()], cwd=self.folder, env=self.shifted(past), check=True, capture_output=True)
        self.server_tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.server_tls.load_cert_chain(self.folder / "proxy.crt", self.folder / "proxy.key")
        self.proxy_trust = ssl.create_default_context(cafile=self.folder / "chaos-ca.crt")
        self.api_trust = ssl.create_default_context(cafile=self.bed.ca)

    def shifted(self, file):
        return {**os.environ, "LD_PRELOAD": str(self.folder / "clock.so"), "CHAOS_CLOCK": str(file)}

    def set_clock(self, file, seconds):
        with open(file, "r+b") as to:
            to.write(struct.pack("<q", int(seconds * 10**9)))

    # --- the Service

    @property
    def leading(self):
        found = self.endpoints
        return found[0] if found else None

    def route(self, request):
        about_new_pods = request.target.endswith("/admission/gate") or "/admission/gate?" in request.target
        endpoints, self.turn = self.readers if about_new_pods else self.endpoints, self.turn + 1
        pinned = None if about_new_pods else self.pinned
        chosen = pinned or (endpoints[self.turn % len(endpoints)] if endpoints else None)
        return chosen.http if chosen else None

    # As a Service is kept: pods with the label that say that they are ready. While the API server is away nothing changes.
    def look_who_leads(self):
        code, answer = self.bed.ask("GET", f"/api/v1/namespaces/{NS}/pods?labelSelector=chipweave.dev%2Fleader%3Dtrue")
        if code == 200 and isinstance(answer, dict):
            labelled = {pod["metadata"]["name"] for pod in answer["items"]}
            self.readers = [replica for replica in self.replicas if replica.ask("GET", "/readyz/standby", seconds=1)[0] == 200]
            self.endpoints = [replica for replica in self.readers if replica.pod in labelled]

    def look_after(self):
        while not self.stopping.wait(ROUTE_SECONDS):
            self.revive()
            if len(self.replicas) > 1:
                self.look_who_leads()

    # As a kubelet does: they end themselves when the API server is away at a bad moment.
    def revive(self):
        for program in ("kube-scheduler", "kube-controller-manager"):
            if self.pid_of(program) or not self.control_plane.acquire(blocking=False):
                continue
            try:
                if not self.pid_of(program):
                    self.bed.testbed("start", program)
                    if self.judge:
                        self.judge.note(revived=program)
            except RuntimeError:
                pass  # the API server is still away: with the next look
            finally:
                self.control_plane.release()

    # Pods that stand for the processes, to bear the label; with the labels by which the chart knows its own.
    def admit_replicas(self):
        labels = {f"app.kubernetes.io/{key}": value for key, value in
                  (("name", "chipweave"), ("instance", "chipweave"), ("component", "scheduler"))}
        for replica in self.replicas:
            body = self.s.pod_body(replica.pod, 0, labels=labels)
            self.bed.must("POST", f"/api/v1/namespaces/{NS}/pods", body)

    def remember(self, kind, request):
        if kind == "kube-bind":
            self.binds = [*self.binds[-49:], request.body]

    def remember_sent(self, replica, kind, request):
        if kind in self.sent and request.body != b"{}":  # an empty patch only reads
            with self.sending:
                self.sent[kind] = [*self.sent[kind][-49:], (replica, request.target, request.body)]
                self.sending.notify_all()

    # The next request of this kind, as soon as it was sent; None if there is none.
    def next_sent(self, kind, seconds):
        with self.sending:
            last = self.sent[kind][-1:]
            self.sending.wait_for(lambda: self.sent[kind][-1:] != last, seconds)
            return self.sent[kind][-1] if self.sent[kind][-1:] != last else None

    # Of the gates of a gang the first.
    def next_ungate(self, seconds):
        return self.next_sent("ungate", seconds)

    # Flags beside those that each scheduler has.
    def flags(self, replica):
        name, gangs = replica.pod, ["--gang-kinds=scheduler-plugins", "--gate-frameworks=chipweave,scheduler-plugins"]
        tables = ["--rank-tables=jobs", f"--rank-table-server-ids={self.ids}"] if self.options.tables else []
        if len(self.replicas) == 1:
            return tables
        return [*gangs, *tables, "--leader-elect", "--leader-identity", name, "--pod-name", name]

    # --- the beginning

    def begin(self):
        s = self.s
        self.chipweave.process = None
        claims = ["--set", "dra.enabled=true", "--set", "agent.enforcement=dra"] if self.by_claims else []
        tables = ["--set", "scheduler.rankTables.write={jobs}", "--set", f"scheduler.rankTables.serverIds={self.ids}"]
        self.chipweave.helm("upgrade", "--set", "scheduler.gangs.gate.enabled=true",
                            "--set", "scheduler.gangs.kinds={scheduler-plugins}", *claims, *(tables if self.options.tables else []))
        self.bed.must("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", POD_GROUP_KIND)
        if self.by_claims:
            self.machine = f"file:{self.named_machine()}"
        if len(self.replicas) > 1:
            self.admit_replicas()
            self.endpoints = []
        for replica in self.replicas:
            replica.launch()
        self.configure_kube_scheduler()
        self.router.start()
        s.begin()
        self.begin_gangs()
        for name, resource in self.machines.items():
            s.add_node(name, {resource: str(CHIPS)})  # Volcano counts them, also without a device plugin
            block, rack = PLACES[name]
            self.bed.must("PATCH", f"/api/v1/nodes/{name}", {"metadata": {"labels": {BLOCK: block, RACK: rack}}})
            how = ["--enforcement=dra"] if name in self.by_claims else []
            self.chipweave.start_agent(self.folder, name, self.machine_of(name), resource, *how)
        s.known(*MACHINES)
        for name in self.by_claims:
            self.bed.must("POST", SLICES, slice_body(name))
        s.must_come("a scheduler that leads and knows all nodes", self.knows_nodes, READY_SECONDS)
        self.admission()
        if self.options.webhook:
            self.start_driver()

    # keep: the chips that are left of it; None: all.
    def machine_of(self, node, keep=None):
        if self.machines[node] == NPU:
            return f"file:{machine_with_addresses(self, node, keep)}"
        return self.machine if keep is None else f"file:{smaller_machine(self.folder, node, keep)}"

    # The devices of these chips and no other; whether the API server has taken it.
    def offer(self, node, chips):
        body = slice_body(node)
        path = f"{SLICES}/{body['metadata']['name']}"
        code, stored = self.bed.ask("GET", path)
        if code != 200 or not isinstance(stored, dict):
            return False
        stored["spec"]["devices"] = [body["spec"]["devices"][chip] for chip in chips]
        stored["spec"]["pool"]["generation"] += 1
        return self.bed.ask("PUT", path, stored)[0] == 200

    # The machine with names for its chips, so that they are found among devices of drivers.
    def named_machine(self):
        machine = json.loads(self.bed.run(self.binaries / "chipweave", "topo", "convert", "hgx-v100-8", "--to", "json").stdout)
        for chip in machine["chips"]:
            chip["id"] = f"GPU-{chip['index']}"
        file = self.folder / "machine.json"
        file.write_text(json.dumps(machine))
        return file

    def knows_nodes(self):
        leader = self.leader()
        code, answer = leader.ask("GET", "/api/v1/nodes") if leader else (0, None)
        return code == 200 and set(MACHINES) <= {node["name"] for node in answer["items"]}

    # The scheduler that leads as it says itself, or None.
    def leader(self):
        return next((replica for replica in self.replicas if replica.process and replica.ready()), None)

    # Shorter waits than the default ones, so that more happens.
    def configure_kube_scheduler(self):
        text = self.chipweave.scheduler_config() + "podInitialBackoffSeconds: 1\npodMaxBackoffSeconds: 2\n"
        (self.bed.folder / "scheduler.yaml").write_text(text)
        self.bed.testbed("restart", "kube-scheduler")

    def begin_gangs(self):
        for name, value in PRIORITIES.items():
            self.bed.must("POST", "/apis/scheduling.k8s.io/v1/priorityclasses",
                          {"metadata": {"name": name}, "value": value, "preemptionPolicy": "Never"})
        ungated = self.namespaces[1]
        self.bed.must("POST", "/api/v1/namespaces", {"metadata": {"name": ungated}})
        self.s.must_come("the second namespace's service account",
                         lambda: self.bed.ask("GET", f"/api/v1/namespaces/{ungated}/serviceaccounts/default")[0] == 200)

    # The chart's webhooks, with the time that the API server waits for them as short as the other waits here.
    def admission(self):
        path = f"{HOOKS}/chipweave-scheduler"
        hooks = {hook["name"]: hook for hook in self.bed.must("GET", path)["webhooks"]}
        binding, gate = hooks["binding.chipweave.dev"], hooks["gate.chipweave.dev"]
        for hook, seconds in ((binding, HOOK_SECONDS), (gate, GATE_SECONDS)):
            service = hook["clientConfig"]["service"]
            hook["clientConfig"] = {"url": f"https://127.0.0.1:{self.hook.port}{service['path']}",
                                    "caBundle": hook["clientConfig"]["caBundle"]}
            hook["timeoutSeconds"] = seconds
        self.bed.must("PATCH", path, {"webhooks": [binding, gate]})
        for hook, namespaces in ((binding, self.namespaces if self.options.webhook else []), (gate, self.namespaces[:1])):
            for namespace in namespaces:
                self.bed.must("PATCH", f"/api/v1/namespaces/{namespace}",
                              {"metadata": {"labels": hook["namespaceSelector"]["matchLabels"]}})
        member = self.s.pod_body("probe", 1, labels={"chipweave.dev/gang": "probe", "chipweave.dev/gang-size": "2"})
        self.s.must_come("the gate of a new pod",
                         lambda: gates_of(self.bed.must("POST", f"{self.s.pods_path}?dryRun=All", member)))
        for namespace in self.namespaces if self.options.webhook else []:
            self.asked_about_bindings(f"/api/v1/namespaces/{namespace}/pods")

    def asked_about_bindings(self, pods):
        self.bed.must("POST", pods, self.s.pod_body("probe", 1, schedulerName="nobody"))
        binding = {"metadata": {"name": "probe"}, "target": {"kind": "Node", "name": "no-such-node"}}
        asked = lambda: "no-such-node" in str(self.bed.ask("POST", f"{pods}/probe/binding?dryRun=All", binding)[1])
        self.s.must_come("the API server's questions about bindings", asked)
        self.bed.must("DELETE", f"{pods}/probe?gracePeriodSeconds=0")

    # Of both namespaces.
    def pods(self):
        return [pod for namespace in self.namespaces for pod in self.bed.must("GET", f"/api/v1/namespaces/{namespace}/pods")["items"]]

    # Restarts the agent of this node, with another machine or another time than it should have.
    def start_agent(self, node, machine=None, clock=0):
        agent, file = self.s.agent(node), self.folder / f"clock-{node}"
        file.write_bytes(struct.pack("<q", int(clock * 10**9)))
        agent.say_health()
        command = [part for part in agent.command if not str(part).startswith(("env", "LD_PRELOAD=", "CHAOS_CLOCK="))]
        command[command.index("--probe") + 1] = machine or self.machine_of(node)
        shim = [f"{name}={value}" for name, value in self.shifted(file).items() if name in ("LD_PRELOAD", "CHAOS_CLOCK")]
        agent.command = ["env", *shim, *command]
        agent.start()

    def start_driver(self):
        self.driver = Driver(self.s, "--ignorable", url=f"{self.chipweave.url_of('volcano')}/volcano")

    # --- the end

    # Undoes every disturbance of the suite.
    def heal(self):
        for proxy in self.proxies():
            proxy.clear()
            proxy.freeze(False)
        self.pinned = None
        for clock in self.folder.glob("clock-[kv]?"):
            self.set_clock(clock, 0)  # an agent whose clock is before the API server's certificate cannot report
        for replica in self.replicas:
            with replica.lock:
                self.set_clock(replica.clock, 0)
                replica.launch() if replica.process is None else replica.send(signal.SIGCONT)

    # A program that ended by itself is a finding; what = a Replica, an Agent or the Driver.
    def judge_end(self, what):
        status = what.process.poll() if what.process else None
        if status is not None:
            self.judge.find([f"{what.log.name.removesuffix('.log')} ended by itself with status {status}"], "process")

    def proxies(self):
        return [self.calls, self.hook, *(replica.api for replica in self.replicas)]

    def pid_of(self, program):
        return living_pid(self.bed.folder, program)

    def stop(self):
        self.stopping.set()
        if self.router.is_alive():
            self.router.join()
        for process in list(self.bed.running):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGCONT)
        self.loop.stop()


# A machine of the same kind without some of its chips, as a driver that lost them would show it.
def smaller_machine(folder, node, keep):
    links = [{"a": a, "b": b, "kind": "NVLINK", "lanes": 1} for a, b in zip(keep, keep[1:])]
    file = folder / f"small-{node}.json"
    file.write_text(json.dumps({"vendor": "nvidia", "model": "Tesla V100-SXM2-32GB",
                                "chips": [{"index": chip, "id": f"GPU-{chip}"} for chip in keep], "links": links}))
    return file
