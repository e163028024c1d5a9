"""Which of the legal plans that place most pods are the best ones: compact, even, and the nodes kept spare before either."""
from plan.rules import added, per_domain, used_nodes


class Goals:
    def __init__(self, rules, plans):
        self.rules, self.network, self.gang, self.reading = rules, rules.network, rules.gang, rules.reading
        self.plans, self.known = plans, {}
        self.kept_spare = False
        if self.gang.spare:
            sparing = [plan for plan in plans if self.leaves_spare(plan)]
            self.kept_spare = bool(sparing)
            self.plans = sparing or plans

    def new(self, plan):
        return added(plan, self.rules.count)

    def held(self, plan):
        return [a + b for a, b in zip(self.new(plan), self.gang.running)]

    # --- compact

    def compact(self, plan):
        """Used domains at every level, used nodes, then the free chips of used domains at every level, and of nodes."""
        used = frozenset(used_nodes(self.held(plan)))
        if used not in self.known:
            domains = [{row[node] for node in used} for row in self.network.domain]
            self.known[used] = (tuple(map(len, domains)), tuple(map(self.free_in, self.network.domain, domains)))
        return self.known[used]

    def free_in(self, row, domains):
        """That of existing pods' domains is in every sum: they are used in all plans."""
        nodes = enumerate(self.network.nodes)
        return sum(one["free"] for node, one in nodes if row[node] in domains and self.counts(node))

    def counts(self, node):
        """Whether the node's chips are free ones."""
        if self.reading["tight"] == "usable nodes":
            return self.rules.usable(node)
        return self.network.nodes[node]["healthy"] or self.reading["tight"] == "all nodes"

    def best_compact(self):
        return min(map(self.compact, self.plans))

    # --- keep_spare

    def leaves_spare(self, plan):
        level, wanted = self.gang.spare
        row, new = self.network.domain[level], self.new(plan)
        held = self.held(plan) if self.reading["spare domains"] == "with existing" else new
        whole = max((one["free"] for node, one in enumerate(self.network.nodes) if self.rules.usable(node)), default=0)
        spare = {row[node]: 0 for node in used_nodes(held)}
        for node, one in enumerate(self.network.nodes):
            taken = new[node] or (self.gang.running[node] and self.reading["spare nodes"] == "without existing")
            if row[node] in spare and self.rules.usable(node) and one["free"] == whole and not taken:
                spare[row[node]] += 1
        return all(pods >= wanted for pods in spare.values())

    # --- even

    def units(self):
        """What is spread by a preferred level of its own: the gang, or each role, or roles that stand together. As level,
        slices, and the sets whose pods count (None: all)."""
        nodes = len(self.network.levels)
        if not self.gang.roles:
            level = self.gang.preferred
            return [(nodes if level is None else level, self.gang.slices, None)]
        return [unit for group in self.rules.groups for unit in self.units_of(group)]

    def units_of(self, group):
        roles = [self.gang.sets[number] for number in group]
        level = next((role.preferred for role in roles if role.preferred is not None), self.gang.preferred)
        if level is not None:
            return [(level, roles[0].slices, group)]
        nodes = len(self.network.levels)
        if self.reading["team"] == "of one level":
            return [(nodes, roles[0].slices, group)]
        return [(nodes, role.slices, [number]) for role, number in zip(roles, group)]

    def held_by(self, plan, sets):
        if sets is not None:
            return self.rules.of_sets(plan, sets)
        return self.held(plan) if self.reading["even"] == "with existing" else self.new(plan)

    def spread(self, plan):
        """How many domains every unit uses."""
        return [len(per_domain(self.network, level, self.held_by(plan, sets))) for level, _, sets in self.units()]

    def shares(self, plan, unit):
        """Which domains the unit uses, and its shares of them; of all its children, where one suffices."""
        level, slices, sets = unit
        held = self.held_by(plan, sets)
        shares = per_domain(self.network, level, held)
        where = frozenset(shares)
        if len(shares) <= 1 and level < len(self.network.levels):
            level += 1
            shares = per_domain(self.network, level, held)
            row = self.network.domain
            below = {row[level][node] for node in range(self.rules.count) if row[level - 1][node] in where}
            shares = {child: shares.get(child, 0) for child in below}
        step = max((size for at, size in slices if at >= level), default=1)
        return where, frozenset(shares), [pods / step for pods in shares.values()]

    def wrong_even(self, plan):
        spread = self.spread(plan)
        spreads = [(self.spread(other), other) for other in self.plans]
        if any(dominates(other, spread) for other, _ in spreads):
            return f"uses {spread} domains of its preferred level, {min(other for other, _ in spreads)} suffice"
        equal_spreads = [other for domains, other in spreads if domains == spread]
        if len(spread) == 1 and spread[0] > 1 and not even(self.shares(plan, self.units()[0])[2]):
            for other in equal_spreads:
                if even(self.shares(other, self.units()[0])[2]):
                    return f"has shares that differ by more than a slice, unlike {self.shares(other, self.units()[0])[2]}"
        return self.wrong_shares(plan, equal_spreads)

    def wrong_shares(self, plan, equal_spreads):
        """Against plans that use the same domains: whether one of them is more even for a unit, and for none less."""
        units = [unit for unit in self.units() if len(unit[2] or [0]) == 1 or self.reading["team shares"] == "of all"]
        mine = [self.shares(plan, unit) for unit in units]
        for other in equal_spreads:
            others = [self.shares(other, unit) for unit in units]
            if [one[:2] for one in others] == [one[:2] for one in mine] and dominates(squares(others), squares(mine)):
                return f"has shares of {[one[2] for one in mine]} slices, {[one[2] for one in others]} is possible"
        return None


def squares(shares):
    """Least where shares are as even as room and slices allow."""
    return [round(sum(share * share for share in one[2]), 6) for one in shares]


def even(shares):
    return not shares or max(shares) - min(shares) <= 1


def dominates(other, mine):
    return all(a <= b for a, b in zip(other, mine)) and any(a < b for a, b in zip(other, mine))
