"""ConfigMaps that the scheduler writes for others: what RBAC and the policy of the chart leave of that right. Part of chart_test.py."""
from chart_rights import CLUSTER_INFO, CLUSTER_INFO_RIGHTS, DLROVER_RIGHTS, GANG_PLANS, HOSTFILE_RIGHTS, NOT_CLUSTER_INFO, NOT_GANG_PLANS
from chart_rights import NOTE, SCHEDULER_RIGHTS, WATCH, config_map, hostfile
from lib.bed import CHART, NS
from lib.rights import exact_rights, named, rights, try_requests


# In its own namespace it may write ConfigMaps by these names only.
def gang_plans(bed):
    scheduler, maps = bed.token("chipweave-scheduler"), f"/api/v1/namespaces/{NS}/configmaps"
    denied = lambda answer: "may not write" in str(answer)
    bed.check("the policy for ConfigMaps is in force", bed.poll(
        lambda: denied(bed.ask("POST", f"{maps}?dryRun=All", config_map("somebodys"), scheduler)[1])))
    for name in GANG_PLANS:
        codes = [bed.ask(method, path, body, scheduler)[0] for method, path, body in
                 (("POST", maps, config_map(name)), ("PATCH", f"{maps}/{name}", {}), ("PATCH", f"{maps}/{name}", NOTE),
                  ("DELETE", f"{maps}/{name}", None))]
        bed.check(f"it may make, read, patch and delete {name}", codes == [201, 200, 200, 200], codes)
    for name in NOT_GANG_PLANS:
        code, answer = bed.ask("POST", maps, config_map(name), scheduler)
        bed.check(f"it may not POST {name}", code == 403 and denied(answer), f"{code}: {answer}")
    for name in ("chipweave-scheduler", "kube-root-ca.crt"):
        for method, body in (("PATCH", NOTE), ("DELETE", None)):
            code, answer = bed.ask(method, f"{maps}/{name}", body, scheduler)
            bed.check(f"it may not {method} {name}", code == 403 and denied(answer), f"{code}: {answer}")


# What is not asked for it may not; what is, in mindx-dl and by these names only.
def cluster_info(bed, helm):
    scheduler, maps = bed.token("chipweave-scheduler"), "/api/v1/namespaces/mindx-dl/configmaps"
    exact = lambda wanted, what: bed.check(
        f"rights of the scheduler in mindx-dl{what}: {len(wanted)}, no more and no less",
        (found := rights(bed, scheduler, "mindx-dl")) == wanted,
        f"missing {sorted(wanted - found)}, too many {sorted(found - wanted)}")
    name = CLUSTER_INFO[0]
    exact(named(SCHEDULER_RIGHTS[0]), " without cluster-info")
    try_requests(bed, "the scheduler without cluster-info", scheduler, [
        (False, "POST", maps, config_map(name)), (False, "GET", f"{maps}/{name}", None),
        (False, "PATCH", f"{maps}/{name}", NOTE), (False, "DELETE", f"{maps}/{name}", None)])
    bed.run(helm, "upgrade", "chipweave", CHART, "-n", NS, "--set", "scheduler.publish.clusterInfo=true")
    denied = lambda answer: "may not write" in str(answer)
    tried = lambda what: bed.ask("POST", f"{maps}?dryRun=All", config_map(what), scheduler)
    bed.check("the policy for cluster-info is in force", bed.poll(
        lambda: tried(name)[0] == 201 and denied(tried("somebodys")[1])))
    exact(named(SCHEDULER_RIGHTS[0], CLUSTER_INFO_RIGHTS), " that publishes cluster-info")
    exact_rights(bed, "scheduler that publishes cluster-info", scheduler, *SCHEDULER_RIGHTS)
    for name in CLUSTER_INFO:
        codes = [bed.ask(method, path, body, scheduler)[0] for method, path, body in
                 (("POST", maps, config_map(name)), ("GET", f"{maps}/{name}", None), ("PATCH", f"{maps}/{name}", NOTE),
                  ("DELETE", f"{maps}/{name}", None))]
        bed.check(f"it may make, read, patch and delete {name}", codes == [201, 200, 200, 200], codes)
    for name in NOT_CLUSTER_INFO:
        code, answer = bed.ask("POST", maps, config_map(name), scheduler)
        bed.check(f"it may not POST {name}", code == 403 and denied(answer), f"{code}: {answer}")
        bed.must("POST", maps, config_map(name))
        try_requests(bed, "it", scheduler, [(False, method, f"{maps}/{name}", body) for method, body in
                                            (("GET", None), ("PATCH", NOTE), ("DELETE", None))])
        bed.must("DELETE", f"{maps}/{name}")
    elsewhere = maps.replace("mindx-dl", NS)
    code, answer = bed.ask("POST", elsewhere, config_map(name), scheduler)
    bed.check(f"it may not POST {name} in {NS}", code == 403 and denied(answer), f"{code}: {answer}")
    try_requests(bed, "it", scheduler, [(False, "GET", maps, None), (False, "GET", f"{maps}{WATCH}", None),
                                        (False, "PUT", f"{maps}/kube-root-ca.crt", None), (False, "DELETE", maps, None)])
    bed.run(helm, "upgrade", "chipweave", CHART, "-n", NS, "--reset-values")
    gone = lambda: rights(bed, scheduler, "mindx-dl") == named(SCHEDULER_RIGHTS[0])
    bed.check("switched off, all of that is gone", bed.poll(gone))


