"""chipweave-scheduler and chipweave-agent as processes of a test, with the rights that the chart gives their accounts."""
import base64, contextlib, http.client, json, os, re, signal, ssl, subprocess, time

from lib.bed import CHART, NS
from testbed.files import write_kubeconfig
from testbed.processes import free_ports
from testbed.started import TESTBED

EXIT_SECONDS = 5
# Whose secret opens a path.
CALLERS = {"kube": "kube-scheduler", "volcano": "volcano", "admission": "webhook"}


class Chipweave:
    """The chart, installed in a bed; kube-scheduler there asks our scheduler, which runs as a process on a fixed port."""

    def __init__(self, bed, binaries, https):
        self.bed, self.binaries, self.https = bed, binaries, https
        self.port, self.grpc = free_ports(2)
        self.process, self.log, self.flags = None, None, []
        self.agents, self.agents_server = {}, bed.server
        self.install()
        write_kubeconfig(bed.folder, "scheduler.kubeconfig", bed.server, "scheduler", bed.token("chipweave-scheduler"))
        self.ask_us()

    @property
    def url(self):
        return f"{'https' if self.https else 'http'}://127.0.0.1:{self.port}"

    # Its Deployment is scaled to 0: the process replaces it. Agents' pods stay: a token is bound to one of them.
    def install(self):
        bed = self.bed
        self.helm("install", "--create-namespace")
        for file in ("tls.crt", "tls.key", "ca.crt") if self.https else ():
            data = bed.must("GET", f"/api/v1/namespaces/{NS}/secrets/chipweave-scheduler-tls")["data"][file]
            (bed.work / file).write_text(bed.run("base64", "-d", text=data).stdout)
        callers = bed.must("GET", f"/api/v1/namespaces/{NS}/secrets/chipweave-callers")["data"]
        self.secrets = {name: base64.b64decode(secret).decode() for name, secret in callers.items()}
        self.callers = bed.work / "caller-secrets"  # as the chart mounts them
        self.callers.mkdir(exist_ok=True)
        for name, secret in self.secrets.items():
            (self.callers / name).write_text(secret)
        unbound = bed.token("chipweave-agent")
        inventory = {"apiVersion": "chipweave.dev/v1alpha1", "kind": "NodeInventory", "metadata": {"name": "nobody"}}
        path = "/apis/chipweave.dev/v1alpha1/nodeinventories?dryRun=All"
        in_force = lambda: "may not write" in str(bed.ask("POST", path, inventory, unbound)[1])
        if not bed.poll(in_force):
            raise RuntimeError("the policy that holds agents to their nodes is not in force")

    # install or upgrade; it prints what kube-scheduler is to be told.
    def helm(self, verb, *arguments):
        helm = self.bed.run(TESTBED, "build", "helm").stdout.split()[1]
        notes = self.bed.run(helm, verb, "chipweave", CHART, "-n", NS, *arguments).stdout
        self.extenders = re.search(r"^extenders:\n(?:[- ].*\n)+", notes, re.M)[0]
        self.bed.kubectl("-n", NS, "scale", "deployment/chipweave-scheduler", "--replicas=0")

    # As clients write it that take their name and secret from a URL.
    def url_of(self, caller):
        return self.url.replace("://", f"://{caller}:{self.secrets[caller]}@")

    # Headers of the caller that a path needs.
    def credentials(self, path):
        caller = CALLERS.get(path.split("/")[1])
        if not caller:
            return {}
        text = base64.b64encode(f"{caller}:{self.secrets[caller]}".encode()).decode()
        return {"Authorization": f"Basic {text}"}

    # What helm prints for kube-scheduler, with the secret that it tells to insert, but for the address.
    def scheduler_config(self, name="default-scheduler"):
        extenders, found = re.subn(r"urlPrefix: https://kube-scheduler:SECRET@[^/]*/kube\n",
                                   f"urlPrefix: {self.url_of('kube-scheduler')}/kube\n", self.extenders)
        if found != 1:
            raise RuntimeError(f"helm prints another urlPrefix: {self.extenders}")
        if self.https:
            extenders = re.sub(r"caFile: .*", f"caFile: {self.bed.work}/ca.crt", extenders)
        else:
            extenders = re.sub(r" *enableHTTPS: .*\n| *tlsConfig:\n(?:    .*\n)+", "", extenders)
        return ("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
                "leaderElection: {leaderElect: false}\npercentageOfNodesToScore: 100\n"
                f"clientConnection: {{kubeconfig: {self.bed.folder}/kube-scheduler.kubeconfig, qps: 1000, burst: 2000}}\n"
                f"profiles:\n- schedulerName: {name}\n{extenders}")

    def ask_us(self):
        (self.bed.folder / "scheduler.yaml").write_text(self.scheduler_config())
        self.bed.testbed("restart", "kube-scheduler")

    # --- our scheduler

    def start(self, folder, *flags):
        self.log, self.flags = folder / "chipweave-scheduler.log", list(flags)
        self.launch()

    def launch(self):
        tls = [f"--tls-cert={self.bed.work}/tls.crt", f"--tls-key={self.bed.work}/tls.key"] if self.https else []
        grpc = ["--grpc", f"127.0.0.1:{self.grpc}"] if "--grpc-auth" in self.flags else []
        command = [self.binaries / "chipweave-scheduler", "--kubeconfig", self.bed.folder / "scheduler.kubeconfig",
                   "--namespace", NS, "--http", f"127.0.0.1:{self.port}", "--caller-secrets", self.callers, *grpc, *tls]
        self.process = self.bed.start(self.log, *command, *self.flags)

    # SIGKILL. That it still ran is part of every test.
    def kill(self):
        ended = self.process.poll()
        self.bed.end(self.process)
        if ended is not None:
            raise RuntimeError(f"chipweave-scheduler had ended by itself with {ended}; see {self.log}")

    def restart(self):
        self.kill()
        self.launch()

    # As a rollout ends it: SIGTERM. The exit status.
    def terminate(self):
        self.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(EXIT_SECONDS)
        status = self.process.returncode
        self.bed.end(self.process)
        return status

    # Status and answer of one request, with the secret of the path's caller; ("no answer", reason) if there was none.
    def ask(self, method, path, body=None):
        if self.https:
            trust = ssl.create_default_context(cafile=self.bed.work / "ca.crt")
            connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=20, context=trust)
        else:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, path, None if body is None else json.dumps(body),
                               {"Content-Type": "application/json", **self.credentials(path)})
            reply = connection.getresponse()
            text = reply.read().decode()
            return reply.status, json.loads(text) if path != "/metrics" else text
        except (OSError, http.client.HTTPException, ValueError) as error:
            return "no answer", str(error)
        finally:
            connection.close()

    # By name; empty while the scheduler does not respond.
    def nodes(self):
        code, answer = self.ask("GET", "/api/v1/nodes")
        return {node["name"]: node for node in answer["items"]} if code == 200 else {}

    # The value in /metrics of exactly this name with these labels; None if it is missing.
    def metric(self, name):
        code, text = self.ask("GET", "/metrics")
        found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.M) if code == 200 else None
        return float(found[1]) if found else None

    def cli(self, *arguments):
        trust = {"CHIPWEAVE_CA": str(self.bed.work / "ca.crt")} if self.https else {}
        command = [self.binaries / "chipweave", *arguments, "--scheduler", self.url]
        return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **trust})

    # Its POST /kube/VERB, as kube-scheduler sends it.
    def extender(self, verb, body):
        return self.ask("POST", f"/kube/{verb}", body)[1]

    # What kube-scheduler binds it has asked about.
    def bind(self, pod, node, uid=None):
        meta = pod["metadata"]
        self.extender("filter", {"Pod": pod, "Nodes": None, "NodeNames": [node]})
        return self.extender("bind", {"PodName": meta["name"], "PodNamespace": meta["namespace"],
                                      "PodUID": uid or meta["uid"], "Node": node})

    # --- agents

    # The pod that the chart's DaemonSet has on this node.
    def agent_pod(self, node):
        path = f"/api/v1/namespaces/{NS}/pods?fieldSelector=spec.nodeName%3D{node}"
        found = self.bed.poll(lambda: [pod for pod in self.bed.must("GET", path)["items"]
                                       if pod["spec"]["serviceAccountName"] == "chipweave-agent"])
        if not found:
            raise RuntimeError(f"the DaemonSet made no pod on {node}")
        return found[0]

    # Flags and environment beside those that all agents have.
    def start_agent(self, folder, node, probe, resource, *flags, **environment):
        token = self.bed.token("chipweave-agent", self.agent_pod(node))
        write_kubeconfig(self.bed.folder, f"agent-{node}.kubeconfig", self.agents_server, "agent", token)
        health = folder / f"health-{node}.json"
        health.write_text("{}")
        self.agents[node] = Agent(self, folder, node, health, ["--probe", probe, "--resource", resource, *flags], environment)

    def stop_agents(self):
        for agent in self.agents.values():
            agent.kill()
        self.agents = {}


class Agent:
    """chipweave-agent of one node, with a token that is bound to its pod there."""

    def __init__(self, chipweave, folder, node, health, flags, environment):
        self.bed, self.node, self.health, self.log = chipweave.bed, node, health, folder / f"agent-{node}.log"
        self.command = [chipweave.binaries / "chipweave-agent", "--node", node, "--kubeconfig",
                        self.bed.folder / f"agent-{node}.kubeconfig", "--lease-namespace", NS, "--health-file", health, *flags]
        self.environment = {**os.environ, **environment}
        self.process = None
        self.start()

    def start(self):
        self.process = self.bed.start(self.log, *self.command, env=self.environment)

    def kill(self):
        if self.process:
            self.bed.end(self.process)
        self.process = None

    # Atomically, as every watched file should be written.
    def say_health(self, **faults):
        new = self.health.with_suffix(".new")
        new.write_text(json.dumps(faults))
        new.replace(self.health)
