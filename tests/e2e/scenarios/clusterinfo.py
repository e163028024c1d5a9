"""What the leader publishes about all Ascend nodes without ClusterD: MindCluster's cluster-info ConfigMaps follow the agents, are
written only by the leader, are continued by the next leader after a kill, and are restored when deleted."""
import contextlib, datetime, json, threading

from lib.replicas import LEASE, Replicas
from lib.scenario import GPU, INVENTORIES

A2, A3, OTHER = "ci-2", "ci-10", "ci-gpu"  # not in the order of their bytes
NPU = "huawei.com/Ascend910"
DEVICES, SWITCHES, NODES = "cluster-info-device-0", "cluster-info-switch-0", "cluster-info-node-cm"
NAMESPACE = "/api/v1/namespaces/mindx-dl"
MAPS = f"{NAMESPACE}/configmaps"
# Once a minute the leader checks that what it wrote still exists.
LOOKED_AT = 90


def run(s):
    if not s.chipweave.https:
        print("     replicas ask and answer over TLS only", flush=True)
        return
    switch_on(s)
    for name, profile in ((A2, "ascend-910b-8"), (A3, "ascend-a3-16")):
        s.add_node(name, {NPU: profile.rsplit("-", 1)[1]})
        s.chipweave.start_agent(s.folder, name, f"profile:{profile}", NPU, "--publish=mindcluster")
    s.nodes(**{OTHER: ("hgx-v100-8", GPU, 8)})
    r = Replicas(s)
    s.must_come("a leader", r.leader)
    s.writes = s.watch_of(MAPS)
    collected(s)
    follows(s)
    killed(s, r)
    comes_back(s, r)
    stands_by(s, r)
    nodes_go(s)
    for replica in r.all:
        refusals = [line for line in replica.log.read_text().splitlines() if "mindx-dl" in line and "HTTP 4" in line]
        s.check(f"nothing was refused to {replica.pod}", not refusals, refusals)
    s.nothing_was_refused(A2, A3, OTHER)
    r.stop()


# As an operator does; the namespace may still be terminating after another scenario.
def switch_on(s):
    body = {"metadata": {"name": "mindx-dl"}}
    s.must_come("the namespace mindx-dl", lambda: s.bed.ask("POST", "/api/v1/namespaces", body)[0] == 201, 60)
    s.undo.append(lambda: s.bed.ask("DELETE", NAMESPACE))
    s.undo.append(lambda: s.chipweave.helm("upgrade", "--reset-values"))
    s.undo.append(lambda: [s.bed.ask("DELETE", device_info(node)) for node in (A2, A3)])
    s.chipweave.helm("upgrade", "--set", "agent.publish.mindcluster=true", "--set", "agent.asRoot=true", "--set",
                     "scheduler.publish.clusterInfo=true")
    agent, scheduler = s.bed.token("chipweave-agent"), s.bed.token("chipweave-scheduler")
    nobodys = lambda token, ns: s.bed.ask("POST", f"/api/v1/namespaces/{ns}/configmaps?dryRun=All",
                                          {"metadata": {"name": "nobodys"}}, token)[1]
    for who, token, namespace in (("agent", agent, "kube-system"), ("agent", agent, "mindx-dl"),
                                  ("scheduler", scheduler, "mindx-dl")):
        s.must_come(f"the {who}'s right to write ConfigMaps in {namespace}",
                    lambda: "may not write" in str(nobodys(token, namespace)))


def device_info(node):
    return f"/api/v1/namespaces/kube-system/configmaps/mindx-dl-deviceinfo-{node}"


# One of the ConfigMaps; None while it is not there.
def stored(s, name):
    code, answer = s.bed.ask("GET", f"{MAPS}/{name}")
    return answer if code == 200 else None


def all_stored(s):
    names = [one["metadata"]["name"] for one in s.bed.must("GET", MAPS)["items"]]
    return sorted(name for name in names if name.startswith("cluster-info-"))


# The entries of one of them, by ConfigMaps' names.
def published(s, name):
    found = stored(s, name)
    return json.loads(found["data"][name] or "{}") if found else {}


def device(s, node):
    return published(s, DEVICES).get(f"mindx-dl-deviceinfo-{node}", {})


def chips(s, node, end=""):
    return device(s, node).get("DeviceList", {}).get(NPU + end)


def listed(*numbers):
    return ",".join(f"Ascend910-{i}" for i in numbers)


# What the device plugin's own ConfigMap of the node says, here written by the agent.
def own_words(s, node):
    code, answer = s.bed.ask("GET", device_info(node))
    return json.loads(answer["data"]["DeviceInfoCfg"]) if code == 200 else {}


