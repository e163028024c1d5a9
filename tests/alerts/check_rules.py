#!/usr/bin/python3
"""Checks the alerts of charts/chipweave without a Prometheus: promtool check rules, promtool test rules with cases.yaml;
each alert has a case in which it fires and one in which it does not, a severity, a summary, what to do next, a link to
a heading of docs/tasks/monitor.md and a row in its tables; and uses only labels that it has.

usage: check_rules.py [RULES]

RULES are the rules to check instead of charts/chipweave/alerts.yaml: what helm made of them (scripts/check-chart)."""
import copy, json, re, shutil, subprocess, sys, tempfile
from pathlib import Path

import yaml

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAGE = ROOT / "docs/tasks/monitor.md"
SKIPPED = 77  # ctest's SKIP_RETURN_CODE


def anchors(page):
    headings = re.findall(r"^#+ (.*)$", page, re.M)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


def complaints(rules, cases, page):
    known = anchors(page)
    moments = [moment for case in cases["tests"] for moment in case["alert_rule_test"]]
    for rule in rules:
        name, texts = rule["alert"], rule.get("annotations", {})
        fires = [m for m in moments if m["alertname"] == name and m["exp_alerts"]]
        if not fires:
            yield f"{name}: no case in which it fires"
        if not any(m["alertname"] == name and not m["exp_alerts"] for m in moments):
            yield f"{name}: no case in which it does not fire"
        if rule.get("labels", {}).get("severity") not in ("warning", "critical"):
            yield f"{name}: severity must be warning or critical"
        if set(texts) != {"summary", "description", "runbook_url"}:
            yield f"{name}: expected summary, description and runbook_url, found {', '.join(texts) or 'nothing'}"
        link = texts.get("runbook_url", "")
        if link.partition("#")[2] not in known:
            yield f"{name}: {PAGE.name} has no heading for {link}"
        if f"| `{name}` |" not in page:
            yield f"{name}: not in the tables of {PAGE.name}"
        has = set.intersection(*(set(alert["exp_labels"]) for m in fires for alert in m["exp_alerts"])) if fires else set()
        used = set(re.findall(r"\$labels\.(\w+)", " ".join(texts.values())))
        if used - has:
            yield f"{name}: its texts use labels that it does not have: {', '.join(sorted(used - has))}"
    names = {rule["alert"] for rule in rules}
    for name in {m["alertname"] for m in moments} | set(re.findall(r"\| `(Chipweave\w+)` \|", page)):
        if name not in names:
            yield f"{name}: no such alert"


# Descriptions are prose; the cases need not repeat them.
def with_summaries_alone(document):
    out = copy.deepcopy(document)
    for group in out["groups"]:
        for rule in group["rules"]:
            rule["annotations"] = {"summary": rule["annotations"]["summary"]}
    return out


def promtool(*arguments):
    done = subprocess.run(["promtool", *map(str, arguments)], capture_output=True, text=True)
    print((done.stdout + done.stderr).strip())
    return done.returncode == 0


def main():
    if not shutil.which("promtool"):
        print("promtool is not installed (dependencies/test.txt): alerts not checked")
        return SKIPPED
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "charts/chipweave/alerts.yaml"
    document, cases = yaml.safe_load(path.read_text()), yaml.safe_load((HERE / "cases.yaml").read_text())
    rules = [rule for group in document["groups"] for rule in group["rules"]]
    found = list(complaints(rules, cases, PAGE.read_text()))
    with tempfile.TemporaryDirectory() as work:
        (Path(work) / "rules.yaml").write_text(json.dumps(with_summaries_alone(document)))
        (Path(work) / "cases.yaml").write_text(json.dumps({**cases, "rule_files": ["rules.yaml"]}))
        if not promtool("check", "rules", "--lint-fatal", path):
            found.append("promtool check rules")
        if not promtool("test", "rules", Path(work) / "cases.yaml"):
            found.append("promtool test rules")
    for complaint in found:
        print(f"alerts: {complaint}", file=sys.stderr)
    print(f"alerts: {len(rules)} alerts, {len(cases['tests'])} cases, {len(found)} complaints")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
