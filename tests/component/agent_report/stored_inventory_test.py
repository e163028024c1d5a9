#!/usr/bin/env python3
"""A NodeInventory that an agent of each published version has written must mean the same to the agent of today: what an
upgrade finds in the cluster. stored/VERSION.json are such objects, as the API server keeps them.

usage: stored_inventory_test.py PROGRAMS-FOLDER
       stored_inventory_test.py PROGRAMS-FOLDER --record FILE    write the object of this version, with the fake NVML
"""
import json, shutil, subprocess, sys, tempfile, unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent.parent / "e2e"))
from kube_api import INVENTORY, KUBECONFIG, PATIENCE, Api
from lib.fake_nvml import LIBRARY, Driver, hgx_h100, set_link

BIN = Path(sys.argv[1])
STORED = sorted((HERE / "stored").glob("*.json"))
NODE_BOOT = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
RECORDED_BOOT = "00000000-0000-4000-8000-000000000000"
FAULTY, CUT = 2, 5  # chips with a fault that only a reset ends, and with a link that is down


class Run:
    """A real agent of node n1 and its API server."""

    def __init__(self, *flags, stored=None, environment=None):
        self.work, self.api = Path(tempfile.mkdtemp()), Api()
        if stored:
            self.api.objects[INVENTORY] = stored
        (self.work / "kubeconfig").write_text(KUBECONFIG % self.api.server_address[1])
        with (self.work / "log").open("w") as log:
            self.agent = subprocess.Popen([BIN / "chipweave-agent", "--node", "n1", "--kubeconfig", self.work / "kubeconfig",
                                           *flags], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)

    def end(self):
        self.agent.terminate()
        self.agent.wait(PATIENCE)
        self.api.shutdown()
        self.api.server_close()
        shutil.rmtree(self.work)

    def status(self):
        return self.api.objects.get(INVENTORY, {}).get("status", {})


def record(file):
    with tempfile.TemporaryDirectory() as folder:
        machine = hgx_h100()
        set_link(machine, CUT, None, False)
        driver = Driver(Path(folder), "n1", machine)
        run = Run("--probe", "nvidia", "--nvml-library", BIN.parent / LIBRARY, "--sysfs-root", folder,
                  environment={"CHIPWEAVE_FAKE_NVML": str(driver.path)})
        try:
            codes = lambda: {fault["code"] for fault in run.status().get("faults", [])}
            run.api.wait_for("the link", lambda: "link.down" in codes())
            driver.xid(FAULTY, 79)
            run.api.wait_for("the XID", lambda: {"xid.79", "link.down"} <= codes())
            stored = run.api.objects[INVENTORY]
            stored["status"]["nodeBootId"] = RECORDED_BOOT
            file.write_text(json.dumps(stored, indent=1) + "\n")
        finally:
            run.end()


# A machine file: what it is, without its health, which is for the agent to know.
def as_described(topology):
    return {**topology, "chips": [{key: value for key, value in chip.items() if key != "health"} for chip in topology["chips"]]}


class StoredInventory(unittest.TestCase):
    def test_a_fault_that_needs_a_reset_stays_in_force_whatever_number_its_chip_has_now(self):
        self.assertTrue(STORED)
        for file in STORED:
            for turned in (False, True):
                with self.subTest(version=file.stem, turned=turned):
                    self.restart(json.loads(file.read_text()), turned)

    def restart(self, stored, turned):
        before = stored["status"]
        (fault,) = [one for one in before["faults"] if one["code"] == "xid.79"]
        before["nodeBootId"] = NODE_BOOT  # the node has not booted since
        number = fault["chip"]
        machine = as_described(before["topology"])
        if turned:  # the driver numbers the chips the other way round: the same ids at other numbers
            ids = [chip["id"] for chip in machine["chips"]]
            for chip, name in zip(machine["chips"], reversed(ids)):
                chip["id"] = name
            number = len(ids) - 1 - number
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "machine.json").write_text(json.dumps(machine))
            run = Run("--probe", f"file:{folder}/machine.json", stored=stored)
            try:
                old = before["bootId"]
                run.api.wait_for("the new agent's report", lambda: run.status().get("bootId") not in (None, old))
                now = run.status()
                (kept,) = [one for one in now["faults"] if one["code"] == "xid.79"]
                self.assertEqual(kept, {**fault, "chip": number, "untilReset": True})
                health = {chip["index"]: chip.get("health", "healthy") for chip in now["topology"]["chips"]}
                self.assertEqual([chip for chip, state in health.items() if state != "healthy"], [number])
                self.assertEqual(now["unhealthy"], 1)
                notes = [note for _, note in run.api.events if "xid.79" in note]
                self.assertEqual(notes, [], "a known fault makes no event again")
            finally:
                run.end()

    def test_a_node_that_has_booted_since_starts_afresh(self):
        for file in STORED:
            with self.subTest(version=file.stem):
                stored = json.loads(file.read_text())
                with tempfile.TemporaryDirectory() as folder:
                    (Path(folder) / "machine.json").write_text(json.dumps(as_described(stored["status"]["topology"])))
                    old = stored["status"]["bootId"]
                    run = Run("--probe", f"file:{folder}/machine.json", stored=stored)
                    try:
                        run.api.wait_for("the report", lambda: run.status().get("bootId") not in (None, old))
                        self.assertFalse([one for one in run.status().get("faults", []) if one["code"] == "xid.79"])
                    finally:
                        run.end()


if len(sys.argv) == 4 and sys.argv[2] == "--record":
    record(Path(sys.argv[3]))
else:
    unittest.main(argv=sys.argv[:1])
