"""Agents that watch hardware, here a fake driver library: faults that come and go, faults that operators declare, and what
is left of them after everything was killed."""
import os, re, signal, subprocess, time
from pathlib import Path

from audit import placement_of
from lib.fake_nvml import all_lanes, dgx1v, hgx_h100, set_link
from lib.scenario import INVENTORIES

MESH, SWITCHED = "hw-mesh", "hw-switched"
FAULTY = 2  # a chip
FLIPS, KILLED = 50, 5
LOOKS_EVERY = 0.5  # seconds: the probe process at its driver
GENEROUS = 5  # seconds; what it takes is printed
EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
ON_SWITCHED = {"nodeSelector": {"kubernetes.io/hostname": SWITCHED}}


def run(s):
    mesh = s.nvidia(MESH, dgx1v(), "--health-policy", policy_without_holds(s))
    driver = s.nvidia(SWITCHED, hgx_h100())
    s.known(MESH, SWITCHED)
    as_seen(s)
    links_go_down(s, mesh)
    a_lane_to_the_switch(s, driver)
    an_xid(s, driver)
    the_probe_process_is_killed(s)
    all_is_killed(s)
    another_boot(s)
    a_fault_is_cleared(s, driver)
    a_cordon(s)
    a_maintenance(s, driver)
    a_chip_is_lost_while_no_agent_runs(s, driver)
    s.nothing_was_refused(MESH, SWITCHED)
    s.settled()


# The policy that is built in, but a link that comes up is used again at once.
def policy_without_holds(s):
    done = subprocess.run([s.chipweave.binaries / "chipweave-agent", "--print-policy"], capture_output=True,
                          text=True, check=True)
    file = s.folder / "policy.yaml"
    file.write_text(re.sub(r"(links:\n  hold: )\S+", r"\g<1>0s", done.stdout))
    return str(file)


def status(s, node=SWITCHED):
    return s.inventory(node) or {}


def condition(s, kind, node=SWITCHED):
    return next((c for c in status(s, node).get("conditions", []) if c["type"] == kind), {})


# Its faults by code and chip.
def faults(s, node=SWITCHED):
    return {(fault["code"], fault.get("chip")): fault for fault in status(s, node).get("faults", [])}


# Of the namespace default, where those about Nodes stand.
def node_events(s, reason, node=SWITCHED):
    return [event["note"] for event in s.bed.must("GET", EVENTS)["items"]
            if event["regarding"].get("kind") == "Node" and event["regarding"]["name"] == node and event["reason"] == reason]


def unhealthy(s):
    return s.chipweave.nodes()[SWITCHED]["unhealthy"]


def as_seen(s):
    for node, driver in ((MESH, "418.40"), (SWITCHED, "550.54.15")):
        seen = status(s, node)
        s.check(f"{node}: eight chips, all healthy", (seen.get("chips"), seen.get("unhealthy")) == (8, 0), seen)
        s.check(f"{node}: the facts that the driver tells", seen.get("facts", {}).get("driver") == driver, seen.get("facts"))
        s.check(f"{node}: all is well by its conditions", {c["type"]: c["status"] for c in seen["conditions"]} ==
                dict.fromkeys(("ChipsHealthy", "LinksHealthy", "NetworkHealthy", "ProbeWorking"), "True"), seen["conditions"])
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        s.check(f"{node}: the boot of its kernel", seen.get("nodeBootId") == boot, seen.get("nodeBootId"))


