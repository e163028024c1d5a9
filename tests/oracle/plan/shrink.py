"""Makes a request that is answered wrongly smaller while it stays so: fewer nodes, fewer keys, fewer pods, less room."""
import copy

from plan.repair_cases import broken_rules
from plan.verify import verify

KEEP = ("pods", "chips_per_pod", "name", "level", "size", "levels", "path")


def without(request, path):
    smaller = copy.deepcopy(request)
    at = smaller
    for key in path[:-1]:
        at = at[key]
    del at[path[-1]]
    return smaller


def with_value(request, path, value):
    smaller = copy.deepcopy(request)
    at = smaller
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return smaller


def smaller_ones(request):
    """Each with one thing less. Many make no sense: the program refuses those, and they are dropped."""
    for number in reversed(range(len(request["network"]["nodes"]))):
        yield without(request, ("network", "nodes", number))
    for part in (("gang",), ("network", "nodes")):
        yield from smaller_parts(request, part)
    yield from fewer_levels(request)


def smaller_parts(request, path):
    value = request
    for key in path:
        value = value[key]
    entries = list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    for key, inner in reversed(entries):
        if key not in KEEP and path != ("network", "nodes"):
            yield without(request, (*path, key))
        if isinstance(inner, bool) or key == "path":
            continue
        if isinstance(inner, int) and inner > (key == "chips_per_pod"):
            yield with_value(request, (*path, key), inner - 1)
        elif isinstance(inner, (dict, list)):
            yield from smaller_parts(request, (*path, key))


def fewer_levels(request):
    for number, level in enumerate(request["network"]["levels"]):
        if len(request["network"]["levels"]) > 1 and f'"{level}"' not in str(request["gang"]).replace("'", '"'):
            if "existing" in str(request["gang"]):
                continue
            smaller = without(request, ("network", "levels", number))
            for node in smaller["network"]["nodes"]:
                if number < len(node["path"]):
                    del node["path"][number]
            yield smaller


def makes_sense(request):
    """The pods of a repair are the gang's, and roles that stand together share their levels."""
    gang = request["gang"]
    team = [one for one in gang.get("roles", []) if "together" in one]
    if len({(one.get("required_level"), one.get("preferred_level")) for one in team}) > 1:
        return False
    if "failed_nodes" not in gang:
        return True
    counts = [pods if isinstance(pods, int) else len(pods if isinstance(pods, list) else pods["ranks"])
              for pods in gang.get("existing", {}).values()]
    parts = gang.get("roles", gang.get("subgroups"))
    pods = sum(one["pods"] for one in parts) if parts else gang["pods"]
    return pods == sum(counts) and not broken_rules(request)


def shrink(request, ask):
    """One run of the program a round, over all that are one step smaller."""
    while True:
        tries = list(smaller_ones(request))
        for smaller, answer in zip(tries, ask(tries)):
            if "error" not in answer and makes_sense(smaller) and verify(smaller, answer).wrong:
                request = smaller
                break
        else:
            return request
