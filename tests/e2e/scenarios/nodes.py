"""Nodes come and go: the node object, its agent, its inventory."""
from audit import placement_of
from lib.bed import NS
from lib.scenario import INVENTORIES

# An agent renews its Lease every 10 seconds.
FLAGS = ["--inventory-stale-after", "15s"]
STALE_SECONDS = 60
A, B = "n-a", "n-b"


def run(s):
    s.v100(A, B)
    agent_stops_reporting(s)
    deleted_inventory(s)
    node_made_anew(s)
    foreign_inventory(s)
    another_machine(s)
    s.settled()


def on(node):
    return {"nodeSelector": {"kubernetes.io/hostname": node}}


# Nothing new is placed there, what runs there goes on.
def agent_stops_reporting(s):
    s.create("runs", 2, **on(A))
    s.bound("runs")
    before = s.used()
    boot = s.inventory(A)["bootId"]
    s.agent(A).kill()
    s.eventually("a node whose agent was killed turns stale", lambda: s.chipweave.nodes()[A]["stale"], STALE_SECONDS)
    s.check("its pod keeps its chips", s.used() == before, s.used())
    s.check("the other node is not stale", not s.chipweave.nodes()[B]["stale"])
    s.create("waits", 2, **on(A))
    s.given_up("waits")
    s.eventually("an event says that the agent is not reporting", lambda: any("not reporting" in event["note"] for event in
                 s.events("waits", "ChipsUnavailable")), why=s.all_events)
    s.create("moves", 2)
    s.check("what may go elsewhere does", s.bound("moves")["moves"]["spec"]["nodeName"] == B)
    s.agent(A).start()
    s.bound("waits")
    s.check("the agent came back with another boot id", s.inventory(A)["bootId"] != boot)
    s.check("the node is no longer stale", not s.chipweave.nodes()[A]["stale"])


def deleted_inventory(s):
    before = s.used()
    uid = s.bed.must("GET", f"{INVENTORIES}/{A}")["metadata"]["uid"]
    s.bed.kubectl("delete", "nodeinventory", A)
    back = lambda: s.inventory(A) and s.bed.must("GET", f"{INVENTORIES}/{A}")["metadata"]["uid"] != uid
    s.eventually("a NodeInventory that somebody deleted comes back", back, 90)
    s.must_come("our scheduler's word of the node", lambda: s.chipweave.nodes().get(A, {}).get("free"))
    s.eventually("the pods there keep their chips", lambda: s.used() == before, why=s.used)


# As when a machine is reinstalled: the object goes, its pods go with it, and it comes back under the same name.
def node_made_anew(s):
    s.agent(A).kill()
    s.remove_node(A)
    s.eventually("without its node the inventory goes, too", lambda: not s.inventory(A))
    for name in ("runs", "waits"):
        s.delete(name)
    s.eventually("and our scheduler forgets it", lambda: A not in s.chipweave.nodes(), why=s.chipweave.nodes)
    s.v100(A)
    s.create("anew", 8, **on(A))
    s.bound("anew")
    s.delete("anew")


# The agent of one node cannot speak for another: not even with its own program.
def foreign_inventory(s):
    agent, own = s.agent(A), s.inventory(B)
    agent.kill()
    command = list(agent.command)
    agent.command[agent.command.index("--node") + 1] = B
    agent.start()
    s.eventually("the agent of one node that claims to be another is refused", lambda: "may not write" in
                 agent.log.read_text(), why=agent.log.read_text)
    s.check("the inventory of that node is its own agent's", s.inventory(B)["bootId"] == own["bootId"])
    lease = s.bed.must("GET", f"/apis/coordination.k8s.io/v1/namespaces/{NS}/leases/{B}")
    s.check("and so is its Lease", lease["spec"]["holderIdentity"] == own["bootId"], lease["spec"])
    agent.kill()
    agent.command = command
    agent.start()
    s.create("after", 2, **on(A))
    s.bound("after")


# The agent comes back and finds other links: pods keep their chips, new ones get what is there now.
def another_machine(s):
    agent, before = s.agent(A), s.used()
    agent.kill()
    agent.command[agent.command.index("--probe") + 1] = "profile:pcie-8"
    agent.start()
    s.eventually("the machine is another one", lambda: s.chipweave.nodes()[A]["machine"] == "pcie-8", why=s.chipweave.nodes)
    s.check("its pods keep their chips", s.used() == before, s.used())
    s.create("slow", 2, **on(A))
    pod = s.bound("slow")["slow"]
    s.check("a new pod is told the bandwidth of the new one", placement_of(pod)["gbps"] < 40, placement_of(pod))
