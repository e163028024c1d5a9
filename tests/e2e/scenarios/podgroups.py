"""Gangs of kube-scheduler itself (since 1.36): it tries all members, takes everything back, and binds them later if all of
them fit. Reservations outlast the scenario here, so a leftover would be noticed."""
from lib.scenario import GPU
from testbed.processes import POD_GROUPS

FLAGS = ["--reservation-ttl=10m"]
GANGS = "gangs"  # the name of a kube-scheduler that knows them


def run(s):
    if s.bed.state["kubernetes"] not in POD_GROUPS:
        print("     this version has none", flush=True)
        return
    s.v100("g-a")
    _, gates = POD_GROUPS[s.bed.state["kubernetes"]]
    start = lambda: s.second_kube_scheduler(GANGS, f"--feature-gates={gates}")
    process = start()
    small = fits(s)
    large = does_not_fit(s)
    gives_way(s, large)
    medium = gang(s, "medium", 2, 4)
    for name in medium:
        s.given_up(name)
    s.bed.end(process)  # in the middle of a try, as it does nothing else then
    none_reserved(s, "when nobody tries any more")
    for name in small:
        s.delete(name)
    start()
    s.bound(*medium, seconds=60)
    s.settled()


def gang(s, name, members, chips):
    version, _ = POD_GROUPS[s.bed.state["kubernetes"]]
    path = f"/apis/scheduling.k8s.io/{version}/namespaces/{s.ns}/podgroups"
    s.bed.must("POST", path, {"metadata": {"name": name}, "spec": {"schedulingPolicy": {"gang": {"minCount": members}}}})
    names = [f"{name}-{number}" for number in range(members)]
    for pod in names:
        s.create(pod, chips, GPU, schedulerName=GANGS, schedulingGroup={"podGroupName": name})
    return names


def none_reserved(s, when):
    s.eventually(f"no chip is reserved {when}", lambda: s.chipweave.metric("chipweave_reservations") == 0)


def fits(s):
    names = gang(s, "small", 2, 2)
    s.bound(*names)
    none_reserved(s, "for a gang that runs")
    used = [chip for name in names for chip in s.chips_of(s.pod(name)) or []]
    s.check("a gang that fits has its chips", len(set(used)) == 4, used)
    return names


# Four chips are free: one of three members fits, which is not enough. It is tried again and again, with no pause.
def does_not_fit(s):
    names = gang(s, "large", 3, 4)
    for name in names:
        s.given_up(name)
    s.check("no member of a gang that does not fit is bound", not any(s.is_bound(name) for name in names))
    return names


# Its reservations of each attempt do not block other pods.
def gives_way(s, large):
    s.create("beside", 4)
    s.bound("beside")
    for name in (*large, "beside"):
        s.delete(name)
