"""Who gives chips to containers, and who chooses them.

stock         a vendor's device plugin that knows nothing of chipweave; chipweave-scheduler, whose books follow the kubelet
by-hand       a vendor's DRA driver; this test makes the claims as chipweave-scheduler's bind does, of random chips
by-hand-watched  the same, and the books of chipweave-agent and chipweave-scheduler are compared
m2            a vendor's DRA driver; chipweave-scheduler makes the claims
own-dra       chipweave-agent's DRA driver; chipweave-scheduler makes the claims
own-dra-by-hand  chipweave-agent's DRA driver; claims as in by-hand
device-plugin chipweave's device plugin; chipweave-scheduler
device-plugin-adopting  the same; pods that cannot get the chips of their decision get others
device-plugin-ack  the same on a node of ACK, whose label chooses the resource; --afterwards changes the label
device-plugin-vendor  as device-plugin, with a vendor's device plugin behind it, whose answers it passes on"""
import contextlib, datetime, json, random, re, threading, time

from ack import ALIYUN, back_and_forth
from audit import PLACEMENT, placement_of
from checker import annotated, asked, chip_of, chips_of
from churn import GPU
from lib.bed import NS
from lib.fake_nvml import bus_of
from lib.scenario import INVENTORIES
from testbed.files import write_kubeconfig

CLAIMS = "/apis/resource.k8s.io/v1/namespaces/{}/resourceclaims"
CLASS = "chipweave"
ACCOUNT = "chipweave-agent-device-plugin"
SOON = 10
STORM_SECONDS = 20
CONTESTED, CONTEST_SECONDS = "chips.contested", 100
HELD_SECONDS = 8  # answers of the API server
LOOKS_EVERY = 0.02  # at the books


