"""A testbed of our own, with requests to it as its administrator, checks that are printed and counted, and the processes
that a test starts beside it."""
import contextlib, http.client, json, os, shlex, signal, ssl, subprocess, time
from pathlib import Path
from urllib.parse import urlsplit

from testbed.api import request
from testbed.started import TESTBED, start, state_of

ROOT = Path(__file__).resolve().parent.parent.parent.parent
CHART = ROOT / "charts/chipweave"
NS = "chipweave-system"  # where the chart is installed
WAIT_SECONDS = 60
NO_GO = 3  # what scripts/testbed ends with then


class Bed:
    # `work` is a folder for files and logs of this test. Ends the program if the testbed does not start.
    def __init__(self, name, work, kubernetes):
        self.name, self.work, self.passed, self.failed = name, work, 0, []
        self.kubernetes = tuple(int(part) for part in kubernetes.split("."))
        self.running = []  # processes of this test, each in a group of its own
        values = start(name, "--kubernetes", kubernetes)
        self.folder, self.ca = Path(values["CHIPWEAVE_TESTBED"]), values["CHIPWEAVE_TESTBED_CA"]
        self.server, self.admin = values["CHIPWEAVE_TESTBED_SERVER"], values["CHIPWEAVE_TESTBED_TOKEN"]
        self.state = state_of(values)
        self.environment = {**os.environ, "KUBECONFIG": values["KUBECONFIG"], "KUBECACHEDIR": values["KUBECACHEDIR"],
                            **{f"HELM_{name}_HOME": str(work / "helm") for name in ("CONFIG", "CACHE", "DATA")}}

    def check(self, name, good, why=""):
        print(f"{'ok  ' if good else 'FAIL'} {name}" + ("" if good else f": {why}"), flush=True)
        if good:
            self.passed += 1
        else:
            self.failed.append(name)
        return bool(good)

    # Status and answer, parsed where it is JSON.
    def ask(self, method, path, body=None, token=None, kind=None):
        kind = kind or ("application/merge-patch+json" if method == "PATCH" else "application/json")
        code, text = request(urlsplit(self.server).port, path, self.ca, token or self.admin, method, body, kind)
        with contextlib.suppress(ValueError):
            text = json.loads(text)
        return code, text

    # A request whose answer is read bit by bit: the connection, to be closed by the caller, and the answer.
    def stream(self, path):
        trust = ssl.create_default_context(cafile=self.ca)
        connection = http.client.HTTPSConnection("127.0.0.1", urlsplit(self.server).port, context=trust)
        connection.request("GET", path, headers={"Authorization": f"Bearer {self.admin}"})
        return connection, connection.getresponse()

    def must(self, method, path, body=None, **more):
        code, answer = self.ask(method, path, body, **more)
        if code not in (200, 201):
            raise RuntimeError(f"{method} {path}: {code}: {answer}")
        return answer

    def run(self, *command, text=None, good=True):
        done = subprocess.run(command, input=text, capture_output=True, text=True, env=self.environment)
        with open(self.work / "commands.log", "a") as log:
            log.write(f"$ {shlex.join(map(str, command))}\n{done.stdout}{done.stderr}status {done.returncode}\n\n")
        if good and done.returncode != 0:
            raise RuntimeError(f"{shlex.join(map(str, command))}: {done.stderr.strip()}")
        return done

    def kubectl(self, *arguments, **more):
        return self.run(self.folder / "bin/kubectl", *arguments, **more)

    # A verb of scripts/testbed for this testbed.
    def testbed(self, verb, *arguments):
        return self.run(TESTBED, verb, *arguments, "--name", self.name)

    # Until test() gives something true, which is the answer; else the last answer.
    def poll(self, test, seconds=WAIT_SECONDS):
        deadline = time.monotonic() + seconds
        while not (answer := test()) and time.monotonic() < deadline:
            time.sleep(0.2)
        return answer

    # Of a ServiceAccount of the chart; bound to a pod, as the kubelet asks for one, where `pod` is given.
    def token(self, account, pod=None):
        spec = {"audiences": ["https://kubernetes.default.svc"], "expirationSeconds": 3600}
        if pod:
            spec["boundObjectRef"] = {"apiVersion": "v1", "kind": "Pod", "name": pod["metadata"]["name"],
                                      "uid": pod["metadata"]["uid"]}
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
        return self.must("POST", f"/api/v1/namespaces/{NS}/serviceaccounts/{account}/token", body)["status"]["token"]

    # In a session of its own: Ctrl-C in the terminal does not reach it.
    def start(self, log, *command, env=None):
        with open(log, "ab") as to:
            process = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=to, stderr=to,
                                       cwd=self.work, env=env, start_new_session=True)
        self.running.append(process)
        return process

    # SIGKILL for the whole group, and nothing is left of it afterwards. May be called twice.
    def end(self, process):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process in self.running:
            self.running.remove(process)

    def stop(self, keep=False):
        for process in list(self.running):
            self.end(process)
        keep = ["--keep"] if keep or self.failed else []
        subprocess.run([TESTBED, "down", "--name", self.name, *keep], check=False)
