"""The scheduler's replicas as the chart runs them: the pods of its Deployment are real objects, behind each stands a process of
ours with the arguments and settings of the chart. What runs in no testbed is played here: the kubelet's readiness probe, and
kube-proxy, which leads new connections to the endpoints of a Service and leaves those that are open where they are."""
import asyncio, contextlib, http.client, json, signal, ssl, subprocess, threading

from lib.bed import NS
from testbed.processes import free_ports

DEPLOYMENT = f"/apis/apps/v1/namespaces/{NS}/deployments/chipweave-scheduler"
PODS = f"/api/v1/namespaces/{NS}/pods"
SLICES = f"/apis/discovery.k8s.io/v1/namespaces/{NS}/endpointslices"
LEASE = f"/apis/coordination.k8s.io/v1/namespaces/{NS}/leases/chipweave-scheduler"
SERVICE, READERS, CLUSTERD = "chipweave-scheduler", "chipweave-scheduler-read", "chipweave-scheduler-clusterd"
PROBE_SECONDS = LOOK_SECONDS = 0.1


class Way:
    """A port of this machine. Each new connection goes to the port that `target` says at that moment; None: refused."""

    def __init__(self, loop, port, target):
        self.port, self.target, self.loop = port, target, loop
        self.open, self.serving, self.blocked = set(), set(), False
        self.server = asyncio.run_coroutine_threadsafe(asyncio.start_server(self.serve, "127.0.0.1", port), loop).result()

    async def serve(self, reader, writer):
        port = self.target()
        if port is None or self.blocked:
            return writer.transport.abort()
        self.serving.add(asyncio.current_task())
        self.open.add(writer)
        other = None
        try:
            far, other = await asyncio.open_connection("127.0.0.1", port)
            self.open.add(other)
            await asyncio.gather(self.pump(reader, other), self.pump(far, writer))
        except (OSError, asyncio.CancelledError):
            pass  # close() cancels it; asyncio would report that as an error of the server
        finally:
            self.serving.discard(asyncio.current_task())
            for end in filter(None, (writer, other)):
                self.open.discard(end)
                end.transport.abort()

    async def pump(self, reader, writer):
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
            writer.write_eof()

    # Nothing gets through in either direction, and no connection is closed.
    def block(self, on):
        def now():
            self.blocked = on
            for end in list(self.open):
                if on:
                    end.transport.abort()
        self.loop.call_soon_threadsafe(now)

    def close(self):
        async def now():
            self.server.close()
            for task in list(self.serving):
                task.cancel()
            await asyncio.gather(*self.serving, return_exceptions=True)
        asyncio.run_coroutine_threadsafe(now(), self.loop).result()


class Replica:
    """A process of chipweave-scheduler, in place of the container of a pod of the Deployment."""

    def __init__(self, replicas, pod, number):
        self.of, self.pod, self.bed = replicas, pod, replicas.bed
        self.ip = f"10.77.0.{number + 1}"
        self.port, self.clusterd, to_api = free_ports(3)
        self.log = replicas.folder / f"{pod}.log"
        self.api = Way(replicas.loop, to_api, lambda: int(self.bed.server.rsplit(":", 1)[1]))
        text = (self.bed.folder / "scheduler.kubeconfig").read_text()
        self.kubeconfig = replicas.folder / f"{pod}.kubeconfig"
        self.kubeconfig.write_text(text.replace(self.bed.server, f"https://127.0.0.1:{to_api}"))
        self.process, self.said = None, None

    # With the chart's own settings, but for what is of this machine.
    def launch(self):
        settings = self.bed.must("GET", f"/api/v1/namespaces/{NS}/configmaps/chipweave-scheduler")["data"]["scheduler.yaml"]
        for part in ("crt", "key"):
            settings = settings.replace(f"/etc/chipweave/tls/tls.{part}", f"{self.bed.work}/tls.{part}")
        settings = settings.replace("/etc/chipweave/callers", str(self.of.chipweave.callers))
        settings = settings.replace("0.0.0.0:8899", f"127.0.0.1:{self.clusterd}")
        # of its own: another replica, which may be starting, must not find it half written
        file = self.of.folder / f"{self.pod}.yaml"
        file.write_text(settings)
        container = self.bed.must("GET", f"{PODS}/{self.pod}")["spec"]["containers"][0]
        here = {"--config=/etc/chipweave/config/scheduler.yaml": f"--config={file}"}
        arguments = [here.get(a, a).replace("$(POD_NAME)", self.pod) for a in container["args"]]
        self.process = self.bed.start(self.log, self.of.chipweave.binaries / container["command"][0], *arguments,
                                      f"--kubeconfig={self.kubeconfig}", f"--http=0.0.0.0:{self.port}")

    def kill(self):
        self.bed.end(self.process)
        self.process = None

    def signal(self, number):
        self.process.send_signal(number)

    # As a rollout ends it; its exit status.
    def terminate(self):
        self.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        status = self.process.returncode
        self.kill()
        return status

    def connection(self, seconds=10):
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=seconds, context=self.of.trust)

    # Status and answer of one request to this process, past all Services. Requests for decisions carry the caller's secret.
    def ask(self, method, path, body=None, seconds=10, credentials=True):
        connection = self.connection(seconds)
        headers = {"Content-Type": "application/json", **(self.of.chipweave.credentials(path) if credentials else {})}
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            reply = connection.getresponse()
            text = reply.read().decode()
            with contextlib.suppress(ValueError):
                text = json.loads(text)
            return reply.status, text
        except (OSError, http.client.HTTPException) as error:
            return "no answer", str(error)
        finally:
            connection.close()

    def leads(self):
        return self.ask("GET", "/readyz", seconds=1)[0] == 200

    # As the kubelet does: the probe of the chart, and what came of it into the pod's status.
    def probe(self):
        ready = self.process is not None and self.ask("GET", self.of.probe_path, seconds=1)[0] == 200
        if ready != self.said:
            condition = {"type": "Ready", "status": str(ready), "lastTransitionTime": "2026-01-02T03:04:05Z"}
            status = {"status": {"phase": "Running", "podIP": self.ip, "podIPs": [{"ip": self.ip}], "conditions": [condition]}}
            if self.bed.ask("PATCH", f"{PODS}/{self.pod}/status", status)[0] == 200:
                self.said = ready


