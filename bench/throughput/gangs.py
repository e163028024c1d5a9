"""What the measurements of gangs share: nodes in racks and blocks, kube-scheduler ready to schedule, and a testbed around it all."""
import argparse, contextlib, http.client, signal

from testbed.api import request
from testbed.processes import kill_program, launch
from testbed.say import Failure
from throughput.cluster import Cluster, Wrong, fill
from throughput.variants import wait_for

GATE = "chipweave.dev/gang"
BLOCK, RACK = "cloud.provider.com/topology-block", "cloud.provider.com/topology-rack"


# Blocks of 256 nodes, racks of 16.
def place(number):
    return {BLOCK: f"b{number // 256}", RACK: f"b{number // 256}-r{number // 16 % 16}"}


@contextlib.contextmanager
def kube_scheduler(cluster):
    log = cluster.folder / "kube-scheduler.log"
    log.write_text("")
    process = launch(cluster.folder, cluster.state, "kube-scheduler")
    try:
        port = cluster.state["ports"]["kube-scheduler"]
        wait_for(lambda: answers(port, cluster.token), process, log)
        yield process
    finally:
        kill_program(cluster.folder, "kube-scheduler")
        process.wait()


def answers(port, token):
    with contextlib.suppress(OSError):
        return request(port, "/readyz", token=token)[0] == 200
    return False


def port_of(extender):
    return int(extender.url.split(":")[2].split("/")[0])


def a_count(text):
    if not text.isdecimal() or not 1 <= int(text) <= 20000:
        raise argparse.ArgumentTypeError(f"expected a number from 1 to 20000, got {text!r}")
    return int(text)


# Sets options.scheduler and options.agent.
def find_programs(parser, options):
    options.scheduler, options.agent = (options.bin.absolute() / f"chipweave-{name}" for name in ("scheduler", "agent"))
    for program in (options.scheduler, options.agent):
        if not program.exists():
            parser.error(f"{program} is not there; build it or say --bin")


# What `measure` returns in a testbed of that many nodes, which ends in any case; None: it failed, and `say` said why.
def measured(options, say, measure):
    cluster = None
    for sign in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(sign, interrupt)
    try:
        cluster = Cluster()
        for program in ("kube-scheduler", "kube-controller-manager"):
            kill_program(cluster.folder, program)
        took = fill(cluster, options.nodes, options.agent, False, place)
        say(f"{options.nodes} nodes and their inventories are made in {took:.1f} s")
        return measure(cluster, options)
    except (Wrong, Failure, OSError, http.client.HTTPException) as problem:
        say(problem if isinstance(problem, (Wrong, Failure)) else repr(problem))
        return None
    finally:
        for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(sign, signal.SIG_IGN)
        if cluster:
            cluster.down(options.keep)


def interrupt(number, _):
    raise SystemExit(128 + number)
