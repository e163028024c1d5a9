"""The faults. Small ones are rules for the proxies and calls that a client repeats; blows.py has those that end programs,
gang_faults.py those of gangs. A fault counts when it has hit something: an answer that was lost, a program that was killed."""
import json, threading, time

from parts.load import BY_HAND
from parts.proxy import Rule
from parts.world import MACHINES

FAULTS = {}


class Fault:
    def __init__(self, name, weight, blow, draw, run, text, tables):
        self.name, self.weight, self.blow, self.draw, self.run, self.text = name, weight, blow, draw, run, text
        self.tables = tables


# A function run(world, values, hit), called in a thread of its own; hit(**what) says that it struck. draw gives the values, from
# the seed alone. The function's docstring is what people read of it. tables: it is planned only where there are rank tables.
def fault(name, weight, draw, blow=False, tables=False):
    def add(run):
        FAULTS[name] = Fault(name, weight, blow, draw, run, run.__doc__, tables)
        return run
    return add


# One of the schedulers; the leader more often.
def which(world, number):
    if number < 0.6 and world.leading:
        return world.leading
    return world.replicas[int(number * 1000) % len(world.replicas)]


def arm(proxy, kinds, action, hit, lasts=2.0, **how):
    proxy.add(Rule(set(kinds), action, lasts, lambda request: hit(of=f"{request.method} {request.target[:90]}"), **how))


KINDS = (("any",), ("bind",), ("bind",), ("bind",), ("pod",), ("list", "watch"), ("lease",), ("event",))


# --- between our schedulers and the API server


@fault("api-refuses", 14, lambda d: {"who": d.random(), "kinds": d.choice(KINDS), "status": d.choice((429, 500, 503, 504)),
                                     "wait": d.choice((None, None, 1)), "count": d.choice((1, 1, 2, 4))})
def api_refuses(world, v, hit):
    """the API server answers our scheduler 429 (with and without Retry-After), 500, 503 or 504, up to four times in a row"""
    for _ in range(v["count"]):
        arm(which(world, v["who"]).api, v["kinds"], "refuse", hit, status=v["status"], retry_after=v["wait"])


@fault("api-slow", 8, lambda d: {"who": d.random(), "kinds": d.choice(KINDS), "seconds": round(d.uniform(0.1, 4), 2)})
def api_slow(world, v, hit):
    """a request of ours reaches the API server up to 4 s later"""
    arm(which(world, v["who"]).api, v["kinds"], "delay", hit, seconds=v["seconds"])


@fault("request-lost", 6, lambda d: {"who": d.random(), "kinds": d.choice(KINDS)})
def request_lost(world, v, hit):
    """the connection to the API server breaks before a request of ours gets there"""
    arm(which(world, v["who"]).api, v["kinds"], "lose_request", hit)


@fault("answer-lost", 12, lambda d: {"who": d.random(), "kinds": d.choice(KINDS[:5])})
def answer_lost(world, v, hit):
    """the API server did what our request said, above all a binding, and the connection breaks before its answer"""
    arm(which(world, v["who"]).api, v["kinds"], "lose_answer", hit)


@fault("answer-cut", 4, lambda d: {"who": d.random(), "kinds": d.choice(KINDS[:6]), "dice": round(d.random(), 3)})
def answer_cut(world, v, hit):
    """only a part of the API server's answer comes, then the connection breaks"""
    arm(which(world, v["who"]).api, [kind for kind in v["kinds"] if kind != "watch"], "cut_answer", hit, dice=v["dice"])


@fault("answer-false", 6, lambda d: {"who": d.random(), "status": d.choice((500, 503, 504, 429, 409))})
def answer_false(world, v, hit):
    """a binding was stored, and our scheduler receives 409, 429, 500, 503 or 504"""
    arm(which(world, v["who"]).api, ["bind"], "lie", hit, status=v["status"])


@fault("bind-late", 2, lambda d: {"who": d.random(), "seconds": round(d.choice((d.uniform(1, 5), d.uniform(5, 45))), 2)})
def bind_late(world, v, hit):
    """a binding is in flight for up to 45 s: our scheduler has given up waiting, or is another process, when it arrives"""
    arm(which(world, v["who"]).api, ["bind"], "late", hit, seconds=v["seconds"])


