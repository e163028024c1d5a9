"""Unusable requests: each is rejected with the key named, and the run continues with the next line."""
import json


def network():
    nodes = [{"name": f"x{i}", "path": [f"b{i // 2}", f"x{i}"], "free": 4} for i in range(4)]
    return {"levels": ["block", "hostname"], "nodes": nodes}


def gang(**keys):
    return {"network": network(), "gang": {"pods": 4, "chips_per_pod": 1, **keys}}


def parts(key, *list_, **keys):
    return {"network": network(), "gang": {key: list_, "chips_per_pod": 1, **keys}}


def node(**keys):
    made = gang()
    made["network"]["nodes"][1].update(keys)
    return made


def without(request, *path):
    at = request
    for key in path[:-1]:
        at = at[key]
    del at[path[-1]]
    return request


def levels(*names):
    made = gang()
    made["network"]["levels"] = list(names)
    return made


# The key that the message names, and the request.
BAD = [
    ("required_level", gang(required_level="rack")),
    ("preferred_level", gang(preferred_level="Block")),
    ("slices[0].level", gang(slices=[{"level": "rack", "size": 2}])),
    ("keep_spare.level", gang(keep_spare={"level": "rack", "nodes": 1})),
    ("subgroups[0].required_level", parts("subgroups", {"name": "a", "pods": 1, "required_level": "rack"})),
    ("roles[0].preferred_level", parts("roles", {"name": "a", "pods": 1, "preferred_level": "rack"})),
    ("pods", gang(pods=-1)),
    ("chips_per_pod", gang(chips_per_pod=-1)),
    ("min_member", gang(min_member=-1)),
    ("size", gang(slices=[{"level": "block", "size": 0}])),
    ("size", gang(slices=[{"level": "block", "size": -2}])),
    ("free", node(free=-1)),
    ("max_pods", node(max_pods=-1)),
    ("keep_spare.nodes", gang(keep_spare={"level": "block", "nodes": -1})),
    ("pod_chips[1]", gang(pod_chips=[1, -1, 1, 1])),
    ("existing", gang(existing={"b0/x0": -1})),
    ("slices[0].level", gang(required_level="hostname", slices=[{"level": "block", "size": 2}])),
    ("size", gang(slices=[{"level": "block"}])),
    ("level", gang(slices=[{"size": 2}])),
    ("slices", gang(slices=[{"level": "block", "size": 4}, {"level": "hostname", "size": 3}])),
    ("parent", parts("subgroups", {"name": "a", "pods": 1, "parent": "b"}, {"name": "b", "pods": 1, "parent": "a"})),
    ("parent", parts("subgroups", {"name": "a", "pods": 1, "parent": "a"})),
    ("parent", parts("subgroups", {"name": "a", "pods": 1, "parent": "c"})),
    ("required_levle", gang(required_levle="block")),
    ("healty", node(healty=False)),
    ("colour", parts("roles", {"name": "a", "pods": 1, "colour": "red"})),
    ("count", gang(slices=[{"level": "block", "size": 2, "count": 2}])),
    ("lvels", {**gang(), "network": {**network(), "lvels": []}}),
    ("gnag", {**gang(), "gnag": {}}),
    ("pods", parts("roles", {"name": "a", "pods": 1}, pods=2)),
    ("pods", parts("subgroups", {"name": "a", "pods": 1}, pods=2)),
    ("pods", without(gang(), "gang", "pods")),
    ("chips_per_pod", without(gang(), "gang", "chips_per_pod")),
    ("pod_chips", gang(pod_chips=[1, 1])),
    ("roles", parts("roles", {"name": "a", "pods": 1}, subgroups=[{"name": "b", "pods": 1}])),
    ("name", parts("subgroups", {"name": "a", "pods": 1}, {"name": "a", "pods": 1})),
    ("name", node(name="x0")),
    ("policy", gang(policy="spread")),
    ("levels", levels("block", "block")),
    ("path", node(path=["b0", "x1", "more"])),
    ("allowed_nodes", gang(allowed_nodes={"4": ["x0"]})),
    ("allowed_nodes", gang(allowed_nodes={"0": ["y0"]})),
    ("existing", gang(existing={"b7/x0": 1})),
    ("existing", gang(existing={"b0/x0": [1, 1]})),
    ("min_sets", parts("subgroups", {"name": "a", "pods": 1, "set": "s"}, min_sets={"t": 1})),
    ("pods", gang(pods="4")),
    ("pods", gang(pods=1.5)),
    ("required_level", gang(required_level=1)),
    ("slices", gang(slices={})),
    ("network", without(gang(), "network")),
    ("gang", without(gang(), "gang")),
]


def check_bad_input(answers_of):
    """A good request follows every bad one. What is wrong, a line each."""
    good = {"id": "good", **gang()}
    requests = [line for number, (_, bad) in enumerate(BAD) for line in ({"id": f"bad{number}", **bad}, good)]
    status, answers = answers_of(requests)
    wrong = [] if status == 1 else [f"the exit status is {status}, not 1"]
    for number, (key, bad) in enumerate(BAD):
        answer, after = answers[2 * number:2 * number + 2]
        error = answer.get("error", {})
        named = error.get("code") == "invalid_request" and key in error.get("message", "")
        if not named or answer.get("id") != f"bad{number}":
            lines = f"\n  request {json.dumps(bad)}\n  answer  {json.dumps(answer)}"
            wrong.append(f"no invalid_request that names {key}{lines}")
        if not after.get("fits"):
            wrong.append(f"the line after it is answered {json.dumps(after)}\n  request {json.dumps(bad)}")
    print(f"{'bad input':24}{len(BAD):8}{'-':>9}{len(wrong):7}")
    return wrong
