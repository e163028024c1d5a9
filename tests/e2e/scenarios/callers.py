"""Callers of the gRPC port with tokens, which the API server reviews: the Python client of docs/tasks/call-the-grpc-api.md. Who may what; chips
reserved by it are those that the binding brings; and the events that it gets while kube-scheduler places pods."""
import json, os, subprocess, tempfile

from audit import placement_of
from lib.bed import CHART, NS, ROOT
from testbed.started import TESTBED

NODE = "t-a"
FLAGS = ["--grpc-auth", "token", "--grpc-users",
         "system:serviceaccount:e2e-callers:default,group:system:serviceaccounts:e2e-planners"]
EXAMPLE = ROOT / "examples/placement_client.py"


def run(s):
    if not s.chipweave.https:
        print("   callers: nothing to do, tokens are sent over TLS only")
        return
    s.v100(NODE)
    make_stubs(s)
    s.create("waiting", 2, schedulerName="nobody")
    s.must_come("our scheduler's word of the pod", lambda: "waiting" in str(s.chipweave.ask("GET", "/api/v1/pods")[1]))
    without_the_right(s)
    with_the_right(s)
    who_is_let_in(s)
    reserved_and_bound(s)
    followed(s)
    s.settled()


# As the page tells to.
def make_stubs(s):
    s.stubs = tempfile.mkdtemp(dir=s.folder)
    s.bed.run("protoc", f"-I{ROOT}/proto", f"--python_out={s.stubs}", f"--grpc_out={s.stubs}",
              "--plugin=protoc-gen-grpc=/usr/bin/grpc_python_plugin", "chipweave/v1/placement.proto")


def token(s, namespace="e2e-callers", audience="chipweave"):
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
            "spec": {"audiences": [audience], "expirationSeconds": 3600}}
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/default/token"
    return s.bed.must("POST", path, body)["status"]["token"]


def client(s, shown, *arguments):
    (s.folder / "token").write_text(shown)
    return ["/usr/bin/python3", EXAMPLE, f"localhost:{s.chipweave.grpc}", "--ca", s.bed.work / "ca.crt", "--token-file",
            s.folder / "token", "--patience", "0", *arguments]


# The last line that the client says, and its status.
def ask(s, shown, pod="waiting"):
    uid = s.pod(pod)["metadata"]["uid"]
    done = subprocess.run([str(part) for part in client(s, shown, "place", s.ns, pod, uid, "nvidia.com/gpu", "2")],
                          capture_output=True, text=True, env={**os.environ, "PYTHONPATH": s.stubs})
    return (done.stdout + done.stderr).strip().splitlines()[-1], done.returncode


def log(s):
    return s.chipweave.log.read_text()


def without_the_right(s):
    said, status = ask(s, token(s))
    s.check("without the right to review tokens nobody gets in", status == 1 and said.startswith("UNAVAILABLE: "), said)
    s.check("and the log says what is missing", "grant `create` on tokenreviews" in log(s), log(s)[-1000:])


# The chart's own role, as it is with tokens.
def with_the_right(s):
    helm = s.bed.run(TESTBED, "build", "helm").stdout.split()[1]

    def apply(*values):
        rules = s.bed.run(helm, "template", "chipweave", CHART, "-n", NS, "--show-only", "templates/scheduler-rbac.yaml",
                          *values).stdout
        s.bed.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", text=rules)

    s.undo.append(apply)
    apply("-f", CHART / "ci/tokens.yaml")
    shown = token(s)
    s.eventually("with it the listed account gets in", lambda: ask(s, shown) == ("release: done", 0), why=lambda: ask(s, shown))


