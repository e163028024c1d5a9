"""What the accounts of the chart may and may not do, as tables. chart_test.py holds an installed chart against them."""

READ = "get list watch"
NOTE = {"metadata": {"annotations": {"chipweave.dev/test": "1"}}}
# Everywhere, and besides that in the release's namespace. No rights but these.
SCHEDULER_RIGHTS = ({"pods": READ, "pods/binding": "create", "pods/status": "patch", "nodes": f"{READ} patch",
                     "nodeinventories.chipweave.dev": READ, "resourceclaims.resource.k8s.io": READ,
                     "resourceslices.resource.k8s.io": "list watch",
                     "events.events.k8s.io": "create patch"},
                    {"leases.coordination.k8s.io": f"{READ} create update", "pods": "patch",
                     "configmaps": "list watch create patch delete"})
# And where gangs may end pods of lower priority.
PREEMPTION_RIGHTS = {"pods/eviction": "create", "poddisruptionbudgets.policy": "list"}
# And where callers of the gRPC port show tokens.
TOKEN_RIGHTS = {"tokenreviews.authentication.k8s.io": "create"}
AGENT_RIGHTS = ({"nodes": f"{READ} patch", "nodeinventories.chipweave.dev": "get create patch",
                 "nodeinventories/status.chipweave.dev": "update", "resourceslices.resource.k8s.io": "list watch"},
                {"leases.coordination.k8s.io": "get create update"},
                {"events.events.k8s.io": "create patch"})  # this last one in the namespace default

# And where there are device plugins: everywhere.
DEVICE_PLUGIN_RIGHTS = {"pods": f"{READ} patch", "nodeinventories.chipweave.dev": READ}
# And where they follow the node label of ACK.
ACK_LABEL_RIGHTS = {"nodes": READ}

# And where the agents speak MindCluster: in each of these namespaces.
PUBLISH_RIGHTS = {"configmaps": "create patch delete"}
PUBLISH_NAMESPACES = ["kube-system", "mindx-dl"]

# And where the scheduler keeps MindCluster's cluster-info: in mindx-dl alone.
CLUSTER_INFO_RIGHTS = {"configmaps": "create get patch delete"}
CLUSTER_INFO = ["cluster-info-node-cm", *(f"cluster-info-device-{i}" for i in range(20)),
                *(f"cluster-info-switch-{i}" for i in range(10))]
NOT_CLUSTER_INFO = ["somebodys", "cluster-info-device-20", "cluster-info-switch-10", "cluster-info-device-01"]

# And where gangs have hostfiles: in each of the namespaces that the values name, else everywhere.
HOSTFILE_RIGHTS = {"configmaps": "create patch"}

# And where it writes rank tables: in each of the namespaces that the values name, else everywhere.
RANK_TABLE_RIGHTS = {"configmaps": "create patch"}
# The ConfigMap of a job that its user has made beforehand, with a key, a label and more of its own.
USERS_RANK_TABLE = {
    "apiVersion": "v1", "kind": "ConfigMap", "data": {"hccl.json": '{"status":"initializing"}', "notes": "kept"},
    "metadata": {"name": "rings-config-users", "labels": {"ring-controller.atlas": "ascend-910"}, "annotations": {"example.com/x": "1"}}}
# Patches of it that the scheduler may not make: what it changes, and the patch.
RANK_TABLE_PATCHES = [
    ("another key", {"data": {"notes": "changed"}}),
    ("another key away", {"data": {"notes": None}}),
    ("a further key", {"data": {"script": "x"}}),
    ("binary data", {"binaryData": {"script": "MQ=="}}),
    ("another label", {"metadata": {"labels": {"ring-controller.atlas": "ascend-310"}}}),
    ("another label away", {"metadata": {"labels": {"ring-controller.atlas": None}}}),
    ("a further label", {"metadata": {"labels": {"example.com/x": "1"}}}),
    ("an annotation", NOTE),
    ("whether it can be changed", {"immutable": True}),
    ("its own label away", {"metadata": {"labels": {"chipweave.dev/ranktable-content": None}}}),
    ("finalizers", {"metadata": {"finalizers": ["example.com/x"]}}),
    ("owners", {"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "x", "uid": "x"}]}}),
]

# And where it keeps DLRover's description of the network: in each of these namespaces.
DLROVER_RIGHTS = {"configmaps": "create patch"}

# The ConfigMaps that keep plans of gangs, and others that the scheduler may not write in its namespace.
GANG_PLANS = ["chipweave-gang-0123456789abcdef", "chipweave-gang-0123456789abcdef-2"]
NOT_GANG_PLANS = ["somebodys", "chipweave-gang-0123456789abcde", "chipweave-gang-0123456789abcdef-9",
                  "cluster-info-node-cm"]

EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
DEFAULT, INVENTORIES = "/api/v1/namespaces/default", "/apis/chipweave.dev/v1alpha1/nodeinventories"
WATCH = "?watch=true&timeoutSeconds=1"
TOKEN_REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"
TOKEN_REVIEW = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": "none"}}
REQUEUE = {"metadata": {"annotations": {"chipweave.dev/chips-freed": "1"}}}


def leases(namespace):
    return f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"


def inventory(name):
    return {"apiVersion": "chipweave.dev/v1alpha1", "kind": "NodeInventory", "metadata": {"name": name}}


def lease(name):
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name}}


