"""Two replicas, as the chart runs them: one decides and the Service leads to it, the other one knows all and takes over when the
first is killed, told to end, frozen for longer than its Lease, or cut off from the API server; and while there is none."""
import json, signal, threading, time

from audit import placement_of
from lib.replicas import LEASE, PODS, READERS, SERVICE, Replicas
from lib.volcano import admission
from scenarios.admission import binding

NODES = ("l-a", "l-b")


def run(s):
    if not s.chipweave.https:
        print("     the API server asks webhooks over TLS only", flush=True)
        return
    s.v100(*NODES)
    r = Replicas(s)
    s.must_come("a leader behind the Service", lambda: (found := r.leader()) and r.behind(SERVICE) == [found.pod])
    s.must_come("all nodes", lambda: set(NODES) <= set(s.chipweave.nodes()))
    admission(s)
    s.watched = s.watch()
    closed(s, r)
    one_decides(s, r)
    killed(s, r)
    told_to_end(s, r)
    frozen(s, r)
    cut_off(s, r)
    nobody(s, r)
    wrong = s.watched.bound_without_placement()
    s.check("no version of a bound pod lacks its placement", not wrong, wrong)
    s.settled()
    r.stop()
    s.must_come("one scheduler for all", lambda: set(NODES) <= set(s.chipweave.nodes()))


def labelled(s):
    pods = s.bed.must("GET", f"{PODS}?labelSelector=chipweave.dev%2Fleader%3Dtrue")["items"]
    return [pod["metadata"]["name"] for pod in pods]


def review(s, pod, node):
    meta = pod["metadata"]
    request = {"uid": "r-1", "name": meta["name"], "namespace": s.ns, "operation": "CREATE", "subResource": "binding",
               "kind": {"group": "", "version": "v1", "kind": "Binding"},
               "resource": {"group": "", "version": "v1", "resource": "pods"}, "object": binding(meta["name"], node, meta["uid"])}
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}


def both_are_back(s, r):
    s.must_come("both replicas behind the Service of readers", lambda: len(r.behind(READERS)) == 2, why=r.state)


# The replicas listen on all addresses: decisions need a secret there, and all requests of this scenario carry one.
def closed(s, r):
    leader, secrets = r.leader(), s.chipweave.secrets
    pod = s.create("uninvited", 1, schedulerName="nobody")
    s.must_come("the pod at the leader", lambda: "uninvited" in str(leader.ask("GET", "/api/v1/pods")[1]))
    body = {"PodName": "uninvited", "PodNamespace": s.ns, "PodUID": pod["metadata"]["uid"], "Node": NODES[0]}
    for what, path in (("without a secret", "/kube/bind"), ("with a wrong one", f"/callers/{'x' * 48}/kube/bind"),
                       ("with the webhook's", f"/callers/{secrets['webhook']}/kube/bind")):
        code, said = leader.ask("POST", path, body, credentials=False)
        s.check(f"a bind {what} is refused", code == 401 and not s.is_bound("uninvited"), (code, said))
    code, said = leader.ask("POST", "/admission/binding", review(s, pod, NODES[0]), credentials=False)
    s.check("so is an admission without a secret", code == 401, (code, said))
    own = f"/callers/{secrets['kube-scheduler']}/kube"  # it binds pods that it has asked about
    leader.ask("POST", f"{own}/filter", {"Pod": pod, "Nodes": None, "NodeNames": [NODES[0]]}, credentials=False)
    code, said = leader.ask("POST", f"{own}/bind", body, credentials=False)
    s.check("a bind with kube-scheduler's secret in the path is not", code == 200 and said == {"Error": ""} and
            s.is_bound("uninvited"), (code, said))
    log = leader.log.read_text()
    s.check("the log names the refused callers", 'msg="refused a caller" path=/kube/bind from=127.0.0.1' in log, log[-2000:])
    s.check("and no secret", not any(secret in log for secret in (*secrets.values(), "x" * 48)))
    s.delete("uninvited")
    s.must_come("the chip back", lambda: not s.used())


def one_decides(s, r):
    leader = r.leader()
    standby = r.other(leader)
    both_are_back(s, r)
    s.check("the leader's pod alone bears the label", labelled(s) == [leader.pod], labelled(s))
    holder = s.bed.must("GET", LEASE)["spec"]["holderIdentity"]
    s.check("it holds the Lease", holder.startswith(f"{leader.pod}_"), holder)
    pod = s.create("first", 2)
    s.bound("first")
    used = lambda replica: {node["name"]: node["used"] for node in replica.ask("GET", "/api/v1/nodes")[1]["items"]}
    s.eventually("the standby knows the same chips", lambda: used(standby) == used(leader), why=lambda: used(standby))
    waiting = s.create("asked", 1, schedulerName="nobody")
    s.must_come("the pod at the standby", lambda: "asked" in str(standby.ask("GET", "/api/v1/pods")[1]))
    question = {"Pod": waiting, "Nodes": None, "NodeNames": list(NODES)}
    said = standby.ask("POST", "/kube/filter", question)[1]
    s.check("the standby refuses to choose", "standby: the leader is" in said["Error"], said)
    said = standby.ask("POST", "/kube/bind", {"PodName": "asked", "PodNamespace": s.ns, "PodUID": waiting["metadata"]["uid"],
                                               "Node": NODES[0]})[1]
    s.check("and to bind", "standby: the leader is" in said["Error"] and not s.is_bound("asked"), said)
    code, said = standby.ask("POST", "/admission/binding", review(s, waiting, NODES[0]))
    s.check("and to admit: the failurePolicy decides", code == 503, (code, said))
    explained = standby.ask("GET", f"/api/v1/explain/{s.ns}/first")[1]
    s.check("it explains", explained["state"] == "bound" and explained["node"] == s.pod("first")["spec"]["nodeName"], explained)
    s.delete("asked")
    s.delete(pod["metadata"]["name"])


