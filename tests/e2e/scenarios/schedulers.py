"""More than one kube-scheduler, one that sends whole nodes, a single node."""
NODES = ("s-a", "s-b")


def run(s):
    s.v100(*NODES)
    two_at_once(s)
    s.remove_all()
    whole_nodes(s)
    s.chipweave.agents.pop(NODES[1]).kill()
    s.remove_node(NODES[1])
    s.must_come("the end of the second node", lambda: NODES[1] not in s.chipweave.nodes())
    single_node(s)
    s.settled()


# Both believe that they alone place pods, and both ask us.
def two_at_once(s):
    s.second_kube_scheduler("other")
    watch = s.watch()
    names = {f"{scheduler}-{number}": scheduler for number in range(8) for scheduler in ("default-scheduler", "other")}
    for name, scheduler in names.items():
        s.create(name, 1, schedulerName=scheduler)
    s.bound(*names, seconds=60)
    used = sorted((node, chip) for node, pods in s.annotated().items() for chips in pods.values() for chip in chips)
    s.check("sixteen pods of two schedulers have sixteen chips", used == [(n, c) for n in NODES for c in range(8)], used)
    said = {event["reportingController"] for event in s.all_events() if event["reason"] == "Scheduled"}
    s.check("each scheduler bound its own", said >= {"default-scheduler", "other"}, said)
    wrong = watch.bound_without_placement()
    s.check("no version of a bound pod lacks its placement", not wrong, wrong)


# A kube-scheduler with nodeCacheCapable: false. Half of the first node is unhealthy, which only chipweave knows.
def whole_nodes(s):
    s.second_kube_scheduler("whole", whole_nodes=True)
    unhealthy = [0, 1, 2, 3]
    s.agent(NODES[0]).say_health(unhealthy=unhealthy)
    s.must_come("the unhealthy chips", lambda: s.chipweave.nodes()[NODES[0]]["unhealthy"] == unhealthy)
    s.create("whole", 5, schedulerName="whole")
    pod = s.bound("whole")["whole"]
    s.check("asked about whole nodes: bound where five chips are", pod and pod["spec"]["nodeName"] == NODES[1], s.used())
    s.check("with five chips", pod and len(s.chips_of(pod) or []) == 5, s.used())
    s.create("more", 5, schedulerName="whole")
    s.given_up("more")
    said = s.eventually("another one waits, and why", lambda: s.events("more", "ChipsUnavailable"))
    s.check("in words of chips", said and "chips" in said[0]["note"], said)
    for name in ("whole", "more"):
        s.delete(name)
    s.agent(NODES[0]).say_health()
    s.must_come("the chips back", lambda: len(s.free(NODES[0])) == 8 and not s.used())


# kube-scheduler then does not call prioritize: filter reserves the chips.
def single_node(s):
    count = 'chipweave_decisions_total{result="fits",verb="prioritize"}'
    before = s.chipweave.metric(count)
    s.create("alone", 2)
    s.bound("alone")
    s.check("with one node left prioritize is skipped", s.chipweave.metric(count) == before)
    s.delete("alone")
    s.must_come("the chips back", lambda: not s.used())