class Replicas:
    """Two of them, and the Service of the leader on the port that all clients use."""

    def __init__(self, s, count=2):
        self.s, self.bed, self.chipweave, self.folder = s, s.bed, s.chipweave, s.folder
        self.trust = ssl.create_default_context(cafile=s.bed.work / "ca.crt")
        self.stopping = threading.Event()
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()
        self.endpoints = {SERVICE: [], READERS: [], CLUSTERD: []}
        self.all, self.ways, self.threads = [], [], []
        s.undo.append(self.stop)
        s.chipweave.terminate()
        self.bed.kubectl("-n", NS, "scale", "deployment/chipweave-scheduler", f"--replicas={count}")
        container = self.bed.must("GET", DEPLOYMENT)["spec"]["template"]["spec"]["containers"][0]
        self.probe_path = container["readinessProbe"]["httpGet"]["path"]
        pods = s.must_come("the Deployment's pods on nodes", lambda: self.pods_on_nodes(count))
        self.all = [Replica(self, pod, number) for number, pod in enumerate(pods)]
        self.ways.append(Way(self.loop, s.chipweave.port, lambda: self.port_behind(SERVICE)))
        self.threads = [threading.Thread(target=self.again, args=(replica.probe, PROBE_SECONDS), daemon=True)
                        for replica in self.all]
        self.threads.append(threading.Thread(target=self.again, args=(self.look, LOOK_SECONDS), daemon=True))
        for replica in self.all:
            replica.launch()
        for thread in self.threads:
            thread.start()

    def pods_on_nodes(self, count):
        pods = self.bed.must("GET", f"{PODS}?labelSelector=app.kubernetes.io%2Fcomponent%3Dscheduler")["items"]
        names = [pod["metadata"]["name"] for pod in pods if pod["spec"].get("nodeName") and
                 not pod["metadata"].get("deletionTimestamp")]
        return names if len(names) == count else None

    # While the API server is away nothing changes, as with kube-proxy.
    def again(self, work, pause):
        while not self.stopping.wait(pause):
            with contextlib.suppress(OSError, RuntimeError, http.client.HTTPException):
                work()

    # The pods that the EndpointSlices of a Service name as ready.
    def look(self):
        for service in self.endpoints:
            slices = self.bed.must("GET", f"{SLICES}?labelSelector=kubernetes.io%2Fservice-name%3D{service}")["items"]
            self.endpoints[service] = [endpoint["targetRef"]["name"] for part in slices
                                       for endpoint in part["endpoints"] or [] if endpoint["conditions"]["ready"]]

    def port_behind(self, service):
        found = [replica.clusterd if service == CLUSTERD else replica.port for replica in self.all
                 if replica.pod in self.endpoints[service]]
        return self.s.random.choice(found) if found else None

    # The replica that reports itself as leader; None: none at the moment.
    def leader(self):
        return next((replica for replica in self.all if replica.process and replica.leads()), None)

    def other(self, replica):
        return next(one for one in self.all if one is not replica)

    # A pod may be in two slices for a moment.
    def behind(self, service):
        return sorted(set(self.endpoints[service]))

    # The state that each process reports, for a check that fails.
    def state(self):
        return {replica.pod: replica.process and (replica.process.poll(), replica.ask("GET", self.probe_path, seconds=1))
                for replica in self.all} | {"endpoints": self.endpoints}

    # Whether the Service has the other one behind it, and it decides.
    def leads_instead_of(self, replica):
        other = self.other(replica)
        return self.behind(SERVICE) == [other.pod] and other.leads()

    # And the one process without replicas is back. May be called twice.
    def stop(self):
        if self.stopping.is_set():
            return
        self.stopping.set()
        for thread in self.threads:
            thread.join()
        for replica in self.all:
            if replica.process:
                with contextlib.suppress(ProcessLookupError):
                    replica.signal(signal.SIGCONT)
                replica.kill()
        for way in [*self.ways, *(replica.api for replica in self.all)]:
            way.close()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.bed.kubectl("-n", NS, "scale", "deployment/chipweave-scheduler", "--replicas=0")
        for replica in self.all:
            self.bed.ask("DELETE", f"{PODS}/{replica.pod}?gracePeriodSeconds=0")
        self.bed.ask("DELETE", LEASE)
        self.chipweave.launch()