# Pods that come one after another while something happens; all of them must be bound in the end.
class Stream:
    def __init__(self, s, name):
        self.s, self.name, self.names = s, name, []
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.over.wait(0.3) and len(self.names) < 14:
            name = f"{self.name}-{len(self.names)}"
            self.s.create(name, 1)
            self.names.append(name)

    def end(self):
        self.over.set()
        self.thread.join()
        self.s.bound(*self.names)
        found = self.s.audit()
        self.s.check(f"{self.name}: the auditor finds nothing", not found, found)
        for name in self.names:
            self.s.delete(name)
        self.s.must_come("the chips back", lambda: not self.s.used())


def took_over(s, r, old, began, what):
    s.must_come("another leader behind the Service", lambda: r.leads_instead_of(old))
    print(f"     {what}: {time.monotonic() - began:.1f} s until the Service leads to the other one", flush=True)
    new = r.leader()
    s.check(f"{what}: the other one leads", new is r.other(old))
    s.eventually(f"{what}: the label is on its pod alone", lambda: labelled(s) == [new.pod], why=lambda: labelled(s))
    return new


def killed(s, r):
    old, stream = r.leader(), Stream(s, "killed")
    time.sleep(1)
    began = time.monotonic()
    old.kill()
    took_over(s, r, old, began, "kill -9")
    old.launch()
    both_are_back(s, r)
    s.check("who comes back stands by", not old.leads())
    stream.end()


def told_to_end(s, r):
    old, stream = r.leader(), Stream(s, "rollout")
    time.sleep(1)
    began = time.monotonic()
    status = old.terminate()
    s.check("told to end, a leader ends with 0", status == 0, status)
    took_over(s, r, old, began, "SIGTERM")
    old.launch()
    both_are_back(s, r)
    stream.end()


# Stopped for longer than its Lease; a bind that reached it meanwhile must not count when it goes on.
def frozen(s, r):
    old = r.leader()
    late = s.create("late", 4, schedulerName="nobody")
    s.must_come("the pod at the leader", lambda: "late" in str(old.ask("GET", "/api/v1/pods")[1]))
    old.ask("POST", "/kube/filter", {"Pod": late, "Nodes": None, "NodeNames": [NODES[0]]})
    connection = old.connection(60)
    connection.connect()
    began = time.monotonic()
    old.signal(signal.SIGSTOP)
    body = {"PodName": "late", "PodNamespace": s.ns, "PodUID": late["metadata"]["uid"], "Node": NODES[0]}
    connection.request("POST", "/kube/bind", json.dumps(body),
                       {"Content-Type": "application/json", **s.chipweave.credentials("/kube/bind")})
    took_over(s, r, old, began, "SIGSTOP")
    eights = [f"eight-{number}" for number in range(2)]
    for name in eights:
        s.create(name, 8)
    s.bound(*eights, seconds=60)  # kube-scheduler first waits for what the frozen one has of it
    old.signal(signal.SIGCONT)
    answer = json.loads(connection.getresponse().read())
    connection.close()
    s.check("a leader that was frozen binds nothing when it goes on", answer["Error"] and not s.is_bound("late"), answer)
    s.check("and does not lead", not old.leads() and r.leader() is r.other(old))
    both_are_back(s, r)
    found = s.audit()
    s.check("the auditor finds nothing", not found, found)
    for name in ("late", *eights):
        s.delete(name)
    s.must_come("the chips back", lambda: not s.used())


# It lives and answers, but its Lease runs out. Connections that kube-scheduler keeps to it must not go on being asked.
def cut_off(s, r):
    old = r.leader()
    s.create("before", 1)
    s.bound("before")
    began = time.monotonic()
    old.api.block(True)
    took_over(s, r, old, began, "cut off from the API server")
    stream = Stream(s, "kept")
    time.sleep(2)
    s.check("who is cut off knows that it does not lead", not old.leads())
    s.delete("before")
    old.api.block(False)
    both_are_back(s, r)
    stream.end()


def nobody(s, r):
    for replica in r.all:
        replica.kill()
    s.must_come("a Service without endpoints", lambda: not r.behind(SERVICE) and not r.behind(READERS))
    s.create("by-hand", 1, schedulerName="nobody")
    s.create("by-scheduler", 2)
    code, said = s.bed.ask("POST", f"{s.pods_path}/by-hand/binding", binding("by-hand", NODES[0]))
    s.check("while nobody leads no binding passes", code >= 500 and not s.is_bound("by-hand"), (code, said))
    s.create("plain", 0)
    told = s.must_come("what kube-scheduler tells of it", lambda: s.events("by-scheduler", "FailedScheduling"))
    s.check("which does not show its secret", s.chipweave.secrets["kube-scheduler"] not in json.dumps(told), told)
    s.check("nor does the pod", s.chipweave.secrets["kube-scheduler"] not in json.dumps(s.pod("by-scheduler")))
    s.check("a pod without chips waits as well: the webhook is asked about it too", not s.bed.poll(
        lambda: s.is_bound("plain"), 3))
    for replica in r.all:
        replica.launch()
    s.bound("by-scheduler", "plain", seconds=60)
    s.bed.must("POST", f"{s.pods_path}/by-hand/binding", binding("by-hand", NODES[0]))
    s.check("then it does, with its chips", placement_of(s.bound("by-hand")["by-hand"]))
    both_are_back(s, r)
