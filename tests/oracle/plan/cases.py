"""Random small requests: every feature of a gang alone, and in combinations. Small, because every plan of them is listed;
full of corners, because there the rules meet: unknown elements, nodes that share a path, rooms of 0, names used twice."""
import math, random

from plan.repair_cases import lost_pods, repair_parts

LEVELS = (["rack"], ["rack", "hostname"], ["block", "rack"], ["block", "rack", "hostname"], ["spine", "block", "rack"])
MOST_PLANS = 12_000


class Draw:
    """One request in the making, and the dice."""

    def __init__(self, seed, most_nodes, most_pods):
        self.rng = random.Random(seed)
        self.most_nodes, self.most_pods = most_nodes, most_pods
        self.levels = self.rng.choice(LEVELS)
        self.nodes = self.make_nodes()
        self.gang = {"pods": 0, "chips_per_pod": self.rng.choice((1, 1, 1, 1, 2, 2, 0))}
        if self.gang["chips_per_pod"] == 0:
            for node in self.nodes:
                node.setdefault("max_pods", self.rng.randint(0, 3))
        self.gang["pods"] = self.some_pods(self.most_pods)

    def chance(self, percent):
        return self.rng.randrange(100) < percent

    def make_nodes(self):
        blocks, racks = self.rng.randint(1, 3), self.rng.randint(1, 3)
        unknown, shared, same = self.chance(20), self.chance(40), self.chance(25)
        free = self.rng.randint(1, 4)
        nodes = []
        for number in range(self.rng.randint(1, self.most_nodes)):
            name = f"x{number}"
            path = [self.element(level, name, blocks, racks, shared) for level in self.levels]
            if unknown:
                path = ["" if self.chance(25) else element for element in path]
                while path and not path[-1] and self.chance(40):
                    path.pop()
            node = {"name": name, "path": path, "free": free if same else self.rng.choice((0, 1, 1, 2, 2, 3, 3, 4, 5))}
            if self.chance(12):
                node["max_pods"] = self.rng.randint(0, 3)
            if self.chance(10):
                node["healthy"] = False
            nodes.append(node)
        return nodes

    def element(self, level, name, blocks, racks, shared):
        if level == "hostname":
            return "h1" if shared and self.chance(30) else name
        return f"{level[0]}{self.rng.randint(1, racks if level == 'rack' else blocks)}"

    def room(self):
        chips = self.gang["chips_per_pod"]
        return sum(min(node.get("max_pods", 9), node["free"] // chips if chips else 9)
                   for node in self.nodes if node.get("healthy", True))

    def some_pods(self, most):
        """Mostly as many as there could be room for."""
        return self.rng.randint(1, most if self.chance(15) else max(1, min(most, self.room())))

    def level(self, least=0):
        return self.rng.randrange(least, len(self.levels))

    def known_paths(self):
        """Paths whose domains are certain: all elements are known, or one node alone has the path."""
        keys = ["/".join(node["path"]) for node in self.nodes]
        known = [len(node["path"]) == len(self.levels) and "" not in node["path"] for node in self.nodes]
        return list(dict.fromkeys(key for key, sure in zip(keys, known) if sure or keys.count(key) == 1))

    def request(self, name, whole=False):
        gang = self.gang
        if "roles" in gang or "subgroups" in gang:
            sum_ = sum(one["pods"] for one in gang.get("roles", gang.get("subgroups")))
            gang["pods"] = sum_
            if not whole and self.chance(50):
                del gang["pods"]
        return {"id": name, "network": {"levels": self.levels, "nodes": self.nodes}, "gang": gang}


# --- what a feature adds


def roomy(draw):
    """More room, for requests with many rules: most of them should fit."""
    for node in draw.nodes:
        node["free"] += draw.rng.randint(0, 3)
    draw.gang["pods"] = draw.some_pods(draw.most_pods)


def close(draw):
    """Fewer domains, so that rules find something to choose from inside one."""
    for level in range(len(draw.levels)):
        if draw.levels[level] != "hostname" and draw.chance(60):
            for node in draw.nodes:
                if len(node["path"]) > level and node["path"][level]:
                    node["path"][level] = draw.levels[level][0] + "1"


def required(draw, levels=(0, 0, 1, 2)):
    draw.gang["required_level"] = draw.levels[min(draw.rng.choice(levels), len(draw.levels) - 1)]


def preferred(draw):
    draw.gang["preferred_level"] = draw.levels[draw.level()]


def slices_for(draw, least):
    """One or two levels, coarse to fine, inner sizes dividing outer ones."""
    inner = draw.rng.choice((1, 2, 2, 2, 3))
    at = draw.level(least)
    out = [{"level": draw.levels[at], "size": inner}]
    if at > least and draw.chance(40):
        out.insert(0, {"level": draw.levels[draw.rng.randrange(least, at)], "size": inner * draw.rng.choice((1, 2))})
    return out


def slices(draw):
    least = draw.levels.index(draw.gang.get("required_level", draw.levels[0]))
    draw.gang["slices"] = slices_for(draw, least)
    size = max(one["size"] for one in draw.gang["slices"])
    if draw.chance(90):
        draw.gang["pods"] = max(size, draw.gang["pods"] // size * size)
    if draw.chance(20):
        draw.rng.shuffle(draw.gang["slices"])


def running(draw):
    return sum(len(pods) if isinstance(pods, list) else pods for pods in draw.gang.get("existing", {}).values())


def min_member(draw):
    draw.gang["min_member"] = draw.rng.randint(0, draw.gang["pods"] + running(draw) + draw.chance(10))
    if draw.chance(60):
        draw.gang["pods"] = min(draw.most_pods, draw.gang["pods"] + draw.rng.randint(1, 3))


def min_member_of_parts(draw):
    parts = draw.gang.get("roles") or draw.gang.get("subgroups") or [draw.gang]
    draw.gang["min_member"] = draw.rng.randint(0, sum(one["pods"] for one in parts))


def existing(draw):
    paths = draw.known_paths()
    size = max((one["size"] for one in draw.gang.get("slices", [])), default=1)
    chosen = draw.rng.sample(paths, min(len(paths), draw.rng.choice((1, 1, 2, 3))))
    draw.gang["existing"] = {path: size if draw.chance(50) and size > 1 else draw.rng.randint(1, 3) for path in chosen}


def completing(draw):
    """As many pods as make whole slices of those that run."""
    size = max(one["size"] for one in draw.gang["slices"])
    draw.gang["pods"] = max(1, draw.gang["pods"] - (draw.gang["pods"] + running(draw)) % size)
    while (draw.gang["pods"] + running(draw)) % size:
        draw.gang["pods"] += 1


def chains(draw):
    """Every node in a top domain of its own, so that counts at all levels are the same."""
    for number, node in enumerate(draw.nodes):
        node["path"] = [f"{level[0]}{number}" for level in draw.levels]
        node["free"] = draw.rng.randint(1, 5)
    draw.gang["pods"] = draw.some_pods(draw.most_pods)


def existing_ranks(draw):
    existing(draw)
    draw.gang["existing"] = ranked(draw, draw.gang["existing"], draw.gang["pods"] + running(draw))


def ranked(draw, pods, size):
    ranks = draw.rng.sample(range(size), sum(pods.values()))
    return {path: sorted(ranks.pop() for _ in range(count)) for path, count in pods.items()}


def even(draw):
    draw.gang["policy"] = "even"
    if draw.chance(75):
        preferred(draw)


def pod_chips(draw):
    draw.gang["pod_chips"] = [draw.rng.choice((0, 1, 1, 2, 2, 3)) for _ in range(draw.gang["pods"])]
    if draw.chance(50):
        del draw.gang["chips_per_pod"]


def allowed_nodes(draw):
    names = [node["name"] for node in draw.nodes]
    for pod in range(draw.gang["pods"]):
        if draw.chance(50):
            chosen = draw.rng.sample(names, draw.rng.randint(draw.chance(92), len(names)))
            draw.gang.setdefault("allowed_nodes", {})[str(pod)] = chosen
    draw.gang.setdefault("allowed_nodes", {})


def pods_of_parts(draw):
    """pod_chips and allowed_nodes need the number of pods, which is that of the sets."""
    parts = draw.gang.get("roles") or draw.gang.get("subgroups")
    if parts:
        draw.gang["pods"] = sum(one["pods"] for one in parts)


def pod_chips_of_parts(draw):
    pods_of_parts(draw)
    pod_chips(draw)


def allowed_nodes_of_parts(draw):
    pods_of_parts(draw)
    allowed_nodes(draw)


def keep_spare(draw):
    draw.gang["keep_spare"] = {"level": draw.levels[draw.level()], "nodes": draw.rng.choice((0, 1, 1, 1, 2))}
    if draw.chance(50):
        most = max(node["free"] for node in draw.nodes)
        for node in draw.nodes:
            node["free"] = most if draw.chance(70) else node["free"]


def apart(draw):
    """Mostly a path for each node, since a path fails as a whole."""
    for number, node in enumerate(draw.nodes):
        if node["path"] and node["path"][-1] and draw.chance(75):
            node["path"][-1] = f"{draw.levels[len(node['path']) - 1][0]}{number}"


def repair(draw):
    """Slices hold before the loss: pods are put in whole slices into innermost slice domains first."""
    paths = paths_of_one_domain(draw) if "required_level" in draw.gang else draw.known_paths()
    pods = slice_pods(draw, paths) if "slices" in draw.gang else {}
    while not pods and paths:
        pods = {path: draw.rng.randint(1, 2) for path in draw.rng.sample(paths, min(len(paths), draw.rng.randint(1, 3)))}
    keep_rules(draw, pods)
    draw.gang["pods"] = sum(pods.values())
    chosen = draw.rng.sample(list(pods), min(len(pods), draw.rng.choice((1, 1, 1, 2))))
    if draw.chance(20) and paths:
        chosen = list({*chosen, draw.rng.choice(paths)})
    by_rank = draw.chance(60)
    draw.gang["existing"] = ranked(draw, pods, sum(pods.values())) if by_rank else pods
    draw.gang["failed_nodes"] = chosen
    if draw.chance(30):
        draw.gang["min_member"] = draw.rng.randint(0, sum(pods.values()))
    if chosen and draw.chance(15):
        draw.nodes[:] = [node for node in draw.nodes if "/".join(node["path"]) != chosen[0]]


def paths_of_one_domain(draw):
    depth = draw.levels.index(draw.gang["required_level"]) + 1
    paths = draw.known_paths()
    anchor = draw.rng.choice(paths).split("/")[:depth] if paths else []
    return [path for path in paths if path.split("/")[:depth] == anchor and "" not in anchor]


def keep_rules(draw, pods):
    """A gang that broke its rules before it lost pods: rules that do not hold are left out."""
    def sums(level):
        sums = {}
        for path, count in pods.items():
            domain = path.split("/")[:draw.levels.index(level) + 1]
            key = path if "" in domain else tuple(domain)
            sums[key] = sums.get(key, 0) + count
        return list(sums.values())

    if len(sums(draw.gang.get("required_level", draw.levels[0]))) > 1:
        draw.gang.pop("required_level", None)
    slices = [one for one in draw.gang.pop("slices", []) if all(count % one["size"] == 0 for count in sums(one["level"]))]
    if slices:
        draw.gang["slices"] = slices


def slice_pods(draw, paths):
    """Pods of whole slices, each in one domain of the innermost level and of those above, most at one outer domain."""
    depth = 1 + max(draw.levels.index(one["level"]) for one in draw.gang["slices"])
    per = max(one["size"] for one in draw.gang["slices"])
    pods = {}
    for _ in range(draw.rng.randint(1, 2)):
        anchor = draw.rng.choice(paths).split("/")[:depth] if paths else None
        inside = [path for path in paths if path.split("/")[:depth] == anchor and "" not in anchor]
        for _ in range(per if inside and sum(pods.values()) + per <= draw.most_pods else 0):
            path = draw.rng.choice(inside)
            pods[path] = pods.get(path, 0) + 1
    return pods


def roles(draw, together=False, with_slices=False, levels=True):
    out = []
    for number in range(draw.rng.choice((1, 2, 2, 2, 3))):
        role = {"name": f"role{number}", "pods": draw.rng.randint(1, 3)}
        if draw.chance(70):
            role["chips_per_pod"] = draw.rng.randint(0 if draw.chance(10) else 1, 3)
        out.append(role)
    for role in out if levels else ():
        for key in ("required_level", "preferred_level"):
            if draw.chance(45):
                role[key] = draw.levels[draw.level()]
    if together:
        group = draw.rng.sample(out, draw.rng.randint(min(2, len(out)), len(out)))
        like = {key: draw.levels[draw.level()] for key in ("required_level", "preferred_level") if draw.chance(65)}
        for role in group:
            role["together"] = "team"
            role.pop("required_level", 0), role.pop("preferred_level", 0)
            role.update(like)
    for role in out if with_slices else ():
        if draw.chance(70):
            least = max(draw.levels.index(one.get("required_level", draw.levels[0])) for one in (role, draw.gang))
            role["slices"] = slices_for(draw, least)
            size = max(one["size"] for one in role["slices"])
            role["pods"] = role["pods"] if draw.chance(15) else max(size, role["pods"] // size * size)
    draw.gang["roles"] = out


def roles_together(draw):
    roles(draw, together=True)


def roles_slices(draw):
    roles(draw, with_slices=True)


def even_roles(draw):
    draw.gang["policy"] = "even"
    roles(draw, together=draw.chance(30), with_slices=draw.chance(30))


def subgroups(draw, nested=False, sets=False, with_existing=False, levels=True):
    out = []
    for number in range(draw.rng.choice((2, 2, 3, 3, 4) if nested or sets else (1, 2, 2, 3))):
        one = {"name": f"part{number}", "pods": draw.rng.randint(1, 2 if nested or sets else 3)}
        if levels and draw.chance(50):
            one["required_level"] = draw.levels[draw.level()]
        if levels and draw.chance(25):
            one["preferred_level"] = draw.levels[draw.level()]
        if nested and number and draw.chance(65):
            one["parent"] = out[draw.rng.randrange(number)]["name"]
        if draw.chance(50):
            one["min_member"] = draw.rng.randint(0, one["pods"])
        out.append(one)
    for one in out if nested else ():
        if any(other.get("parent") == one["name"] for other in out) and draw.chance(50):
            one["pods"] = draw.rng.randint(0, 1)
            if "min_member" in one:
                one["min_member"] = draw.rng.randint(0, one["pods"] + 1)
    if nested and draw.chance(30):
        draw.rng.shuffle(out)
    draw.gang["subgroups"] = out
    if sets:
        count_sets(draw, out)
    if with_existing:
        existing_of(draw, out)


def count_sets(draw, out):
    for one in out:
        if draw.chance(75) and one["pods"]:
            one["set"] = draw.rng.choice(("a", "a", "b"))
    names = {one["set"] for one in out if "set" in one}
    least = {name: draw.rng.randint(0, sum(one.get("set") == name for one in out)) for name in sorted(names)}
    if least:
        draw.gang["min_sets"] = least
    if draw.chance(75):
        min_member_of_parts(draw)


def existing_of(draw, out):
    """The gang's own map may repeat them, and may have more."""
    paths, sums = draw.known_paths(), {}
    for one in out:
        if paths and draw.chance(55):
            path = draw.rng.choice(paths)
            one["existing"] = {path: draw.rng.randint(1, 2)}
            sums[path] = sums.get(path, 0) + one["existing"][path]
            if "min_member" in one and draw.chance(50):
                one["min_member"] += 1
    if sums and draw.chance(50):
        draw.gang["existing"] = sums


def subgroups_nested(draw):
    subgroups(draw, nested=True)


def subgroups_sets(draw):
    subgroups(draw, sets=True, levels=draw.chance(50))


def subgroups_existing(draw):
    subgroups(draw, with_existing=True)


def subgroups_all(draw):
    subgroups(draw, nested=True, sets=draw.chance(50), with_existing=draw.chance(50))


def some(*adders):
    """Adds one or more of them, in their order."""
    def add(draw):
        for number in sorted(draw.rng.sample(range(len(adders)), draw.rng.randint(1, len(adders)))):
            adders[number](draw)
    return add


def one_of(*adders):
    return lambda draw: draw.rng.choice(adders)(draw)


# Feature -> most nodes, most pods, and what it adds, in this order (later ones depend on earlier ones).
FEATURES = {
    "compact": (8, 8, []),
    "required": (8, 8, [required]),
    "preferred": (8, 8, [preferred]),
    "required_preferred": (8, 8, [required, preferred]),
    "slices": (7, 8, [slices]),
    "min_member": (7, 7, [min_member]),
    "existing": (7, 7, [existing]),
    "existing_ranks": (7, 7, [existing_ranks]),
    "existing_required": (7, 7, [roomy, close, required, existing]),
    "slices_required": (7, 8, [required, slices]),
    "slices_existing": (7, 8, [roomy, close, slices, existing]),
    "slices_completing": (6, 8, [roomy, slices, existing, completing]),
    "slices_chains": (4, 8, [chains, slices, existing, completing]),
    "slices_min_member": (6, 7, [slices, min_member]),
    "elastic_all": (6, 6, [roomy, close, required, slices, existing_ranks, min_member]),
    "even": (6, 8, [even]),
    "even_required": (6, 8, [required, even]),
    "even_slices": (6, 8, [slices, even]),
    "even_min_member": (6, 6, [even, min_member]),
    "even_existing": (6, 6, [even, existing]),
    "roles": (5, 6, [roomy, roles]),
    "roles_together": (5, 6, [roomy, roles_together]),
    "roles_slices": (5, 6, [roomy, roles_slices]),
    "roles_required": (5, 6, [roomy, required, roles]),
    "roles_min_member": (5, 6, [roles, min_member_of_parts]),
    "roles_existing": (5, 6, [roomy, some(required, preferred), roles, existing]),
    "even_roles": (5, 6, [roomy, even_roles]),
    "subgroups": (5, 6, [roomy, subgroups]),
    "subgroups_nested": (4, 6, [subgroups_nested]),
    "subgroups_sets": (4, 6, [subgroups_sets]),
    "subgroups_existing": (5, 6, [roomy, subgroups_existing]),
    "subgroups_min_member": (4, 6, [subgroups_nested, min_member_of_parts]),
    "subgroups_slices": (4, 6, [roomy, required, slices, subgroups]),
    "subgroups_all": (4, 6, [roomy, close, some(required, preferred), subgroups_all, min_member_of_parts]),
    "pod_chips": (5, 5, [pod_chips]),
    "pod_chips_min": (5, 5, [roomy, some(required, slices), min_member, pod_chips]),
    "pod_chips_existing": (5, 5, [existing, some(required, min_member), pod_chips]),
    "allowed_nodes": (5, 5, [allowed_nodes]),
    "allowed_min_member": (5, 5, [some(required, slices), min_member, allowed_nodes]),
    "allowed_pod_chips": (5, 4, [allowed_nodes, pod_chips]),
    "repair": (6, 6, [apart, repair]),
    "repair_slices": (6, 6, [roomy, close, apart, slices, repair]),
    "repair_required": (6, 6, [roomy, close, apart, required, repair]),
    "repair_all": (6, 6, [roomy, close, apart, required, slices, repair]),
    "repair_pod_chips": (5, 6, [close, apart, pod_chips, repair_parts]),
    "repair_allowed": (5, 6, [roomy, close, apart, some(required, slices), allowed_nodes, repair_parts]),
    "repair_spare": (6, 6, [close, apart, some(required, slices), keep_spare, repair_parts]),
    "repair_roles": (5, 6, [roomy, close, apart, some(required, roles_slices), roles, repair_parts]),
    "repair_roles_slices": (5, 8, [roomy, close, apart, roles_slices, repair_parts]),
    "repair_roles_together": (5, 6, [roomy, close, apart, roles_together, repair_parts]),
    "repair_subgroups": (5, 6, [roomy, close, apart, some(required, slices), subgroups, repair_parts]),
    "repair_subgroups_nested": (5, 7, [roomy, close, apart, subgroups_nested, repair_parts]),
    "repair_subgroups_sets": (5, 7, [close, apart, subgroups_sets, repair_parts]),
    "repair_parts_all": (5, 6, [roomy, close, apart, some(required, slices), one_of(roles_slices, subgroups_nested, keep_spare),
                                some(pod_chips_of_parts, allowed_nodes_of_parts), min_member_of_parts, repair_parts]),
    "keep_spare": (7, 6, [keep_spare]),
    "keep_spare_more": (6, 6, [some(required, slices, existing, min_member), keep_spare]),
    "keep_spare_parts": (4, 5, [some(roles, keep_spare), keep_spare]),
}


def plans_at_most(request):
    """About how many plans there are to list, were there room everywhere."""
    gang, nodes = request["gang"], len(request["network"]["nodes"])
    if "failed_nodes" in gang:
        return (nodes + 1) ** lost_pods(request)
    parts = [one["pods"] for one in gang.get("roles", gang.get("subgroups", []))] or [gang["pods"]]
    if "pod_chips" in gang or "allowed_nodes" in gang:
        parts = [1] * sum(parts)
    return math.prod(math.comb(pods + nodes, nodes) for pods in parts)


def make_cases(feature, seed, count):
    most_nodes, most_pods, adders = FEATURES[feature]
    cases, number = [], 0
    while len(cases) < count:
        draw = Draw(f"{seed}/{feature}/{number}", most_nodes, most_pods)
        for adder in adders:
            adder(draw)
        number += 1
        request = draw.request(f"{feature}-{number}")
        if plans_at_most(request) <= MOST_PLANS and request["network"]["nodes"]:
            cases.append(request)
    return cases