@fault("bind-held", 3, lambda d: {"who": d.random(), "seconds": round(d.uniform(2.5, 9), 2)})
def bind_held(world, v, hit):
    """a binding is stored at once, its answer comes after kube-scheduler's httpTimeout: the pod is bound, kube-scheduler receives
    an error"""
    arm(which(world, v["who"]).api, ["bind"], "hold_answer", hit, seconds=v["seconds"])


@fault("bind-twice-on-the-way", 4, lambda d: {"who": d.random(), "seconds": d.choice((0, 0, 0.3, 2))})
def bind_twice_on_the_way(world, v, hit):
    """something between us and the API server sends a binding twice; we see the second answer, a 409"""
    arm(which(world, v["who"]).api, ["bind"], "twice", hit, seconds=v["seconds"])


@fault("watch-cut", 10, lambda d: {"who": d.random(), "pick": d.random(), "dice": round(d.random(), 3)})
def watch_cut(world, v, hit):
    """a watch of our scheduler breaks, in the middle of an event where one comes"""
    if target := which(world, v["who"]).api.cut(v["pick"], v["dice"]):
        hit(of=target[:90])


@fault("watch-late", 4, lambda d: {"who": d.random(), "pick": d.random(), "seconds": round(d.uniform(0.5, 8), 2)})
def watch_late(world, v, hit):
    """a watch tells its events up to 8 s later, all other requests are quick"""
    if target := which(world, v["who"]).api.lag(v["pick"], v["seconds"]):
        hit(of=target[:90])


@fault("watch-refused", 5, lambda d: {"who": d.random(), "status": d.choice((410, 410, 429, 500)), "cut": d.random()})
def watch_refused(world, v, hit):
    """a watch breaks, and the next one is refused with 410 (everything must be listed again), 429 or 500"""
    proxy = which(world, v["who"]).api
    arm(proxy, ["watch"], "refuse", hit, status=v["status"])
    proxy.cut(v["cut"], 0)


# --- between the API server and our webhook


HOOK = ["admission-binding"]


@fault("hook-slow", 4, lambda d: {"seconds": round(d.choice((d.uniform(0.2, 3), d.uniform(5.2, 9))), 2)})
def hook_slow(world, v, hit):
    """the API server's question about a binding reaches us later, also after it has given up and refused the binding"""
    arm(world.hook, HOOK, "late", hit, seconds=v["seconds"])


@fault("hook-held", 4, lambda d: {"seconds": round(d.choice((d.uniform(0.2, 3), d.uniform(5.2, 7))), 2)})
def hook_held(world, v, hit):
    """our answer to the API server comes later, also after it has given up"""
    arm(world.hook, HOOK, "hold_answer", hit, seconds=v["seconds"])


@fault("hook-lost", 4, lambda d: {"action": d.choice(("lose_request", "lose_answer"))})
def hook_lost(world, v, hit):
    """the question about a binding, or our answer, is lost: the API server refuses the binding"""
    arm(world.hook, HOOK, v["action"], hit)


@fault("hook-fails", 4, lambda d: {"action": d.choice(("refuse", "lie")), "status": d.choice((500, 503))})
def hook_fails(world, v, hit):
    """the webhook answers 500 or 503, having seen the binding or not"""
    arm(world.hook, HOOK, v["action"], hit, status=v["status"])


@fault("hook-twice", 5, lambda d: {"seconds": d.choice((0, 0, 0.5, 2))})
def hook_twice(world, v, hit):
    """the same question about a binding comes twice"""
    arm(world.hook, HOOK, "twice", hit, seconds=v["seconds"])


# --- between kube-scheduler or Volcano and us


CALLS = (["kube-bind"], ["kube-filter"], ["kube-prioritize"], ["volcano-predicate", "volcano-prioritize"],
         ["volcano-allocate"], ["volcano-deallocate"])


@fault("call-fails", 8, lambda d: {"kinds": d.choice(CALLS), "action": d.choice(("lose_request", "lose_answer", "refuse"))})
def call_fails(world, v, hit):
    """a call of kube-scheduler or Volcano is lost before or after we saw it, or is answered 503"""
    how = {"status": 503} if v["action"] == "refuse" else {}
    arm(world.calls, v["kinds"], v["action"], hit, **how)


@fault("call-held", 3, lambda d: {"kinds": d.choice((CALLS[0], CALLS[0], CALLS[1], CALLS[4])),
                                  "seconds": round(d.uniform(1, 7), 2)})