class Mode:
    drifts = False  # the containers' chips are not those of the annotation
    durations_of_kubelet = False  # they are in its metrics
    cannot = ["rewritten"]  # shapes
    spec = {}
    needs_ours = True
    helm = agent_flags = ()  # further arguments
    resources = GPU  # that the agent counts chips as
    kubelet_folders = ["pod-resources", "device-plugins"]  # that the chart mounts for the agent
    given_soon = SOON

    def __init__(self, bed, node, chipweave, options):
        self.bed, self.node, self.chipweave, self.options = bed, node, chipweave, options
        self.processes, self.seen, self.over = {}, {}, False
        self.late = None  # the way of our node's programs to the API server, if it is not the usual one (late.py)
        self.earlier = []  # durations that a kubelet takes with it when it ends

    def start(self):
        pass

    def watch_books(self):
        threading.Thread(target=self.read_books, daemon=True).start()

    # Every state of our scheduler's books of a pod, with the time when it was first seen.
    def read_books(self):
        while not self.over:
            for pod, chips in self.chipweave.nodes().get(self.node.name, {}).get("used", {}).items():
                self.seen.setdefault(pod, {}).setdefault(tuple(sorted(chips)), time.time())
            time.sleep(LOOKS_EVERY)

    # Called again and again with the pods that are there.
    def step(self, pods):
        pass

    def claim_of(self, pod):
        return None

    # Until the inventory and our scheduler know what the containers have.
    def books_wrong(self, pod, sights, table):
        if not self.chipweave or not self.options.books:
            return ""
        name, began = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}", min(s["timeMs"] for _, _, s in sights) / 1000
        truth = sorted({chip_of(n["name"]) for c, _, s in sights for n in s["nodes"] if c in asked(pod, GPU)[0]})
        chosen = sorted(chip for chips in (annotated(pod, GPU) or {}).values() for chip in chips)
        if self.drifts:
            table.rows["all of them"]["drifted"] += truth != chosen
        known = self.bed.poll(lambda: self.books(name) == truth and self.seen.get(name, {}).get(tuple(truth)), SOON)
        if not known:
            return f"our scheduler says {self.books(name)}, device nodes {truth}"
        if truth != chosen:
            table.times["from the container's start to right books"].append(known - began)
            event = self.bed.poll(lambda: self.event(pod), SOON)
            if not event:
                return "no event ChipsDiffer"
            told = self.chipweave.ask("GET", f"/api/v1/explain/{name}")[1]
            if (told.get("given"), told.get("chosen", {}).get("chips")) != (truth, chosen):
                return f"explain says given {told.get('given')}, chosen {told.get('chosen')}; not {truth}, {chosen}"
            table.rows["all of them"]["told"] += 1
        if not self.looks_at_given():
            return ""
        given = self.bed.poll(lambda: self.given(pod) == truth and truth, self.given_soon)
        return "" if given == truth else f"status.given says {self.given(pod)}, device nodes {truth}"

    def looks_at_given(self):
        return True

    def books(self, name):
        return sorted(self.chipweave.nodes().get(self.node.name, {}).get("used", {}).get(name, []))

    def given(self, pod):
        status = self.bed.must("GET", f"{INVENTORIES}/{self.node.name}").get("status", {})
        return sorted({chip for one in status.get("given", {}).get("containers", [])
                       if one.get("podUid") == pod["metadata"]["uid"] or one.get("pod") == pod["metadata"]["name"]
                       for chip in one["chips"]})

    def event(self, pod):
        path = f"/apis/events.k8s.io/v1/namespaces/{pod['metadata']['namespace']}/events"
        return [e for e in self.bed.must("GET", path)["items"] if e["reason"] == "ChipsDiffer" and
                e["regarding"]["name"] == pod["metadata"]["name"]]

    # --- pods that are bound with the chips of others ("wrong")

    # Why the pod was refused; "": it was not, yet.
    def refused(self, pod):
        return (pod["status"].get("message") or "") if pod["status"].get("phase") == "Failed" else ""

    # What the first such event of the pod says.
    def event_of(self, pod, such):
        path = f"/apis/events.k8s.io/v1/namespaces/{pod['metadata']['namespace']}/events"
        return next((event["note"] for event in self.bed.must("GET", path)["items"]
                     if event["regarding"].get("uid") == pod["metadata"]["uid"] and such(event)), "")

    # The pod runs: what is wrong with that.
    def adopted(self, pod, sights):
        return "it runs with the chips of another pod"

    # What is tried at the end, without pods: what went wrong.
    def afterwards(self):
        return ""

    # What Prepare or Allocate took, in seconds.
    def durations(self):
        return []

    def all_durations(self):
        return self.earlier + self.durations()

    # Asks the kubelet for its pods without pause, meanwhile.
    def storm(self, seconds=STORM_SECONDS):
        command = self.node.programs["pod-resources"], "--storm", f"{seconds}s"
        self.node.machine.start(self.node.folder / "storm.log", *command)

    def launch(self, name, *command):
        self.processes[name] = (self.node.machine.start(self.node.folder / f"{name}.log", *command), command)

    def relaunch(self, name):
        process, command = self.processes[name]
        self.node.machine.stop(process)
        self.launch(name, *command)

    # What may break; pods that run are checked again afterwards.
    def disturbances(self, only=""):
        more = {}
        if self.chipweave:
            more["chipweave-scheduler is killed"] = self.chipweave.restart
            if self.chipweave.agents:
                more["chipweave-agent is killed"] = self.restart_agent
        more["the kubelet is stopped and started"] = lambda: self.restart_kubelet(15)
        more["the kubelet is killed and started"] = lambda: self.restart_kubelet(9)
        more["containerd is killed and started"] = self.restart_containerd
        more["the kubelet is asked without pause"] = self.storm
        if self.late:
            more["the API server's answers are held back"] = lambda: self.late.hold(HELD_SECONDS)
        for name in self.processes:
            more[f"{name} is killed and started"] = lambda name=name: self.relaunch(name)
        return {name: what for name, what in more.items() if only in name}

    def restart_agent(self):
        agent = self.chipweave.agents[self.node.name]
        agent.kill()
        agent.start()

    def keep_durations(self):
        if self.durations_of_kubelet:
            with contextlib.suppress(OSError):  # it may not have come up yet
                self.earlier += self.durations()

    def restart_kubelet(self, sign):
        self.keep_durations()
        self.node.stop_kubelet(sign)
        self.node.start_kubelet()

    def restart_containerd(self):
        self.node.machine.stop(self.node.containerd)
        self.node.start_containerd()


