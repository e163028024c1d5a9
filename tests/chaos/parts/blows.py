"""Blows: programs that are killed, stopped, cut off, restarted with other machines or another time. Importing this adds them
to faults.FAULTS."""
import contextlib, os, signal, time

from parts.faults import fault, which
from parts.world import CHIPS, MACHINES

CLOCKS = (-3600, -600, -61, -5, 5, 61, 600, 3600, 86400, 20 * 86400)


# Two blows never fall on the same program; the later one is left out.
@contextlib.contextmanager
def alone(lock):
    taken = lock.acquire(blocking=False)
    try:
        yield taken
    finally:
        if taken:
            lock.release()


# --- our schedulers


# The caller has its lock, and launches it again.
def kill_now(world, replica):
    world.judge_end(replica)
    replica.kill()
    if not world.options.webhook:
        replica.api.forget_late()  # the outcome of the binding would not be checked again


# kill -9 of the scheduler that has sent a request, some time after it; sent: of World.next_…(), None if none came.
def kill_sender(world, v, hit, sent):
    if not sent:
        return
    replica, target, _ = sent
    time.sleep(v["after"])
    with alone(replica.lock) as free:
        if not free or not replica.process:
            return
        kill_now(world, replica)
        hit(of=f"{replica.name}: {target[:80]}")
        time.sleep(v["away"])
        replica.launch()


@fault("kill-scheduler", 8, lambda d: {"who": d.random(), "away": d.choice((0, 0, 0.5, 3))}, blow=True)
def kill_scheduler(world, v, hit):
    """kill -9 of a scheduler, the leader more often; it is started again at once or after 3 s"""
    replica = which(world, v["who"])
    with alone(replica.lock) as free:
        if not free or not replica.process:
            return
        kill_now(world, replica)
        time.sleep(v["away"])
        replica.launch()
        hit(of=replica.name)


@fault("pause-scheduler", 5, lambda d: {"who": d.random(),
                                        "seconds": round(d.choice((d.uniform(0.5, 4), d.uniform(4, 14))), 2)}, blow=True)
def pause_scheduler(world, v, hit):
    """SIGSTOP of a scheduler, the leader more often, for up to 14 s, longer than its Lease; when it goes on another one leads"""
    replica = which(world, v["who"])
    with alone(replica.lock) as free:
        if not free or not replica.process:
            return
        replica.send(signal.SIGSTOP)
        time.sleep(v["seconds"])
        replica.send(signal.SIGCONT)
        hit(of=replica.name)


@fault("cut-off", 4, lambda d: {"who": d.random(), "seconds": round(d.uniform(0.5, 12), 2)}, blow=True)
def cut_off(world, v, hit):
    """nothing comes through between a scheduler and the API server for up to 12 s, its connections stay; it still gets requests"""
    proxy = which(world, v["who"]).api
    proxy.freeze(True)
    time.sleep(v["seconds"])
    proxy.freeze(False)
    hit(of=proxy.name)


@fault("clock-jump", 5, lambda d: {"who": d.random(), "seconds": d.choice((0, *CLOCKS))}, blow=True)
def clock_jump(world, v, hit):
    """the wall clock of a scheduler jumps, by an hour back up to 20 days ahead, or back to the true time"""
    replica = which(world, v["who"])
    world.set_clock(replica.clock, v["seconds"])
    hit(of=replica.name)


# --- the control plane


@fault("kill-api-server", 2, lambda d: {"away": d.choice((0, 0.5, 3))}, blow=True)
def kill_api_server(world, v, hit):
    """kill -9 of the API server"""
    restart(world, "kube-apiserver", v, hit)


@fault("restart-etcd", 2, lambda d: {"away": d.choice((0, 0.5, 3))}, blow=True)
def restart_etcd(world, v, hit):
    """kill -9 of etcd"""
    restart(world, "etcd", v, hit)


@fault("kill-kube-scheduler", 1, lambda d: {"away": d.choice((0, 0.5, 3))}, blow=True)
def kill_kube_scheduler(world, v, hit):
    """kill -9 of kube-scheduler"""
    restart(world, "kube-scheduler", v, hit)


def restart(world, program, v, hit):
    with alone(world.control_plane) as free:
        if not free:
            return
        world.bed.testbed("kill", program)
        time.sleep(v["away"])
        world.bed.testbed("start", program)
        hit(of=program)


