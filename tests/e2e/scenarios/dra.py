"""Chips that are handed over by ResourceClaims, which our scheduler makes as it binds. Kubernetes 1.36 and later."""
import random, time

from lib.dra import API, DRIVER, SLICES, TAINT, slice_body
from lib.fake_nvml import dgx1v
from lib.scenario import GPU

A, B = "dra-a", "dra-b"
ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles/chipweave-scheduler"


def run(s):
    if s.bed.kubernetes < (1, 36):
        return s.check("Kubernetes before 1.36 has no claims for extended resources", True)
    switch_on(s)
    for node in (A, B):
        s.add_node(node, {})
        s.nvidia(node, dgx1v(), "--enforcement=dra")
    s.known(A, B)
    nobody_offers(s)
    offered(s)
    sizes(s)
    two_containers(s)
    ended_by_another(s)
    others(s)
    refused(s)
    odd_slices(s)
    without_rights(s)
    away(s)
    killed(s)
    s.remove_all()
    s.eventually("no claim is left", lambda: not claims(s), why=lambda: list(claims(s)))
    s.settled()


def switch_on(s):
    s.undo.append(s.chipweave.ask_us)
    s.undo.append(lambda: s.chipweave.helm("upgrade", "--reset-values"))
    s.chipweave.helm("upgrade", "--set", "dra.enabled=true", "--set", "agent.enforcement=dra")
    s.check("helm's notes let kube-scheduler ignore the resource", "ignoredByScheduler: true" in s.chipweave.extenders)
    s.chipweave.ask_us()
    tolerant = claim_body("tolerant", tolerations=[{"operator": "Exists"}])
    path = f"{claims_path(s)}?dryRun=All"
    s.must_come("the policy on claims", lambda: "may not tolerate" in str(s.bed.ask("POST", path, tolerant)[1]))
    by_name = claim_body("tolerant", tolerations=[{"key": TAINT, "operator": "Exists"}])
    s.check("a claim may not tolerate the taint by its name", s.bed.ask("POST", path, by_name)[0] == 403)
    other = claim_body("tolerant", tolerations=[{"key": "example.com/a", "operator": "Exists"}])
    s.check("but others", s.bed.ask("POST", path, other)[0] == 201)


def claims_path(s):
    return f"{API}/namespaces/{s.ns}/resourceclaims"


def claims(s):
    return {one["metadata"]["name"]: one for one in s.bed.must("GET", claims_path(s))["items"]}


def claim_body(name, count=1, **exactly):
    request = {"name": "chips", "exactly": {"deviceClassName": "stock", "count": count, **exactly}}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": name},
            "spec": {"devices": {"requests": [request]}}}


def nobody_offers(s):
    s.create("early", 2)
    s.given_up("early")
    s.eventually("all chips are withheld", lambda: all(len(s.chipweave.nodes()[n]["unhealthy"]) == 8 for n in (A, B)))
    events = lambda: s.bed.must("GET", "/apis/events.k8s.io/v1/namespaces/default/events")["items"]
    s.eventually("the nodes have events that say so", lambda: {A, B} <= {
        e["regarding"]["name"] for e in events() if e["reason"] == "ChipsWithheld"}, why=events)
    why = lambda: s.chipweave.ask("GET", f"/api/v1/explain/{s.ns}/early")[1]
    s.eventually("explain says it of the pod", lambda: "no DRA driver offers it" in str(why()), why=why)


def offered(s):
    s.bed.must("POST", f"{API}/deviceclasses", {
        "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "stock"},
        "spec": {"selectors": [{"cel": {"expression": f'device.driver == "{DRIVER}"'}}]}})
    s.undo.append(lambda: s.bed.ask("DELETE", f"{API}/deviceclasses/stock"))
    for node in (A, B):
        s.bed.must("POST", SLICES, slice_body(node))
        s.undo.append(lambda node=node: s.bed.ask("DELETE", f"{SLICES}/{node}-{DRIVER}"))
    stored = s.bed.must("GET", SLICES)["items"]
    s.check("the policy taints every device", all(any(t["key"] == TAINT for t in d.get("taints", []))
                                                  for one in stored for d in one["spec"]["devices"]), stored)
    s.bound("early")
    right(s, "early")
    rights(s, "early")
    s.delete("early")


# Of a pod's status our scheduler may write which claim the pod has, and nothing else.
def rights(s, name):
    token, path = s.bed.token("chipweave-scheduler"), f"{s.pods_path}/{name}/status?dryRun=All"
    own = f"chipweave-{s.pod(name)['metadata']['uid']}"
    named = lambda claim: {"status": {"extendedResourceClaimStatus": {"resourceClaimName": claim, "requestMappings": [
        {"containerName": "c", "resourceName": GPU, "requestName": "chip-00"}]}}}
    for what, patch, wanted in (("name the pod's claim", named(own), 200), ("name another claim", named("chipweave-other"), 403),
                                ("end the pod", {"status": {"phase": "Failed", **named(own)["status"]}}, 403),
                                ("give it an address", {"status": {"podIP": "192.0.2.1", **named(own)["status"]}}, 403),
                                ("say nothing of a claim", {"status": {"message": "m"}}, 403)):
        code, answer = s.bed.ask("PATCH", path, patch, token=token)
        s.check(f"our scheduler {'may' if wanted == 200 else 'may not'} {what}", code == wanted, f"{code}: {answer}")