class Stock(Mode):
    drifts = durations_of_kubelet = True
    cannot = ["wrong", "rewritten"]

    def durations(self):
        return self.node.histogram("kubelet_device_plugin_alloc_duration_seconds")

    def start(self):
        self.launch("stock-plugin", self.node.programs["stock-plugin"])
        self.node.must_come("the plugin's devices", lambda: self.node.allocatable(GPU) == 8)


class Claims(Mode):
    driver_name = "gpu.nvidia.com"
    helm = ["--set", "dra.enabled=true", "--set", "agent.enforcement=dra"]
    agent_flags = ["--enforcement", "dra"]
    given_soon = 20  # the agent asks 2 s after a claim was prepared, and not more often than every 10 s
    looked = 0

    # That takes long: one of ten.
    def looks_at_given(self):
        self.looked += 1
        return self.looked % 10 == 1

    def start(self):
        self.driver()
        slices = "/apis/resource.k8s.io/v1/resourceslices"
        self.node.must_come("the driver's slices", lambda: self.bed.must("GET", slices)["items"])

    def bind_wrongly(self, pod, other):
        chips = [chip["index"] for chip in placement_of(other)["chips"]]
        together, before = asked(pod, GPU)
        bind_by_hand(self.bed, self.node.name, self.driver_name, pod, chips[:sum(together.values())], together, before,
                     "somebody-")  # chipweave-scheduler deletes claims with its own names that no pod has

    def refused(self, pod):
        return self.event_of(pod, lambda event: event["reason"] == "FailedPrepareDynamicResources")

    def durations(self):
        log = (self.node.folder / "stand-in-dra.log").read_text()
        return [float(value) * {"µs": 1e-6, "ms": 1e-3, "s": 1}[unit]
                for value, unit in re.findall(r"prepared .*<nil>, ([\d.]+)(µs|ms|s)$", log, re.M)]

    def driver(self):
        self.launch("stand-in-dra", self.node.programs["stand-in-dra"], "--node", self.node.name, "--kubeconfig",
                    self.bed.folder / "kubeconfig")

    def claim_of(self, pod):
        name = pod["status"].get("extendedResourceClaimStatus", {}).get("resourceClaimName")
        if not name:
            return []
        claim = self.bed.must("GET", f"{CLAIMS.format(pod['metadata']['namespace'])}/{name}")
        return sorted(chip_of(r["device"]) for r in claim["status"]["allocation"]["devices"]["results"])


# The claim that chipweave-scheduler makes for a pod (common/codec/kube/objects/pod_claim.hpp).
def claim_body(pod, count, prefix):
    meta = pod["metadata"]
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {
        "name": prefix + meta["uid"], "namespace": meta["namespace"],
        "finalizers": ["resource.kubernetes.io/delete-protection"],
        "annotations": {"resource.kubernetes.io/extended-resource-claim": "true"},
        "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": meta["name"], "uid": meta["uid"],
                             "controller": True, "blockOwnerDeletion": True}]},
        "spec": {"devices": {"requests": [{"name": f"chip-{k:02}", "exactly": {"deviceClassName": CLASS, "count": 1}}
                                          for k in range(count)]}}}


def allocated(claim, pod, driver, node, chips):
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    results = [{"request": f"chip-{k:02}", "driver": driver, "pool": node, "device": f"gpu-{chip}"}
               for k, chip in enumerate(chips)]
    where = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]}
    return {**claim, "status": {
        "allocation": {"allocationTimestamp": now, "devices": {"results": results}, "nodeSelector": where},
        "reservedFor": [{"resource": "pods", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}]}}


# Binds a pod with a claim of these chips, as chipweave-scheduler does.
def bind_by_hand(bed, node, driver, pod, chips, together, before, prefix="chipweave-"):
    meta, path = pod["metadata"], CLAIMS.format(pod["metadata"]["namespace"])
    pod_path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
    claim = bed.must("POST", path, claim_body(pod, len(chips), prefix))
    bed.must("PUT", f"{path}/{claim['metadata']['name']}/status", allocated(claim, pod, driver, node, chips))
    shares, rest = {}, list(range(len(chips)))
    for name, count in together.items():
        shares[name], rest = rest[:count], rest[count:]
    shares.update({name: list(range(count)) for name, count in before.items()})
    mappings = [{"containerName": name, "resourceName": GPU, "requestName": f"chip-{k:02}"}
                for name, share in shares.items() for k in share]
    bed.must("PATCH", f"{pod_path}/status", {"metadata": {"uid": meta["uid"]}, "status": {
        "extendedResourceClaimStatus": {"resourceClaimName": claim["metadata"]["name"], "requestMappings": mappings}}})
    bind_to_chips(bed, node, pod, [{"index": chips[k], "id": f"GPU-{chips[k]}", "container": name}
                                   for name in together for k in shares[name]])


