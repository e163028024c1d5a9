"""Holds an answer against all plans of its request. Where the contract leaves points open, an answer is right if it is
right under one reading of all of them; each open point has a default, which is tried first."""
import itertools

from plan.goals import Goals
from plan.model import Gang, Network
from plan.rules import Rules, added, used_nodes
from plan.search import Search

# Open point -> readings, the default first. open_points() says which of them a request touches.
READINGS = {
    "multiple": ("all", "new"),
    "together": ("part", "all or none"),
    "parent": ("whole if given", "own", "whole"),
    "nested": ("needs its parent", "starts alone"),
    "broken before": ("refused", "ignored"),
    "running set": ("started", "any"),
    "tight": ("healthy nodes", "usable nodes", "all nodes"),
    "spare domains": ("with existing", "new only"),
    "spare nodes": ("without existing", "any"),
    "team": ("of one level", "apart without a level"),
    "team shares": ("of all", "of each"),
    "even": ("new only", "with existing"),
}


def open_points(data):
    """Only these can make two readings differ, so that nothing is searched twice for the others."""
    gang = data["gang"]
    parts = gang.get("roles", gang.get("subgroups", []))
    bad = not all(node.get("healthy", True) for node in data["network"]["nodes"])
    running = bool(gang.get("existing")) or any(one.get("existing") for one in parts)
    even = gang.get("policy") == "even"
    touched = {
        "multiple": "slices" in gang and running and "failed_nodes" not in gang,
        "together": any("together" in one for one in parts) and "failed_nodes" not in gang,
        "parent": any("parent" in one for one in parts),
        "nested": any("parent" in one for one in parts),
        "broken before": any("existing" in one and "required_level" in one for one in parts) or
                         any("parent" in one for one in parts) and running,
        "running set": running and "min_sets" in gang,
        "tight": (bad or "failed_nodes" in gang) and not parts and not even,
        "spare domains": running and "keep_spare" in gang,
        "spare nodes": running and "keep_spare" in gang,
        "team": even and any("together" in one for one in parts),
        "team shares": even and any("together" in one for one in parts),
        "even": running and even,
    }
    return [point for point, is_open in touched.items() if is_open]


def readings(data):
    points = open_points(data)
    default = {point: choices[0] for point, choices in READINGS.items()}
    for choice in itertools.product(*(READINGS[point] for point in points)):
        yield default | dict(zip(points, choice))


class Verdict:
    """`wrong`: None, or what is wrong by the default reading. `reading`: the points that had to be read otherwise."""

    def __init__(self, wrong, fits, reading, optimal):
        self.wrong, self.fits, self.reading, self.optimal = wrong, fits, reading, optimal


def verify(data, answer):
    first, default = None, next(readings(data))
    for reading in readings(data):
        trial = Trial(data, answer, reading)
        try:
            wrong = trial.wrong()
        except KeyError as missing:
            wrong = f"the answer lacks {missing}"
        if not wrong:
            other = tuple(f"{point}: {reading[point]}" for point in reading if reading[point] != default[point])
            return Verdict(None, bool(answer["fits"]), other, answer["optimal"])
        first = first or wrong
    return Verdict(first, bool(answer.get("fits")), (), True)


