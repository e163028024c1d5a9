"""ConfigMaps that the scheduler writes for others: what RBAC and the policy of the chart leave of that right. Part of chart_test.py."""
from chart_rights import CLUSTER_INFO, CLUSTER_INFO_RIGHTS, DLROVER_RIGHTS, GANG_PLANS, HOSTFILE_RIGHTS, NOT_CLUSTER_INFO, NOT_GANG_PLANS
from chart_rights import NOTE, RANK_TABLE_PATCHES, RANK_TABLE_RIGHTS, SCHEDULER_RIGHTS, USERS_RANK_TABLE, WATCH
from chart_rights import config_map, hostfile, rank_table
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


# Rank tables: by their names, in the namespaces of the values. One that its user has made keeps all but the table.
def rank_tables(bed, helm):
    scheduler, maps = bed.token("chipweave-scheduler"), "/api/v1/namespaces/default/configmaps"
    upgrade = lambda *values: bed.run(helm, "upgrade", "chipweave", CHART, "-n", NS, "--reset-values", *values)
    upgrade("--set", "scheduler.rankTables.write={jobs},scheduler.rankTables.namespaces={default}")
    here, there = named(SCHEDULER_RIGHTS[0], RANK_TABLE_RIGHTS), named(SCHEDULER_RIGHTS[0])
    bed.check("with rank tables it may create and patch ConfigMaps in their namespaces alone",
              bed.poll(lambda: (rights(bed, scheduler, "default"), rights(bed, scheduler, "kube-system")) == (here, there)))
    denied = lambda answer: "may not write" in str(answer)
    tried = lambda body, where=maps: bed.ask("POST", f"{where}?dryRun=All", body, scheduler)
    job, mindie, users = "rings-config-job", "global-ranktable-mindie", USERS_RANK_TABLE["metadata"]["name"]
    table_of_mindie = rank_table(mindie, "global_ranktable.json")
    bed.check("the policy for rank tables is in force", bed.poll(
        lambda: tried(rank_table(job))[0] == 201 and denied(tried(config_map("somebodys"))[1])))
    bed.check("without mindie it may not write MindIE's", denied(tried(table_of_mindie)[1]))
    upgrade("--set", "scheduler.rankTables.write={jobs,mindie,modelarts,pd},scheduler.rankTables.namespaces={default}")
    bed.check("with mindie it may", bed.poll(lambda: tried(table_of_mindie)[0] == 201))
    bed.must("POST", maps, USERS_RANK_TABLE)
    others = [rank_table("ranktable-job", "jobstart_hccl.json"), rank_table("torlist-job", "ranktable_tor.json", "route_plan.json"),
              rank_table("pd-ranktable-chat", "global_ranktable.json", "local_ranktable_chat-p-0.json"),
              rank_table("pd-ranktable-vllm", "ranktable.json")]
    for body in (rank_table(job), table_of_mindie, rank_table(users), *others):
        name = body["metadata"]["name"]
        made = [] if name == users else [bed.ask("POST", maps, body, scheduler)[0]]
        codes = made + [bed.ask("PATCH", f"{maps}/{name}", patch, scheduler)[0] for patch in
                        ({}, {**body, "data": {**body["data"], "version": "2"}}, {"data": {"version": "3"}})]
        bed.check(f"it may write and read {name}", codes == [201, 200, 200, 200][-len(codes):], codes)
    kept = bed.must("GET", f"{maps}/{users}")
    bed.check("which keeps what its user has written", kept["data"] == {"hccl.json": "{}", "version": "3", "notes": "kept"} and
              USERS_RANK_TABLE["metadata"]["labels"].items() <= kept["metadata"]["labels"].items(), kept)

    bed.must("POST", maps, config_map("somebodys"))
    bed.must("POST", maps, config_map("global-ranktable-somebodys"))
    without_label = lambda name: {**rank_table(name), "metadata": {"name": name}}
    for what, method, path, body in (
            *((f"change of a rank table: {what}", "PATCH", f"{maps}/{users}", patch) for what, patch in RANK_TABLE_PATCHES),
            ("read a ConfigMap of others by a patch", "PATCH", f"{maps}/somebodys", {}),
            ("write one of others", "PATCH", f"{maps}/somebodys", {"data": {"hccl.json": "{}"}}),
            ("read one of MindIE that it has not made", "PATCH", f"{maps}/global-ranktable-somebodys", {}),
            ("make that its own", "PATCH", f"{maps}/global-ranktable-somebodys", rank_table("global-ranktable-somebodys", "global_ranktable.json")),
            ("write MindIE's table for a job", "PATCH", f"{maps}/{job}", {"data": {"global_ranktable.json": "{}"}}),
            ("make one by another name", "POST", maps, rank_table("config-rings-config-job")),
            ("make one with another key", "POST", maps, rank_table("rings-config-another", "script")),
            ("make one of a job with the table of a pod", "POST", maps, rank_table("rings-config-another", "local_ranktable_x.json")),
            ("make one of pods with a script", "POST", maps, rank_table("pd-ranktable-another", "local_ranktable_x.sh")),
            ("make one without the label", "POST", maps, without_label("rings-config-another")),
            ("make one with binary data", "POST", maps, {**rank_table("rings-config-another"), "binaryData": {"x": "MQ=="}})):
        code, answer = bed.ask(method, path, body, scheduler)
        bed.check(f"it may not {what}", code == 403 and denied(answer), f"{code}: {answer}")
    try_requests(bed, "it", scheduler, [(False, "GET", f"{maps}/{job}", None), (False, "DELETE", f"{maps}/{job}", None),
                                        (False, "POST", maps.replace("default", "kube-system"), rank_table(job))])
    for name in (job, mindie, users, "somebodys", "global-ranktable-somebodys", *(body["metadata"]["name"] for body in others)):
        bed.must("DELETE", f"{maps}/{name}")
    rank_tables_everywhere(bed, scheduler, upgrade, here)
    upgrade()
    bed.check("switched off, that is gone", bed.poll(lambda: rights(bed, scheduler, "default") == there))


