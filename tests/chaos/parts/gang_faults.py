"""Faults on the way of a gang: its gate, its plan, the removal of the gates, the nodes it is planned for. Importing this adds them
to faults.FAULTS."""
import json, time

from parts.blows import alone, kill_sender
from parts.faults import arm, fault, which
from parts.gangs import GATE, PLAN, PLANS, POD_GROUPS, gang_of, gates_of, has_owner

# The removal of a gate, the nominated node, ConfigMaps with plans.
WRITES = (["ungate"], ["ungate"], ["nominate"], ["plan"], ["plan"])
ABOUT_NEW_PODS = ["admission-gate"]
WAIT_SECONDS = 10


# --- between our schedulers and the API server


@fault("gang-write-refused", 8, lambda d: {"kinds": d.choice(WRITES), "status": d.choice((409, 429, 500, 503)),
                                           "wait": d.choice((None, 1)), "count": d.choice((1, 1, 3))})
def gang_write_refused(world, v, hit):
    """the API server refuses to open a gate, to nominate a node or to store a plan: 409, 429, 500 or 503, up to three times"""
    for _ in range(v["count"]):
        arm(which(world, 0).api, v["kinds"], "refuse", hit, status=v["status"], retry_after=v["wait"])


@fault("gang-write-lost", 8, lambda d: {"kinds": d.choice(WRITES),
                                        "action": d.choice(("lose_request", "lose_answer", "lose_answer"))})
def gang_write_lost(world, v, hit):
    """a request that opens a gate, nominates a node or stores a plan is lost, or its answer is"""
    arm(which(world, 0).api, v["kinds"], v["action"], hit)


@fault("gang-write-false", 4, lambda d: {"kinds": d.choice(WRITES), "status": d.choice((409, 429, 500, 503))})
def gang_write_false(world, v, hit):
    """a gate was opened, a node nominated, a plan stored, and our scheduler receives an error"""
    arm(which(world, 0).api, v["kinds"], "lie", hit, status=v["status"])


@fault("gang-write-late", 6, lambda d: {"kinds": d.choice(WRITES),
                                        "seconds": round(d.choice((d.uniform(0.1, 3), d.uniform(3, 12), d.uniform(10, 45))), 2)})
def gang_write_late(world, v, hit):
    """a request that opens a gate, nominates a node or stores a plan arrives up to 45 s later, after every caller gave it up"""
    arm(which(world, 0).api, v["kinds"], "late", hit, seconds=v["seconds"])


@fault("gang-write-twice", 4, lambda d: {"kinds": d.choice(WRITES), "seconds": d.choice((0, 0, 0.3, 3))})
def gang_write_twice(world, v, hit):
    """a request that opens a gate, nominates a node or stores a plan arrives twice"""
    arm(which(world, 0).api, v["kinds"], "twice", hit, seconds=v["seconds"])


# --- between the API server and our webhook for new pods


@fault("gate-fails", 6, lambda d: {"action": d.choice(("lose_request", "lose_answer", "refuse", "lie")),
                                   "status": d.choice((500, 503)), "count": d.choice((1, 1, 4))})
def gate_fails(world, v, hit):
    """the webhook for new pods does not answer, or 500 or 503, up to four times in a row: pods of gangs come without the gate"""
    how = {"status": v["status"]} if v["action"] in ("refuse", "lie") else {}
    for _ in range(v["count"]):
        arm(world.hook, ABOUT_NEW_PODS, v["action"], hit, **how)


@fault("gate-slow", 3, lambda d: {"action": d.choice(("late", "hold_answer")),
                                  "seconds": round(d.choice((d.uniform(0.1, 1.5), 3)), 2)})
def gate_slow(world, v, hit):
    """the webhook for new pods answers late, also after the API server has given up"""
    arm(world.hook, ABOUT_NEW_PODS, v["action"], hit, seconds=v["seconds"])


# --- others


# A pod of a gang that is not bound and that `want` accepts; None: there is none.
def waiting(world, pick, want):
    pods = sorted((pod for pod in world.judge.live() if gang_of(pod) and not pod["spec"].get("nodeName") and want(pod)),
                  key=lambda pod: pod["metadata"]["uid"])
    return pods[int(pick * len(pods))] if pods else None