class Trial:
    """One answer under one reading."""

    def __init__(self, data, answer, reading):
        self.data, self.answer, self.reading = data, answer, reading
        self.network = Network(data["network"])
        self.gang = Gang(self.network, data["gang"])
        self.rules = Rules(self.network, self.gang, reading)
        self.search = Search(self.rules)

    def wrong(self):
        if "died" in self.answer:
            return f"the program ended: {self.answer['died']}"
        if "error" in self.answer:
            return f"a usable request was refused: {self.answer['error'].get('message')}"
        if self.answer.get("id") != self.data["id"]:
            return f"answers id {self.answer.get('id')!r}"
        plans = self.search.run()
        if not self.answer["fits"]:
            return self.wrong_refusal(plans)
        wrong = self.wrong_pods() or self.wrong_rules() or self.wrong_shape() or self.wrong_ranks()
        if wrong:
            return wrong
        if len(self.answer["pods"]) != self.search.best:
            return f"places {len(self.answer['pods'])} pods, {self.search.best} are possible: {self.words(plans[0])}"
        return self.wrong_goal(Goals(self.rules, plans))

    def wrong_refusal(self, plans):
        if plans:
            return f"fits is false, but {self.search.best} pods can be placed: {self.words(plans[0])}"
        if self.answer["pods"] or self.answer["assignment"] or self.answer["placed"]:
            return "does not fit, but places pods"
        return None if self.answer["reason"] else "does not fit, and gives no reason"

    def words(self, plan):
        """Pods by node, for people."""
        new = added(plan, self.rules.count)
        text = ", ".join(f"{new[node]} on {self.network.nodes[node]['name']}" for node in used_nodes(new))
        if len(plan) < 2:
            return text
        parts = [f"{one.numbers}: {list(row)}" for row, one in zip(plan, self.gang.classes)]
        return f"{text} (pods by node: {'; '.join(parts)})"

    # --- the answer by itself

    def wrong_pods(self):
        """Makes a plan of the answer's pods, once each of them is known to be one of ours on a node of ours."""
        by_name = {node["name"]: number for number, node in enumerate(self.network.nodes)}
        size = self.gang.size if self.gang.repair else self.gang.pods
        rows, seen = [[0] * self.rules.count for _ in self.gang.classes], set()
        for one in self.answer["pods"]:
            if one["pod"] in seen or not 0 <= one["pod"] < size or self.is_kept(one["pod"]):
                return f"pod {one['pod']} is placed twice, or is none of the gang's to be placed"
            seen.add(one["pod"])
            node = by_name.get(one["node"])
            if node is None or one["path"] != self.network.nodes[node]["shown"]:
                return f"pod {one['pod']} is on {one['node']} with path {one['path']}"
            wrong = self.wrong_set(one)
            if wrong:
                return wrong
            rows[self.class_of(one["pod"])][node] += 1
        self.plan = [tuple(row) for row in rows]
        return None

    def is_kept(self, pod):
        return self.gang.repair and all(one["pod"] != pod for one in self.gang.lost_pods)

    def class_of(self, pod):
        return next(number for number, one in enumerate(self.gang.classes) if pod in one.numbers)

    def wrong_set(self, one):
        key = "role" if self.gang.roles else "subgroup"
        if not self.gang.sets:
            return "role or subgroup of a pod that has none" if {"role", "subgroup"} & set(one) else None
        if self.gang.repair:
            of_set = next(lost["set"] for lost in self.gang.lost_pods if lost["pod"] == one["pod"])
            name = None if of_set is None else self.gang.sets[of_set].name
        else:
            name = next(set_.name for set_ in self.gang.sets if one["pod"] in set_.numbers)
        return None if one.get(key) == name else f"pod {one['pod']} is of {name}, not of {one.get(key)}"

    def wrong_rules(self):
        for node in range(self.rules.count):
            wrong = self.rules.room(node, tuple(row[node] for row in self.plan))
            if wrong:
                return f"{self.network.nodes[node]['name']}: {wrong}"
        return self.rules.wrong(self.plan)

    def wrong_shape(self):
        """Sums and domains are what the pods imply."""
        sums = {}
        for one in self.answer["pods"]:
            key = "/".join(one["path"])
            sums[key] = sums.get(key, 0) + 1
        if self.answer["assignment"] != sums:
            return f"assignment is {self.answer['assignment']}, its pods sum up to {sums}"
        if self.answer["placed"] != len(self.answer["pods"]):
            return f"placed is {self.answer['placed']}, there are {len(self.answer['pods'])} pods"
        held = [a + b for a, b in zip(added(self.plan, self.rules.count), self.gang.running)]
        domains = {level: len({self.network.domain[number][node] for node in used_nodes(held)})
                   for number, level in enumerate(self.network.levels)}
        if self.answer["domains"] != domains:
            return f"domains are {self.answer['domains']}, its pods use {domains}"
        return None

    def wrong_ranks(self):
        ranks = [one["rank"] for one in self.answer["pods"]]
        free = set(range(self.gang.size)) - self.gang.kept_ranks
        if self.gang.repair:
            was = {one["pod"]: one["rank"] for one in self.gang.lost_pods}
            free = {was[one["pod"]] for one in self.answer["pods"]}
            if any(one["rank"] != was[one["pod"]] for one in self.answer["pods"]):
                return f"ranks {ranks} are not those that the pods had"
        if len(set(ranks)) != len(ranks) or not set(ranks) <= free:
            return f"ranks {ranks} are not of the free ones {sorted(free)}, or not distinct"
        if self.gang.size == self.gang.pods and set(ranks) != set(range(len(ranks))) and not self.gang.repair:
            return f"ranks {ranks} are not numbered from 0"
        if ranks != sorted(ranks):
            return f"pods are not in rank order: {ranks}"
        return None if self.gang.repair else self.wrong_order()

    def wrong_order(self):
        """Depth-first: every domain of every level, and every node, is one run of ranks among new pods. Not in a repair:
        ranks that came free in a domain are taken again there."""
        by_name = {node["name"]: number for number, node in enumerate(self.network.nodes)}
        nodes = [by_name[one["node"]] for one in sorted(self.answer["pods"], key=lambda one: one["rank"])]
        for level, row in enumerate(self.network.domain):
            runs = [domain for domain, _ in itertools.groupby(row[node] for node in nodes)]
            if len(set(runs)) != len(runs):
                return f"a domain of {(self.network.levels + ['the nodes'])[level]} is not one run of ranks"
        return None

    # --- against all plans

    def wrong_goal(self, goals):
        if goals.kept_spare and not goals.leaves_spare(self.plan):
            return f"keeps no spare nodes, though it can: {self.words(goals.plans[0])}"
        if self.gang.even:
            return self.wrong_even(goals)
        best, mine = goals.best_compact(), goals.compact(self.plan)
        levels = len(self.network.levels)
        if not self.answer["optimal"]:
            return self.wrong_bound(best[0][:levels])
        compared = levels + 1 if self.gang.sure_nodes else levels
        if mine[0][:compared] > best[0][:compared]:
            shorter = next(plan for plan in goals.plans if goals.compact(plan) == best)
            return f"uses {mine[0]} domains and nodes, {best[0]} suffice: {self.words(shorter)}"
        if self.gang.plain and self.gang.sure_nodes and mine > best:
            tighter = next(plan for plan in goals.plans if goals.compact(plan) == best)
            return f"uses domains with {mine[1]} free chips, {best[1]} is possible: {self.words(tighter)}"
        return None

    def wrong_even(self, goals):
        if self.answer["optimal"]:
            return goals.wrong_even(self.plan)
        if "bound" not in self.answer:
            return "optimal is false, and there is no bound"
        level = goals.units()[0][0]
        if not self.gang.roles and level < len(self.network.levels):
            least = min(goals.spread(plan)[0] for plan in goals.plans)
            if self.answer["bound"][self.network.levels[level]] > least:
                return f"the bound {self.answer['bound']} is above the minimum, {least}"
        return None

    def wrong_bound(self, best):
        if "bound" not in self.answer:
            return "optimal is false, and there is no bound"
        bound = tuple(self.answer["bound"][level] for level in self.network.levels)
        return f"the bound {bound} is above the minimum, {best}" if bound > best else None