# The pod's claim has exactly the chips of its placement, for this pod alone, and the pod's status names it.
def right(s, *names):
    stored = claims(s)
    for name in names:
        pod = s.pod(name)
        uid = pod["metadata"]["uid"]
        claim = stored.get(f"chipweave-{uid}", {})
        allocation = claim.get("status", {}).get("allocation", {})
        devices = sorted((one["pool"], one["device"]) for one in allocation.get("devices", {}).get("results", []))
        wanted = sorted((pod["spec"]["nodeName"], f"gpu-{chip}") for chip in s.chips_of(pod) or [])
        status = pod["status"].get("extendedResourceClaimStatus", {})
        reserved = [one["uid"] for one in claim.get("status", {}).get("reservedFor", [])]
        s.check(f"{name}: the claim has the chosen chips", devices == wanted and wanted, f"{devices}, not {wanted}")
        s.check(f"{name}: it is this pod's, whose status names it", reserved == [uid] and
                status.get("resourceClaimName") == f"chipweave-{uid}" and
                len(status.get("requestMappings", [])) >= len(wanted), status)


def sizes(s):
    names = [f"size-{chips}-{k}" for k, chips in enumerate((8, 1, 2, 4, 1))]
    for name in names:
        s.create(name, int(name.split("-")[1]))
        s.bound(name)
    right(s, *names)
    for name in names:
        s.delete(name)
    s.eventually("the claims of deleted pods go", lambda: not claims(s), why=lambda: list(claims(s)))
    s.eventually("and their chips are free", lambda: not s.used())


def two_containers(s):
    body = s.pod_body("two", 3)
    body["spec"]["containers"].append({"name": "d", "image": "registry.example.com/none",
                                       "resources": {"limits": {GPU: "1"}}})
    s.bed.must("POST", s.pods_path, body)
    s.bound("two")
    right(s, "two")
    pod = s.pod("two")
    shares = {}
    for one in pod["status"]["extendedResourceClaimStatus"]["requestMappings"]:
        shares[one["containerName"]] = shares.get(one["containerName"], 0) + 1
    s.check("each container has its share of the claim", shares == {"c": 3, "d": 1}, shares)
    s.delete("two")


# As kube-controller-manager does if its view of the pods is old and the pod has the name of a former one.
def ended_by_another(s):
    s.create("robbed", 3)
    s.bound("robbed")
    name, chips = f"chipweave-{s.pod('robbed')['metadata']['uid']}", s.chips_of(s.pod("robbed"))
    former = claims(s)[name]
    path, counted = f"{claims_path(s)}/{name}", 'chipweave_pod_claims_repaired_total{what="made_again"} 1'
    s.bed.must("PUT", f"{path}/status", {**former, "status": {}})
    s.bed.must("DELETE", path)
    now = lambda: claims(s).get(name, former)
    s.eventually("the claim of a bound pod is made again", lambda: now()["metadata"]["uid"] != former["metadata"]["uid"] and
                 now().get("status", {}).get("reservedFor"), why=now)
    right(s, "robbed")
    s.check("with the same chips", s.chips_of(s.pod("robbed")) == chips, s.pod("robbed"))
    s.eventually("and it is counted", lambda: counted in s.chipweave.ask("GET", "/metrics")[1])
    s.delete("robbed")


# An ordinary claim gets none of the managed devices.
def others(s):
    s.bed.must("POST", claims_path(s), claim_body("ordinary"))
    s.bed.must("POST", s.pods_path, s.pod_body("ordinary", 0, resourceClaims=[
        {"name": "chips", "resourceClaimName": "ordinary"}], containers=[
            {"name": "c", "image": "registry.example.com/none", "resources": {"claims": [{"name": "chips"}]}}]))
    s.given_up("ordinary")
    s.check("an ordinary claim gets no managed device", "allocation" not in claims(s)["ordinary"].get("status", {}))
    s.delete("ordinary")
    s.bed.must("DELETE", f"{claims_path(s)}/ordinary")


# One device has lost its taint: that chip alone is withheld.
def refused(s):
    s.chipweave.helm("upgrade", "--reuse-values", "--set", "dra.taintDrivers=null")
    path = f"{SLICES}/{A}-{DRIVER}"

    # The slice as the driver writes it, without that taint.
    def write(generation, dry):
        body = s.bed.must("GET", path)
        body["spec"]["pool"]["generation"] = generation
        body["spec"]["devices"][5].pop("taints", None)
        return "taints" in s.bed.must("PUT", path + ("?dryRun=All" if dry else ""), body)["spec"]["devices"][5]

    s.must_come("the end of the policy", lambda: not write(2, True))
    write(2, False)
    s.eventually("a chip without the taint is withheld", lambda: s.chipweave.nodes()[A]["unhealthy"] == [5])
    s.chipweave.helm("upgrade", "--reuse-values", "--set", f"dra.taintDrivers={{{DRIVER}}}")
    s.must_come("the policy again", lambda: write(3, True))
    write(3, False)
    s.eventually("with it again it is not", lambda: s.chipweave.nodes()[A]["unhealthy"] == [])


