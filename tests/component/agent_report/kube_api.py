"""An API server in a few lines, for one real agent of node n1: it keeps what it is given."""
import http.server, json, shutil, tempfile, threading
from pathlib import Path

PATIENCE = 60  # for what must come; never how long it takes
INVENTORY = "/apis/chipweave.dev/v1alpha1/nodeinventories/n1"
KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u, namespace: default}}]
clusters: [{name: c, cluster: {server: "http://127.0.0.1:%d"}}]
users: [{name: u, user: {token: t}}]
"""


def folder_with_api(test):
    """A folder with the kubeconfig of an API server, and that; both go with the test."""
    work, api = Path(tempfile.mkdtemp()), Api()
    for end in (lambda: shutil.rmtree(work), api.server_close, api.shutdown):
        test.addCleanup(end)
    (work / "kubeconfig").write_text(KUBECONFIG % api.server_address[1])
    return work, api


class Api(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.news = threading.Condition()
        self.objects = {"/api/v1/nodes/n1": {"metadata": {"name": "n1", "uid": "node-uid", "resourceVersion": "1"}}}
        self.events, self.versions, self.refuses_events, self.overloaded = [], 1, False, None
        self.tries = []  # of events while it is overloaded
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def wait_for(self, what, look):
        with self.news:
            if not self.news.wait_for(look, PATIENCE):
                raise AssertionError(f"{what}: {self.events}, {self.objects.get(INVENTORY)}")

    def answer(self, method, target, body):
        """Status and object; under the lock."""
        path = target.partition("?")[0]
        refused = lambda code, reason: (code, {"kind": "Status", "code": code, "reason": reason,
                                               "message": f"{path} number {self.versions}: {reason}"})
        self.versions += 1
        if path.startswith("/apis/events.k8s.io/"):
            if self.refuses_events:
                return refused(403, "Forbidden")
            if self.overloaded == "stores":  # and answers with an error nevertheless
                self.objects[path + "/" + body["metadata"]["name"]] = body
                self.events.append((body["reason"], body["note"]))
            if self.overloaded is not None:
                self.tries.append(body["metadata"]["name"])
                self.overloaded = "refuses"
                return refused(503, "ServiceUnavailable")
            if path + "/" + body["metadata"]["name"] in self.objects:
                return refused(409, "AlreadyExists")
            self.events.append((body["reason"], body["note"]))
            return 201, body
        if method == "POST":
            path += "/" + body["metadata"]["name"]
            self.objects[path] = {"metadata": {"uid": f"u{self.versions}"}}
        status = path.endswith("/status")
        stored = self.objects.get(path.removesuffix("/status"))
        if stored is None:
            return refused(404, "NotFound")
        if method in ("POST", "PUT", "PATCH"):
            keys = ("status",) if status else ("spec", "metadata")
            for key in keys:
                if key in body:
                    stored[key] = {**stored.get(key, {}), **body[key]} if key == "metadata" else body[key]
            stored["metadata"]["resourceVersion"] = str(self.versions)
        return 201 if method == "POST" else 200, stored


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def work(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        with self.server.news:
            code, out = self.server.answer(self.command, self.path, body)
            text = json.dumps(out).encode()
            self.server.news.notify_all()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PUT = do_PATCH = work
