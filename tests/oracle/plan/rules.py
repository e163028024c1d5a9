"""What makes a plan legal, rule by rule. A plan is, for every class of equal pods, the number of them on each node. Every
rule answers None, or what is wrong in words: the same functions sift all plans and examine the program's."""


def used_nodes(held):
    return [node for node, pods in enumerate(held) if pods]


def one_domain(network, level, held):
    row = network.domain[level]
    return len({row[node] for node, pods in enumerate(held) if pods}) <= 1


def per_domain(network, level, held):
    sums = {}
    for domain, pods in zip(network.domain[level], held):
        if pods:
            sums[domain] = sums.get(domain, 0) + pods
    return sums


def added(rows, nodes):
    return [sum(row[node] for row in rows) for node in range(nodes)]


class Rules:
    """All rules of one gang under one reading of the contract's open points."""

    def __init__(self, network, gang, reading):
        self.network, self.gang, self.reading = network, gang, reading
        self.count = len(network.nodes)
        self.groups = self.groups_of_roles()

    def groups_of_roles(self):
        """Roles that share their levels: those with one `together`, and every other role alone."""
        groups = {}
        for number, one in enumerate(self.gang.sets if self.gang.roles else []):
            groups.setdefault(("with", one.together) if one.together else ("alone", number), []).append(number)
        return list(groups.values())

    def usable(self, node):
        return self.network.nodes[node]["healthy"] and node not in self.gang.failed

    def room(self, node, rows):
        """Whether the node can take these pods, one number a class."""
        if not any(rows):
            return None
        if not self.usable(node):
            return "pods on a node that is not healthy or failed"
        if sum(rows) > self.network.nodes[node]["max_pods"]:
            return "more pods on a node than its max_pods"
        if sum(pods * one.chips for pods, one in zip(rows, self.gang.classes)) > self.network.nodes[node]["free"]:
            return "more chips on a node than are free"
        for pods, one in zip(rows, self.gang.classes):
            if pods and one.allowed is not None and node not in one.allowed:
                return "a pod on a node that it is not allowed on"
        return None

    def wrong(self, plan):
        """The first rule that the plan breaks, room on nodes aside."""
        new = added(plan, self.count)
        held = [a + b for a, b in zip(new, self.gang.running)]
        if sum(new) < 1 or sum(held) < self.gang.min_member:
            return "fewer pods than min_member, or none"
        if self.gang.required is not None and not self.in_one(self.gang.required, held, self.gang.running, self.gang.lost):
            return "more than one domain of required_level"
        return (self.wrong_slices(self.gang.slices, held, self.gang.pods, sum(self.gang.running)) or
                self.wrong_repair(plan) or self.wrong_roles(plan) or self.wrong_subgroups(plan))

    def wrong_slices(self, slices, held, pods, running):
        for level, size in slices:
            if self.reading["multiple"] == "new" and pods % size:
                return "pods is not a multiple of the slice size"
            if self.reading["multiple"] == "all" and (pods + running) % size:
                return "pods with existing is not a multiple of the slice size"
            if any(sum_ % size for sum_ in per_domain(self.network, level, held).values()):
                return "a used domain does not hold a multiple of the slice size"
        return None

    def in_one(self, level, held, running, lost):
        """In a repair, lost pods hold the others where they were, unless none of them is left and no node either."""
        if self.gang.repair:
            row, places = self.network.domain[level], used_nodes(lost)
            if not places:
                return True
            home = {row[node] for node in places}
            left = any(row[node] in home and self.usable(node) for node in range(self.count))
            if any(running) or len(home) > 1 or left:
                held = added([held, lost], self.count)
        return one_domain(self.network, level, held)

    def wrong_repair(self, plan):
        """Pods stay in their slice domains, which is part of what their class allows; and pods of slices all find a node."""
        if not self.gang.repair:
            return None
        for row, one in zip(plan, self.gang.classes):
            if self.gang.slices_of_set(one.set) and sum(row) < len(one.numbers):
                return "a repair of a part of what slice domains lost"
        return None

    def of_sets(self, plan, sets):
        return added([row for row, one in zip(plan, self.gang.classes) if one.set in sets], self.count)

    def wrong_roles(self, plan):
        for group in self.groups:
            running = added([self.gang.sets[number].running for number in group], self.count)
            lost = added([self.gang.lost_of_set[number] for number in group], self.count)
            held = added([self.of_sets(plan, group), running], self.count)
            pods = sum(self.gang.sets[number].pods for number in group)
            if len(group) > 1 and not self.gang.repair and self.reading["together"] == "all or none" and sum(held) not in (0, pods):
                return "a part of the roles that stand together"
            for number in group:
                role = self.gang.sets[number]
                if role.required is not None and not self.in_one(role.required, held, running, lost):
                    return "a role, or roles together, in more than one domain of required_level"
                own = added([self.of_sets(plan, [number]), role.running], self.count)
                wrong = self.wrong_slices(role.slices, own, role.pods, 0)
                if wrong:
                    return f"a role: {wrong}"
        return None

    def wrong_subgroups(self, plan):
        if self.gang.roles or not self.gang.sets:
            return None
        placed = [sum(self.of_sets(plan, [number])) for number in range(len(self.gang.sets))]
        for number, one in enumerate(self.gang.sets):
            inside = self.gang.inside[number]
            running = added([self.gang.sets[other].running for other in inside], self.count)
            lost = added([self.gang.lost_of_set[other] for other in inside], self.count)
            held = added([self.of_sets(plan, inside), running], self.count)
            gets = any(placed[other] for other in inside) or self.reading["broken before"] == "refused"
            if gets and one.required is not None and not self.in_one(one.required, held, running, lost):
                return "a subgroup in more than one domain of its required_level"
            new, running, least = self.start_of(number, placed)
            if new and new + running < least:
                return "a subgroup that starts with fewer pods than its min_member"
            if self.reading["nested"] == "needs its parent" and placed[number] and self.stands_alone(number, placed):
                return "a subgroup that starts without the one it is nested in"
        return self.wrong_sets(placed)

    def stands_alone(self, number, placed):
        """Whether a subgroup around it does not start."""
        for other, inside in enumerate(self.gang.inside):
            if number in inside and other != number:
                new, running, least = self.start_of(other, placed)
                if new + running < least:
                    return True
        return False

    def start_of(self, number, placed):
        """New pods, running pods and the least number of pods: of the subgroup alone, or with those nested in it."""
        one, inside = self.gang.sets[number], self.gang.inside[number]
        given = one.min_member is not None
        whole = self.reading["parent"] == "whole" or (self.reading["parent"] == "whole if given" and given)
        counted = inside if whole else [number]
        running = sum(sum(self.gang.sets[other].running) for other in counted)
        pods = sum(self.gang.sets[other].pods for other in counted)
        least = one.min_member if given else pods if self.gang.repair else pods + running
        return sum(placed[other] for other in counted), running, least

    def wrong_sets(self, placed):
        for kind, least in self.gang.data.get("min_sets", {}).items():
            runs = 0
            for number, one in enumerate(self.gang.sets):
                if one.kind == kind:
                    new, running, start = self.start_of(number, placed)
                    runs += new + running >= max(start, 1) or (self.reading["running set"] == "any" and running > 0)
            if runs < least:
                return "fewer subgroups of a set than min_sets"
        return None