# In all namespaces, beside hostfiles in one; the right to delete plans of gangs is for these alone.
def rank_tables_everywhere(bed, scheduler, upgrade, wanted):
    home, elsewhere = (f"/api/v1/namespaces/{name}/configmaps" for name in (NS, "kube-system"))
    upgrade("--set", "scheduler.rankTables.write={jobs},scheduler.gangs.hostfiles.enabled=true,scheduler.gangs.hostfiles.namespaces={default}")
    bed.check("without namespaces, in all", bed.poll(lambda: rights(bed, scheduler, "kube-system") == wanted))
    tried = lambda method, path, body: bed.ask(method, f"{path}?dryRun=All", body, scheduler)
    bed.check("the policy allows that", bed.poll(lambda: tried("POST", elsewhere, rank_table("rings-config-job"))[0] == 201))
    bed.must("POST", home, USERS_RANK_TABLE)
    users = f"{home}/{USERS_RANK_TABLE['metadata']['name']}"
    for what, method, path, body in (("write hostfiles there", "POST", elsewhere, hostfile("hosts")), ("delete a rank table", "DELETE", users, None)):
        code, answer = tried(method, path, body)
        bed.check(f"it may not {what}", code == 403 and "may not write" in str(answer), f"{code}: {answer}")
    bed.must("DELETE", users)


# The Service for MindIE leads to the leader, as that for decisions.
def clusterd(bed, helm):
    bed.run(helm, "upgrade", "chipweave", CHART, "-n", NS, "--set", "scheduler.clusterd.enabled=true")
    service = lambda name: bed.must("GET", f"/api/v1/namespaces/{NS}/services/{name}")["spec"]
    found = service("chipweave-scheduler-clusterd")
    bed.check("the Service for MindIE leads to the leader", found["selector"] == service("chipweave-scheduler")["selector"] and
              [(port["port"], port["targetPort"]) for port in found["ports"]] == [(8899, "clusterd")], found)
    (container,) = bed.must("GET", f"/apis/apps/v1/namespaces/{NS}/deployments/chipweave-scheduler")["spec"]["template"]["spec"]["containers"]
    bed.check("whose container has that port", {"clusterd": 8899}.items() <= {p["name"]: p["containerPort"] for p in container["ports"]}.items())
    bed.run(helm, "upgrade", "chipweave", CHART, "-n", NS, "--reset-values")
    code, _ = bed.ask("GET", f"/api/v1/namespaces/{NS}/services/chipweave-scheduler-clusterd")
    bed.check("switched off, it is gone", code == 404, code)


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