@fault("gate-removed", 3, lambda d: {"pick": d.random(), "all": d.random() < 0.3})
def gate_removed(world, v, hit):
    """another client removes the gate of a pod whose gang waits, or of all pods of the gang"""
    chosen = waiting(world, v["pick"], lambda pod: GATE in gates_of(pod))
    if not chosen:
        return
    for pod in world.judge.live():
        meta = pod["metadata"]
        if pod is chosen or v["all"] and gang_of(pod) == gang_of(chosen) and GATE in gates_of(pod):
            path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
            body = {"metadata": {"uid": meta["uid"]}, "spec": {"schedulingGates": []}}
            code, _ = world.bed.ask("PATCH", path, body)
            hit(of=meta["name"], said=code)


@fault("plan-deleted", 2, lambda d: {"pick": d.random()})
def plan_deleted(world, v, hit):
    """another client deletes the ConfigMap with the plan of a gang"""
    code, answer = world.bed.ask("GET", PLANS)
    plans = [one["metadata"]["name"] for one in answer["items"]] if code == 200 and isinstance(answer, dict) else []
    if plans:
        name = plans[int(v["pick"] * len(plans))]
        hit(of=name, said=world.bed.ask("DELETE", f"{PLANS.partition('?')[0]}/{name}")[0])


@fault("pod-group-deleted", 3, lambda d: {"pick": d.random(), "planned": d.random() < 0.5})
def pod_group_deleted(world, v, hit):
    """the PodGroup of a gang is deleted, before the gang is complete or while it is planned: then its pods are placed one by one"""
    if v["planned"] and not world.next_ungate(WAIT_SECONDS):
        return
    pod = waiting(world, v["pick"], has_owner)
    if not pod:
        return
    path = "{}/namespaces/{}/podgroups/{}".format(POD_GROUPS, *gang_of(pod))
    if world.bed.ask("DELETE", path)[0] == 200:
        hit(of="/".join(gang_of(pod)))


# --- blows


@fault("kill-in-ungate", 5, lambda d: {"after": d.choice((0, 0, 0.005, 0.02, 0.1, 0.3)), "away": d.choice((0, 0, 1, 4))}, blow=True)
def kill_in_ungate(world, v, hit):
    """kill -9 of a scheduler that has just asked to open the first gate of a gang"""
    kill_sender(world, v, hit, world.next_ungate(WAIT_SECONDS))


@fault("kill-kube-scheduler-in-ungate", 2, lambda d: {"away": d.choice((0, 1, 4))}, blow=True)
def kill_kube_scheduler_in_ungate(world, v, hit):
    """kill -9 of kube-scheduler while the gates of a gang are opened"""
    other_program(world, "kube-scheduler", v, hit)


@fault("kill-api-server-in-ungate", 1, lambda d: {"away": d.choice((0, 1))}, blow=True)
def kill_api_server_in_ungate(world, v, hit):
    """kill -9 of the API server while the gates of a gang are opened"""
    other_program(world, "kube-apiserver", v, hit)


def other_program(world, program, v, hit):
    asked = world.next_ungate(WAIT_SECONDS)
    with alone(world.control_plane) as free:
        if not asked or not free:
            return
        world.bed.testbed("kill", program)
        time.sleep(v["away"])
        world.bed.testbed("start", program)
        hit(of=f"{program}: {asked[1][:80]}")


@fault("planned-node-goes", 6, lambda d: {"how": d.choice(("unhealthy", "unhealthy", "agent", "cordon", "cordon")),
                                          "seconds": round(d.uniform(1, 15), 2)}, blow=True)
def planned_node_goes(world, v, hit):
    """while the gate of a pod is being opened, the chips of its node become unhealthy, its agent ends, or it is cordoned"""
    asked = world.next_ungate(WAIT_SECONDS)
    node = asked and planned_node(asked[2])
    if node not in world.nodes:
        return
    with alone(world.nodes[node]) as free:
        if not free:
            return
        agent = world.s.agent(node)
        if v["how"] == "unhealthy":
            agent.say_health(unhealthy=list(range(8)))
        elif v["how"] == "agent":
            agent.kill()
        else:
            cordon(world, node, True)
        hit(of=f"{node}: {v['how']}")
        world.healing.wait(v["seconds"])
        if v["how"] == "unhealthy":
            agent.say_health()
        elif v["how"] == "agent":
            world.start_agent(node)
        else:
            while not cordon(world, node, None):
                time.sleep(0.5)


def planned_node(body):
    notes = json.loads(body).get("metadata", {}).get("annotations", {})
    return json.loads(notes[PLAN])["node"] if PLAN in notes else None


def cordon(world, node, on):
    return world.bed.ask("PATCH", f"/api/v1/nodes/{node}", {"spec": {"unschedulable": on}})[0] == 200