# From the moment at which the driver would say it to that at which our scheduler does.
def links_go_down(s, driver):
    lanes_down = lambda: sum(lanes for _, _, lanes in s.chipweave.nodes()[MESH]["down_links"])
    lanes, took = all_lanes(driver.machine), []
    for number in range(FLIPS):
        down = number % len(lanes)
        if number > 0 and down == 0:
            mend(driver)
            s.must_come("all links up again", lambda: lanes_down() == 0)
        set_link(driver.machine, *lanes[down], up=False)
        time.sleep(s.random.uniform(0, LOOKS_EVERY))  # else it would always come at the same time between two looks
        began = time.monotonic()
        driver.write()
        while lanes_down() != down + 1 and time.monotonic() - began < GENEROUS:
            time.sleep(0.005)
        took.append(time.monotonic() - began)
    took.sort()
    ms = lambda part: f"{took[min(len(took) - 1, int(len(took) * part))] * 1000:.0f} ms"
    print(f"   from driver to scheduler, {FLIPS} links: p50 {ms(0.5)}, p99 {ms(0.99)}, max {ms(1)}", flush=True)
    s.check(f"{FLIPS} links that went down are known to our scheduler", took[-1] < GENEROUS, took)
    s.check("the inventory says it", condition(s, "LinksHealthy", MESH)["status"] == "False", condition(s, "LinksHealthy", MESH))
    s.eventually("and an event on the Node", lambda: node_events(s, "LinkDown", MESH))
    mend(driver)
    s.eventually("all come up again", lambda: lanes_down() == 0)
    s.eventually("and all is well", lambda: condition(s, "LinksHealthy", MESH)["status"] == "True")


def mend(driver):
    for a, b in all_lanes(driver.machine, down=True):
        set_link(driver.machine, a, b, up=True)
    driver.write()


def a_lane_to_the_switch(s, driver):
    told = {}
    for name in ("whole", "lame"):
        s.create(name, 8, **ON_SWITCHED)
        told[name] = placement_of(s.bound(name)[name])["gbps"]
        s.delete(name)
        s.must_come("the chips back", lambda: not s.used())
        if name == "whole":
            set_link(driver.machine, FAULTY, None, up=False)
            driver.write()
            s.must_come("the link's end", lambda: condition(s, "LinksHealthy").get("status") == "False")
    s.check("a pod is told the bandwidth that is left", told["lame"] < told["whole"], told)
    set_link(driver.machine, FAULTY, None, up=True)
    driver.write()
    s.must_come("the link again, after its hold", lambda: condition(s, "LinksHealthy").get("status") == "True")


def an_xid(s, driver):
    driver.xid(FAULTY, 79)
    s.eventually("an XID takes its chip out of service", lambda: unhealthy(s) == [FAULTY], why=s.chipweave.nodes)
    fault = faults(s).get(("xid.79", FAULTY), {})
    s.check("its fault is held until a reset", fault.get("effect") == "unusable" and fault.get("untilReset"), faults(s))
    found = condition(s, "ChipsHealthy")
    s.check("ChipsHealthy is False and names it", found.get("status") == "False" and f"chip {FAULTY}: xid.79" in
            found.get("message", ""), found)
    s.eventually("an event on the Node names it", lambda: any(note.startswith(f"chip {FAULTY}: xid.79") for note in
                 node_events(s, "ChipUnusable")), why=lambda: node_events(s, "ChipUnusable"))
    shown = s.bed.kubectl("describe", "node", SWITCHED).stdout
    s.check("kubectl describe node shows it", "ChipUnusable" in shown and f"chip {FAULTY}: xid.79" in shown, shown)
    lines = [line.split() for line in s.bed.kubectl("get", "ninv", SWITCHED, "-o", "wide").stdout.splitlines()]
    s.check("kubectl get ninv: its columns", lines[0] == "NAME MACHINE CHIPS UNHEALTHY LINKS PROBE DRIVER AGE".split(), lines)
    s.check("and what stands in them", [lines[1][0], *lines[1][-6:-1]] == [SWITCHED, "8", "1", "True", "HardwareResponds",
                                                                          "550.54.15"], lines)
    s.create("seven", 7, **ON_SWITCHED)
    chips = s.chips_of(s.bound("seven")["seven"])
    s.check("a pod gets the other seven", FAULTY not in chips and len(chips) == 7, chips)
    s.delete("seven")
    s.must_come("the chips back", lambda: not s.used())
    driver.write()  # the driver has nothing more to tell