# Devices that match no chip, and a second driver for the same chips.
def odd_slices(s):
    unhealthy = lambda node: s.chipweave.nodes()[node]["unhealthy"]

    def offer(name, **more):
        body = slice_body(B)
        body["metadata"]["name"] = name
        body["spec"].update(more)
        s.bed.must("POST", SLICES, body)
        s.undo.append(lambda: s.bed.ask("DELETE", f"{SLICES}/{name}"))

    strange = [{"name": f"strange-{i}", "attributes": {"uuid": {"string": f"GPU-strange-{i}"}}} for i in range(33)]
    offer("strange", pool={"name": "strange", "generation": 1, "resourceSliceCount": 1}, devices=strange)
    s.create("beside-strange", 8)
    s.bound("beside-strange")
    right(s, "beside-strange")
    s.check("devices that are no chips of the node withhold none", unhealthy(A) == [] and unhealthy(B) == [],
            (unhealthy(A), unhealthy(B)))
    s.delete("beside-strange")
    s.bed.must("DELETE", f"{SLICES}/strange")

    offer("second", driver="gpu.example.com", pool={"name": "second", "generation": 1, "resourceSliceCount": 1})
    s.eventually("chips that two drivers offer are withheld", lambda: unhealthy(B) == list(range(8)), why=lambda: unhealthy(B))
    s.check("only there", unhealthy(A) == [], unhealthy(A))
    s.create("one-driver", 8)
    pod = s.bound("one-driver")["one-driver"]
    s.check("pods go elsewhere", pod["spec"]["nodeName"] == A, pod["spec"])
    s.delete("one-driver")
    s.bed.must("DELETE", f"{SLICES}/second")
    s.eventually("with one driver again they are not", lambda: unhealthy(B) == [], why=lambda: unhealthy(B))


# The scheduler lacks the right to one step of its three: the pod waits, and is bound once the right is back.
def without_rights(s):
    for k, (step, role, resource) in enumerate((("make a claim", f"{ROLES}-dra", "resourceclaims"),
                                                ("allocate it", f"{ROLES}-dra", "resourceclaims/status"),
                                                ("name it in the pod", ROLES, "pods/status"))):
        rules = s.bed.must("GET", role)["rules"]
        s.undo.append(lambda role=role, rules=rules: s.bed.ask("PATCH", role, {"rules": rules}))
        other = [rule for rule in rules if resource not in rule["resources"]]
        if resource == "resourceclaims":  # what removes them stays
            other.append({"apiGroups": ["resource.k8s.io"], "resources": [resource], "verbs": ["delete"]})
        s.bed.must("PATCH", role, {"rules": other})
        name = f"lacks-{k}"
        s.create(name, 2)
        words = lambda: [event["note"] for event in s.all_events() if event["regarding"]["name"] == name]
        s.eventually(f"without the right to {step} the pod says so", lambda: any("403" in note or "forbidden" in note
                                                                              for note in words()), why=words)
        s.check(f"without the right to {step} it is not bound", not s.is_bound(name))
        s.bed.must("PATCH", role, {"rules": rules})
        s.bound(name, seconds=60)
        right(s, name)
        s.delete(name)
        s.eventually(f"{name}: the claim goes with its pod", lambda: not claims(s), why=lambda: list(claims(s)))


# The API server stops answering some milliseconds after a pod was made, for four seconds.
def away(s):
    stop, go_on = s.freeze("kube-apiserver")
    names = [f"away-{k}" for k in range(4)]
    for k, name in enumerate(names):
        s.create(name, 2)
        time.sleep(0.01 * k)
        stop()
        time.sleep(4)
        go_on()
    s.bound(*names, seconds=60)
    right(s, *names)
    s.eventually("each claim has its pod after the API server was away", lambda: sorted(claims(s)) == sorted(
        f"chipweave-{pod['metadata']['uid']}" for pod in s.pods()), why=lambda: sorted(claims(s)))
    for name in names:
        s.delete(name)


# SIGKILL at any moment of bindings: no claim is lost, none is left, each has the chips of its pod.
def killed(s):
    draw = random.Random(s.seed)
    wanted = {f"kill-{k}": chips for k, chips in enumerate([1, 1, 2] * 4)}  # as many as there are
    for name, chips in wanted.items():
        s.create(name, chips)
        if draw.random() < 0.5:
            time.sleep(draw.random() / 5)
            s.chipweave.restart()
    s.bound(*wanted, seconds=60)
    right(s, *wanted)
    owners = lambda: sorted(claims(s)) == sorted(f"chipweave-{pod['metadata']['uid']}" for pod in s.pods())
    s.eventually("each claim has its pod", owners, why=lambda: sorted(claims(s)))
    devices = [one["pool"] + one["device"] for claim in claims(s).values()
               for one in claim["status"]["allocation"]["devices"]["results"]]
    s.check("no device is allocated twice", len(set(devices)) == len(devices), devices)
