"""What rank tables need beside pods: machines whose devices have addresses, the addresses that kubelets report, and the
ConfigMaps that users make beforehand."""
import random, threading, time

from lib.ascend import machine_file
from parts import gangs
from parts.tables.ledger import HOST_IP, INITIALIZING, KEY, MARK, POD_UID, PREFIX, USER, VERSION, address

REPORT_SECONDS = 0.1
ADDRESS_SECONDS = (0.05, 0.3, 1, 3)  # until a bound pod has its address, at most
USERS_SHARE = 0.3  # of the gangs' ConfigMaps


def host_of(number):
    return f"10.1.0.{number + 1}"


def maps_of(namespace):
    return f"/api/v1/namespaces/{namespace}/configmaps"


# How servers are called in the tables of this run.
def ids_of(seed):
    return random.Random(f"{seed}/tables").choice((HOST_IP, POD_UID))


# A file with the machine of a node; keep: the chips that are left of it, None: all.
def machine_with_addresses(world, node, keep=None):
    keep = range(8) if keep is None else keep
    file = world.folder / f"{'part-' if len(keep) < 8 else ''}{node}.json"
    return machine_file(world.bed, world.binaries, file, lambda chip: address(world.hosts[node], chip), keep)


class Kubelets:
    """Report the addresses of bound pods, some time after they are bound. No two pods of a run have the same."""

    def __init__(self, world, judge, client):
        self.world, self.judge, self.client = world, judge, client
        self.random, self.stopping = random.Random(f"{world.options.seed}/kubelets"), threading.Event()
        self.pods, self.trouble = {}, None  # (when, address), by uid
        self.thread = threading.Thread(target=self.guarded, daemon=True)
        self.thread.start()

    def guarded(self):
        try:
            while not self.stopping.wait(REPORT_SECONDS):
                self.report(time.monotonic())
        except Exception as error:
            self.judge.find([f"the suite itself failed: kubelets: {type(error).__name__}: {error}"], "suite")
            raise

    def report(self, now):
        for pod in self.judge.live():
            meta, node = pod["metadata"], pod["spec"].get("nodeName")
            if meta["namespace"] not in self.world.namespaces or node not in self.world.hosts or gangs.is_over(pod):
                continue
            if pod.get("status", {}).get("podIP"):
                continue
            number = len(self.pods) + 1
            when, its = self.pods.setdefault(meta["uid"], (now + self.random.uniform(0, self.random.choice(ADDRESS_SECONDS)),
                                                           f"10.244.{number // 250}.{number % 250 + 1}"))
            if now < when:
                continue
            host = self.world.hosts[node]
            body = {"metadata": {"uid": meta["uid"]}, "status": {"hostIP": host, "hostIPs": [{"ip": host}], "podIP": its,
                                                                 "podIPs": [{"ip": its}]}}
            self.client.ask("PATCH", f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/status", body)

    def stop(self):
        self.stopping.set()
        self.thread.join(15)


class Users:
    """Mark the pods of gangs, and make some of their ConfigMaps beforehand."""

    def __init__(self, seed):
        self.random = random.Random(f"{seed}/users")

    # The bodies of one gang's pods.
    def mark(self, name, bodies):
        where = self.random.choice(("labels", "annotations"))
        for body in bodies:
            body["metadata"][where] = {**body["metadata"].get(where, {}), MARK: "auto"}
            if gangs.MARK not in body["metadata"]["labels"]:
                body["metadata"]["labels"]["deploy-name"] = name  # the table of a PodGroup's gang would have a pod's name

    # None: it is left to the scheduler.
    def config_map(self, name):
        if self.random.random() >= USERS_SHARE:
            return None
        data = self.random.choice(({}, {KEY: ""}, {KEY: INITIALIZING}, {KEY: INITIALIZING, VERSION: "0", "notes.txt": "keep"}))
        return {"apiVersion": "v1", "kind": "ConfigMap", "data": data,
                "metadata": {"name": PREFIX + name, "labels": {USER: "true", "app": name}, "annotations": {"a": "b"}}}