def who_is_let_in(s):
    for name in ("e2e-planners", "e2e-unlisted"):
        s.bed.must("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        s.undo.append(lambda name=name: s.bed.ask("DELETE", f"/api/v1/namespaces/{name}"))
        account = f"/api/v1/namespaces/{name}/serviceaccounts/default"
        s.must_come(f"the account of {name}", lambda: s.bed.ask("GET", account)[0] == 200)
    for name, shown, wanted in (
            ("an account of a listed group", token(s, "e2e-planners"), "release: done"),
            ("an account that is not listed", token(s, "e2e-unlisted"),
             'PERMISSION_DENIED: "system:serviceaccount:e2e-unlisted:default" is not in grpc-users'),
            ("a token for the API server", token(s, audience="https://kubernetes.default.svc"), "UNAUTHENTICATED: "),
            ("a token for somebody else", token(s, audience="vault"), "UNAUTHENTICATED: "),
            ("the administrator's token", s.bed.admin, "UNAUTHENTICATED: "),
            ("a token with another signature", token(s)[:-8] + "AAAAAAAA", "UNAUTHENTICATED: "),
            ("what is no token", "none", "UNAUTHENTICATED: ")):
        said, _ = ask(s, shown)
        s.check(f"{name}: {wanted.split(':')[0]}", said.startswith(wanted), said)
        s.check(f"{name}: it is not in the log", shown not in log(s) or shown == "none")
    accepted = s.chipweave.metric('chipweave_token_reviews_total{result="accepted"}')
    s.check("each of the two accounts was asked about and remembered", 2 <= accepted <= 4, accepted)


# The client of the page releases what it reserves; this one does not.
RESERVE = """
import sys, grpc
from chipweave.v1 import placement_pb2 as messages, placement_pb2_grpc as services
address, ca, token, namespace, name, uid, node = sys.argv[1:]
content = lambda path: open(path, "rb").read()
credentials = grpc.composite_channel_credentials(grpc.ssl_channel_credentials(content(ca)),
                                                 grpc.access_token_call_credentials(content(token).decode()))
pod = messages.PodKey(namespace=namespace, name=name)
request = messages.PodRequest(pod=pod, uid=uid, resource="nvidia.com/gpu", chips=2)
client = services.PlacementStub(grpc.secure_channel(address, credentials))
print([list(client.Reserve(messages.ReserveRequest(request=request, node=node), timeout=10).chips) for _ in range(2)])
"""


def reserved_and_bound(s):
    pod = s.pod("waiting")
    (s.folder / "token").write_text(token(s))
    done = subprocess.run(["/usr/bin/python3", "-c", RESERVE, f"localhost:{s.chipweave.grpc}", s.bed.work / "ca.crt",
                           s.folder / "token", s.ns, "waiting", pod["metadata"]["uid"], NODE],
                          capture_output=True, text=True, env={**os.environ, "PYTHONPATH": s.stubs})
    if not s.check("chips are reserved", done.returncode == 0, done.stderr):
        return
    chips, again = json.loads(done.stdout)
    s.check("asked again: the same", len(chips) == 2 and again == chips, done.stdout)
    s.check("our scheduler holds them", s.used() == {NODE: {f"{s.ns}/waiting": chips}}, s.used())
    s.check("bind succeeds", s.chipweave.bind(pod, NODE) == {"Error": ""})
    s.check("with these chips", s.chips_of(s.pod("waiting")) == chips and placement_of(s.pod("waiting"))["node"] == NODE)


def followed(s):
    out = s.folder / "watch.log"
    with open(out, "wb") as to:
        watching = subprocess.Popen([str(part) for part in client(s, token(s), "watch")], stdout=to, stderr=to,
                                    env={**os.environ, "PYTHONPATH": s.stubs}, start_new_session=True)
    s.undo.append(lambda: s.bed.end(watching))
    chips = lambda name: ",".join(map(str, s.chips_of(s.pod(name))))
    said = lambda line: lambda: line in out.read_text().splitlines()
    s.eventually("what holds is told", said(f"BOUND {s.ns}/waiting node {NODE} chips {chips('waiting')}"), why=out.read_text)
    s.eventually("and that it is all", said("LIVE"), why=out.read_text)
    s.create("training", 4)
    s.bound("training")
    text = f"{s.ns}/training node {NODE} chips {chips('training')}"
    s.eventually("what kube-scheduler places is told", said(f"BOUND {text}"), why=out.read_text)
    s.delete("training")
    s.eventually("and its end", said(f"GONE {text}"), why=out.read_text)
    foreign = s.create("foreign", 1, schedulerName="nobody")
    s.bind_by_hand("foreign", NODE, s.placement_text(foreign, NODE, [7]))
    s.eventually("and a pod that somebody else bound with a placement",
                 said(f"BOUND {s.ns}/foreign node {NODE} chips 7"), why=out.read_text)
    said_no = s.chipweave.bind(foreign, "nowhere")
    s.eventually("and a binding that is refused", lambda: f"FAILED {s.ns}/foreign node nowhere" in out.read_text(),
                 why=lambda: f"{said_no} {out.read_text()}")
