"""A request as the rules see it: nodes with the domain they have at every level, pods in classes of equal pods, and the pods
that run already. Nothing here decides anything."""

import itertools, re

UNLIMITED = 10 ** 9


class Network:
    """Nodes by number. Level len(levels) is the node itself: counting nodes is counting domains of one more level."""

    def __init__(self, data):
        self.levels = data["levels"]
        self.nodes = []
        for node in data["nodes"]:
            self.add(node["name"], node.get("path", []), node.get("free", 0), node.get("max_pods", UNLIMITED),
                     node.get("healthy", True))

    def add(self, name, path, free, max_pods, healthy):
        self.nodes.append({"name": name, "shown": list(path), "key": "/".join(path), "free": free, "max_pods": max_pods,
                           "healthy": healthy, "path": list(path) + [""] * (len(self.levels) - len(path))})

    def number_domains(self):
        """domain[level][node]: a number. A domain is its whole path, and an unknown element equals nothing, not even the
        unknown element of the node beside it."""
        self.domain = []
        for level in range(len(self.levels)):
            keys = {}
            row = []
            for number, node in enumerate(self.nodes):
                prefix = tuple(node["path"][:level + 1])
                key = ("unknown", number) if "" in prefix else prefix
                row.append(keys.setdefault(key, len(keys)))
            self.domain.append(row)
        self.domain.append(list(range(len(self.nodes))))

    def depth_first(self, number):
        """Sorts nodes depth-first, by the natural order of names, unknown ones last."""
        node, key, alone = self.nodes[number], [], False
        for element in node["path"]:
            alone = alone or not element
            key.append((alone, natural(node["name"] if alone else element)))
        return key, natural(node["name"])

    def at_path(self, key):
        return [number for number, node in enumerate(self.nodes) if node["key"] == key]

    def level(self, name):
        return None if name is None else self.levels.index(name)


class PodSet:
    """A role or a subgroup: which pods are its own, and its rules."""

    def __init__(self, network, data, first, nodes):
        self.name, self.pods = data["name"], data["pods"]
        self.numbers = range(first, first + self.pods)
        self.required = network.level(data.get("required_level"))
        self.preferred = network.level(data.get("preferred_level"))
        self.slices = slices_of(network, data)
        self.together = data.get("together")
        self.parent, self.min_member, self.kind = data.get("parent"), data.get("min_member"), data.get("set")
        self.named, self.ranks, self.own_numbers = running_pods(network, data.get("existing", {}), nodes)
        self.running = self.named


class PodClass:
    """Pods that no rule tells apart, so that only how many of them a node gets matters."""

    def __init__(self, of_set, chips, allowed):
        self.set, self.chips, self.allowed, self.numbers = of_set, chips, allowed, []


