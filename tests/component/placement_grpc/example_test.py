#!/usr/bin/env python3
"""The Python client of docs/tasks/call-the-grpc-api.md: that the page shows the file that is run, that the page's commands
make the stubs, and that it does with a real scheduler and agent what the page says.

usage: example_test.py SOURCE-FOLDER PROGRAMS-FOLDER
"""
import contextlib, json, os, re, shutil, socket, subprocess, sys, tempfile, threading, time, unittest, urllib.request
from pathlib import Path

SOURCE, BIN = Path(sys.argv[1]), Path(sys.argv[2])
EXAMPLE, PAGE = SOURCE / "examples/placement_client.py", SOURCE / "docs/tasks/call-the-grpc-api.md"
PATIENCE = 60  # for what must come; never how long it takes


def blocks(kind):
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE.read_text(), re.M | re.S)


class Relay:
    """A port that rejects connections until its target is set."""

    def __init__(self, test):
        self.target = None
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        test.addCleanup(self.listener.close)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            far = None
            with contextlib.suppress(OSError):
                far = self.target and socket.create_connection(self.target)
            if not far:
                near.close()
                continue
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self.copy, args=(one, other), daemon=True).start()

    @staticmethod
    def copy(one, other):
        try:
            while data := one.recv(65536):
                other.sendall(data)
        except OSError:
            pass
        with contextlib.suppress(OSError):
            other.shutdown(socket.SHUT_RDWR)
        one.close()


class Process:
    """Its lines of both streams, waited for."""

    def __init__(self, *command, **more):
        self.process = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)
        self.lines, self.news = [], threading.Condition()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            with self.news:
                self.lines.append(line.rstrip())
                self.news.notify_all()

    def wait_for(self, pattern, start=0):
        def find():
            return any(re.search(pattern, line) for line in self.lines[start:])
        with self.news:
            if not self.news.wait_for(find, PATIENCE):
                raise AssertionError(f"no line matches {pattern!r}: {self.lines}")

    def end(self):
        status = self.process.wait(PATIENCE)
        self.reader.join(PATIENCE)
        self.process.stdout.close()
        return status

    def stop(self):
        if self.process.stdout.closed:
            return
        if self.process.poll() is None:
            self.process.terminate()
        self.end()


