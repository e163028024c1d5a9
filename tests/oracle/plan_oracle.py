#!/usr/bin/env python3
"""Holds `chipweave plan --batch` against an oracle that lists all plans of small random requests. It knows the contract and
nothing of the solver: what both say is right twice.

  tests/oracle/plan_oracle.py --chipweave build/release/bin/chipweave [--seed N] [--cases N] [--only FEATURE] [-v]

Prints for every feature how many cases there were, how many fitted, and how many answers were wrong, then the smallest
request that shows each wrong answer. Exit status: 0 all right, 1 not, 2 wrong usage or the program cannot be run."""
import argparse, collections, json, subprocess, sys, time

from plan.bad_input import check_bad_input
from plan.cases import FEATURES, make_cases
from plan.verify import verify
from plan.shrink import shrink

SHOWN = 3


def run_program(program, requests):
    lines = "".join(json.dumps(request) + "\n" for request in requests)
    run = subprocess.run([program, "plan", "--batch", "-"], input=lines, capture_output=True, text=True, timeout=300)
    return run, [json.loads(line) for line in run.stdout.splitlines()]


def ask(program, requests):
    """Status and answers of one run over all of them. If the program ends early, the request that ended it is repeated alone."""
    run, answers = run_program(program, requests)
    if len(answers) == len(requests):
        return run.returncode, answers
    if len(requests) == 1:
        return run.returncode, [{"died": f"exit {run.returncode}: {run.stderr.strip()[-300:]}"}]
    return run.returncode, [ask(program, [request])[1][0] for request in requests]


class Tally:
    """What one feature came to."""

    def __init__(self):
        self.cases = self.fitting = self.unproven = 0
        self.wrong, self.readings = [], collections.Counter()
        self.slowest = 0

    def add(self, request, answer):
        start = time.monotonic()
        verdict = verify(request, answer)
        self.slowest = max(self.slowest, time.monotonic() - start)
        self.cases += 1
        self.fitting += verdict.fits
        self.unproven += not verdict.optimal
        self.readings.update(verdict.reading)
        if verdict.wrong:
            self.wrong.append((request, verdict.wrong))


def show_wrong(program, wrong):
    """The first few, each as small as it can be made."""
    for request, _ in wrong[:SHOWN]:
        small = shrink(request, lambda requests: ask(program, requests)[1])
        answer = ask(program, [small])[1][0]
        print(f"\n{request['id']}: {verify(small, answer).wrong}")
        print(f"  request {json.dumps(small)}\n  answer  {json.dumps(answer)}")


def run_features(program, args):
    good, total = True, collections.Counter()
    print(f"{'feature':24}{'cases':>8}{'fitting':>9}{'wrong':>7}")
    for feature in [args.only] if args.only else FEATURES:
        tally = Tally()
        requests = make_cases(feature, args.seed, args.cases)
        for request, answer in zip(requests, ask(program, requests)[1]):
            tally.add(request, answer)
        more = f"   slowest {tally.slowest * 1000:.0f} ms, {tally.unproven} not proven" if args.v else ""
        print(f"{feature:24}{tally.cases:8}{tally.fitting:9}{len(tally.wrong):7}{more}", flush=True)
        total.update(tally.readings)
        show_wrong(program, tally.wrong)
        good = good and not tally.wrong
    for reading, count in sorted(total.items()) if args.v else ():
        print(f"right only if read as {reading}: {count}")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--chipweave", required=True, metavar="PATH")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=500, help="for each feature")
    parser.add_argument("--only", choices=FEATURES)
    parser.add_argument("-v", action="store_true", help="times, and which open points were read in another way")
    args = parser.parse_args()
    try:
        good = run_features(args.chipweave, args)
        wrong = [] if args.only else check_bad_input(lambda requests: ask(args.chipweave, requests))
    except (OSError, RuntimeError, ValueError, subprocess.TimeoutExpired) as error:
        print(f"plan_oracle: {error}", file=sys.stderr)
        return 2
    for line in wrong:
        print(f"\nbad input: {line}")
    return 0 if good and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
