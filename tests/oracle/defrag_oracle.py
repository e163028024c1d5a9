#!/usr/bin/env python3
"""Holds `chipweave defrag --batch` against an oracle that lists all assignments of the movable pods of small random requests.
It knows the contract and nothing of the solver. What a gang gains is compared with `chipweave plan` on the networks before
and after the moves.

  tests/oracle/defrag_oracle.py --chipweave build/release/bin/chipweave [--seed N] [--cases N]

Prints how many answers were checked, and the first wrong ones with their requests. Exit status: 0 all right, 1 not, 2 wrong
usage or the program cannot be run."""
import argparse, copy, itertools, json, random, subprocess, sys

SHOWN = 3
LEVELS = (["rack"], ["block", "rack"], ["block", "rack", "hostname"])


def make_request(rng, number):
    levels = rng.choice(LEVELS)
    nodes, left = [], {}
    corners, size = rng.random() < 0.5, rng.randint(2, 6)
    for n in range(rng.randint(2, 5)):
        name = f"x{n}"
        path = [name if level == "hostname" else f"{level[0]}{rng.randint(1, 2)}" for level in levels]
        if corners and rng.random() < 0.15:
            path[rng.randrange(len(path))] = ""
        node = {"name": name, "path": path}
        left[name] = size if rng.random() < 0.8 else rng.randint(0, 5)
        if corners and rng.random() < 0.2:
            node["max_pods"] = rng.randint(0, 2)
        if corners and rng.random() < 0.12:
            node["healthy"] = False
        nodes.append(node)
    pods, gangs = [], {}
    for p in range(rng.randint(0, 5)):
        node, chips = rng.choice(nodes)["name"], rng.randint(1, 4)
        if chips > left[node]:
            continue
        left[node] -= chips
        pod = {"name": f"p{p}", "node": node, "chips": chips if rng.random() < 0.8 else list(range(chips))}
        if rng.random() < 0.9:
            pod["movable"] = True
        if rng.random() < 0.3:
            pod["gang"] = rng.choice("gh")
        if rng.random() < 0.25:
            level = rng.choice(levels)
            pod["keep_level"] = gangs.setdefault(pod["gang"], level) if "gang" in pod else level
        pods.append(pod)
    for node in nodes:
        node["free"] = left[node["name"]]
    request = {"id": number, "network": {"levels": levels, "nodes": nodes}, "pods": pods}
    target = {}
    if rng.random() < 0.6:
        target["level"] = rng.choice(levels)
    if rng.random() < 0.4:
        target["domains"] = rng.randint(1, 2)
    if rng.random() < 0.25:
        target["max_moves"] = rng.randint(1, 4)
    if target or rng.random() < 0.5:
        request["target"] = target
    if rng.random() < 0.4:
        request["gang"] = {"pods": rng.randint(1, 3), "chips_per_pod": size, "required_level": rng.choice(levels)}
    return request


class Cluster:
    def __init__(self, request):
        self.request, self.levels = request, request["network"]["levels"]
        self.nodes = {node["name"]: node for node in request["network"]["nodes"]}
        self.pods = {pod["name"]: pod for pod in request["pods"]}
        self.target = request.get("target", {})
        self.now = {name: pod["node"] for name, pod in self.pods.items()}
        self.keeps = {}
        of_gang = {pod["gang"]: pod["keep_level"] for pod in request["pods"] if "gang" in pod and "keep_level" in pod}
        for name, pod in self.pods.items():
            self.keeps[name] = pod.get("keep_level", of_gang.get(pod.get("gang")))

    def chips(self, name):
        chips = self.pods[name]["chips"]
        return len(chips) if isinstance(chips, list) else chips

    def domain(self, node, level):
        """A domain is its whole path; an unknown element is of one node alone. Without a level it is the node."""
        prefix = tuple(self.nodes[node]["path"][:self.levels.index(level) + 1]) if level else (node,)
        return ("alone", node) if "" in prefix else prefix

    def free_domains(self, at, level):
        counts, used = set(), set()
        for name, node in self.nodes.items():
            if node.get("healthy", True) and (node["free"] or name in self.now.values()):
                counts.add(self.domain(name, level))
        for pod, node in at.items():
            if self.nodes[node].get("healthy", True):
                used.add(self.domain(node, level))
        return counts - used

    def allowed(self, pod):
        if not self.pods[pod].get("movable", False):
            return [self.now[pod]]
        keep, home = self.keeps[pod], self.now[pod]
        return [name for name, node in self.nodes.items() if name == home or
                node.get("healthy", True) and (not keep or self.domain(name, keep) == self.domain(home, keep))]

    def fits(self, at):
        free = {name: node["free"] for name, node in self.nodes.items()}
        slots = {name: node.get("max_pods", 99) for name, node in self.nodes.items()}
        for pod, node in at.items():
            for name, sign in ((self.now[pod], 1), (node, -1)):
                free[name] += sign * self.chips(pod)
                slots[name] += sign
        return min(free.values()) >= 0 and min(slots.values()) >= 0

    def worth(self, at):
        moved = [pod for pod in at if at[pod] != self.now[pod]]
        if len(moved) > self.target.get("max_moves", 99) or not self.fits(at):
            return None
        level = self.target.get("level")
        gain = len(self.free_domains(at, level)) - len(self.free_domains(self.now, level))
        return min(gain, self.target.get("domains", 99)), -sum(map(self.chips, moved)), -len(moved)

    def best(self):
        names = list(self.pods)
        each = itertools.product(*(self.allowed(pod) for pod in names))
        return max(filter(None, (self.worth(dict(zip(names, one))) for one in each)), default=(0, 0, 0))

    def whole_nodes(self, at, chips):
        """By level, the most nodes of one domain with so many chips and none in use."""
        total = self.totals()
        whole = [name for name, node in self.nodes.items()
                 if node.get("healthy", True) and name not in at.values() and chips and total[name] >= chips]
        each = [[self.domain(name, level) for name in whole] for level in self.levels]
        return {level: max(map(row.count, row), default=0) for level, row in zip(self.levels, each)}

    def totals(self):
        return {name: node["free"] + sum(self.chips(pod) for pod in self.pods if self.now[pod] == name)
                for name, node in self.nodes.items()}

    def usual_size(self):
        sizes = [total for name, total in self.totals().items() if total and self.nodes[name].get("healthy", True)]
        return max(sizes, key=lambda size: (sizes.count(size), size), default=0)

    def plan_request(self, at):
        request = {"network": copy.deepcopy(self.request["network"]), "gang": self.request["gang"]}
        for node in request["network"]["nodes"]:
            for pod, home in self.now.items():
                step = (home == node["name"]) - (at[pod] == node["name"])
                node["free"] += step * self.chips(pod)
                if "max_pods" in node:
                    node["max_pods"] += step
        return request