class Gang:
    """The gang of a request. `running` are the pods that stay, by node; `lost` those that a repair must move."""

    def __init__(self, network, data):
        self.data, self.repair = data, "failed_nodes" in data
        self.failed = self.find_failed(network)
        network.number_domains()
        nodes = len(network.nodes)
        self.required, self.preferred = (network.level(data.get(key)) for key in ("required_level", "preferred_level"))
        self.slices = slices_of(network, data)
        self.even = data.get("policy") == "even"
        self.roles = "roles" in data
        self.read_sets(network, nodes)
        self.read_running(network, nodes)
        if self.repair:
            self.find_lost_pods(network)
        self.pods = self.count_pods()
        self.classes = self.make_classes(network)
        all_pods = sum(self.running) + sum(self.lost)
        self.size = all_pods if self.repair else self.pods + all_pods
        self.lost_of_set = self.by_set(self.lost_pods if self.repair else [], nodes)
        self.min_member = data.get("min_member", self.size)
        spare = data.get("keep_spare")
        self.spare = spare and (network.level(spare["level"]), spare["nodes"])
        existing = [data, *data.get("subgroups", [])]
        # The request does not tell which of the nodes of one path runs the pods.
        self.sure_nodes = all(len(network.at_path(key)) == 1 for one in existing for key in one.get("existing", {}))
        self.plain = len(self.classes) == 1 and not self.sets

    def find_failed(self, network):
        """A failed node may have left the network: its path still says whose domain lost pods."""
        failed = set()
        for key in self.data.get("failed_nodes", []):
            if not network.at_path(key):
                network.add("\x01" + key, key.split("/"), 0, 0, False)
            failed.update(network.at_path(key))
        return failed

    def read_sets(self, network, nodes):
        self.sets, first = [], 0
        for one in self.data.get("roles", self.data.get("subgroups", [])):
            self.sets.append(PodSet(network, one, first, nodes))
            first += one["pods"]
        by_name = {one.name: number for number, one in enumerate(self.sets)}
        self.inside = []  # of each set: itself and what is nested in it
        for number in range(len(self.sets)):
            self.inside.append([other for other in range(len(self.sets)) if number in self.chain(other, by_name)])

    def chain(self, number, by_name):
        chain = [number]
        while self.sets[number].parent:
            number = by_name[self.sets[number].parent]
            chain.append(number)
        return chain

    def read_running(self, network, nodes):
        """The gang's existing pods include those of its subgroups, whether or not it names them again."""
        pods, ranks, self.listed_numbers = running_pods(network, self.data.get("existing", {}), nodes)
        for number in range(nodes):
            pods[number] = max(pods[number], sum(one.running[number] for one in self.sets))
            self.take_ranks_of_sets(number, pods, ranks)
        self.held = pods
        self.lost = [pods[number] if number in self.failed else 0 for number in range(nodes)]
        self.running = [pods[number] - self.lost[number] for number in range(nodes)]
        self.kept_ranks = {rank for node, list_ in ranks.items() if node not in self.failed for rank in list_}
        self.listed_ranks = ranks

    def take_ranks_of_sets(self, node, pods, ranks):
        """Where the gang lists no ranks and its subgroups list all of them."""
        listed = [rank for one in self.sets for rank in one.ranks.get(node, [])]
        if node not in ranks and listed and len(listed) == pods[node]:
            ranks[node] = listed
            self.listed_numbers[node] = [number for one in self.sets
                                         for number in one.own_numbers.get(node, one.ranks.get(node, []))]

    def find_lost_pods(self, network):
        """Every running pod with its number, its rank and its set; then those that stay, by node, of every set."""
        self.running_each = identify(network, self)
        self.lost_pods = [one for one in self.running_each if one["node"] in self.failed]
        stay = self.by_set([one for one in self.running_each if one["node"] not in self.failed], len(network.nodes))
        for number, one in enumerate(self.sets):
            one.running = stay[number]

    def by_set(self, pods, nodes):
        rows = [[0] * nodes for _ in self.sets]
        for one in pods:
            if one["set"] is not None:
                rows[one["set"]][one["node"]] += 1
        return rows

    def count_pods(self):
        if self.repair:
            return sum(self.lost)
        in_sets = "roles" in self.data or "subgroups" in self.data
        return sum(one.pods for one in self.sets) if in_sets else self.data["pods"]

    def make_classes(self, network):
        if self.repair:
            return self.make_lost_classes(network)
        classes = {}
        for pod in range(self.pods):
            of_set = next((number for number, one in enumerate(self.sets) if pod in one.numbers), None)
            allowed = self.data.get("allowed_nodes", {}).get(str(pod))
            if allowed is not None:
                allowed = frozenset(n for n, node in enumerate(network.nodes) if node["name"] in allowed)
            key = (of_set, self.chips_of(pod, of_set), allowed)
            classes.setdefault(key, PodClass(*key)).numbers.append(pod)
        return list(classes.values())

    def make_lost_classes(self, network):
        """Lost pods may go where their lists and their slices let them."""
        classes = {}
        for one in self.lost_pods:
            allowed = self.data.get("allowed_nodes", {}).get(str(one["pod"]))
            nodes = frozenset(n for n, node in enumerate(network.nodes) if allowed is None or node["name"] in allowed)
            key = (one["set"], self.chips_of(one["pod"], one["set"]), nodes & self.slice_domain(network, one))
            classes.setdefault(key, PodClass(*key)).numbers.append(one["pod"])
        return list(classes.values())

    def slices_of_set(self, of_set):
        """Those that a pod of the set is part of, coarsest first."""
        own = self.sets[of_set].slices if of_set is not None else []
        return sorted(one for one in self.slices + own if one[1] > 1)

    def slice_domain(self, network, pod):
        """The nodes of the innermost slice domain that lost the pod and has a usable node left."""
        inside = frozenset(range(len(network.nodes)))
        for level, _ in self.slices_of_set(pod["set"]):
            row = network.domain[level]
            domain = frozenset(node for node in range(len(network.nodes)) if row[node] == row[pod["node"]])
            if any(network.nodes[node]["healthy"] and node not in self.failed for node in domain):
                inside &= domain
        return inside

    def chips_of(self, pod, of_set):
        if "pod_chips" in self.data:
            return self.data["pod_chips"][pod]
        if self.roles and of_set is None:
            return max(one.get("chips_per_pod", self.data.get("chips_per_pod", 0)) for one in self.data["roles"])
        if self.roles:
            role = self.data["roles"][of_set]
            return role["chips_per_pod"] if "chips_per_pod" in role else self.data["chips_per_pod"]
        return self.data["chips_per_pod"]