# Hostfiles: in the namespaces of the values, and only ConfigMaps that were made as such.
def hostfiles(bed, helm):
    scheduler, maps = bed.token("chipweave-scheduler"), "/api/v1/namespaces/default/configmaps"
    upgrade = lambda *values: bed.run(helm, "upgrade", "chipweave", CHART, "-n", NS, *values)
    upgrade("--set", "scheduler.gangs.hostfiles.enabled=true,scheduler.gangs.hostfiles.namespaces={default}")
    here, there = named(SCHEDULER_RIGHTS[0], HOSTFILE_RIGHTS), named(SCHEDULER_RIGHTS[0])
    bed.check("with hostfiles it may create and patch ConfigMaps in their namespaces alone",
              bed.poll(lambda: (rights(bed, scheduler, "default"), rights(bed, scheduler, "kube-system")) == (here, there)))
    denied = lambda answer: "may not write" in str(answer)
    bed.check("the policy for hostfiles is in force", bed.poll(
        lambda: bed.ask("POST", f"{maps}?dryRun=All", hostfile("hosts"), scheduler)[0] == 201 and
        denied(bed.ask("POST", f"{maps}?dryRun=All", config_map("somebodys"), scheduler)[1])))
    codes = [bed.ask(method, path, body, scheduler)[0] for method, path, body in
             (("POST", maps, hostfile("hosts")), ("PATCH", f"{maps}/hosts", {}),
              ("PATCH", f"{maps}/hosts", {"data": {"rankfile": "rank 0=a slot=0"}}))]
    bed.check("it may make, read and patch a hostfile", codes == [201, 200, 200], codes)
    bed.must("POST", maps, config_map("somebodys"))
    for what, method, path, body in (
            ("read a ConfigMap of others by a patch", "PATCH", f"{maps}/somebodys", {}),
            ("make one of others a hostfile", "PATCH", f"{maps}/somebodys", hostfile("somebodys")),
            ("make one with another key", "POST", maps, hostfile("another", "script")),
            ("take the label off", "PATCH", f"{maps}/hosts", {"metadata": {"labels": {"chipweave.dev/hostfile": None}}})):
        code, answer = bed.ask(method, path, body, scheduler)
        bed.check(f"it may not {what}", code == 403 and denied(answer), f"{code}: {answer}")
    try_requests(bed, "it", scheduler, [(False, "GET", f"{maps}/hosts", None), (False, "DELETE", f"{maps}/hosts", None),
                                        (False, "POST", maps.replace("default", "kube-system"), hostfile("hosts"))])
    upgrade("--reset-values", "--set", "scheduler.gangs.hostfiles.enabled=true")
    bed.check("without namespaces, in all", bed.poll(lambda: rights(bed, scheduler, "kube-system") == here))
    for name in ("hosts", "somebodys"):
        bed.must("DELETE", f"{maps}/{name}")
    upgrade("--reset-values")
    bed.check("switched off, that is gone", bed.poll(lambda: rights(bed, scheduler, "default") == there))


# DLRover's ConfigMap, in its namespaces and by its name only.
def dlrover_topology(bed, helm):
    scheduler, maps, name = bed.token("chipweave-scheduler"), "/api/v1/namespaces/default/configmaps", "node-topology-config"
    bed.run(helm, "upgrade", "chipweave", CHART, "-n", NS, "--set", "scheduler.publish.dlroverTopology={default}")
    wanted = named(SCHEDULER_RIGHTS[0], DLROVER_RIGHTS)
    bed.check("with dlroverTopology it may create ConfigMaps, and patch one",
              bed.poll(lambda: rights(bed, scheduler, "default") == wanted))
    denied = lambda answer: "may not write" in str(answer)
    bed.check("the policy for it is in force", bed.poll(
        lambda: bed.ask("POST", f"{maps}?dryRun=All", config_map(name), scheduler)[0] == 201 and
        denied(bed.ask("POST", f"{maps}?dryRun=All", config_map("somebodys"), scheduler)[1])))
    codes = [bed.ask(method, path, body, scheduler)[0] for method, path, body in
             (("POST", maps, config_map(name)), ("PATCH", f"{maps}/{name}", {}), ("PATCH", f"{maps}/{name}", NOTE))]
    bed.check(f"it may make, read and patch {name}", codes == [201, 200, 200], codes)
    try_requests(bed, "it", scheduler, [(False, "PATCH", f"{maps}/kube-root-ca.crt", NOTE), (False, "DELETE", f"{maps}/{name}", None),
                                        (False, "POST", maps.replace("default", "kube-system"), config_map(name))])
    bed.must("DELETE", f"{maps}/{name}")
    bed.run(helm, "upgrade", "chipweave", CHART, "-n", NS, "--reset-values")
    bed.check("switched off, that is gone", bed.poll(lambda: rights(bed, scheduler, "default") == named(SCHEDULER_RIGHTS[0])))
