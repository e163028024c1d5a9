"""Our scheduler is killed and started again: it finds everything in the cluster, gives nothing twice, loses nothing."""
ALL = ("r-a", "r-b")


def run(s):
    s.v100(*ALL)
    s.watched = s.watch()
    idle(s)
    while_pods_wait(s)
    in_the_middle_of_binds(s)
    not_before_all_is_known(s)
    wrong = s.watched.bound_without_placement()
    s.check("no version of a bound pod lacks its placement", not wrong, wrong)
    s.settled()


def known_again(s):
    s.must_come("all nodes", lambda: set(ALL) <= set(s.chipweave.nodes()))


def idle(s):
    s.create("early", 2)
    s.bound("early")
    before = s.used()
    explained = s.chipweave.ask("GET", f"/api/v1/explain/{s.ns}/early")[1]
    s.chipweave.restart()
    known_again(s)
    s.check("after a restart the same chips are used", s.used() == before == s.annotated(), f"{before}, {s.used()}")
    again = s.chipweave.ask("GET", f"/api/v1/explain/{s.ns}/early")[1]
    same = [again.get(key) == explained.get(key) for key in ("state", "node", "chips", "gbps", "decision")]
    s.check("and the same is explained of the pod", all(same), again)
    s.create("later", 2)
    later = s.bound("later")["later"]
    numbers = [s.chipweave.ask("GET", f"/api/v1/explain/{s.ns}/{name}")[1]["decision"] for name in ("early", "later")]
    s.check("decisions are numbered on", numbers[0] < numbers[1], numbers)
    s.check("the pods have different chips or nodes", len(s.annotated()) == 2 or not set(s.chips_of(later))
            & set(s.chips_of(s.pod("early"))))
    s.remove_all()


# Killed while pods wait, and away when chips come free for them.
def while_pods_wait(s):
    for number in range(2):
        s.create(f"big-{number}", 6)
    s.bound("big-0", "big-1")
    s.create("waiting", 4)
    s.given_up("waiting")
    s.chipweave.kill()
    s.delete("big-0")
    s.eventually("without us kube-scheduler says that it gets no answer", lambda: any("connection refused" in event["note"]
                 for event in s.events("waiting", "FailedScheduling")))
    s.check("and binds nothing", not s.is_bound("waiting"))
    s.chipweave.launch()
    s.bound("waiting")
    s.remove_all()


# Killed again and again while sixteen pods of one chip fill two nodes.
def in_the_middle_of_binds(s):
    names = [f"burst-{number}" for number in range(16)]
    for round, (first, last) in enumerate(((0, 5), (5, 10), (10, 16))):
        for name in names[first:last]:
            s.create(name, 1)
        begun = lambda: sum(1 for pod in s.pods() if pod["spec"].get("nodeName")) > first
        s.must_come("the first binding of the round", begun)
        s.chipweave.restart()
    s.bound(*names, seconds=60)
    known_again(s)
    s.eventually("all sixteen chips are used, each once", lambda: [s.taken(node) for node in ALL] == [[*range(8)]] * 2,
                 why=s.used)
    s.remove_all()


# The API server answers no list: started like this our scheduler must not guess.
def not_before_all_is_known(s):
    s.chipweave.kill()
    s.create("patient", 2)
    pod = s.pod("patient")
    stop, go_on = s.freeze("kube-apiserver")
    stop()
    try:
        s.chipweave.launch()
        s.must_come("its HTTP side", lambda: s.chipweave.ask("GET", "/healthz")[0] == 200 or
                    s.chipweave.ask("GET", "/version")[0] == 200)
        answer = s.chipweave.extender("filter", {"Pod": pod, "Nodes": None, "NodeNames": list(ALL)})
        s.check("filter answers with an error until all is known", "is starting" in answer.get("Error", ""), answer)
        code, _ = s.chipweave.ask("POST", "/kube/prioritize", {"Pod": pod, "Nodes": None, "NodeNames": list(ALL)})
        s.check("and prioritize is refused", code == 503, code)
        answer = s.chipweave.bind(pod, ALL[0])
        s.check("and bind", "is starting" in answer.get("Error", ""), answer)
    finally:
        go_on()
    s.bound("patient", seconds=60)