def wrong_steps(cluster, moves):
    """Every pod finds its chips free when its step comes."""
    free = {name: node["free"] for name, node in cluster.nodes.items()}
    for move in moves:
        if move.get("stop_first"):
            free[move["from"]] += cluster.chips(move["pod"])
    for step in sorted({move["step"] for move in moves}):
        now = [move for move in moves if move["step"] == step]
        for move in now:
            free[move["to"]] -= cluster.chips(move["pod"])
        if min(free.values()) < 0:
            return f"step {step} has no room"
        for move in now:
            if not move.get("stop_first"):
                free[move["from"]] += cluster.chips(move["pod"])
    return ""


def check(cluster, answer, plan):
    """What is wrong with an answer; empty: nothing."""
    if "error" in answer:
        return f"refused: {answer['error']}"
    at = dict(cluster.now)
    for move in answer["moves"]:
        if move["from"] != cluster.now[move["pod"]] or move["to"] == move["from"]:
            return f"move of {move['pod']} from {move['from']}"
        if move["to"] not in cluster.allowed(move["pod"]):
            return f"{move['pod']} may not be on {move['to']}"
        at[move["pod"]] = move["to"]
    level, worth = cluster.target.get("level"), cluster.worth(at)
    before, after = cluster.free_domains(cluster.now, level), cluster.free_domains(at, level)
    named = lambda key: {cluster.domain(one["nodes"][0], level) for one in answer.get(key, [])}
    if worth is None:
        return "the moves break a limit"
    if not answer["optimal"] or worth != cluster.best():
        return f"worth {worth}, the best is {cluster.best()}"
    if named("freed") != after - before or named("used_up") != before - after:
        return "freed or used_up"
    gain = answer["gain"]
    if (gain["free_before"], gain["free_after"]) != (len(before), len(after)):
        return f"free {len(before)} before, {len(after)} after"
    if (-answer["chips_moved"], -answer["pods_moved"]) != worth[1:]:
        return "sums"
    moved = [pod for pod in at if at[pod] != cluster.now[pod]]
    if answer["gangs"] != sorted({cluster.pods[pod]["gang"] for pod in moved if "gang" in cluster.pods[pod]}):
        return "gangs"
    if answer["frees"] != bool(answer["freed"]) or answer["frees"] == bool(answer["reason"]):
        return "frees and reason"
    size = cluster.usual_size()
    whole = size, cluster.whole_nodes(cluster.now, size), cluster.whole_nodes(at, size)
    if (gain["whole_node_chips"], gain["whole_nodes_before"], gain["whole_nodes_after"]) != whole:
        return f"whole nodes are {whole}"
    if "gang" in cluster.request:
        for key, where in (("gang_before", cluster.now), ("gang_after", at)):
            planned = plan(cluster.plan_request(where))
            if any(gain[key][one] != planned[one] for one in ("fits", "placed", "domains", "reason")):
                return f"{key}: plan says {planned}"
    return wrong_steps(cluster, answer["moves"])


def run(program, command, requests):
    lines = "".join(json.dumps(request) + "\n" for request in requests)
    done = subprocess.run([program, command, "--batch", "-"], input=lines, capture_output=True, text=True, timeout=300)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if len(answers) != len(requests):
        raise RuntimeError(f"{command}: {len(answers)} answers to {len(requests)} requests, {done.stderr[-300:]}")
    return answers


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--chipweave", required=True, metavar="PATH")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=1500)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    requests = [make_request(rng, number) for number in range(args.cases)]
    try:
        answers = run(args.chipweave, "defrag", requests)
        plan = lambda request: run(args.chipweave, "plan", [request])[0]
        verdicts = [check(Cluster(request), answer, plan) for request, answer in zip(requests, answers)]
    except (OSError, RuntimeError, ValueError, subprocess.TimeoutExpired) as error:
        print(f"defrag_oracle: {error}", file=sys.stderr)
        return 2
    wrong = [one for one in zip(requests, answers, verdicts) if one[2]]
    moving = sum(bool(answer.get("moves")) for answer in answers)
    print(f"{len(answers)} answers, {moving} with moves, {len(wrong)} wrong")
    for request, answer, verdict in wrong[:SHOWN]:
        print(f"\n{verdict}\n  request {json.dumps(request)}\n  answer  {json.dumps(answer)}")
    return 1 if wrong or moving < args.cases // 10 else 0


if __name__ == "__main__":
    sys.exit(main())