class Example(unittest.TestCase):
    def setUp(self):
        self.work = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.work)
        make_stubs = blocks("sh")[0]
        self.assertIn("protoc", make_stubs)
        done = subprocess.run(["bash", "-euc", make_stubs + '\necho "$out"'], cwd=SOURCE, capture_output=True, text=True,
                              env={**os.environ, "TMPDIR": str(self.work)})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.stubs = done.stdout.split()[-1]

    def start(self, *command, **more):
        process = Process(*command, **more)
        self.addCleanup(process.stop)
        return process

    def scheduler(self, *flags, agent=True):
        ports = self.work / "ports.json"
        ports.unlink(missing_ok=True)
        process = self.start(BIN / "chipweave-scheduler", "--standalone", "--http", "127.0.0.1:0", "--grpc",
                             "127.0.0.1:0", "--port-file", ports, *flags)
        process.wait_for("ready")
        self.ports = json.loads(ports.read_text())
        self.grpc = "127.0.0.1:%d" % self.ports["grpc"]
        if agent:
            self.start(BIN / "chipweave-agent", "--node", "n1", "--probe", "profile:hgx-v100-8", "--scheduler", self.grpc)
            while not self.http("GET", "/api/v1/nodes")["items"]:
                time.sleep(0.02)
        return process

    def client(self, address, *arguments):
        return self.start("/usr/bin/python3", EXAMPLE, address, *arguments, env={**os.environ, "PYTHONPATH": self.stubs})

    def http(self, method, path, body=None):
        request = urllib.request.Request("http://127.0.0.1:%d%s" % (self.ports["http"], path), method=method,
                                         data=json.dumps(body).encode() if body else None)
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.loads(answer.read())

    def add_pod(self, name, chips):
        container = {"name": "c", "resources": {"limits": {"nvidia.com/gpu": str(chips)}}}
        pod = {"metadata": {"name": name, "namespace": "default"}, "spec": {"containers": [container]}}
        return self.http("POST", "/standalone/pods", pod)["metadata"]["uid"]

    def bind(self, name, uid):
        answer = self.http("POST", "/kube/bind",
                           {"PodName": name, "PodNamespace": "default", "PodUID": uid, "Node": "n1"})
        self.assertEqual(answer, {"Error": ""})

    def test_the_page_shows_what_is_run(self):
        self.assertEqual(blocks("python"), [EXAMPLE.read_text()])

    def test_every_call(self):
        relay = Relay(self)
        watching = self.client(relay.address, "watch")
        watching.wait_for("^retrying: ")
        scheduler = self.scheduler()
        self.bind("notebook", self.add_pod("notebook", 1))
        uid = self.add_pod("train-0", 2)
        placing = self.client(relay.address, "place", "default", "train-0", uid, "nvidia.com/gpu", "2")
        placing.wait_for("^retrying: ")
        relay.target = ("127.0.0.1", self.ports["grpc"])
        self.assertEqual(placing.end(), 0, placing.lines)
        said = [line for line in placing.lines if not line.startswith("retrying: ")]
        chosen = said[0].removeprefix("what if: ")
        self.assertRegex(chosen, r"^node n1, chips \d,\d, [\d.]+ of at most [\d.]+ GB/s$")
        self.assertEqual(said[1], "place: " + chosen)
        self.assertRegex(said[2], "^reserve: " + re.escape(chosen) + r", held for (30|29) s$")
        self.assertEqual(said[3:], ["explain: reserved", "release: done"])
        self.assertEqual({pod["name"]: pod["state"] for pod in self.http("GET", "/api/v1/pods")["items"]},
                         {"notebook": "bound", "train-0": "pending"})
        # What the page prints is what such a run prints.
        for line in said:
            shown = re.sub(r"held for \d+ s", "held for 30 s", line)
            self.assertTrue(f"\n{shown}\n" in PAGE.read_text(), f"the page does not show {shown!r}")

        watching.wait_for("^LIVE$")
        self.assertEqual([line for line in watching.lines if not line.startswith("retrying: ")],
                         ["BOUND default/notebook node n1 chips 0", "LIVE"])
        self.bind("train-0", uid)
        chips = re.search(r"chips (\S+),", chosen)[1]
        watching.wait_for(f"^BOUND default/train-0 node n1 chips {chips}$")
        self.http("DELETE", "/standalone/pods/default/train-0")
        watching.wait_for(f"^GONE default/train-0 node n1 chips {chips}$")
        seen = len(watching.lines)
        scheduler.stop()
        watching.wait_for("^retrying: ", seen)

    def test_errors_end_it_with_code_and_words(self):
        self.scheduler()
        uid = self.add_pod("train-0", 8)
        for arguments, words in (
                (("ghost", uid, "nvidia.com/gpu", "2"), "NOT_FOUND: pod default/ghost is not known"),
                (("train-0", "other", "nvidia.com/gpu", "2"), "FAILED_PRECONDITION: pod default/train-0 has another uid"),
                (("train-0", uid, "amd.com/gpu", "2"), "NOT_FOUND: no node fits; most common reason: the node has no amd.com/gpu"),
                (("train-0", uid, "nvidia.com/gpu", "0"), "INVALID_ARGUMENT: request.chips is 0")):
            client = self.client(self.grpc, "place", "default", *arguments)
            self.assertEqual(client.end(), 1, client.lines)
            self.assertIn(words, client.lines[-1])

    def test_patience_ends(self):
        nobody = Relay(self)
        client = self.client(nobody.address, "--patience", "0.2", "place", "default", "p", "u", "nvidia.com/gpu", "1")
        self.assertEqual(client.end(), 1, client.lines)
        self.assertRegex(client.lines[-1], "^UNAVAILABLE: ")
        self.assertRegex(client.lines[0], "^retrying: ")

    def test_with_certificates(self):
        def openssl(*arguments):
            subprocess.run(["openssl", *arguments], cwd=self.work, check=True, capture_output=True)

        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=CA",
                "-keyout", "ca.key", "-out", "ca.crt", "-days", "1")
        for name, alternative in (("server", "IP:127.0.0.1"), ("caller", "DNS:caller")):
            (self.work / f"{name}.ext").write_text(f"subjectAltName={alternative}\n")
            openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
                    "-keyout", f"{name}.key", "-out", f"{name}.csr")
            openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days",
                    "1", "-extfile", f"{name}.ext", "-out", f"{name}.crt")
        file = {name: self.work / name for name in ("ca.crt", "server.crt", "server.key", "caller.crt", "caller.key")}
        self.scheduler("--tls-cert", file["server.crt"], "--tls-key", file["server.key"], "--tls-client-ca",
                       file["ca.crt"], "--grpc-auth", "mtls", agent=False)
        asking = ("place", "default", "p", "u", "nvidia.com/gpu", "1")
        known = self.client(self.grpc, "--ca", file["ca.crt"], "--cert", file["caller.crt"], "--key", file["caller.key"],
                            *asking)
        self.assertEqual(known.end(), 1)
        self.assertEqual(known.lines[-1], "NOT_FOUND: no node has reported its chips")
        unauthorized = self.client(self.grpc, "--ca", file["ca.crt"], "--patience", "0.2", *asking)
        self.assertEqual(unauthorized.end(), 1)
        self.assertRegex(unauthorized.lines[-1], "^UNAVAILABLE: ")
        for listed, expected in (("caller", "NOT_FOUND"), ("someone-else", "PERMISSION_DENIED")):
            self.scheduler("--tls-cert", file["server.crt"], "--tls-key", file["server.key"], "--tls-client-ca",
                           file["ca.crt"], "--grpc-auth", "mtls", "--grpc-client-names", listed, agent=False)
            known = self.client(self.grpc, "--ca", file["ca.crt"], "--cert", file["caller.crt"], "--key",
                                file["caller.key"], *asking)
            self.assertEqual(known.end(), 1)
            self.assertRegex(known.lines[-1], f"^{expected}: ")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
