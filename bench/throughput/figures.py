"""What processes and their metrics tell: processor time, counters, histograms."""
import os, re, statistics
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


# Processor seconds of a process so far, its threads included.
def cpu_of(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


# Processor seconds of everything on this machine so far.
def cpu_of_all():
    first = Path("/proc/stat").read_text().split("\n", 1)[0]
    user, nice, system, _idle, _wait, irq, softirq, *_ = map(int, first.split()[1:])
    return (user + nice + system + irq + softirq) / TICKS


# {(name, (("label", "value"), …)): number} of a page of Prometheus text, of the metrics named.
def metrics_of(page, names):
    found = {}
    for line in page.splitlines():
        name = line.partition("{")[0].partition(" ")[0]
        if name in names:
            labels, _, value = line[len(name):].rpartition(" ")
            found[name, tuple(re.findall(r'(\w+)="([^"]*)"', labels))] = float(value)
    return found


# The sum of those whose labels have these values.
def total(metrics, name, **labels):
    return sum(value for (key, have), value in metrics.items() if key == name and labels.items() <= dict(have).items())


# Mean milliseconds of a histogram in seconds, nothing if it has no entry.
def mean_ms(metrics, name, **labels):
    count = total(metrics, f"{name}_count", **labels)
    return total(metrics, f"{name}_sum", **labels) / count * 1000 if count else None


def less(after, before):
    return {key: value - before.get(key, 0) for key, value in after.items()}


# Number by number, through dictionaries.
def median(values):
    values = [value for value in values if value is not None]
    if values and isinstance(values[0], dict):
        keys = dict.fromkeys(key for value in values for key in value)
        return {key: median([value.get(key) for value in values]) for key in keys}
    return statistics.median(values) if values else None
