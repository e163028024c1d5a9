"""Fifty machines that kwok plays, and more pods than they hold."""
import json

from lib.gangs import fabric

# No agent renews the Leases of fake nodes.
FLAGS = ["--inventory-stale-after", "30m"]
COUNT = 50
SIZES = [1, 1, 2, 2, 4, 8] * 20  # 360 chips of 400


def run(s):
    fabric(s, COUNT)
    for number, size in enumerate(s.random.sample(SIZES, len(SIZES))):
        s.create(f"pod-{number}", size)
    bound = lambda: [pod for pod in s.pods() if pod["spec"].get("nodeName")]
    s.eventually(f"{len(SIZES)} pods with {sum(SIZES)} chips on {COUNT} nodes of 8 are bound",
                 lambda: len(bound()) == len(SIZES), 120, lambda: f"{len(bound())} are")
    s.eventually("and run", lambda: all(pod["status"]["phase"] == "Running" for pod in s.pods()), 120)
    placed = [json.loads(pod["metadata"]["annotations"]["chipweave.dev/placement"]) for pod in bound()]
    slow = [p for p in placed if len(p["chips"]) == 2 and p["gbps"] < 40]
    s.check("every pair has two NVLinks", not slow, slow)
    s.settled()