def bind_to_chips(bed, node, pod, chips):
    meta = pod["metadata"]
    placement = {"v": 1, "node": node, "podUid": meta["uid"], "resource": GPU, "chips": chips}
    bed.must("POST", f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/binding", {
        "apiVersion": "v1", "kind": "Binding", "target": {"kind": "Node", "name": node},
        "metadata": {"name": meta["name"], "uid": meta["uid"], "annotations": {PLACEMENT: json.dumps(placement)}}})


class ByHand(Claims):
    spec = {"schedulerName": "by-hand"}
    needs_ours = False
    draw = random.Random(1)

    # As the chart has it: the class matches nothing, so that kube-scheduler allocates none of its devices.
    def start(self):
        self.bed.ask("POST", "/apis/resource.k8s.io/v1/deviceclasses", {
            "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": CLASS},
            "spec": {"selectors": [{"cel": {"expression": "false"}}]}})
        super().start()

    def step(self, pods):
        taken = {chip for pod in pods.values() if pod["spec"].get("nodeName") and placement_of(pod)
                 for chip in [c["index"] for c in placement_of(pod)["chips"]]}
        for pod in pods.values():
            together, before = asked(pod, GPU)
            count, free = sum(together.values()), [chip for chip in range(8) if chip not in taken]
            if not pod["spec"].get("nodeName") and not pod["metadata"].get("deletionTimestamp") and count <= len(free):
                chips = self.draw.sample(free, count)
                bind_by_hand(self.bed, self.node.name, self.driver_name, pod, chips, together, before)
                taken |= set(chips)


# What the driver of the chips shows of them on a host, beside its library.
def host_of_chips(folder):
    (folder / "dev").mkdir(parents=True)
    (folder / "dev/nvidiactl").touch()
    for index in range(8):
        (folder / f"dev/nvidia{index}").touch()
        about = folder / f"proc/driver/nvidia/gpus/{bus_of(index)[4:].lower()}"
        about.mkdir(parents=True)
        (about / "information").write_text(f"Device Minor: \t {index}\n")
    return folder


class OwnDra(Claims):
    """chipweave-agent is the driver."""

    driver_name = "gpu.chipweave.dev"
    kubelet_folders = [*Claims.kubelet_folders, "plugins", "plugins_registry"]
    helm = [*Claims.helm, "--set", "agent.dra.enabled=true", "--set", "agent.asRoot=true"]

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.agent_flags = [*Claims.agent_flags, "--dra-driver", self.driver_name, "--dra-managed", "--dra-cdi-folder", "/run/cdi", "--dra-host-root",
                            host_of_chips(self.node.folder / "host")]

    def driver(self):
        pass

    def durations(self):
        log = self.chipweave.agents[self.node.name].log.read_text()
        # Not what a claim waits for the containers of another one to end.
        return [(int(took) - int(waited)) / 1000
                for took, waited in re.findall(r'msg="claim prepared".* ms=(\d+) waited_ms=(\d+)', log)]

    # A vendor's device plugin comes, too.
    def afterwards(self):
        self.launch("stock-plugin", self.node.programs["stock-plugin"])
        began = time.monotonic()
        if not self.bed.poll(lambda: CONTESTED in self.faults(), CONTEST_SECONDS):
            return f"the agent does not say {CONTESTED}: {self.faults()}"
        print(f"the agent says after {time.monotonic() - began:.1f} s: {self.faults()[CONTESTED]}")
        slices = "/apis/resource.k8s.io/v1/resourceslices"
        if not self.bed.poll(lambda: not self.bed.must("GET", slices)["items"], SOON):
            return "the contested chips are offered"
        if not self.bed.poll(lambda: self.chipweave.nodes()[self.node.name].get("free") == [], SOON):
            return f"our scheduler has free chips: {self.chipweave.nodes()[self.node.name]}"
        events = "/apis/events.k8s.io/v1/namespaces/default/events"
        if not self.bed.poll(lambda: [e for e in self.bed.must("GET", events)["items"] if CONTESTED in e["note"]], SOON):
            return "the node has no event"
        return ""

    def faults(self):
        status = self.bed.must("GET", f"{INVENTORIES}/{self.node.name}").get("status", {})
        return {fault["code"]: fault.get("text", "") for fault in status.get("faults", [])}


