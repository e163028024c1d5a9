"""A request as the rules see it: nodes with the domain they have at every level, pods in classes of equal pods, and the pods
that run already. Nothing here decides anything."""

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
        self.running = running_pods(network, data.get("existing", {}), nodes)[0]


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
        self.pods = self.count_pods()
        self.classes = self.make_classes(network)
        all_pods = sum(self.running) + sum(self.lost)
        self.size = all_pods if self.repair else self.pods + all_pods
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
                network.add(None, key.split("/"), 0, 0, False)
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
        pods, ranks = running_pods(network, self.data.get("existing", {}), nodes)
        for number in range(nodes):
            pods[number] = max(pods[number], sum(one.running[number] for one in self.sets))
        self.lost = [pods[number] if number in self.failed else 0 for number in range(nodes)]
        self.running = [pods[number] - self.lost[number] for number in range(nodes)]
        self.kept_ranks = {rank for node, list_ in ranks.items() if node not in self.failed for rank in list_}
        self.freed_ranks = {rank for node, list_ in ranks.items() if node in self.failed for rank in list_}
        self.knows_ranks = sum(map(len, ranks.values())) == sum(pods)

    def count_pods(self):
        if self.repair:
            return sum(self.lost)
        in_sets = "roles" in self.data or "subgroups" in self.data
        return sum(one.pods for one in self.sets) if in_sets else self.data["pods"]

    def make_classes(self, network):
        classes = {}
        for pod in range(self.pods):
            of_set = next((number for number, one in enumerate(self.sets) if pod in one.numbers), None)
            allowed = self.data.get("allowed_nodes", {}).get(str(pod))
            if allowed is not None:
                allowed = frozenset(n for n, node in enumerate(network.nodes) if node["name"] in allowed)
            key = (of_set, self.chips_of(pod, of_set), allowed)
            classes.setdefault(key, PodClass(*key)).numbers.append(pod)
        return list(classes.values())

    def chips_of(self, pod, of_set):
        if "pod_chips" in self.data:
            return self.data["pod_chips"][pod]
        if self.roles:
            role = self.data["roles"][of_set]
            return role["chips_per_pod"] if "chips_per_pod" in role else self.data["chips_per_pod"]
        return self.data["chips_per_pod"]


def slices_of(network, data):
    return sorted((network.level(one["level"]), one["size"]) for one in data.get("slices", []))


def running_pods(network, existing, nodes):
    """Pods by node, and the ranks of those that have them. The first node of a path stands for all of them."""
    pods, ranks = [0] * nodes, {}
    for key, value in existing.items():
        node = network.at_path(key)[0]
        pods[node] = len(value) if isinstance(value, list) else value
        if isinstance(value, list):
            ranks[node] = value
    return pods, ranks