def collected(s):
    wanted = {f"mindx-dl-deviceinfo-{node}" for node in (A2, A3)}
    s.eventually("the Ascend nodes are listed and no others", lambda: set(published(s, DEVICES)) == wanted, why=lambda: published(s, DEVICES))
    s.eventually("there are three ConfigMaps", lambda: all_stored(s) == [DEVICES, NODES, SWITCHES], why=lambda: all_stored(s))
    for name in (DEVICES, SWITCHES, NODES):
        found = stored(s, name)
        s.check(f"{name}: Volcano finds it by its label", found["metadata"]["labels"] == {
            "mx-consumer-volcano": "true", "app.kubernetes.io/managed-by": "chipweave-scheduler"}, found["metadata"])
        s.check(f"{name}: its one key is its name", list(found["data"]) == [name], list(found["data"]))
    order = list(published(s, DEVICES))
    s.check("nodes are in the order of their bytes", order == sorted(order), order)
    for node in (A2, A3):
        s.must_come(f"the ConfigMap of {node} itself", lambda: own_words(s, node))
        own, entry = own_words(s, node), device(s, node)
        s.check(f"{node}: the lists are those of its own ConfigMap", entry["DeviceList"] == own["DeviceInfo"]["DeviceList"],
                (entry, own))
        s.check(f"{node}: its place is, too", [entry[k] for k in ("SuperPodID", "ServerIndex")] ==
                [own[k] for k in ("SuperPodID", "ServerIndex")], (entry, own))
        s.check(f"{node}: its name stands in it, and no CheckCode", entry["CmName"] == f"mindx-dl-deviceinfo-{node}" and
                set(entry) == {"DeviceList", "UpdateTime", "CmName", "SuperPodID", "ServerIndex"}, entry)
    s.check("of switches, the super pod's node alone", list(published(s, SWITCHES)) == [f"mindx-dl-switchinfo-{A3}"] and
            published(s, SWITCHES)[f"mindx-dl-switchinfo-{A3}"]["NodeStatus"] == "Healthy", published(s, SWITCHES))
    s.check("no node has faults of its own: an empty text", stored(s, NODES)["data"] == {NODES: ""}, stored(s, NODES))


def follows(s):
    before, other = device(s, A2), device(s, A3)
    s.agent(A2).say_health(unhealthy=[3], network_unhealthy=[5])
    s.eventually("an unhealthy chip is not offered", lambda: [chips(s, A2, end) for end in ("", "-Unhealthy", "-NetworkUnhealthy")] ==
                 [listed(0, 1, 2, 4, 5, 6, 7), listed(3), listed(5)], why=lambda: device(s, A2))
    faults = json.loads(chips(s, A2, "-Fault"))
    s.check("its fault is published", [(f["npu_name"], f["fault_level"]) for f in faults if f["fault_type"] == "CardUnhealthy"] ==
            [("Ascend910-3", "SeparateNPU")], faults)
    s.eventually("as the agent tells it", lambda: same_faults(s, A2), why=lambda: (device(s, A2), own_words(s, A2)))
    s.check("the entry is newer, that of the other node is not", device(s, A2)["UpdateTime"] > before["UpdateTime"] and
            device(s, A3) == other, (before, device(s, A2), other, device(s, A3)))
    s.create("four", 4, NPU)
    pod = s.bound("four")["four"]
    node, mine = pod["spec"]["nodeName"], s.chips_of(pod)
    unhealthy = [3] if node == A2 else []
    free = [i for i in range(8 if node == A2 else 16) if i not in mine + unhealthy]
    s.eventually("a pod's chips are not offered", lambda: chips(s, node) == listed(*free), why=lambda: device(s, node))
    s.delete("four")
    s.agent(A2).say_health()
    s.eventually("healed and given back, they are", lambda: chips(s, node) is not None and chips(s, A2) == listed(*range(8)) and
                 chips(s, A3) == listed(*range(16)), why=lambda: published(s, DEVICES))


# The lists of faults and unhealthy chips, there and in the node's own ConfigMap.
def same_faults(s, node):
    ends = ("-Fault", "-Unhealthy", "-NetworkUnhealthy", "-Recovering")
    return all(chips(s, node, end) == own_words(s, node)["DeviceInfo"]["DeviceList"][NPU + end] for end in ends)


def version(thing):
    return int(thing["metadata"]["resourceVersion"])


# Versions of the ConfigMaps that were written after that one.
def written_after(s, known):
    return [version(what) for kind, what in list(s.writes.seen) if kind != "DELETED" and version(what) > known and
            what["metadata"]["name"].startswith("cluster-info-")]


# Of what was written to the ConfigMaps after the last leader was gone, all must be younger than the term of the next one.
def killed(s, r):
    leases = s.watch_of(LEASE.rsplit("/", 1)[0])
    old = r.leader()
    old.kill()
    known = version(s.bed.must("GET", MAPS))
    s.bed.must("DELETE", f"{MAPS}/{SWITCHES}")
    s.agent(A3).say_health(unhealthy=[9])
    before = device(s, A3)
    s.must_come("another leader", lambda: r.leads_instead_of(old))
    new = r.leader()
    s.eventually("after kill -9 the next leader goes on", lambda: chips(s, A3, "-Unhealthy") == listed(9),
                 why=lambda: device(s, A3))
    s.check("with a newer time", device(s, A3)["UpdateTime"] > before["UpdateTime"], (before, device(s, A3)))
    s.eventually("and makes what was deleted meanwhile", lambda: published(s, SWITCHES), why=lambda: all_stored(s))
    holder = lambda lease: lease["spec"].get("holderIdentity") or ""
    began = min(version(lease) for _, lease in leases.of("chipweave-scheduler") if holder(lease).startswith(f"{new.pod}_"))
    written = written_after(s, known)
    s.check("nothing was written before it led", written and min(written) > began, (written, began))
    old.launch()
    s.must_come("the killed one again", lambda: ill_at(old, A3) == [9])


