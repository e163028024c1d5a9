#!/usr/bin/env python3
"""The workloads of scripts/demo on a real Kubernetes control plane: an unmodified kube-scheduler asks chipweave, kubectl
shows what came of it. Started as scripts/demo --kubernetes [1.34]; everything it started is stopped at the end."""
import argparse, json, shutil, signal, subprocess, sys, tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from audit import holds_chips, placement_of
from lib.bed import NO_GO, ROOT, Bed
from lib.gangs import BLOCK, RACK
from lib.programs import Chipweave
from lib.scenario import Scenario
from testbed.build import VERSIONS

GPU, ACK, ASCEND = "nvidia.com/gpu", "aliyun.com/gpu", "huawei.com/Ascend910"
MACHINES = {"dgx1-a": ("hgx-v100-8", ACK, 8), "dgx1-b": ("hgx-v100-8", GPU, 8), "dgx1-c": ("hgx-v100-8", GPU, 8),
            "pcie-a": ("pcie-8", GPU, 8), "atlas-a2-1": ("ascend-910b-8", ASCEND, 8),
            "atlas-a2-2": ("ascend-910b-8", ASCEND, 8), "atlas-910a": ("ascend-910a-8", ASCEND, 8),
            "atlas-a3": ("ascend-a3-16", ASCEND, 16)}
# Kubernetes makes the pods of the first ones itself; the operators of the others are not here, so chipweave prints their
# pods.
PLAIN = ["pytorch-dgx1.yaml", "pcie-job.yaml", "ascend-910a.yaml"]
EXPANDED = ["ack-pytorchjob.yaml", "ascend-a3.yaml", "mindie-server.yaml"]
# Machines that come later, and their racks; only the last rack has room for a gang of four.
RACKS = {"h100-1": "r1", "h100-2": "r2", "h100-3": "r2", "h100-4": "r3", "h100-5": "r3", "h100-6": "r3", "h100-7": "r3"}
PENDING = {"demo/train-3"}  # an Atlas 800 (910A) does not allow three chips


def title(text):
    print(f"\n== {text}", flush=True)


