"""The end of a run: nothing more is disturbed, and everything must come to rest: who fits is bound, every scheduler's chips
are those of the annotations, no reservation is left; with the pods all chips come back."""
import time

from audit import asks, holds_chips, indices_of, name_of, placement_of
from parts import gangs
from parts.judge import unclaimed
from parts.load import group_of
from parts.world import CHIPS, MACHINES

SETTLE_SECONDS = 240  # an uncertain binding is checked after 75 s, and another one may have begun since


# Pods that wait though there is room for them: a single one on a node, an ACK group on one node, a gang wherever its members
# fit, or as many of them as must start together. On these machines every number of chips is allowed.
def could_run(pods, machines=MACHINES):
    free = dict.fromkeys(machines, CHIPS)
    for pod in filter(holds_chips, pods):
        if asks(pod) and pod["spec"]["nodeName"] in free:
            free[pod["spec"]["nodeName"]] -= sum(asks(pod).values())
    waiting, of_gang = {}, {}
    for pod in pods:
        of_gang.setdefault(group_of(pod), []).append(pod)
        if asks(pod) and not pod["spec"].get("nodeName") and pod.get("status", {}).get("phase") == "Pending":
            waiting.setdefault(group_of(pod), []).append(pod)
    found = []
    for (kind, name), members in waiting.items():
        resource, chips = next(iter(asks(members[0]).items()))
        nodes = [free[node] for node in machines if machines[node] == resource]
        each = [room // chips for room in nodes]
        needed = len(members)
        if kind == "gang" and not (needed := gangs.missing(of_gang[kind, name])):
            continue
        fits = max(each) >= needed if kind == "ack" else sum(each) >= needed
        if fits:
            found.append(f"{', '.join(map(name_of, members))} of {chips} chips each; free: {free}")
    return found


def annotated(pods):
    used = {}
    for pod in pods:
        placement = placement_of(pod) if holds_chips(pod) and asks(pod) else None
        if placement:
            used.setdefault(pod["spec"]["nodeName"], {})[name_of(pod)] = indices_of(placement)
    return used


# What is not as it should be, or nothing.
def unrest(world, pods):
    wanted, found = annotated(pods), []
    if not world.leader():
        return ["no scheduler leads"]
    for replica in world.replicas:
        code, answer = replica.ask("GET", "/api/v1/nodes")
        nodes = {node["name"]: node for node in answer["items"]} if code == 200 else {}
        if missing := [name for name in MACHINES if name not in nodes]:
            found.append(f"scheduler {replica.name} does not know {', '.join(missing)}: {code}")
            continue
        unhealthy = [name for name in MACHINES if nodes[name]["unhealthy"] or nodes[name]["chips"] != CHIPS]
        if unhealthy:
            found.append(f"scheduler {replica.name} thinks that {', '.join(unhealthy)} lack chips")
        if (used := replica.used()) != wanted:
            found.append(f"scheduler {replica.name} has {differences(used, wanted)}")
        code, text = replica.ask("GET", "/metrics")
        if code != 200 or "\nchipweave_reservations 0\n" not in text:
            found.append(f"scheduler {replica.name} has reservations left")
    if world.by_claims:
        claims = world.judge.claims()
        found += ["claims cannot be read"] if claims is None else unclaimed(pods, claims, world.by_claims)
    found += tables_left(world, pods) if world.options.tables else []
    return found + plans_left(world, pods) + [f"waits though it would fit: {text}" for text in could_run(pods, world.machines)]


# ConfigMaps with plans of gangs of which no pod is there.
def plans_left(world, pods):
    code, answer = world.bed.ask("GET", gangs.PLANS)
    if code != 200 or not isinstance(answer, dict):
        return ["plans of gangs cannot be read"]
    framework = lambda pod: "scheduler-plugins" if gangs.has_owner(pod) else "chipweave"
    there = {"/".join((of[0], framework(pod), of[1])) for pod in pods if (of := gangs.gang_of(pod))}
    plans = {one["metadata"]["name"]: one["metadata"].get("annotations", {}).get("chipweave.dev/gang") for one in answer["items"]}
    return [f"the plan of {gang} is left in ConfigMap {name}" for name, gang in plans.items() if gang not in there]


# Rank tables that are not complete, or still are. The size of a gang is unknown while its PodGroup is away.
def tables_left(world, pods):
    code, answer = world.bed.ask("GET", f"{gangs.POD_GROUPS}/podgroups")
    if code != 200 or not isinstance(answer, dict):
        return ["PodGroups cannot be read"]
    owners = {(one["metadata"]["namespace"], one["metadata"]["name"]) for one in answer["items"]}
    judge = world.judge
    with judge.lock:
        left, late = judge.tables.unrest(pods, time.monotonic(), lambda pod: not gangs.has_owner(pod) or gangs.gang_of(pod) in owners)
        judge.find(late, "tables")
    return left


def differences(used, wanted):
    parts = []
    for node in sorted({*(used or {}), *wanted}):
        mine, theirs = (used or {}).get(node, {}), wanted.get(node, {})
        parts += [f"{pod} on {node}: {mine.get(pod)}, its annotation says {theirs.get(pod)}"
                  for pod in sorted({*mine, *theirs}) if mine.get(pod) != theirs.get(pod)]
    return "; ".join(parts) or "no answer"


def wait(world, judge, then, seconds=SETTLE_SECONDS):
    deadline, left = time.monotonic() + seconds, ["the API server does not answer"]
    while time.monotonic() < deadline:
        pods = judge.look()
        if judge.findings and world.options.until_found:
            return None
        if pods is not None:
            left = then(pods)
            if not left:
                return pods
        time.sleep(1)
    judge.find([f"at the end, after {seconds} s: {text}" for text in left], "settle")
    return None


def settle(world, judge, load):
    world.heal()
    world.s.must_come("the API server", lambda: world.bed.ask("GET", "/readyz")[0] == 200, 120)

    def rest(pods):
        load.tidy(pods)
        return unrest(world, judge.look() or pods)

    began = time.monotonic()
    pods = wait(world, judge, rest)
    if pods is not None:
        bound = [pod for pod in pods if holds_chips(pod) and asks(pod)]
        judge.note(settled=round(time.monotonic() - began, 1), bound=len(bound), waiting=len(pods) - len(bound))
    judge.look(strict=True)
    for pod in world.pods():
        load.delete(pod)
    wait(world, judge, lambda pods: unrest(world, pods) + [name_of(pod) for pod in pods if asks(pod)], 120)
    for replica in world.replicas:
        world.judge_end(replica)
    for node in MACHINES:
        world.judge_end(world.s.agent(node))


# --- self-test


# Rows: pods, each of 2 chips, and how many groups of them wait though they would fit. 48 chips are there.
def self_test():
    member, wrong = gangs.member, 0
    full = [member(index, 24, f"v{index // 4}", gang="full") for index in range(23)]
    rows = [("a gang that is complete", [member(0), member(1)], 1),
            ("behind the gate", [member(index, gates=[gangs.GATE]) for index in range(2)], 1),
            ("incomplete", [member(0, 3), member(1, 3)], 0),
            ("bound", [member(0, node="v0"), member(1, node="v1")], 0),
            ("half-placed", [member(0, node="v0"), member(1)], 1),
            ("half-placed, others are missing", [member(0, 3, "v0"), member(1, 3)], 0),
            ("no room for all", [*full, member(0), member(1)], 0),
            ("no room for all, but for the rest", [*full[:22], member(22, 24, gang="full"), member(23, 24, gang="full")], 1),
            ("elastic, no room for the minimum", [*full, *(member(index, 3, minimum=2) for index in range(3))], 0),
            ("elastic, room for the minimum", [*full[:22], *(member(index, 3, minimum=2) for index in range(3))], 1),
            ("elastic, room for one more", [*full[:21], *(member(index, 3, "v5", minimum=2) for index in range(2)),
                                            member(2, 3, minimum=2)], 1)]
    for name, pods, expected in rows:
        found = could_run(pods)
        wrong += len(found) != expected
        print(f"{'ok  ' if len(found) == expected else 'FAIL'} at the end: {name}: {'; '.join(found) or 'no finding'}")
    return wrong