def call_held(world, v, hit):
    """our answer comes after kube-scheduler's or Volcano's httpTimeout"""
    arm(world.calls, v["kinds"], "hold_answer", hit, seconds=v["seconds"])


@fault("call-twice", 6, lambda d: {"kinds": d.choice(CALLS), "seconds": d.choice((0, 0.1, 1))})
def call_twice(world, v, hit):
    """a call of kube-scheduler or Volcano reaches us twice"""
    arm(world.calls, v["kinds"], "twice", hit, seconds=v["seconds"])


@fault("bind-again", 14, lambda d: {"age": d.choice((0, 0, 1, 2, 5, 20)), "who": d.random(), "other": d.random(),
                                    "uid": d.random() < 0.05, "times": d.choice((1, 1, 3))})
def bind_again(world, v, hit):
    """a bind call of kube-scheduler is sent again, at once or later, up to three times together: word for word, with another
    node, with another uid, also to a scheduler that does not lead"""
    sent = world.binds
    if len(sent) <= v["age"]:
        return
    body = json.loads(sent[-1 - v["age"]])
    if v["other"] < 0.5:
        body["Node"] = list(MACHINES)[int(2 * v["other"] * len(MACHINES))]
    if v["uid"]:
        body["PodUID"] = "00000000-0000-0000-0000-000000000000"
    replica = which(world, v["who"])

    def send():
        code, answer = replica.ask("POST", "/kube/bind", body, seconds=8)
        hit(of=f"{body['PodName']} to {body['Node']}", said=f"{code} {str(answer)[:160]}", to=replica.name)

    calls = [threading.Thread(target=send) for _ in range(v["times"])]
    for call in calls:
        call.start()
    for call in calls:
        call.join()


@fault("bind-by-hand", 16, lambda d: {"pick": d.random(), "node": d.random(), "how": d.choice(
    ("plain", "plain", "plain", "legacy", "false", "dry", "no-uid", "other-uid", "no-node")), "any": d.random() < 0.3})
def bind_by_hand(world, v, hit):
    """another client binds a waiting pod, with the rights to do so: its node may be full; with and without a uid, by the old path of
    the request, with a false placement, as a dry run; also pods that a scheduler is binding at this moment"""
    if not world.options.webhook:
        return
    waiting = sorted((pod for pod in world.judge.live() if pod["metadata"]["namespace"] == world.s.ns
                      and not pod["spec"].get("nodeName") and (v["any"] or pod["spec"].get("schedulerName") == BY_HAND)),
                     key=lambda pod: pod["metadata"]["name"])
    if not waiting:
        return
    pod = waiting[int(v["pick"] * len(waiting))]
    world.judge.excuse(pod)
    meta, how = pod["metadata"], v["how"]
    node = "no-such-node" if how == "no-node" else list(MACHINES)[int(v["node"] * len(MACHINES))]
    notes = world.s.placement_text(pod, node, range(2), resource=world.resource) if how == "false" else {}
    uid = {"no-uid": None, "other-uid": "00000000-0000-0000-0000-000000000000"}.get(how, meta["uid"])
    body = {"apiVersion": "v1", "kind": "Binding", "target": {"kind": "Node", "name": node},
            "metadata": {"name": meta["name"], "annotations": notes, **({"uid": uid} if uid else {})}}
    path = f"/api/v1/namespaces/{world.s.ns}/bindings" if how == "legacy" else f"{world.s.pods_path}/{meta['name']}/binding"
    code, answer = world.bed.ask("POST", path + ("?dryRun=All" if how == "dry" else ""), body)
    if how == "dry" or isinstance(code, int) and 400 <= code < 500:
        world.judge.excuse(pod, False)  # it was not bound
    hit(of=f"{meta['name']} to {node}", said=f"{code} {str(answer)[:160]}", how=how)


@fault("wrong-scheduler", 3, lambda d: {"pick": d.random(), "seconds": round(d.uniform(0.3, 5), 2)})
def wrong_scheduler(world, v, hit):
    """the Service still, or already, goes to a scheduler that does not lead"""
    if len(world.replicas) < 2 or world.pinned:
        return
    leading = world.leading
    world.pinned = next((replica for replica in world.replicas if replica is not leading), None)
    time.sleep(v["seconds"])
    world.pinned = None
    hit(of=f"{leading.name if leading else 'nobody'} leads")