class Demo:
    def __init__(self, bed, binaries):
        self.bed, self.binaries = bed, binaries
        self.chipweave = Chipweave(bed, binaries, https=True)
        self.s = Scenario(bed, self.chipweave, "demo", bed.work)

    def kubectl(self, *arguments, text=None):
        shown = " ".join(map(str, arguments)).replace(f"{ROOT}/", "").rstrip()
        print(f"$ kubectl {shown}", flush=True)
        print(self.bed.kubectl(*arguments, text=text).stdout, end="", flush=True)

    def show(self, *arguments):
        done = self.chipweave.cli(*arguments)
        print(done.stdout + done.stderr, end="", flush=True)

    # As chipweave submit makes them; this cluster has no volcano, its own scheduler takes them.
    def expanded(self, file):
        command = [self.binaries / "chipweave", "submit", "--print", ROOT / "examples" / file]
        pods = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        for pod in pods["items"]:
            pod["spec"].pop("schedulerName", None)
        return json.dumps(pods)

    def pods(self):
        every = self.bed.must("GET", "/api/v1/pods")["items"]
        return [pod for pod in every if pod["metadata"]["namespace"] in ("demo", "mindie")]

    def decided(self):
        waiting = {f"{pod['metadata']['namespace']}/{pod['metadata']['name']}" for pod in self.pods()
                   if not holds_chips(pod)}
        return waiting <= PENDING

    def play(self):
        self.chipweave.start(self.bed.work)
        self.s.nodes(**MACHINES)
        for namespace in ("demo", "mindie"):
            self.bed.must("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
            account = f"/api/v1/namespaces/{namespace}/serviceaccounts/default"
            self.s.must_come("a service account", lambda: self.bed.ask("GET", account)[0] == 200)
        title("Nodes, after three notebooks took their GPUs")
        self.kubectl("apply", "-f", ROOT / "examples/notebooks.yaml")
        self.s.must_come("the notebooks", self.decided)
        self.kubectl("get", "nodeinventories")
        self.show("nodes")
        title("Workloads")
        for file in PLAIN:
            self.kubectl("apply", "-f", ROOT / "examples" / file)
        for file in EXPANDED:
            print(f"$ chipweave submit --print examples/{file} | kubectl apply -f -", flush=True)
            print(self.bed.kubectl("apply", "-f", "-", text=self.expanded(file)).stdout, end="", flush=True)
        self.s.must_come("a decision on every pod", lambda: len(self.pods()) >= 15 and self.decided(), 60)
        title("What a bound pod carries")
        for key in ("chipweave.dev/placement", "topology.kubernetes.io/gpu-group", "topology.kubernetes.io/gpu-visible"):
            path = "{.metadata.annotations." + key.replace(".", "\\.") + "}\n"
            self.kubectl("-n", "demo", "get", "pod", "mnist-master-0", "-o", f"jsonpath={path}")
        self.kubectl("-n", "demo", "get", "events", "--field-selector", "involvedObject.name=mnist-master-0")
        title("Why six-gpus is where it is: chipweave explain demo/six-gpus")
        self.show("explain", "demo/six-gpus")
        title("Chips and predicted GB/s, from the annotations alone")
        self.table()
        self.gang()

    # Seven more machines come, in racks; then a job whose pods are planned together.
    def gang(self):
        title("A gang of four workers, planned over the network")
        self.s.nodes(**{name: ("hgx-h100-8", GPU, 8) for name in RACKS})
        for name, rack in RACKS.items():
            self.bed.must("PATCH", f"/api/v1/nodes/{name}", {"metadata": {"labels": {BLOCK: "b1", RACK: rack}}})
        self.kubectl("get", "nodes", "-L", RACK, "-l", BLOCK)
        self.kubectl("apply", "-f", ROOT / "examples/gang-job.yaml")
        self.s.must_come("the gang's pods", lambda: sum("llm" in pod["metadata"]["name"] for pod in self.pods()) == 4
                         and self.decided(), 60)
        self.show("gangs", "demo/llm")

    def table(self):
        rows = [("POD", "NODE", "CHIPS", "GB/s")]
        for pod in self.pods():
            placement, name = placement_of(pod), f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
            if placement:
                chips = ",".join(str(chip["index"]) for chip in placement["chips"])
                rows.append((name, placement["node"], chips, f"{placement['gbps']:g}"))
            else:
                rows.append((name, "pending", "", ""))
        widths = [max(len(row[column]) for row in rows) for column in range(4)]
        for row in rows:
            cells = [cell.ljust(width) for cell, width in zip(row[:3], widths)] + [row[3].rjust(widths[3])]
            print("  ".join(cells).rstrip(), flush=True)


def interrupt(number, _):
    raise SystemExit(128 + number)


def main():
    parser = argparse.ArgumentParser(prog="scripts/demo --kubernetes", description=__doc__)
    parser.add_argument("kubernetes", nargs="?", choices=VERSIONS, default=VERSIONS[0], help="default: %(default)s")
    parser.add_argument("--bin", type=Path, required=True, help="our programs")
    options = parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    work = Path(tempfile.mkdtemp(prefix="chipweave-demo-"))
    try:
        bed = Bed("demo", work, options.kubernetes)
    except SystemExit as ended:
        shutil.rmtree(work)
        if ended.code == NO_GO:
            print("demo: the control plane has to be built first, and Go is missing or too old (see above)", file=sys.stderr)
        raise
    try:
        Demo(bed, options.bin).play()
    except RuntimeError as error:
        print(f"demo: {error}", file=sys.stderr)
        bed.failed.append("demo")
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        bed.stop()
        if not bed.failed:
            shutil.rmtree(work)
    if bed.failed:
        print(f"demo: logs are in {work} and {bed.folder} (scripts/testbed down --name demo removes the second)",
              file=sys.stderr)
    return 1 if bed.failed else 0


if __name__ == "__main__":
    sys.exit(main())
