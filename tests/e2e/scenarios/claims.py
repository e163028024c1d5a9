"""Pods that name ResourceClaims of chipweave's DeviceClasses: allocated before kube-scheduler looks, bound by it with exactly these
devices; several claims and requests, matchAttribute, a shared claim, config, a node that kube-scheduler refuses, kill -9 in the
middle, claims that cannot be served, and what is left when the pods are gone."""
import json

from lib.fake_nvml import dgx1v
from lib.scenario import GPU

A, B = "claims-a", "claims-b"
DRA = "/apis/resource.k8s.io/v1"
CLASS, DRIVER = "chipweave-gpu", "gpu.nvidia.com"
ISLAND = "chipweave.dev/nvlinkIsland"
FLAGS = ["--allocate-claims"]


def run(s):
    old = int(s.bed.must("GET", "/version")["minor"].rstrip("+")) < 36
    switch_on(s, old)
    for name in (A, B):
        s.nvidia(name, dgx1v())
    s.known(A, B)
    for name in (A, B):
        offer(s, name)
    one_pod(s)
    several(s)
    shared(s)
    refused_node(s)
    killed(s)
    in_vain(s)
    gone(s)


# Before 1.36 the API server keeps no taints of devices: the stock class is barred instead.
def switch_on(s, old):
    values = ["--set", "dra.enabled=true", "--set", "dra.allocateClaims=true", "--set-json",
              f'dra.classes=[{{"name":"{CLASS}","resource":"{GPU}","config":[{{"opaque":{{"driver":"{DRIVER}",'
              f'"parameters":{{"from":"class"}}}}}}]}}]']
    if old:
        values += ["--set-json", "dra.taintDrivers=[]", "--set-json", f'dra.barredClasses=["{DRIVER}"]']
    s.undo.append(lambda: s.chipweave.helm("upgrade", "--reset-values"))
    s.chipweave.helm("upgrade", *values)
    stock = {"metadata": {"name": DRIVER}, "spec": {"selectors": [{"cel": {"expression": f"device.driver == '{DRIVER}'"}}]}}
    s.bed.must("POST", f"{DRA}/deviceclasses", stock)
    s.undo.append(lambda: s.bed.ask("DELETE", f"{DRA}/deviceclasses/{DRIVER}"))
    claim = body_of_claim("nobodys", [("r", 1)])
    claim["spec"]["devices"]["requests"][0]["exactly"].update(
        {"deviceClassName": DRIVER} if old else {"deviceClassName": DRIVER, "tolerations": [{"operator": "Exists"}]})
    s.eventually("others' claims cannot get these devices",
                 lambda: "chipweave gives these devices away" in str(s.bed.ask("POST", f"{claims_path(s)}?dryRun=All", claim)[1]))
    if old:
        s.chipweave.kill()
        s.chipweave.flags.append("--allocate-untainted-devices")
        s.chipweave.launch()


def claims_path(s):
    return f"{DRA}/namespaces/{s.ns}/resourceclaims"


# The slice of a driver, as chips are in the node's inventory.
def offer(s, node):
    chips = s.inventory(node)["topology"]["chips"]
    devices = [{"name": f"gpu-{chip['index']}",
                "attributes": {"uuid": {"string": chip["id"]}, "index": {"int": chip["index"]},
                               ISLAND: {"string": f"{node}-{chip['index'] // 4}"}}} for chip in chips]
    body = {"metadata": {"name": f"{node}-{DRIVER}"},
            "spec": {"driver": DRIVER, "nodeName": node, "devices": devices,
                     "pool": {"name": node, "generation": 1, "resourceSliceCount": 1}}}
    s.bed.must("POST", f"{DRA}/resourceslices", body)
    s.undo.append(lambda: s.bed.ask("DELETE", f"{DRA}/resourceslices/{node}-{DRIVER}"))


def spec_of_claim(requests, match=None, **more):
    devices = {"requests": [{"name": name, "exactly": {"deviceClassName": CLASS, "count": count}} for name, count in requests], **more}
    if match:
        devices["constraints"] = [{"matchAttribute": match}]
    return {"devices": devices}


def body_of_claim(name, requests, match=None):
    return {"metadata": {"name": name}, "spec": spec_of_claim(requests, match)}


