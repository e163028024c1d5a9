"""Two hundred pods come and go while our scheduler, the API server, etcd and kube-scheduler are killed at random, and the API
server is silent for longer than anybody waits; then everything settles."""
import time

from audit import asks, holds_chips
from lib.scenario import GPU

NODES = [f"x-{number}" for number in range(12)]
PODS, SILENCE = 200, "silence"
BLOWS = 4 * ["chipweave-scheduler"] + 2 * ["kube-apiserver", "etcd", SILENCE] + ["kube-scheduler"]
SILENCE_SECONDS = 7  # of the API server; kube-scheduler waits 5 s for a binding
SETTLE_SECONDS = 180


def run(s):
    print(f"     seed {s.seed}", flush=True)
    s.v100(*NODES)
    storm(s)
    settle(s)
    judge(s)


# As a client that does not give up: the API server may be away, and 409 means that an earlier try succeeded.
def insist(s, method, path, body=None):
    answered = lambda: s.bed.ask(method, path, body)[0] in (200, 201, 404, 409)
    s.must_come(f"an answer to {method} {path}", answered, 90)


def storm(s):
    blows = dict(zip(s.random.sample(range(10, PODS), len(BLOWS)), BLOWS))  # by the number of the pod before
    alive = []
    for number in range(PODS):
        name = f"pod-{number}"
        insist(s, "POST", s.pods_path, s.pod_body(name, s.random.choice((1, 1, 1, 2, 2, 4, 8))))
        alive.append(name)
        if number > 40 and s.random.random() < 0.5:
            gone = alive.pop(s.random.randrange(len(alive)))
            insist(s, "DELETE", f"{s.pods_path}/{gone}?gracePeriodSeconds=0")
        if number in blows:
            silence(s) if blows[number] == SILENCE else kill(s, blows[number])
    s.alive = alive


# Away for a moment of random length.
def kill(s, victim):
    away = s.random.choice((0, 0.5, 3))
    print(f"     kill -9 {victim}, away for {away} s", flush=True)
    if victim == "chipweave-scheduler":
        s.chipweave.kill()
        time.sleep(away)
        s.chipweave.launch()
    else:
        s.bed.testbed("kill", victim)
        time.sleep(away)
        s.bed.testbed("start", victim)


def silence(s):
    stop, go_on = s.freeze("kube-apiserver")
    print(f"     the API server is silent for {SILENCE_SECONDS} s", flush=True)
    stop()
    time.sleep(SILENCE_SECONDS)
    go_on()


# Nothing more happens but the last deletions: after them no pod may wait that would fit.
def settle(s):
    s.must_come("the API server", lambda: s.bed.ask("GET", "/readyz")[0] == 200, 60)
    for name in s.alive[:len(s.alive) // 4]:
        insist(s, "DELETE", f"{s.pods_path}/{name}?gracePeriodSeconds=0")
    s.must_come("all nodes", lambda: set(NODES) <= set(s.chipweave.nodes()), 60)
    s.eventually("no pod waits that would fit", lambda: not could_run(s), SETTLE_SECONDS, lambda: could_run(s))


# Pods that wait though a node has as many free chips: on this machine every number of chips is allowed.
def could_run(s):
    pods, free = s.pods(), dict.fromkeys(NODES, 8)
    for pod in filter(holds_chips, pods):
        free[pod["spec"]["nodeName"]] -= asks(pod)[GPU]
    most = max(free.values())
    return [f"{pod['metadata']['name']} asks for {asks(pod)[GPU]}, {most} are free" for pod in pods
            if not holds_chips(pod) and asks(pod)[GPU] <= most]


def judge(s):
    s.settled(60)
    bound = [pod for pod in s.pods() if holds_chips(pod)]
    chips = sum(asks(pod)[GPU] for pod in bound)
    s.check(f"{len(bound)} pods have {chips} of {8 * len(NODES)} chips: a good part", chips >= 4 * len(NODES), chips)
    wait = [pod for pod in s.pods() if not holds_chips(pod)]
    print(f"     {len(bound)} pods are bound, {len(wait)} wait", flush=True)
    s.check("the scheduler's chips are one pod's each", all(len(s.taken(node)) == len(set(s.taken(node)))
            for node in NODES))
    for pod in s.pods():
        s.delete(pod["metadata"]["name"])
    s.eventually("with the pods all chips come back", lambda: all(s.free(node) == [*range(8)] for node in NODES),
                 why=s.used)