@fault("freeze-api-server", 3, lambda d: {"seconds": round(d.uniform(0.5, 7), 2)}, blow=True)
def freeze_api_server(world, v, hit):
    """SIGSTOP of the API server for up to 7 s: no client gets an answer, all connections stay"""
    with alone(world.control_plane) as free:
        pid = world.pid_of("kube-apiserver") if free else None
        if not pid:
            return
        os.kill(pid, signal.SIGSTOP)
        try:
            time.sleep(v["seconds"])
        finally:
            os.kill(pid, signal.SIGCONT)
        hit(of="kube-apiserver")


@fault("kill-volcano", 2, lambda d: {"away": d.choice((0, 1))}, blow=True)
def kill_volcano(world, v, hit):
    """kill -9 of the driver that plays Volcano: what it had allocated is neither bound nor given back"""
    with alone(world.volcano) as free:
        if not free or not world.driver:
            return
        world.judge_end(world.driver)
        world.bed.end(world.driver.process)
        time.sleep(v["away"])
        world.start_driver()
        hit(of="volcano")


# --- agents and their machines


@fault("restart-agent", 4, lambda d: {"node": d.random(), "away": d.choice((0, 1, 5)),
                                      "clock": d.choice((0, 0, *CLOCKS))}, blow=True)
def restart_agent(world, v, hit):
    """kill -9 of an agent; the new one has another boot id, counts its reports from 1, and its clock may be wrong"""
    node = list(MACHINES)[int(v["node"] * len(MACHINES))]
    with alone(world.nodes[node]) as free:
        if not free:
            return
        agent = world.s.agent(node)
        agent.kill()
        time.sleep(v["away"])
        world.start_agent(node, clock=v["clock"])
        hit(of=node)


@fault("machine-shrinks", 4, lambda d: {"node": d.random(), "keep": sorted(d.sample(range(CHIPS), d.choice((2, 4, 6, 7)))),
                                        "seconds": round(d.uniform(3, 20), 2)}, blow=True)
def machine_shrinks(world, v, hit):
    """an agent comes back with a machine that lacks some chips, also such as pods have, and later with all of them"""
    node = list(MACHINES)[int(v["node"] * len(MACHINES))]
    with alone(world.nodes[node]) as free:
        if not free:
            return
        world.s.agent(node).kill()
        world.start_agent(node, machine=world.machine_of(node, v["keep"]))
        world.healing.wait(v["seconds"])
        world.s.agent(node).kill()
        world.start_agent(node)
        hit(of=f"{node} keeps {v['keep']}")


@fault("devices-vanish", 4, lambda d: {"node": d.random(), "keep": sorted(d.sample(range(CHIPS), d.choice((0, 2, 4, 7)))),
                                       "seconds": round(d.uniform(1, 15), 2)}, blow=True)
def devices_vanish(world, v, hit):
    """a DRA driver offers only some of its devices, and later all of them again"""
    if not world.by_claims:
        return
    node = world.by_claims[int(v["node"] * len(world.by_claims))]
    with alone(world.nodes[node]) as free:
        if free and world.offer(node, v["keep"]):
            world.healing.wait(v["seconds"])
            while not world.offer(node, range(CHIPS)) and not world.stopping.wait(1):
                pass
            hit(of=f"{node} offers {v['keep']}")


@fault("chips-unhealthy", 8, lambda d: {"node": d.random(), "chips": sorted(d.sample(range(CHIPS), d.choice((1, 1, 2, 4, 8)))),
                                  "links": d.random() < 0.3, "seconds": round(d.uniform(1, 15), 2)}, blow=True)
def chips_ill(world, v, hit):
    """an agent tells that some chips are unhealthy, also such as pods have, or that links are down, and later that all are well"""
    node = list(MACHINES)[int(v["node"] * len(MACHINES))]
    with alone(world.nodes[node]) as free:
        if not free:
            return
        agent = world.s.agent(node)
        agent.say_health(**({"down_links": [[0, 3]]} if v["links"] else {"unhealthy": v["chips"]}))
        world.healing.wait(v["seconds"])
        agent.say_health()
        hit(of=f"{node} {v['chips']}")