def probe_process_of(agent):
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text()
        except OSError:
            continue  # it has ended meanwhile
        if int(text.rpartition(")")[2].split()[1]) == agent.process.pid:
            return int(stat.parent.name)
    return None


def the_probe_process_is_killed(s):
    agent, sequence = s.agent(SWITCHED), status(s)["sequence"]
    probe = s.must_come("the probe process", lambda: probe_process_of(agent))
    os.kill(probe, signal.SIGKILL)
    again = lambda: probe_process_of(agent) not in (None, probe)
    s.eventually("a probe process that was killed is started again", again)
    s.check("the agent runs on", agent.process.poll() is None)
    answers = lambda: condition(s, "ProbeWorking").get("status") == "True" and status(s)["sequence"] > sequence
    s.eventually("that it was gone has been told, and is over", answers, why=lambda: status(s).get("conditions"))
    s.check("the fault is still held", unhealthy(s) == [FAULTY] and ("xid.79", FAULTY) in faults(s), faults(s))


def killed(s):
    agent = s.agent(SWITCHED)
    probe = s.must_come("the probe process", lambda: probe_process_of(agent))
    agent.kill()
    s.must_come("the end of the probe process with its agent", lambda: not Path(f"/proc/{probe}").exists())
    return agent


def started_again(s, agent, boot):
    agent.start()
    s.must_come("the report of another run of the agent", lambda: status(s).get("bootId", boot) != boot)


def all_is_killed(s):
    before = status(s)
    annotate(s, "chipweave.dev/cordon-chips=6")
    s.must_come("a cordon", lambda: unhealthy(s) == [FAULTY, 6])
    watch = s.watch_inventories()
    for _ in range(KILLED):
        started_again(s, killed(s), status(s)["bootId"])
        s.must_come("both", lambda: unhealthy(s) == [FAULTY, 6])
    told = [what["status"]["unhealthy"] for _, what in watch.of(SWITCHED)]
    s.check(f"{KILLED} times: not for a moment either chip was usable", len(told) >= KILLED and set(told) == {2}, told)
    annotate(s, "chipweave.dev/cordon-chips-")
    s.must_come("the end of the cordon", lambda: unhealthy(s) == [FAULTY])
    fault = faults(s).get(("xid.79", FAULTY), {})
    s.check("agent and probe process were killed, the fault is still held", fault.get("untilReset"), status(s).get("faults"))
    s.check("since the same moment", fault.get("sinceMs") == faults_in(before)["sinceMs"], (fault, before["faults"]))
    s.check("and in our scheduler's view", unhealthy(s) == [FAULTY], s.chipweave.nodes())


def faults_in(seen):
    return next(fault for fault in seen["faults"] if fault["code"] == "xid.79")


# As after a reboot of the machine, which resets its chips.
def another_boot(s):
    agent, boot = killed(s), status(s)["bootId"]
    s.bed.must("PATCH", f"{INVENTORIES}/{SWITCHED}/status", {"status": {"nodeBootId": "another"}})
    started_again(s, agent, boot)
    s.eventually("faults of an earlier boot of the machine are over", lambda: unhealthy(s) == [] and not faults(s),
                 why=lambda: status(s).get("faults"))


def annotate(s, what):
    s.bed.kubectl("annotate", "node", SWITCHED, what)


def annotations(s):
    return s.bed.must("GET", f"/api/v1/nodes/{SWITCHED}")["metadata"].get("annotations", {})


def a_fault_is_cleared(s, driver):
    driver.xid(FAULTY, 79)
    s.must_come("the fault anew", lambda: unhealthy(s) == [FAULTY])
    annotate(s, f"chipweave.dev/clear-faults={FAULTY}")
    s.eventually("clear-faults ends a fault that was held", lambda: unhealthy(s) == [] and not faults(s), why=lambda: faults(s))
    s.eventually("and goes, as it was carried out", lambda: "chipweave.dev/clear-faults" not in annotations(s))
    s.check("ChipsHealthy is True again", condition(s, "ChipsHealthy")["status"] == "True", condition(s, "ChipsHealthy"))
    s.eventually("an event on the Node says that it is over", lambda: any("is over" in note for note in
                 node_events(s, "FaultCleared")), why=lambda: node_events(s, "FaultCleared"))