# A pod with a generated claim for each of these specs, and with these claims.
def create(s, name, *specs, claims=(), **more):
    entries = []
    for i, spec in enumerate(specs):
        # By kubectl, which writes compact JSON: else no JSON client can change a claim with config, since the API server
        # compares its bytes.
        template = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate",
                    "metadata": {"name": f"{name}-{i}", "namespace": s.ns}, "spec": {"spec": spec}}
        s.bed.kubectl("create", "-f", "-", text=json.dumps(template))
        entries.append({"name": f"c{i}", "resourceClaimTemplateName": f"{name}-{i}"})
    entries += [{"name": f"s{i}", "resourceClaimName": claim} for i, claim in enumerate(claims)]
    body = s.pod_body(name, 0, resourceClaims=entries, **more)
    body["spec"]["containers"][0]["resources"] = {"claims": [{"name": entry["name"]} for entry in entries]}
    return s.bed.must("POST", s.pods_path, body)


def claims(s):
    return {claim["metadata"]["name"]: claim for claim in s.bed.must("GET", claims_path(s))["items"]}


# The claims of a pod, in the order in which it names them.
def claims_of(s, pod):
    made = {one["name"]: one.get("resourceClaimName") for one in pod["status"].get("resourceClaimStatuses") or []}
    names = [entry.get("resourceClaimName") or made.get(entry["name"]) for entry in pod["spec"]["resourceClaims"]]
    known = claims(s)
    return [known.get(name) for name in names]


def results(claim):
    return ((claim or {}).get("status") or {}).get("allocation", {}).get("devices", {}).get("results", [])


def devices(claim):
    return [f"{one['pool']}/{one['device']}" for one in results(claim)]


def node(s, name):
    return s.pod(name)["spec"].get("nodeName")


def bound(s, *names):
    s.eventually(f"{', '.join(names)} bound", lambda: all(node(s, name) for name in names),
                 why=lambda: [(s.pod(name)["status"].get("conditions"), events(s, name)) for name in names])


def events(s, name):
    items = s.bed.must("GET", f"/apis/events.k8s.io/v1/namespaces/{s.ns}/events")["items"]
    return [one.get("note", "") for one in items if one["regarding"].get("name") == name]


# No device is in two claims; what pods are bound to is what their claims say.
def nothing_twice(s, when):
    all_devices = [device for claim in claims(s).values() for device in devices(claim)]
    s.check(f"{when}: no device is allocated twice", len(all_devices) == len(set(all_devices)), sorted(all_devices))
    for pod in s.pods():
        on = pod["spec"].get("nodeName")
        pools = {one["pool"] for claim in claims_of(s, pod) if on and claim for one in results(claim)}
        if on and pools != {on}:
            s.check(f"{when}: {pod['metadata']['name']} has its devices on its node", False, (on, pools))


def free(s):
    return {name: len(one["free"]) for name, one in s.chipweave.nodes().items() if name in (A, B)}


def one_pod(s):
    create(s, "five", spec_of_claim([("chips", 5)], config=[{"opaque": {"driver": DRIVER, "parameters": {"from": "claim"}}}]))
    bound(s, "five")
    claim = claims_of(s, s.pod("five"))[0]
    s.check("it has five devices of its node", len(set(devices(claim))) == 5 and
            {one["pool"] for one in results(claim)} == {node(s, "five")}, claim["status"])
    s.check("config of class and claim is copied", [(one["source"], one["opaque"]["parameters"]["from"]) for one in
            claim["status"]["allocation"]["devices"]["config"]] == [("FromClass", "class"), ("FromClaim", "claim")], claim["status"])
    s.check("the claim is reserved for it", [one["uid"] for one in claim["status"]["reservedFor"]] ==
            [s.pod("five")["metadata"]["uid"]], claim["status"])
    s.check("and protected", "resource.kubernetes.io/delete-protection" in claim["metadata"]["finalizers"], claim["metadata"])
    s.eventually("an event says which chips", lambda: any("Allocated: claim" in note for note in events(s, "five")),
                 why=lambda: events(s, "five"))
    s.eventually("the scheduler counts them", lambda: sorted(free(s).values()) == [3, 8], why=lambda: free(s))


