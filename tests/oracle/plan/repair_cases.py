"""Random repairs of gangs whose pods differ: where they ran, which nodes failed, and which rules held before."""
import copy

from plan.model import Gang, Network
from plan.rules import one_domain, per_domain


def part_of(draw):
    """The set of each pod by number, None without sets."""
    parts = draw.gang.get("roles") or draw.gang.get("subgroups")
    if not parts:
        return [None] * draw.gang["pods"]
    return [part for part in parts for _ in range(part["pods"])]


def repair_parts(draw):
    """Pods of several kinds run, and nodes fail. Each pod was put where the rules of its set want it, roughly: rules that
    do not hold before the loss are left out."""
    paths, of_pod = draw.known_paths(), part_of(draw)
    if not paths or not of_pod:
        return
    home, places = draw.rng.choice(paths), {}
    anchors = {id(part): near(draw, paths, home, draw.gang.get("required_level")) for part in of_pod}
    for pod, part in enumerate(of_pod):
        inside = (part or {}).get("required_level") or draw.gang.get("required_level")
        places.setdefault(near(draw, paths, anchors[id(part)], inside), []).append(pod)
    chosen = draw.rng.sample(list(places), min(len(places), draw.rng.choice((1, 1, 1, 2))))
    draw.gang["failed_nodes"] = chosen
    draw.gang["existing"] = listed(draw, places, len(of_pod))
    if "subgroups" in draw.gang and draw.chance(40):
        existing_of_parts(draw, places, of_pod)
    if draw.chance(15):
        draw.nodes[:] = [node for node in draw.nodes if "/".join(node["path"]) != chosen[0]]
    forget_broken_rules(draw)


def near(draw, paths, anchor, level):
    """A path in the anchor's domain of the level; often the anchor itself, so that slices have whole domains."""
    if draw.chance(40):
        return anchor
    depth = draw.levels.index(level) + 1 if level else draw.rng.randint(0, len(draw.levels) - 1)
    return draw.rng.choice([path for path in paths if path.split("/")[:depth] == anchor.split("/")[:depth]])


def listed(draw, places, pods):
    """As lists of ranks, counts, or with numbers of their own."""
    places = {path: draw.rng.sample(here, len(here)) for path, here in places.items()}
    if draw.chance(20):
        return {path: len(here) for path, here in places.items()}
    if draw.chance(25):
        ranks = draw.rng.sample(range(pods), pods)
        return {path: {"ranks": [ranks[pod] for pod in here], "numbers": here} for path, here in places.items()}
    return places


def existing_of_parts(draw, places, of_pod):
    for part in draw.gang["subgroups"]:
        own = {path: [pod for pod in here if of_pod[pod] is part] for path, here in places.items()}
        part["existing"] = {path: len(here) for path, here in own.items() if here}


def broken_rules(request):
    """The rules that the running gang does not keep, as the object that has the rule and its key, or its slice."""
    network = Network(copy.deepcopy(request["network"]))
    gang = Gang(network, request["gang"])
    data, broken = request["gang"], []
    held = lambda sets: per_node(gang, len(network.nodes), sets)
    if gang.required is not None and not one_domain(network, gang.required, held(None)):
        broken.append((data, "required_level"))
    slices = [(data, data, held(None))]
    teams = {}
    for number, (one, part) in enumerate(zip(gang.sets, data.get("roles", data.get("subgroups", [])))):
        inside = gang.inside[number]
        if one.together:
            teams.setdefault(one.together, []).append(number)
        if one.required is not None and not one_domain(network, one.required, held(inside)):
            broken.append((part, "required_level"))
        slices.append((part, part, held([number])))
    for team in teams.values():
        parts = [data["roles"][number] for number in team]
        level = gang.sets[team[0]].required
        if level is not None and not one_domain(network, level, held(team)):
            broken += [(part, "required_level") for part in parts]
    for part, _, pods in slices:
        for one in part.get("slices", []):
            sums = per_domain(network, network.level(one["level"]), pods)
            if any(sum_ % one["size"] for sum_ in sums.values()) or sum(pods) % one["size"]:
                broken.append((part, one))
    return broken


def per_node(gang, nodes, sets):
    pods = [0] * nodes
    for one in gang.running_each:
        pods[one["node"]] += sets is None or one["set"] in sets
    return pods


def forget_broken_rules(draw):
    for part, rule in broken_rules(draw.request("trial", True)):
        if isinstance(rule, str):
            part.pop(rule, None)
        else:
            part["slices"] = [one for one in part["slices"] if one is not rule]


def lost_pods(request):
    existing = request["gang"].get("existing", {})
    pods = lambda here: here if isinstance(here, int) else len(here if isinstance(here, list) else here["ranks"])
    return sum(pods(here) for path, here in existing.items() if path in request["gang"]["failed_nodes"])
