#!/usr/bin/python3
"""Prints the built-in profiles as the lines that solver_results reads, so that it needs no JSON."""
import itertools, json
from pathlib import Path

PROFILES = Path(__file__).resolve().parent.parent.parent / "common/profiles/data"


def lines_of(name, profile):
    yield f"machine {name} {profile['vendor']}"
    if rule := profile.get("rule"):
        yield f"rule {rule['kind']} {rule['group']}"
    yield f"p2p {int(profile.get('p2p', True))}"
    chips = profile["chips"]
    for chip in [{"index": index} for index in range(chips)] if isinstance(chips, int) else chips:
        yield f"chip {chip['index']} {chip.get('numa', -1)}"
    for link in profile.get("links", []):
        yield f"link {link['a']} {link['b']} {link['kind']} {link.get('lanes', 1)} {link.get('gbps_per_lane', 0)}"
    for mesh in profile.get("meshes", []):
        for a, b in itertools.combinations(mesh["chips"], 2):
            yield f"link {a} {b} {mesh['kind']} {mesh.get('lanes', 1)} {mesh.get('gbps_per_lane', 0)}"
    nearest = {}
    for level in profile.get("host_groups", []):
        for group in level["groups"]:
            for pair in itertools.combinations(group, 2):
                nearest.setdefault(pair, level["kind"])
    for (a, b), kind in nearest.items():
        yield f"link {a} {b} {kind} 1 0"
    for switch in profile.get("switches", []):
        ports = " ".join(map(str, switch["chips"]))
        yield f"switch {switch['kind']} {switch['lanes_per_chip']} {switch['gbps_per_lane']} {ports}"
    yield "end"


for path in sorted(PROFILES.glob("*.json")):
    print("\n".join(lines_of(path.stem, json.loads(path.read_text()))))