def several(s):
    create(s, "several", spec_of_claim([("two", 2), ("one", 1)], match=ISLAND), spec_of_claim([("r", 2)]))
    bound(s, "several")
    both = claims_of(s, s.pod("several"))
    s.check("both claims are on its node", {one["pool"] for claim in both for one in results(claim)} == {node(s, "several")}, both)
    s.check("each request has its number", sorted(one["request"] for one in results(both[0])) == ["one", "two", "two"], both[0])
    islands = {int(one["device"].removeprefix("gpu-")) // 4 for one in results(both[0])}
    s.check("matchAttribute holds", len(islands) == 1, results(both[0]))
    nothing_twice(s, "several claims")
    s.delete("five")
    s.delete("several")
    s.eventually("their claims go with them", lambda: not claims(s), why=lambda: claims(s))
    s.eventually("and their chips are free", lambda: list(free(s).values()) == [8, 8], why=lambda: free(s))


def shared(s):
    s.bed.must("POST", claims_path(s), body_of_claim("shared", [("r", 2)]))
    create(s, "first", claims=["shared"])
    create(s, "second", spec_of_claim([("r", 1)]), claims=["shared"])
    bound(s, "first", "second")
    s.check("both are where the claim is", node(s, "first") == node(s, "second"), (node(s, "first"), node(s, "second")))
    users = [one["uid"] for one in claims(s)["shared"]["status"]["reservedFor"]]
    s.check("it is reserved for both", sorted(users) == sorted(s.pod(name)["metadata"]["uid"] for name in ("first", "second")), users)
    for name in ("first", "second"):
        s.delete(name)
    s.eventually("nobody uses it: it is free", lambda: not results(claims(s)["shared"]), why=lambda: claims(s))
    s.bed.must("DELETE", f"{claims_path(s)}/shared")
    s.eventually("and goes", lambda: not claims(s), why=lambda: claims(s))


# kube-scheduler knows about other pods what chipweave does not look at.
def refused_node(s):
    create(s, "alone", spec_of_claim([("r", 1)]), **{})
    bound(s, "alone")
    s.bed.must("PATCH", f"{s.pods_path}/alone", {"metadata": {"labels": {"app": "alone"}}})
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"labelSelector": {"matchLabels": {"app": "alone"}}, "topologyKey": "kubernetes.io/hostname"}]}}
    for name in (A, B):
        s.bed.must("PATCH", f"/api/v1/nodes/{name}", {"metadata": {"labels": {"kubernetes.io/hostname": name}}})
    create(s, "apart", spec_of_claim([("r", 2)]), spec_of_claim([("r", 1)]), affinity=apart)
    s.eventually("a pod whose first node kube-scheduler refuses is bound elsewhere", lambda: node(s, "apart"), 60,
                 why=lambda: (s.pod("apart")["status"], events(s, "apart")))
    s.check("on another node", node(s, "apart") != node(s, "alone"), node(s, "apart"))
    nothing_twice(s, "refused")
    print(f"     nodes refused: {s.chipweave.metric('chipweave_claim_nodes_refused_total')}", flush=True)
    for name in ("alone", "apart"):
        s.delete(name)


# 18 pods want 40 of 16 chips; those that are bound are deleted, so that all of them have their turn.
def killed(s):
    waiting = {}
    for i in range(18):
        specs = [spec_of_claim([("r", s.random.randint(1, 3))]) for _ in range(s.random.randint(1, 2))]
        create(s, f"k{i}", *specs)
        waiting[f"k{i}"] = True
    kills = 0

    def turn():
        nonlocal kills
        nothing_twice_quietly(s)
        for name in [name for name in waiting if node(s, name)]:
            del waiting[name]
            s.delete(name)
        if kills < 6 and waiting:
            s.chipweave.restart()
            kills += 1
        return not waiting

    s.eventually(f"all 18 pods have had their turn, while chipweave-scheduler was killed", turn, 180,
                 why=lambda: [(name, events(s, name)[-2:]) for name in waiting])
    print(f"     killed {kills} times", flush=True)
    nothing_twice(s, "after kills")
    s.eventually("no claim is left", lambda: not claims(s), 60, why=lambda: claims(s))
    s.eventually("all chips are free", lambda: list(free(s).values()) == [8, 8], why=lambda: free(s))


def nothing_twice_quietly(s):
    all_devices = [device for claim in claims(s).values() for device in devices(claim)]
    if len(all_devices) != len(set(all_devices)):
        s.check("no device is allocated twice", False, sorted(all_devices))


def in_vain(s):
    create(s, "admin", {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": CLASS, "allocationMode": "All"}}]}})
    create(s, "much", spec_of_claim([("r", 9)]))
    for name, words in (("admin", "allocationMode All"), ("much", "the machine has fewer chips than requested")):
        s.eventually(f"{name} is told why it waits", lambda: any(words in note for note in events(s, name)), why=lambda: events(s, name))
    code, answer = s.chipweave.ask("GET", f"/api/v1/explain/{s.ns}/much")
    s.check("explain says so, too", code == 200 and "waits for its claims" in answer["summary"], answer)


def gone(s):
    for pod in s.pods():
        s.delete(pod["metadata"]["name"])
    s.eventually("at the end no claim is left", lambda: not claims(s), 60, why=lambda: claims(s))
    s.eventually("and every chip is free", lambda: list(free(s).values()) == [8, 8], why=lambda: free(s))