def comes_back(s, r):
    writer = r.leader()
    text = stored(s, DEVICES)["data"][DEVICES]
    s.bed.must("DELETE", f"{MAPS}/{DEVICES}")
    s.bed.must("PATCH", f"{MAPS}/{NODES}", {"data": {NODES: "{}", "note": "of a person"},
                                            "metadata": {"labels": {"mx-consumer-volcano": None}}})
    back = lambda: (found := stored(s, DEVICES)) and json.loads(found["data"][DEVICES]).keys() == json.loads(text).keys()
    s.eventually("what somebody deletes comes back", back, LOOKED_AT, why=lambda: all_stored(s))
    mended = lambda: (found := stored(s, NODES)) and (found["data"][NODES] == "" and
                                                      "mx-consumer-volcano" in found["metadata"]["labels"])
    s.eventually("what somebody changes is as it was", mended, LOOKED_AT, why=lambda: stored(s, NODES))
    s.check("a key of somebody else's stays", stored(s, NODES)["data"].get("note") == "of a person", stored(s, NODES))
    s.check("under the same leader", r.leader() is writer)


# As a replica says itself; None while it does not answer.
def ill_at(replica, node):
    code, answer = replica.ask("GET", "/api/v1/nodes", seconds=1)
    return next((one["unhealthy"] for one in answer["items"] if one["name"] == node), None) if code == 200 else None


# Has the Lease, and renews it, as a replica of another installation would.
@contextlib.contextmanager
def somebody_leads(s):
    over = threading.Event()

    def renew():
        spec = {"holderIdentity": "somebody", "renewTime": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%dT%H:%M:%S.%f}Z"}
        s.bed.must("PATCH", LEASE, {"spec": spec})

    def again():
        while not over.wait(0.3):
            renew()

    renew()
    thread = threading.Thread(target=again, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


# A replica that knows everything but does not lead.
def stands_by(s, r):
    for replica in r.all:
        replica.kill()
    with somebody_leads(s):
        for name in all_stored(s):
            s.bed.must("DELETE", f"{MAPS}/{name}")
        known = version(s.bed.must("GET", MAPS))
        for replica in r.all:
            replica.launch()
        s.agent(A3).say_health(unhealthy=[9, 10])
        for replica in r.all:
            s.must_come("what the standby knows", lambda: ill_at(replica, A3) == [9, 10])
        s.check("who stands by writes nothing", not s.bed.poll(lambda: written_after(s, known), 8), all_stored(s))
    s.must_come("a leader", r.leader)
    s.eventually("who leads writes it all", lambda: chips(s, A3, "-Unhealthy") == listed(9, 10) and len(all_stored(s)) == 3,
                 why=lambda: (all_stored(s), device(s, A3)))


# No machine here has a processor to break: the inventory is written as an agent would that saw it.
def nodes_go(s):
    s.agent(A3).kill()
    since = {"since": "2026-01-02T03:04:05Z", "sinceMs": 1767323045000}
    processor = {"code": "node.cpu.0000001d", "effect": "network", **since}
    switch = {"code": "switch.[0x00f103b0,155904,na,na]", "effect": "unusable", **since}
    whole = s.bed.must("GET", f"{INVENTORIES}/{A3}")
    whole["status"]["faults"] = [*whole["status"].get("faults", []), processor, switch]
    s.bed.must("PUT", f"{INVENTORIES}/{A3}/status", whole)
    entry = lambda: published(s, NODES).get(f"mindx-dl-nodeinfo-{A3}", {})
    s.eventually("a node's own faults are published", lambda: entry().get("NodeStatus") == "PreSeparate" and
                 entry()["FaultDevList"][0]["FaultCode"] == ["0000001D"], why=entry)
    of_switch = lambda: published(s, SWITCHES)[f"mindx-dl-switchinfo-{A3}"]
    s.eventually("and those of its switches", lambda: of_switch()["NodeStatus"] == "UnHealthy", why=of_switch)
    s.bed.must("DELETE", f"{INVENTORIES}/{A3}")
    s.eventually("a node without inventory is no longer published", lambda: list(published(s, DEVICES)) == [f"mindx-dl-deviceinfo-{A2}"] and
                 not stored(s, SWITCHES) and stored(s, NODES)["data"][NODES] == "", why=lambda: all_stored(s))
    s.agent(A2).kill()
    s.bed.must("DELETE", f"{INVENTORIES}/{A2}")
    s.eventually("with the last Ascend node the ConfigMaps go", lambda: not all_stored(s), why=lambda: all_stored(s))