class OwnDraByHand(OwnDra, ByHand):
    needs_ours = True


class ByHandWatched(ByHand):
    needs_ours = True


class DevicePlugin(Mode):
    durations_of_kubelet = True
    helm = ["--set", "agent.devicePlugin.enabled=true", "--set", f"agent.devicePlugin.resource={GPU}",
            "--set", "agent.enforcement=device-plugin"]
    agent_flags = ["--enforcement", "device-plugin"]
    how = ["--give", "env,devices"]
    cannot = ()

    def start(self):
        token = self.bed.token(ACCOUNT, self.pod())
        server = self.late.url if self.late else self.bed.server
        write_kubeconfig(self.bed.folder, "device-plugin.kubeconfig", server, "device-plugin", token)
        self.launch("chipweave-device-plugin", self.chipweave.binaries / "chipweave-device-plugin", "--node", self.node.name,
                    "--resource", GPU, "--kubeconfig", self.bed.folder / "device-plugin.kubeconfig", "--gate-file",
                    "/run/chipweave/device-plugin", "--device-root", host_of_chips(self.node.folder / "host"), *self.how,
                    *self.options.plugin_flag)
        self.node.must_come("the plugin's devices", lambda: self.node.allocatable(GPU) == 8)

    def bind_wrongly(self, pod, other):
        bind_to_chips(self.bed, self.node.name, pod, [{**placement_of(other)["chips"][0], "container": "main"}])

    # Of the chart's DaemonSet: a policy lets a token that is bound to it patch the pods of its node only.
    def pod(self):
        pods = self.bed.must("GET", f"/api/v1/namespaces/{NS}/pods")["items"]
        return next(pod for pod in pods if pod["spec"].get("serviceAccountName") == ACCOUNT and pod["spec"].get("nodeName") == self.node.name)

    # With the other value of --on-mismatch it has others, and its annotation names them.
    def adopted(self, pod, sights):
        have = chips_of(node["name"] for node in sights[0][2]["nodes"])
        path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"
        right = self.bed.poll(lambda: annotated(self.bed.must("GET", path), GPU) == {"main": have}, SOON)
        return "" if right else f"it has {have}, and its annotation says {annotated(pod, GPU)}"

    def durations(self):
        return self.node.histogram("kubelet_device_plugin_alloc_duration_seconds")


class Adopting(DevicePlugin):
    how = [*DevicePlugin.how, "--on-mismatch=adopt"]


class Ack(DevicePlugin):
    helm = [*DevicePlugin.helm, "--set", "agent.devicePlugin.ackLabel=true"]
    how = [*DevicePlugin.how, "--ack-label"]
    resources = f"{GPU},{ALIYUN}"

    def afterwards(self):
        return back_and_forth(self)


class BehindOurs(DevicePlugin):
    """A vendor's device plugin behind ours, which passes its answers on."""

    def start(self):
        folder = self.node.folder / "vendor"
        folder.mkdir()
        self.how = ["--vendor-folder", folder]
        self.launch("stock-plugin", self.node.programs["stock-plugin"], "--folder", folder, "--delay",
                    f"{self.options.vendor_delay}s")
        super().start()


MODES = {"stock": Stock, "by-hand": ByHand, "by-hand-watched": ByHandWatched,
         "m2": Claims, "own-dra": OwnDra, "own-dra-by-hand": OwnDraByHand,
         "device-plugin": DevicePlugin, "device-plugin-adopting": Adopting, "device-plugin-ack": Ack,
         "device-plugin-vendor": BehindOurs}
