"""Volcano, played by a driver that calls as the real one was seen to: gangs, storms, dry runs in HyperNodes, preemption, a
kube-scheduler on the same nodes, and our scheduler killed in the middle. The webhook gives every binding its placement."""
from audit import asks, placement_of
from lib.scenario import GPU
from lib.volcano import ALL_VERBS, Driver, admission, gang

# Reservations outlast the scenario, so a leftover would be noticed.
FLAGS = ["--reservation-ttl=10m"]
ALL = ("v-a", "v-b", "v-c", "v-d")
ASCEND = "huawei.com/ascend-1980"
LOW, HIGH = "volcano-low", "volcano-high"


def run(s):
    if not s.chipweave.https:
        print("     the API server asks webhooks over TLS only", flush=True)
        return
    s.v100(*ALL[:2])
    admission(s)
    watch = s.watch()
    job(s)
    ascend(s)
    storms(s)
    hyper_nodes(s)
    without_predicate(s)
    preemption(s)
    both_schedulers(s)
    killed(s)
    wrong = watch.bound_without_placement()
    s.check("every bound version of a pod has its placement", not wrong, wrong)
    s.settled()


def none_reserved(s, when):
    s.eventually(f"no chip is reserved {when}", lambda: s.chipweave.metric("chipweave_reservations") == 0)


def ended(s, driver):
    status = driver.stop()
    s.check("every reply to Volcano could be used", not driver.errors(), driver.errors())
    s.check("the driver ends with 0", status == 0, status)


# Two pods of four chips, with every verb that there is.
def job(s):
    driver = Driver(s, verbs=ALL_VERBS)
    names = gang(s, "train", 2, 4)
    pods = s.bound(*names)
    for name, pod in pods.items():
        placement = placement_of(pod)
        s.check(f"{name}: four chips of its node", len(placement["chips"]) == 4 and
                placement["node"] == pod["spec"]["nodeName"], placement)
        s.check(f"{name}: a quad with NVLinks, not any four", placement["gbps"] >= 60, placement)
        s.check(f"{name}: the user's annotation is kept", pod["metadata"]["annotations"].get("example.com/user") == "kept")
    events = s.eventually("each has its event ChipsAssigned", lambda: all(len(s.events(n, "ChipsAssigned")) == 1 for n in names))
    s.check("it tells of the chips", not events or "chips " in s.events(names[0], "ChipsAssigned")[0]["note"])
    none_reserved(s, "for a job that runs")
    for verb in ALL_VERBS.split(","):
        if verb not in ("deallocate", "preemptable", "reclaimable"):
            s.check(f"{verb} was called", driver.calls(verb) > 0)
    ended(s, driver)
    s.remove_all()


# As a Job of a cloud asks for them: six whole nodes of eight.
def ascend(s):
    nodes = [f"v-npu-{number}" for number in range(6)]
    s.nodes(**{name: ("ascend-910b-8", ASCEND, 8) for name in nodes})
    driver = Driver(s)
    names = gang(s, "npu", 6, 8, ASCEND)
    pods = s.bound(*names)
    s.check("six pods of eight NPUs have six nodes", {pod["spec"]["nodeName"] for pod in pods.values() if pod} == set(nodes))
    s.check("all their chips", all(s.chips_of(pod) == [*range(8)] for pod in pods.values() if pod))
    ended(s, driver)
    s.remove_all()
    for name in nodes:
        s.chipweave.agents.pop(name).kill()
        s.remove_node(name)
    s.must_come("the end of the NPUs", lambda: not set(nodes) & set(s.chipweave.nodes()))


# Three pods of eight chips on two nodes, tried three times in each session forever, next to others that fit.
def storms(s):
    driver = Driver(s, "--storm", "3")
    big = gang(s, "big", 3, 8)
    driver.sees(2)
    none_reserved(s, "between two storms")
    small = gang(s, "small", 2, 2) + gang(s, "alone", 1, 1)
    s.bound(*small)
    s.create("of-kube", 8)  # of the other scheduler, and a whole node
    s.bound("of-kube", seconds=60)
    driver.sees(2)
    s.check("the gang that does not fit is not bound in part", not any(s.is_bound(name) for name in big))
    tried, undone = driver.calls("allocate"), driver.calls("deallocate")
    s.check("it was tried and taken back all the time", undone >= 12 and tried - undone == len(small), (tried, undone))
    none_reserved(s, "while there is no room for any of it")
    for name in [*small, "of-kube"]:
        s.delete(name)
    s.v100(*ALL[2:])
    s.bound(*big)
    ended(s, driver)
    s.remove_all()


# A gang of two whole nodes must lie in one of two domains. Each is tried twice before the gang is allocated.
def hyper_nodes(s):
    driver = Driver(s, "--hypernode", f"s0={ALL[0]},{ALL[1]}", "--hypernode", f"s1={ALL[2]},{ALL[3]}")
    names = gang(s, "topo", 2, 8)
    pods = s.bound(*names)
    used = {pod["spec"]["nodeName"] for pod in pods.values() if pod}
    s.check("a gang is in one domain", used in ({*ALL[:2]}, {*ALL[2:]}), used)
    s.check("it was tried in both before", driver.calls("allocate") == 10 and driver.calls("deallocate") == 8,
            (driver.calls("allocate"), driver.calls("deallocate")))
    none_reserved(s, "by dry runs")
    more = gang(s, "more", 2, 8)
    others = {pod["spec"]["nodeName"] for pod in s.bound(*more).values() if pod}
    s.check("another one in the other", used | others == {*ALL}, others)
    ended(s, driver)
    s.remove_all()