# As the agent of a node reports a fault.
def event_about(node):
    return {"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": f"{node}.1"}, "type": "Warning",
            "eventTime": "2026-01-02T03:04:05.000000Z", "reportingController": "chipweave.dev/agent",
            "reportingInstance": node, "action": "Watching", "reason": "ChipUnusable", "note": "test",
            "regarding": {"apiVersion": "v1", "kind": "Node", "name": node, "uid": node}}


# Rows: allowed or not, method, path, body (of PUT: what is there). In this order: later rows may need earlier ones.
def scheduler_requests(ns):
    binding = {"apiVersion": "v1", "kind": "Binding", "target": {"kind": "Node", "name": "fake-0"},
               "metadata": {"name": "to-bind", "annotations": {"chipweave.dev/placement": "{}"}}}
    event = {"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "to-bind.1"}, "type": "Normal",
             "eventTime": "2026-01-02T03:04:05.000000Z", "reportingController": "chipweave.dev/scheduler",
             "reportingInstance": "test", "action": "Assign", "reason": "ChipsAssigned", "note": "test",
             "regarding": {"kind": "Pod", "namespace": "default", "name": "to-bind"}}
    series = {"series": {"count": 2, "lastObservedTime": "2026-01-02T03:04:06.000000Z"}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c"}]}}
    token = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    return [
        (True, "GET", "/api/v1/pods", None),
        (True, "GET", f"/api/v1/pods{WATCH}", None),
        (True, "GET", f"{DEFAULT}/pods/to-bind", None),
        (True, "PATCH", f"{DEFAULT}/pods/to-bind/status", {"status": {"nominatedNodeName": "fake-0"}}),
        (True, "POST", f"{DEFAULT}/pods/to-bind/binding", binding),
        (True, "GET", "/api/v1/nodes", None),
        (True, "GET", f"/api/v1/nodes{WATCH}", None),
        (True, "PATCH", "/api/v1/nodes/fake-0", REQUEUE),
        (True, "GET", INVENTORIES, None),
        (True, "GET", f"{INVENTORIES}{WATCH}", None),
        (True, "GET", leases(ns), None),
        (True, "GET", f"{leases(ns)}{WATCH}", None),
        (True, "POST", EVENTS, event),
        (True, "PATCH", f"{EVENTS}/to-bind.1", series),
        (False, "POST", f"{DEFAULT}/pods", pod),
        (False, "PATCH", f"{DEFAULT}/pods/to-bind", NOTE),
        (False, "DELETE", f"{DEFAULT}/pods/to-bind", None),
        (False, "POST", f"{DEFAULT}/pods/to-bind/eviction", None),
        (False, "GET", f"{DEFAULT}/pods/to-bind/log", None),
        (False, "POST", f"{DEFAULT}/bindings", binding),
        (False, "PUT", "/api/v1/nodes/fake-0", None),
        (False, "DELETE", "/api/v1/nodes/fake-0", None),
        (False, "PATCH", "/api/v1/nodes/fake-0/status", NOTE),
        (False, "POST", INVENTORIES, inventory("fake-0")),
        (False, "DELETE", f"{INVENTORIES}/fake-0", None),
        (False, "PATCH", f"{INVENTORIES}/fake-0/status", NOTE),
        (True, "POST", leases(ns), lease("chipweave-scheduler")),
        (True, "PUT", f"{leases(ns)}/chipweave-scheduler", None),
        (False, "PUT", f"{leases(ns)}/other", None),
        (False, "PATCH", f"{leases(ns)}/chipweave-scheduler", NOTE),
        (False, "DELETE", f"{leases(ns)}/chipweave-scheduler", None),
        (False, "GET", leases("kube-system"), None),
        (False, "POST", leases("kube-system"), lease("chipweave-scheduler")),
        (False, "GET", "/apis/coordination.k8s.io/v1/leases", None),
        (False, "GET", EVENTS, None),
        (False, "DELETE", f"{EVENTS}/to-bind.1", None),
        (False, "GET", "/api/v1/secrets", None),
        (False, "GET", f"/api/v1/namespaces/{ns}/secrets/chipweave-scheduler-tls", None),
        (False, "GET", f"/api/v1/namespaces/{ns}/configmaps/chipweave-scheduler", None),
        (True, "GET", f"/api/v1/namespaces/{ns}/configmaps", None),
        (False, "GET", "/api/v1/namespaces/kube-system/configmaps", None),
        (False, "POST", f"/api/v1/namespaces/{ns}/serviceaccounts/chipweave-agent/token", token),
        (False, "POST", TOKEN_REVIEWS, TOKEN_REVIEW),
        (False, "GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles", None),
    ]


# Patches of a node that the scheduler may not make: what it changes, and the patch.
SCHEDULER_NODE_PATCHES = [
    ("another annotation", NOTE),
    ("a cordon", {"metadata": {"annotations": {"chipweave.dev/cordon-chips": "*"}}}),
    ("an annotation away", {"metadata": {"annotations": {"chipweave.dev/clear-faults": None}}}),
    ("a label", {"metadata": {"labels": {"chipweave.dev/chips": "8"}}}),
    ("a label away", {"metadata": {"labels": {"kubernetes.io/hostname": None}}}),
    ("taints", {"spec": {"taints": [{"key": "x", "effect": "NoExecute"}]}}),
    ("whether pods may come", {"spec": {"unschedulable": True}}),
    ("finalizers", {"metadata": {"finalizers": ["example.com/x"]}}),
    ("owners", {"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "x", "uid": "x"}]}}),
]


# Patches of a pod of its own node that a device plugin may not make: what it changes, and the patch.
DEVICE_PLUGIN_POD_PATCHES = [
    ("another annotation", NOTE),
    ("another annotation away", {"metadata": {"annotations": {"example.com/kept": None}}}),
    ("its annotation away", {"metadata": {"annotations": {"chipweave.dev/placement": None}}}),
    ("a label", {"metadata": {"labels": {"example.com/x": "1"}}}),
    ("a label away", {"metadata": {"labels": {"app": None}}}),
    ("finalizers", {"metadata": {"finalizers": ["example.com/x"]}}),
    ("owners", {"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "x", "uid": "x"}]}}),
    ("when it is killed", {"spec": {"activeDeadlineSeconds": 1}}),
]


# Of pods named own, of its node.
def device_plugin_requests(ns):
    return [
        (True, "GET", "/api/v1/pods", None),
        (True, "GET", f"/api/v1/pods{WATCH}", None),
        (True, "GET", INVENTORIES, None),
        (True, "GET", f"{INVENTORIES}{WATCH}", None),
        (False, "PATCH", f"{DEFAULT}/pods/own/status", NOTE),
        (False, "PATCH", f"{DEFAULT}/pods/own/ephemeralcontainers", {"spec": {}}),
        (False, "DELETE", f"{DEFAULT}/pods/own", None),
        (False, "PUT", f"{DEFAULT}/pods/own", None),
        (False, "GET", f"{DEFAULT}/pods/own/log", None),
        (False, "PATCH", f"{INVENTORIES}/fake-0", NOTE),
        (False, "GET", "/api/v1/nodes", None),
        (False, "PATCH", "/api/v1/nodes/fake-0", NOTE),
        (False, "GET", leases(ns), None),
        (False, "GET", "/api/v1/secrets", None),
        (False, "GET", f"/api/v1/namespaces/{ns}/configmaps", None),
    ]


# Besides what it writes, below.
def agent_requests(ns, node):
    return [
        (True, "GET", f"/api/v1/nodes/{node}", None),
        (True, "GET", f"{INVENTORIES}/{node}", None),
        (True, "GET", f"{leases(ns)}/{node}", None),
        (False, "GET", "/api/v1/pods", None),
        (False, "GET", f"/api/v1/namespaces/{ns}/pods", None),
        (True, "GET", "/api/v1/nodes", None),
        (True, "GET", f"/api/v1/nodes{WATCH}", None),
        (False, "PUT", f"/api/v1/nodes/{node}", None),
        (False, "DELETE", f"/api/v1/nodes/{node}", None),
        (False, "PATCH", f"/api/v1/nodes/{node}/status", NOTE),
        (False, "GET", INVENTORIES, None),
        (False, "GET", f"{INVENTORIES}{WATCH}", None),
        (False, "PUT", f"{INVENTORIES}/{node}", None),
        (False, "DELETE", f"{INVENTORIES}/{node}", None),
        (False, "DELETE", INVENTORIES, None),
        (False, "GET", f"{INVENTORIES}/{node}/status", None),
        (False, "PATCH", f"{INVENTORIES}/{node}/status", NOTE),
        (False, "GET", leases(ns), None),
        (False, "PATCH", f"{leases(ns)}/{node}", NOTE),
        (False, "DELETE", f"{leases(ns)}/{node}", None),
        (False, "GET", f"{leases('kube-node-lease')}/{node}", None),
        (False, "POST", leases("kube-node-lease"), lease(node)),
        (False, "GET", f"/api/v1/namespaces/{ns}/secrets", None),
        (False, "GET", f"/api/v1/namespaces/{ns}/configmaps", None),
        (False, "GET", "/api/v1/namespaces/kube-system/configmaps", None),
        (False, "GET", EVENTS, None),
        (False, "DELETE", f"{EVENTS}/{node}.1", None),
        (False, "POST", EVENTS.replace("default", "kube-system"), event_about(node)),
        (False, "POST", f"{DEFAULT}/events", None),
    ]


# What only the agent of `node` may write: method, path, body.
def made_by_agent(ns, node):
    return [("POST", INVENTORIES, inventory(node)), ("POST", leases(ns), lease(node)), ("POST", EVENTS, event_about(node))]


# Of what is there; `must` asks as the administrator.
def changed_by_agent(ns, node, must):
    return [("PUT", f"{INVENTORIES}/{node}/status", must("GET", f"{INVENTORIES}/{node}")),
            ("PUT", f"{leases(ns)}/{node}", must("GET", f"{leases(ns)}/{node}")),
            ("PATCH", f"{INVENTORIES}/{node}", NOTE),
            ("PATCH", f"{EVENTS}/{node}.1", {"series": {"count": 2, "lastObservedTime": "2026-01-02T03:04:06.000000Z"}}),
            ("PATCH", f"/api/v1/nodes/{node}", {"metadata": {"labels": {"chipweave.dev/chips": "8"}}})]


# Patches of its own Node that an agent may not make: what it changes, and the patch.
FOREIGN_MARKS = [
    ("an annotation", {"metadata": {"annotations": {"example.com/x": "1"}}}),
    ("a role", {"metadata": {"labels": {"node-role.kubernetes.io/control-plane": ""}}}),
    ("its host name", {"metadata": {"labels": {"kubernetes.io/hostname": None}}}),
    ("a cordon", {"metadata": {"annotations": {"chipweave.dev/cordon-chips": "*"}}}),
    ("taints", {"spec": {"taints": [{"key": "x", "effect": "NoExecute"}]}}),
    ("whether pods may come", {"spec": {"unschedulable": True}}),
    ("finalizers", {"metadata": {"finalizers": ["example.com/x"]}}),
    ("owners", {"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "x", "uid": "x"}]}}),
]
# Events that an agent may not write: which, and what is other than in event_about().
FOREIGN_EVENTS = [
    ("about a pod", {"regarding": {"kind": "Pod", "namespace": "default", "name": "fake-0"}}),
    ("about nothing", {"regarding": None}),
    ("that also names another node", {"related": {"kind": "Node", "name": "fake-1"}}),
    ("as if it were the kubelet", {"reportingController": "kubelet"}),
]
# Patches of its own Node that it may make.
OWN_MARKS = [
    {"metadata": {"labels": {"accelerator": "huawei-npu", "nvidia.com/gpu.count": "8"},
                  "annotations": {"chipweave.dev/agent-keys": "labels=accelerator;annotations=", "superPodID": "-2"}}},
    {"metadata": {"labels": {"accelerator": None, "nvidia.com/gpu.count": None},
                  "annotations": {"chipweave.dev/agent-keys": None, "superPodID": None}}},
    {"metadata": {"annotations": {"chipweave.dev/clear-faults": None}}},
]


# The ConfigMaps that the agent of a node keeps where MindCluster and ACK are switched on: namespace and name.
def config_maps(node):
    return [("kube-system", f"mindx-dl-deviceinfo-{node}"), ("mindx-dl", f"mindx-dl-nodeinfo-{node}"),
            ("kube-system", f"chipweave-gpu-topology-{node}")]


def config_map(name):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}


def hostfile(name, key="hostfile"):
    mark = {"chipweave.dev/hostfile": "0123456789abcdef"}
    return {**config_map(name), "metadata": {"name": name, "labels": mark}, "data": {key: "a slots=8"}}


# As the scheduler writes it; as a patch, too.
def rank_table(name, *keys):
    marks, texts = {"chipweave.dev/ranktable-content": "0123456789abcdef"}, dict.fromkeys(keys or ["hccl.json"], "{}")
    return {**config_map(name), "metadata": {"name": name, "labels": marks}, "data": {**texts, "version": "1"}}


# An object whose name the API server makes up from `node`.
def named_later(node):
    return "POST", INVENTORIES, {**inventory(node), "metadata": {"generateName": node}}
