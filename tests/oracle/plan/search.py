"""All plans of a request that place as many pods as the rules allow. Plain search, node by node, most pods first; a branch
ends where not even full nodes behind it could reach what was reached before."""
from plan.model import UNLIMITED


class Search:
    def __init__(self, rules):
        self.rules, self.gang = rules, rules.gang
        self.options = [self.options_of(node) for node in range(rules.count)]
        self.behind = [0] * (rules.count + 1)
        for node in reversed(range(rules.count)):
            self.behind[node] = self.behind[node + 1] + self.options[node][0][0]
        self.best, self.plans = max(1, self.gang.min_member - sum(self.gang.running)), []

    def options_of(self, node):
        """What may lie on the node, as (pods, pods by class), most first."""
        rows = [()]
        for one in self.gang.classes:
            room = min(len(one.numbers), self.rules.network.nodes[node]["free"] // one.chips if one.chips else UNLIMITED)
            rows = [(*row, pods) for row in rows for pods in range(room + 1)]
        fitting = [(sum(row), row) for row in rows if not self.rules.room(node, row)]
        return sorted(fitting, reverse=True)

    def run(self):
        self.visit(0, tuple(len(one.numbers) for one in self.gang.classes), 0, [])
        return self.plans

    def visit(self, node, left, placed, rows):
        if placed + min(sum(left), self.behind[node]) < self.best:
            return
        if node == self.rules.count:
            plan = list(zip(*rows))
            if not self.rules.wrong(plan):
                self.keep(plan, placed)
            return
        for pods, row in self.options[node]:
            if all(a <= b for a, b in zip(row, left)):
                rest = tuple(b - a for a, b in zip(row, left))
                self.visit(node + 1, rest, placed + pods, [*rows, row])

    def keep(self, plan, placed):
        if placed > self.best:
            self.best, self.plans = placed, []
        self.plans.append(plan)
