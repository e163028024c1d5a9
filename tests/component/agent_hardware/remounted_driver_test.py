#!/usr/bin/python3
"""A driver container that restarts: the driver's folder is unmounted and mounted again with another version, below an
agent that sees it through a mount that follows the host's (mountPropagation: HostToContainer, as the chart mounts it).

"The host" is a mount namespace in a user namespace of its own; the agent runs in another one, which is a slave of it.
Skipped where such namespaces are not permitted.

usage: remounted_driver_test.py SOURCES PROGRAMS-FOLDER FAKE-LIBRARY OTHER-FAKE-LIBRARY
"""
import json, os, shutil, subprocess, sys, time, unittest
from pathlib import Path

sys.dont_write_bytecode = True
SOURCES, BIN, LIBRARY, OTHER_LIBRARY = (Path(word).resolve() for word in sys.argv[1:5])
sys.path[:0] = [str(SOURCES / "tests/component/agent_report"), str(SOURCES / "tests/e2e/lib")]
import fake_nvml
from kube_api import INVENTORY, PATIENCE, folder_with_api

NOT_LOADED = 9  # NVML_ERROR_DRIVER_NOT_LOADED
SKIPPED = 77  # ctest's SKIP_RETURN_CODE
NAMESPACES = ["unshare", "--user", "--map-root-user", "--mount", "--propagation", "private"]


class RemountedDriver(unittest.TestCase):
    def setUp(self):
        self.work, self.api = folder_with_api(self)
        (self.work / "sys").mkdir()
        self.run_folder = self.work / "run"  # the host's /run/nvidia
        self.run_folder.mkdir()
        self.driver = self.run_folder / "driver"
        self.host = subprocess.Popen([*NAMESPACES, "sh", "-c", 'mount -t tmpfs run "$0" && mount --make-shared "$0" && '
                                      'mkdir "$0/driver" && echo ready && exec cat', self.run_folder],
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.end, self.host)
        self.assertEqual(self.host.stdout.readline(), "ready\n")

    def end(self, process):
        if process.stdin:
            process.stdin.close()
        process.terminate()
        process.wait(PATIENCE)
        if process.stdout:
            process.stdout.close()

    def on_host(self, *command):
        return ["nsenter", "--target", str(self.host.pid), "--user", "--mount", "--preserve-credentials",
                *map(str, command)]

    # A root of its own for each driver: its library, and what the fake library answers.
    def root(self, name, library, **facts):
        root = self.work / name
        (root / "usr/lib64").mkdir(parents=True)
        shutil.copy(library, root / "usr/lib64/libnvidia-ml.so.1")
        self.answer(root, **facts)
        return root

    def answer(self, root, **facts):
        (root / "new").write_text(json.dumps({**fake_nvml.dgx1v(), **facts}))
        os.rename(root / "new", root / "scenario.json")

    def mount(self, root):
        subprocess.run(self.on_host("mount", "--bind", root, self.driver), check=True)

    # Lazily, as the driver container does: it must not wait for those who still have the library open.
    def unmount(self):
        subprocess.run(self.on_host("umount", "--lazy", self.driver), check=True)

    def start_agent(self):
        self.log = self.work / "agent.log"
        with self.log.open("w") as log:
            self.agent = subprocess.Popen(
                self.on_host("unshare", "--mount", "--propagation", "slave", BIN / "chipweave-agent", "--node", "n1",
                             "--probe", "nvidia", "--driver-root", self.driver, "--sysfs-root", self.work / "sys",
                             "--kubeconfig", self.work / "kubeconfig"),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, "CHIPWEAVE_FAKE_NVML": str(self.driver / "scenario.json")})
        self.addCleanup(self.end, self.agent)

    def status(self):
        return self.api.objects.get(INVENTORY, {}).get("status", {})

    def faults(self):
        return {fault["code"] for fault in self.status().get("faults", [])}

    def wait_for(self, what, look):
        try:
            self.api.wait_for(what, look)
        except AssertionError:
            print(self.log.read_text(), file=sys.stderr)
            raise

    def wait_for_version(self, version):
        self.wait_for(f"driver {version}", lambda: self.status().get("facts", {}).get("driver") == version)

    def probe_process(self):
        tasks = Path(f"/proc/{self.agent.pid}/task").iterdir()
        (child,) = [child for task in tasks for child in (task / "children").read_text().split()]
        return child

    # Inodes of the libraries that the probe process has mapped.
    def mapped(self):
        maps = Path(f"/proc/{self.probe_process()}/maps").read_text()
        return {int(line.split()[4]) for line in maps.splitlines() if "libnvidia-ml.so.1" in line}

    def library_of(self, root):
        return (root / "usr/lib64/libnvidia-ml.so.1").stat().st_ino

    def begin(self):
        self.first = self.root("first", OTHER_LIBRARY, driver="550.54.15")
        self.second = self.root("second", LIBRARY, driver="570.86.10")
        self.mount(self.first)
        self.start_agent()
        self.wait_for_version("550.54.15")
        self.assertEqual(self.mapped(), {self.library_of(self.first)})
        self.process = self.probe_process()

    def expect_fault(self):
        self.wait_for("a fault", lambda: self.faults() & {"probe.failing", "machine.gone"})
        self.assertEqual(len(self.status()["topology"]["chips"]), 8, "the chips are not forgotten")

    # The next poll of the probe process notices.
    def wait_for_maps(self, wanted):
        end = time.monotonic() + PATIENCE
        while self.mapped() != wanted:
            self.assertLess(time.monotonic(), end, (self.mapped(), wanted, self.log.read_text()))
            time.sleep(0.1)

    def expect_recovered(self):
        self.mount(self.second)
        self.wait_for_version("570.86.10")
        self.wait_for("the end of the fault", lambda: not self.faults())
        self.assertEqual(self.mapped(), {self.library_of(self.second)})
        self.assertEqual(self.probe_process(), self.process, "it started itself again; the agent did not have to")
        self.assertIsNone(self.agent.poll(), "the agent lives on")

    def test_a_folder_that_goes_while_the_driver_works(self):
        self.begin()
        # What the probe process has open still works, and is no longer the driver.
        self.unmount()
        self.expect_fault()
        self.wait_for_maps(set())
        self.expect_recovered()

    def test_a_driver_that_is_unloaded_before_its_folder_goes(self):
        self.begin()
        gone = {"*": NOT_LOADED, "nvmlInitWithFlags": NOT_LOADED, "nvmlInit_v2": NOT_LOADED, "nvmlInit": NOT_LOADED}
        self.answer(self.first, driver="550.54.15", errors=gone)
        self.expect_fault()
        self.unmount()
        self.wait_for_maps(set())
        self.expect_recovered()


for tool in ("unshare", "nsenter"):
    if not shutil.which(tool):
        print(f"{tool} is not installed: the driver's folder was not mounted again")
        sys.exit(SKIPPED)
if subprocess.run([*NAMESPACES, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True).returncode:
    print("user and mount namespaces are not permitted here: the driver's folder was not mounted again")
    sys.exit(SKIPPED)
unittest.main(argv=sys.argv[:1])
