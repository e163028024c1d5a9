"""A node of a testbed with the real kubelet, containerd and runc, in a machine of its own (machine.py)."""
import json, os, platform, re, signal, subprocess, time, urllib.request
from pathlib import Path

from image import write_image
from lib.bed import ROOT
from testbed.build import build_module, build_node
from testbed.processes import free_ports

PROGRAMS = ["auditor", "pod-resources", "stand-in-dra", "stock-plugin"]
SOURCES = Path(__file__).resolve().parent / "programs"
AUDITOR, PAUSE = "localhost/auditor:1", "localhost/pause:1"
START_SECONDS = 60
CONTAINERD = "/run/containerd/containerd.sock"
POD_RESOURCES = "/var/lib/kubelet/pod-resources/kubelet.sock"


class Node:
    def __init__(self, bed, machine, name):
        self.bed, self.machine, self.name = bed, machine, name
        self.folder = machine.folder
        self.programs = {**build_node(), **{program: build_module(SOURCES, PROGRAMS) / program for program in PROGRAMS}}
        self.port, self.healthz, self.metrics = free_ports(3)
        self.kubelet = self.containerd = None
        self.write_configs()
        self.start_containerd()
        for name, arguments in ((AUDITOR, []), (PAUSE, ["--quiet"])):
            tar = self.folder / "image.tar"
            write_image(tar, name, self.programs["auditor"], arguments, platform.machine())
            self.ctr("images", "import", "--local=true", tar)
        self.start_kubelet()
        self.wait_ready()

    # --- files

    def write_configs(self):
        (self.folder / "cni").mkdir()
        (self.folder / "cni/10-lo.conflist").write_text(json.dumps(
            {"cniVersion": "1.0.0", "name": "lo", "plugins": [{"type": "loopback"}]}))
        (self.folder / "bin").mkdir()
        for program in ("containerd", "containerd-shim-runc-v2", "ctr", "runc", "loopback", "kubelet"):
            (self.folder / "bin" / program).symlink_to(self.programs[program])
        (self.folder / "containerd.toml").write_text(f"""version = 3
root = "/var/lib/containerd"
state = "/run/containerd"
[grpc]
address = "{CONTAINERD}"
[plugins."io.containerd.cri.v1.images".pinned_images]
sandbox = "{PAUSE}"
[plugins."io.containerd.cri.v1.runtime"]
restrict_oom_score_adj = true
disable_apparmor = true
cdi_spec_dirs = ["/run/cdi"]
[plugins."io.containerd.cri.v1.runtime".cni]
bin_dirs = ["{self.folder}/bin"]
conf_dir = "{self.folder}/cni"
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
BinaryName = "{self.folder}/bin/runc"
SystemdCgroup = false
""")
        (self.folder / "kubelet.json").write_text(json.dumps({
            "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", "address": "127.0.0.1",
            "port": self.port, "healthzPort": self.healthz, "readOnlyPort": self.metrics, "failCgroupV1": False,
            "cgroupDriver": "cgroupfs", "failSwapOn": False, "enforceNodeAllocatable": [], "protectKernelDefaults": True,
            "makeIPTablesUtilChains": False, "oomScoreAdj": 0, "containerRuntimeEndpoint": f"unix://{CONTAINERD}",
            "volumePluginDir": "/var/lib/kubelet/volume-plugins", "nodeStatusUpdateFrequency": "2s",
            "nodeStatusReportFrequency": "10s", "evictionHard": {"memory.available": "50Mi", "nodefs.available": "1%"}}))
        self.write_kubeconfig()

    # As the cluster's CA certifies nodes.
    def write_kubeconfig(self):
        key, request, certificate = (self.folder / f"node.{end}" for end in ("key", "csr", "crt"))
        ca = self.bed.folder / "ca"
        for command in (
                f"req -newkey rsa:2048 -nodes -config {self.bed.folder}/openssl.cnf -subj /O=system:nodes/CN=system:node:{self.name} "
                f"-keyout {key} -out {request}",
                f"x509 -req -in {request} -CA {ca}.crt -CAkey {ca}.key -set_serial 7 -days 30 -out {certificate}"):
            subprocess.run(["openssl", *command.split()], check=True, capture_output=True)
        (self.folder / "node.kubeconfig").write_text(
            f"apiVersion: v1\nkind: Config\nclusters:\n- name: c\n  cluster: {{server: '{self.bed.server}', "
            f"certificate-authority: '{ca}.crt'}}\nusers:\n- name: node\n  user: {{client-certificate: '{certificate}', "
            f"client-key: '{key}'}}\ncontexts:\n- name: c\n  context: {{cluster: c, user: node}}\ncurrent-context: c\n")

    # --- programs

    def path(self):
        return {"PATH": f"{self.folder}/bin:{os.environ['PATH']}"}

    def start_containerd(self):
        self.containerd = self.machine.start(self.folder / "containerd.log", self.folder / "bin/containerd", "--config",
                                             self.folder / "containerd.toml", env=self.path())
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                return self.ctr("version")
            except RuntimeError:
                if time.monotonic() > deadline:
                    raise
            time.sleep(0.1)

    def ctr(self, *arguments):
        return self.machine.run(self.folder / "bin/ctr", "--address", CONTAINERD, "-n", "k8s.io", *arguments)

    def start_kubelet(self):
        self.kubelet = self.machine.start(
            self.folder / "kubelet.log", self.folder / "bin/kubelet", "--config", self.folder / "kubelet.json", "--kubeconfig",
            self.folder / "node.kubeconfig", f"--hostname-override={self.name}", "--node-labels=chipweave.dev/agent=true",
            "--v=4" if os.environ.get("KUBELET_VERBOSE") else "--v=2", env=self.path())

    def stop_kubelet(self, sign=signal.SIGTERM):
        self.machine.stop(self.kubelet, sign)
        self.kubelet = None

    # Without the node lifecycle controller the taint stays unless it is removed here.
    def wait_ready(self):
        def ready():
            code, node = self.bed.ask("GET", f"/api/v1/nodes/{self.name}")
            return code == 200 and any(c["type"] == "Ready" and c["status"] == "True" for c in node["status"].get("conditions", []))

        self.must_come("that the node is Ready", ready)
        self.bed.must("PATCH", f"/api/v1/nodes/{self.name}", {"spec": {"taints": None}})

    def must_come(self, what, test, seconds=START_SECONDS):
        answer = self.bed.poll(test, seconds)
        if not answer:
            raise RuntimeError(f"{what} did not come within {seconds} s; see {self.folder}")
        return answer

    def allocatable(self, resource):
        return int(self.bed.must("GET", f"/api/v1/nodes/{self.name}")["status"]["allocatable"].get(resource, 0))

    # The values of one of its histograms, each as the upper bound of its bucket; since the kubelet has started.
    def histogram(self, name):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics}/metrics", timeout=10) as answer:
            text = answer.read().decode()
        values, below = [], {}
        for labels, bound, count in re.findall(rf'^{name}_bucket{{(.*)le="([^"]+)"}} (\d+)$', text, re.M):
            values += [float(bound)] * (int(count) - below.get(labels, 0))
            below[labels] = int(count)
        return values

    # --- what is true

    # {"namespace/pod": {"container": {"devices": […], "claims": […]}}} as the kubelet says.
    def pod_resources(self):
        return json.loads(self.machine.run(self.programs["pod-resources"], "--socket", POD_RESOURCES))

    # What the auditors in the containers of a pod have seen: [(container, attempt, sight)].
    def sights(self, pod):
        meta, found = pod["metadata"], []
        folder = self.folder / "log/pods" / f"{meta['namespace']}_{meta['name']}_{meta['uid']}"
        for log in sorted(folder.glob("*/*.log")):
            for line in log.read_text().splitlines():
                text = line.split(" ", 3)[3]
                if text.startswith("{"):
                    found.append((log.parent.name, int(log.stem), json.loads(text)))
        return found
