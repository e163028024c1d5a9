"""Bindings that cannot be, sent to our scheduler as kube-scheduler sends them: it says why, and no chip is lost. And an API
server that does not answer while a binding is in flight."""
import re, threading

from audit import placement_of

NODE, OTHER = "c-a", "c-b"


def run(s):
    s.v100(NODE, OTHER)
    refused(s)
    again(s)
    api_server_unresponsive(s)
    killed_meanwhile(s)
    s.settled()


# kube-scheduler leaves it alone; our scheduler has filtered it and reserves chips for it.
def asked_about(s, name, chips=2, **more):
    pod = s.create(name, chips, schedulerName="nobody", **more)
    s.must_come("our scheduler's word of the pod", lambda: knows(s, pod))
    body = {"Pod": pod, "Nodes": None, "NodeNames": [NODE, OTHER]}
    s.chipweave.extender("filter", body)
    s.chipweave.extender("prioritize", body)
    return pod


def knows(s, pod):
    code, answer = s.chipweave.ask("GET", "/api/v1/pods")
    return code == 200 and pod["metadata"]["uid"] in [one["uid"] for one in answer["items"]]


def refused(s):
    def answers(name, pod, words, node=NODE):
        said = s.chipweave.bind(pod, node).get("Error", "")
        s.check(f"{name}: bind says «{words}»", re.search(words, said), said or "no Error")

    old = asked_about(s, "anew")
    s.delete("anew")
    new = s.create("anew", 2, schedulerName="nobody")
    answers("created anew", old, "deleted and recreated")
    s.check("created anew: the new pod is not bound", not s.is_bound("anew"))
    answers("the new one itself", new, "")
    s.check("the new one itself: bound with its placement", placement_of(s.pod("anew"))["podUid"] == new["metadata"]["uid"])

    gone = asked_about(s, "gone")
    s.delete("gone")
    answers("deleted", gone, "does not exist|was deleted")  # as the API server says, or the watch

    stolen = asked_about(s, "stolen")
    s.bind_by_hand("stolen", OTHER)
    answers("bound meanwhile by somebody else", stolen, f"(already|was) bound to node {OTHER}")  # likewise
    s.eventually("stolen: it takes two chips where it is", lambda: len(s.taken(OTHER)) == 2, why=s.used)
    s.delete("stolen")

    gated = asked_about(s, "gated", schedulingGates=[{"name": "example.com/wait"}])
    answers("gated", gated, "cannot be bound")
    ending = asked_about(s, "ending", finalizers=["example.com/wait"])
    s.bed.must("DELETE", f"{s.pods_path}/ending")
    answers("being deleted", ending, "cannot be bound")
    s.bed.must("PATCH", f"{s.pods_path}/ending", {"metadata": {"finalizers": None}})

    for name, node, words in (("no node of this name", "c-none", "inventory not received"),
                              ("a name that no node can have", "../pods", "inventory not received")):
        answers(name, asked_about(s, f"nowhere-{len(name)}"), words, node)
    unknown = {"metadata": {"name": "unknown", "namespace": s.ns, "uid": "none"}}
    answers("a pod that does not exist", unknown, "does not exist")
    none_left = lambda: sorted(pod for pods in s.used().values() for pod in pods) == [f"{s.ns}/anew"]
    for name in ("gated", "ending", "nowhere-20", "nowhere-28"):
        s.delete(name)
    s.eventually("no chip is lost", none_left, why=s.used)


# kube-scheduler's request is repeated when its first answer was lost.
def again(s):
    pod = asked_about(s, "twice")
    for time in ("first", "second"):
        said = s.chipweave.bind(pod, NODE)
        s.check(f"the {time} time bind succeeds", said == {"Error": ""}, said)
    first = placement_of(s.pod("twice"))
    said = s.chipweave.bind(pod, OTHER)
    s.check("for another node it does not", f"already bound to node {NODE}" in said["Error"], said)
    s.check("and the placement stays", placement_of(s.pod("twice")) == first)


# It has the binding in its socket and goes on after our scheduler, and kube-scheduler, gave up waiting.
def api_server_unresponsive(s):
    stop, go_on = s.freeze("kube-apiserver")
    pods = {name: asked_about(s, name) for name in ("frozen-a", "frozen-b")}
    said = {}

    def bind(name):
        said[name] = s.chipweave.bind(pods[name], NODE)

    stop()
    try:
        threads = [threading.Thread(target=bind, args=(name,)) for name in pods]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        words = lambda answer: answer.get("Error", "") if isinstance(answer, dict) else answer
        s.check("bind does not say that it succeeded", all(words(answer) for answer in said.values()), said)
        # The open connection takes one binding. The other needs a new connection, so it never leaves our scheduler.
        used = s.used().get(NODE, {})
        sent = [name for name in pods if len(used.get(f"{s.ns}/{name}", [])) == 2]
        s.check("the chips stay the pod's whose binding was sent, until it is known", sent, used)
        elsewhere = s.chipweave.bind(pods[(sent or ["frozen-a"])[0]], OTHER)
        s.check("a bind to another node is refused", "is being bound" in elsewhere["Error"], elsewhere)
    finally:
        go_on()
    s.must_come("the API server", lambda: s.bed.ask("GET", "/readyz")[0] == 200)
    s.delete("frozen-b")
    # As kube-scheduler does: until it succeeds.
    s.eventually("later the binding succeeds", lambda: s.chipweave.bind(pods["frozen-a"], NODE) == {"Error": ""}, 60)
    pod = s.pod("frozen-a")
    s.check("and the pod is bound with a placement", placement_of(pod) and pod["spec"]["nodeName"] == NODE, pod)
    s.eventually("the deleted one gave its chips back", lambda: f"{s.ns}/frozen-b" not in s.used().get(NODE, {}), why=s.used)


# Our scheduler is killed with a binding in the API server's hands, and nothing of it is known to the next one.
def killed_meanwhile(s):
    s.remove_all()
    first = asked_about(s, "first", chips=5)
    stop, go_on = s.freeze("kube-apiserver")
    stop()
    try:
        asking = threading.Thread(target=s.chipweave.bind, args=(first, NODE))
        asking.start()
        s.must_come("the binding", lambda: s.chipweave.metric("chipweave_bindings_in_flight") == 1)
        s.chipweave.restart()
        asking.join()
    finally:
        go_on()
    s.must_come("the API server", lambda: s.bed.ask("GET", "/readyz")[0] == 200)
    s.create("second", 5, nodeSelector={"kubernetes.io/hostname": NODE})
    one = lambda: [name for name in ("first", "second") if s.is_bound(name)]
    s.eventually("of two pods that want the same chips one is bound", one)
    s.settled()
    s.check("and still only one", len(one()) == 1, one())
    s.delete("first")
    s.bound("second")