def slices_of(network, data):
    return sorted((network.level(one["level"]), one["size"]) for one in data.get("slices", []))


def natural(name):
    """Numbers in names count as numbers."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.findall(r"[0-9]+|[^0-9]+", name)]


def identify(network, gang):
    """The running pods one by one. A pod has the number that is listed, else its rank; where ranks are not listed, the lowest
    free number, depth-first, which is its rank too. It is of the subgroup that names its node, its number's first, else of
    the set with that number."""
    nodes = sorted((node for node in range(len(network.nodes)) if gang.held[node]), key=network.depth_first)
    named = [dict(enumerate(one.named)) for one in gang.sets]
    numbers = {node: gang.listed_numbers.get(node, gang.listed_ranks.get(node, [])) for node in nodes}
    taken, ranks = set(itertools.chain(*numbers.values())), set(itertools.chain(*gang.listed_ranks.values()))
    of_number = lambda number: next((n for n, one in enumerate(gang.sets) if number in one.numbers), None)
    free = lambda pool, used: next(number for number in pool if number not in used)
    out = []

    def naming(node):
        return next((n for n, one in enumerate(named) if one[node] > 0), None)

    for node in nodes:
        here = [{"node": node, "pod": pod, "rank": rank, "set": None}
                for pod, rank in zip(numbers[node], gang.listed_ranks.get(node, []))]
        for sure in (True, False):
            for one in here:
                if one["set"] is None:
                    of_set = of_number(one["pod"]) if sure else naming(node)
                    if of_set is not None and named[of_set][node] > 0:
                        named[of_set][node] -= 1
                        one["set"] = of_set
        for one in here:
            one["set"] = of_number(one["pod"]) if one["set"] is None else one["set"]
        for _ in range(gang.held[node] - len(here)):
            of_set = naming(node)
            pool = itertools.count()
            if of_set is not None:
                named[of_set][node] -= 1
                own = [number for number in gang.sets[of_set].numbers if number not in taken]
                pool = own or pool
            pod = free(pool, taken)
            taken.add(pod)
            rank = pod if pod not in ranks else free(itertools.count(), ranks)
            ranks.add(rank)
            here.append({"node": node, "pod": pod, "rank": rank, "set": of_number(pod) if of_set is None else of_set})
        out += here
    return out


def running_pods(network, existing, nodes):
    """Pods by node, and the ranks and numbers of those that have them. The first node of a path stands for all of them."""
    pods, ranks, numbers = [0] * nodes, {}, {}
    for key, value in existing.items():
        node = network.at_path(key)[0]
        if isinstance(value, list):
            value = {"ranks": value}
        if isinstance(value, int):
            value = {"pods": value}
        pods[node] = value.get("pods", len(value.get("ranks", [])))
        if "ranks" in value:
            ranks[node] = value["ranks"]
        if "numbers" in value:
            numbers[node] = value["numbers"]
    return pods, ranks, numbers