def a_cordon(s):
    annotate(s, "chipweave.dev/cordon-chips=3,5")
    s.eventually("chips that an operator takes out of service are unusable", lambda: unhealthy(s) == [3, 5],
                 why=s.chipweave.nodes)
    s.check("their faults say so", {code for code, _ in faults(s)} == {"cordoned"}, faults(s))
    s.create("six", 6, **ON_SWITCHED)
    s.check("a pod gets others", s.chips_of(s.bound("six")["six"]) == [0, 1, 2, 4, 6, 7], s.used())
    s.create("two", 2, **ON_SWITCHED)
    s.given_up("two")
    annotate(s, "chipweave.dev/cordon-chips-")
    s.bound("two")
    s.check("and when the annotation goes, these", s.chips_of(s.pod("two")) == [3, 5], s.used())
    s.check("no chip is unhealthy", unhealthy(s) == [] and not faults(s), faults(s))


# No process of ours has the driver open meanwhile, and nothing of what it does is a fault.
def a_maintenance(s, driver):
    for pod in ("six", "two"):
        s.delete(pod)
    s.must_come("the chips back", lambda: not s.used())
    agent = s.agent(SWITCHED)
    annotate(s, "chipweave.dev/maintenance=new driver")
    s.eventually("in a maintenance no chip is offered", lambda: unhealthy(s) == list(range(8)) and
                 faults(s).get(("maintenance", None), {}).get("text") == "new driver", why=lambda: faults(s))
    s.eventually("no process of ours has the driver open", lambda: probe_process_of(agent) is None)
    driver.machine["driver"] = "570.86.10"
    driver.write()
    agent = killed_in_maintenance(s)
    s.check("a new agent leaves the hardware alone, too", probe_process_of(agent) is None and
            set(faults(s)) == {("maintenance", None)}, faults(s))
    annotate(s, "chipweave.dev/maintenance-")
    s.eventually("when it ends, the chips are offered with the new driver", lambda: unhealthy(s) == [] and not faults(s) and
                 status(s)["facts"]["driver"] == "570.86.10", why=lambda: (faults(s), status(s).get("facts")))


def killed_in_maintenance(s):
    agent, boot = s.agent(SWITCHED), status(s)["bootId"]
    agent.kill()
    started_again(s, agent, boot)
    return agent


# The driver numbers only the chips that respond: the number of every chip behind the lost one changes.
def a_chip_is_lost_while_no_agent_runs(s, driver):
    ids = {chip["index"]: chip["id"] for chip in status(s)["topology"]["chips"]}
    agent, boot = killed(s), status(s)["bootId"]
    del driver.machine["devices"][FAULTY]
    driver.machine["levels"] = [level for level in driver.machine["levels"] if max(level["a"], level["b"]) < 7]
    driver.write()
    started_again(s, agent, boot)
    s.eventually("a chip that was lost meanwhile is known", lambda: unhealthy(s) == [FAULTY] and
                 ("chip.gone", FAULTY) in faults(s), why=lambda: faults(s))
    s.check("every chip has the number that it had", {chip["index"]: chip["id"] for chip in
            status(s)["topology"]["chips"]} == ids, status(s)["topology"]["chips"])
    driver.xid(3, 79)  # the driver's number of chip 4
    s.eventually("an XID takes the right chip", lambda: unhealthy(s) == [FAULTY, 4], why=lambda: faults(s))
    annotate(s, "chipweave.dev/clear-faults=*")
    s.eventually("on command it is forgotten, and the others stay what they are", lambda: unhealthy(s) == [] and
                 {chip["index"]: chip["id"] for chip in status(s)["topology"]["chips"]} ==
                 {number: name for number, name in ids.items() if number != FAULTY}, why=lambda: status(s))
