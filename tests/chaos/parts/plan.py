"""What shall be done when: drawn from the seed before anything happens, so that a seed says the same on every machine. Whether it
then hits something, and what, is up to the programs."""
import json, random


class Step:
    def __init__(self, at, fault, values):
        self.at, self.fault, self.values = at, fault, values


# Endless. faults: {name: Fault} with a weight, whether it is a blow, and draw(random) for its values. Two lanes: small faults
# several times a second, blows (a program is killed, stopped, restarted) every few seconds.
def steps(seed, faults, small_per_second, blows_per_second):
    lanes = []
    for lane, (blow, rate) in enumerate(((False, small_per_second), (True, blows_per_second))):
        chosen = [fault for fault in faults.values() if fault.blow == blow]
        if chosen and rate:
            lanes.append(draw_lane(random.Random(f"{seed}/{lane}"), chosen, rate))
    waiting = [next(lane) for lane in lanes]
    while waiting:
        first = min(range(len(waiting)), key=lambda number: waiting[number].at)
        yield waiting[first]
        waiting[first] = next(lanes[first])


def draw_lane(dice, faults, rate):
    at = 0.0
    while True:
        at += dice.expovariate(rate)
        fault = dice.choices(faults, [one.weight for one in faults])[0]
        yield Step(round(at, 3), fault.name, fault.draw(dice))


# The steps of an earlier run, from its log.
def replay(file):
    for line in file.read_text().splitlines():
        entry = json.loads(line)
        if "step" in entry:
            yield Step(entry["step"], entry["fault"], entry["values"])