# Half of three nodes is unhealthy, which Volcano does not know: it goes by scores and is refused when it is wrong.
def without_predicate(s):
    unhealthy = [0, 1, 2, 3]
    for name in ALL[:3]:
        s.agent(name).say_health(unhealthy=unhealthy)
    s.must_come("the unhealthy chips", lambda: all(s.chipweave.nodes()[name]["unhealthy"] == unhealthy for name in ALL[:3]))
    driver = Driver(s, verbs="prioritize,allocate,deallocate")
    fits, waits = gang(s, "fits", 1, 6)[0], "waits-0"
    pod = s.bound(fits)[fits]
    s.check("the best score is where six chips are", pod and pod["spec"]["nodeName"] == ALL[3], s.used())
    gang(s, "waits", 1, 6)
    refused = lambda: sum(line["allocate_errors"] for line in driver.sessions())
    s.must_come("refused allocations", lambda: refused() > 1)
    s.check("a pod for which there is no room waits", not s.is_bound(waits))
    none_reserved(s, "by allocations that are refused")
    for name in ALL[:3]:
        s.agent(name).say_health()
    s.bound(waits)
    ended(s, driver)
    s.remove_all()


# Eight pods of four chips fill the nodes; one of eight comes that is worth more.
def preemption(s):
    for name, value in ((LOW, 10), (HIGH, 1000)):
        s.bed.must("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": name}, "value": value})
        s.undo.append(lambda name=name: s.bed.ask("DELETE", f"/apis/scheduling.k8s.io/v1/priorityclasses/{name}"))
    driver = Driver(s, "--actions", "enqueue,allocate,preempt", verbs=ALL_VERBS)
    low = [gang(s, f"low-{number}", 1, 4, priorityClassName=LOW, terminationGracePeriodSeconds=30)[0] for number in range(8)]
    s.bound(*low)
    high = gang(s, "high", 1, 8, priorityClassName=HIGH)[0]
    ending = lambda: [pod for pod in s.pods() if pod["metadata"].get("deletionTimestamp")]
    victims = s.must_come("the end of victims", ending)
    driver.sees(3)
    s.check("as long as they end the other one waits", not s.is_bound(high))
    s.check("two of four chips on one node must end, and no more in later sessions", len(ending()) == 2 and
            len({pod["spec"]["nodeName"] for pod in ending()}) == 1, [pod["metadata"]["name"] for pod in ending()])
    waits = [line for line in driver.sessions() if f"{s.ns}/high" in line["pipelined"]]
    s.check("it is in line for their node meanwhile", len(waits) >= 2, len(waits))
    s.check("preemptable was called", driver.calls("preemptable") > 0)
    for pod in victims:
        s.delete(pod["metadata"]["name"])  # no kubelet does
    pod = s.bound(high)[high]
    s.check("it has the victims' chips", pod and pod["spec"]["nodeName"] == victims[0]["spec"]["nodeName"] and
            s.chips_of(pod) == [*range(8)], s.used())
    s.check("the others run on", len(s.pods()) == 7 and not ending(), len(s.pods()))
    ended(s, driver)
    s.remove_all()


# Pods of one chip of each scheduler take most of the chips.
def both_schedulers(s):
    driver = Driver(s)
    names = []
    for number in range(7):
        names += gang(s, f"mine-{number}", 2, 1)
        for member in range(2):
            names.append(f"theirs-{number}-{member}")
            s.create(names[-1], 1)
    s.bound(*names, seconds=90)
    chips = [(pod["spec"]["nodeName"], chip) for pod in s.pods() for chip in s.chips_of(pod) or []]
    s.check("28 pods of two schedulers have 28 chips", len(chips) == len(set(chips)) == 28, chips)
    ended(s, driver)
    mine = {f"{s.ns}/{name}" for name in names if name.startswith("mine")}
    s.check("each scheduler bound its own", set(driver.bound()) == mine, driver.bound())
    s.remove_all()


# Our scheduler dies again and again in the middle of sessions, which are long as every gang is tried often.
def killed(s):
    driver, names = Driver(s, "--storm", "20"), []
    for round in range(3):
        before = len(bound(s))
        for number in range(5):
            names += gang(s, f"burst-{round}-{number}", 2, 1)
        s.must_come("the first binding of the round", lambda: len(bound(s)) > before)
        s.chipweave.kill()
        driver.sees(1, 60)
        s.chipweave.launch()
    pods = s.bound(*names, seconds=90)
    s.check("calls failed meanwhile", driver.errors())
    s.check("each has what it asks for", all(len(s.chips_of(pod) or []) == asks(pod)[GPU] for pod in pods.values() if pod))
    s.check("the driver ends with 0", driver.stop() == 0)
    s.remove_all()
    ignored(s)


def bound(s):
    return [pod for pod in s.pods() if pod["spec"].get("nodeName")]


# A Volcano that goes on without us: the API server does not, and what it refused is tried again in later sessions.
def ignored(s):
    s.chipweave.kill()
    driver = Driver(s, "--ignorable")
    names = gang(s, "orphan", 2, 4)
    s.must_come("refused bindings", lambda: len(driver.pods_that_could_not_be_bound()) == 2, 60)
    why = driver.pods_that_could_not_be_bound()
    s.check("without us the API server takes no binding", all("failed calling webhook" in text for text in why.values()), why)
    s.check("no pod of the gang is bound", not bound(s))
    s.chipweave.launch()
    pods = s.bound(*names, seconds=90)
    s.check("they have their chips then", all(len(s.chips_of(pod) or []) == 4 for pod in pods.values() if pod))
    s.check("the driver ends with 0", driver.stop() == 0)
