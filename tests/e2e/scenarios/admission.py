"""The API server asks us about every binding: by hand, by kube-scheduler itself, in a dry run, by the old path; refusals, a
chip that died, no answer; and without a webhook the placement that comes after the bind."""
from audit import PLACEMENT, indices_of, placement_of
from lib.scenario import GPU
from lib.volcano import admission

NODES = ("w-a", "w-b")
# For the part without a webhook; with it there is nothing left to do afterwards.
FLAGS = ["--annotate-after-bind=true"]


def run(s):
    if not s.chipweave.https:
        print("     the API server asks webhooks over TLS only", flush=True)
        return
    s.v100(*NODES)
    after_bind(s)
    admission(s)
    watch = s.watch()
    by_hand(s)
    dry_run(s)
    refusals(s)
    by_kube_scheduler(s)
    our_own(s)
    away(s)
    wrong = watch.bound_without_placement()
    s.check("every bound version of a pod has its placement", not wrong, wrong)
    s.settled()


def binding(name, node, uid=None, **annotations):
    metadata = {"name": name, "annotations": {"example.com/kept": "yes", **annotations}, **({"uid": uid} if uid else {})}
    return {"apiVersion": "v1", "kind": "Binding", "metadata": metadata, "target": {"kind": "Node", "name": node}}


# No webhook is called before the bind; the pod gets its placement soon after.
def after_bind(s):
    s.chipweave.helm("upgrade", "--set", "scheduler.annotateAfterBind=true")
    s.undo.append(lambda: s.chipweave.helm("upgrade", "--reset-values"))
    s.create("late", 3, schedulerName="nobody")
    s.bind_by_hand("late", NODES[0])
    pod = s.eventually("a pod bound without us gets its placement", lambda: placement_of(s.pod("late")) and s.pod("late"))
    s.check("of three chips", pod and len(s.chips_of(pod)) == 3, pod)
    s.eventually("we count them as its own", lambda: len(s.taken(NODES[0])) == 3 and
                 s.chipweave.metric(f'chipweave_unattributed_chips{{node="{NODES[0]}"}}') in (0, None))
    s.delete("late")
    s.undo.pop()()


def by_hand(s):
    watch = s.watch()
    uid = s.create("hand", 4, schedulerName="nobody")["metadata"]["uid"]
    s.must_come("our scheduler's word of the pod", lambda: "hand" in str(s.chipweave.ask("GET", "/api/v1/pods")[1]))
    s.bed.must("POST", f"{s.pods_path}/hand/binding", binding("hand", NODES[0], uid, **{PLACEMENT: "stale"}))
    pod = s.bound("hand")["hand"]
    s.check("bound by hand: four chips of one quad", pod and placement_of(pod)["gbps"] >= 60, pod)
    s.check("what the binding brought stays", pod["metadata"]["annotations"].get("example.com/kept") == "yes")
    s.check("in the write that bound it", not watch.bound_without_placement(), watch.bound_without_placement())
    s.create("no-uid", 1, schedulerName="nobody")
    s.bed.must("POST", f"{s.pods_path}/no-uid/binding", binding("no-uid", NODES[0]))
    s.check("a binding that names no uid is for this pod", placement_of(s.bound("no-uid")["no-uid"]))
    s.create("old-path", 1, schedulerName="nobody")
    s.bed.must("POST", f"/api/v1/namespaces/{s.ns}/bindings", binding("old-path", NODES[0]))
    s.check("the old path of bindings is not around us", placement_of(s.bound("old-path")["old-path"]))
    s.create("plain", 0, schedulerName="nobody")
    s.bed.must("POST", f"{s.pods_path}/plain/binding", binding("plain", NODES[0]))
    plain = s.bound("plain")["plain"]
    s.check("a pod without chips gets nothing", PLACEMENT not in plain["metadata"]["annotations"], plain)


def dry_run(s):
    before = s.used()
    s.create("dry", 2, schedulerName="nobody")
    s.bed.must("POST", f"{s.pods_path}/dry/binding?dryRun=All", binding("dry", NODES[1]))
    s.check("after a dry run nothing is bound", not s.is_bound("dry"))
    s.check("and nothing taken", s.used() == before, s.used())
    s.delete("dry")


def refusals(s):
    s.create("too-many", 4, schedulerName="nobody")
    code, answer = s.bed.ask("POST", f"{s.pods_path}/too-many/binding", binding("too-many", NODES[0]))
    s.check("a binding where no chips are free is refused", code == 409 and "not enough free chips" in str(answer), answer)
    code, answer = s.bed.ask("POST", f"{s.pods_path}/too-many/binding", binding("too-many", "elsewhere"))
    s.check("so is one to a node without an agent", code == 409 and "inventory not received" in str(answer), answer)
    unhealthy = [0, 1, 2, 3]
    s.agent(NODES[1]).say_health(unhealthy=unhealthy)
    s.must_come("the unhealthy chips", lambda: s.chipweave.nodes()[NODES[1]]["unhealthy"] == unhealthy)
    s.bed.must("POST", f"{s.pods_path}/too-many/binding", binding("too-many", NODES[1]))
    pod = s.bound("too-many")["too-many"]
    s.check("healthy chips are chosen", not set(s.chips_of(pod)) & set(unhealthy), s.chips_of(pod))
    s.agent(NODES[1]).say_health()
    s.must_come("the health", lambda: not s.chipweave.nodes()[NODES[1]]["unhealthy"])


# It asks us which nodes, but binds itself.
def by_kube_scheduler(s):
    s.second_kube_scheduler("binds-itself", binds=False)
    s.create("own-1", 2, schedulerName="binds-itself")
    s.create("own-2", 2, schedulerName="binds-itself")
    pods = s.bound("own-1", "own-2")
    s.check("kube-scheduler's own bindings get placements", all(placement_of(pod) for pod in pods.values()), pods)
    s.create("own-3", 4, schedulerName="binds-itself")
    s.given_up("own-3")
    for name in ("hand", "no-uid", "old-path", "plain"):
        s.delete(name)
    s.bound("own-3")


# What we bind ourselves passes, and nothing waits for it afterwards.
def our_own(s):
    s.delete("own-3")
    s.must_come("the chips back", lambda: len(s.free(NODES[0])) >= 4)
    s.create("ours", 4)
    s.check("our own binding passes", placement_of(s.bound("ours")["ours"]))
    s.eventually("no binding is left in flight", lambda: s.chipweave.metric("chipweave_bindings_in_flight") == 0)


def away(s):
    s.chipweave.kill()
    s.create("orphan", 1, schedulerName="nobody")
    code, answer = s.bed.ask("POST", f"{s.pods_path}/orphan/binding", binding("orphan", NODES[0]))
    s.check("without us nothing is bound", code >= 500 and not s.is_bound("orphan"), answer)
    s.chipweave.launch()
    bind = lambda: s.bed.ask("POST", f"{s.pods_path}/orphan/binding", binding("orphan", NODES[0]))[0] in (201, 409)
    s.must_come("us back", bind)
    s.check("then it is", len(indices_of(placement_of(s.bound("orphan")["orphan"]))) == 1)
