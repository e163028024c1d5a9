#!/usr/bin/env python3
"""MindIE's controller in another language: its table before its pods exist, while they come, after one is replaced and over a
restart of the scheduler; a reader of all jobs; what is refused; and many subscribers, some of which never read.

usage: mindie_test.py SOURCE-FOLDER PROGRAMS-FOLDER CLASS
"""
import json, shutil, sys, tempfile, threading, unittest, urllib.error, urllib.request
from pathlib import Path

import grpc

from deployment import Controller, Deployment, PATIENCE, job_methods, make_stubs, methods, until

SOURCE, BIN = Path(sys.argv[1]), Path(sys.argv[2])
STUBS_FOLDER = Path(tempfile.mkdtemp())
STUBS = make_stubs(SOURCE, STUBS_FOLDER)
JOB_STUBS = make_stubs(SOURCE, STUBS_FOLDER, "job")


def servers(table):
    groups = json.loads(table)["server_group_list"]
    return [[server["server_id"] for server in group["server_list"]] for group in groups]


class Case(unittest.TestCase):
    nodes = 4
    host = "127.0.0.1"

    def setUp(self):
        self.d = Deployment(BIN, self.nodes, self.host)
        self.addCleanup(shutil.rmtree, self.d.work)
        self.addCleanup(self.d.end)
        self.d.start()

    def client(self, job="chat"):
        client = Controller(STUBS, self.d.address, job)
        self.addCleanup(client.stop)
        client.start()
        return client

    def register(self, channel, job):
        return methods(STUBS, channel)[0](STUBS.ClientInfo(jobId=job, role="r"), timeout=PATIENCE)

    def serves(self):
        with grpc.insecure_channel(self.d.address()) as channel:
            try:
                return self.register(channel, "probe").code == 0
            except grpc.RpcError:
                return False


class Subscriptions(Case):
    def test_a_deployment_from_nothing_to_a_repair_and_a_restart(self):
        early = self.client()
        self.d.head("coordinator")
        self.d.head("controller")
        name, node = self.d.servers("server-0")
        until("what is missing", lambda: self.d.shown()["missing"] == [f"job server-0: pod {name}: its node"])
        self.assertEqual(early.tables, [], "no part of a table is sent")
        self.d.address_of(name, node, 2)
        early.wait("the first table", lambda: len(early.tables) == 1)
        first = early.tables[0]
        table = json.loads(first)
        self.assertEqual(table["status"], "completed")
        self.assertEqual([group["group_id"] for group in table["server_group_list"]], ["0", "1", "2"])
        ranks = [device["rank_id"] for server in table["server_group_list"][2]["server_list"] for device in server["device"]]
        self.assertEqual(ranks, [str(rank) for rank in range(16)])
        self.assertEqual(self.d.shown()["table"], table)

        # An instance is added: one table, when all of it is there.
        name, node = self.d.servers("server-1")
        until("that it is incomplete", lambda: not self.d.shown()["complete"])
        self.d.address_of(name, node, 2)
        early.wait("the second table", lambda: len(early.tables) == 2)
        self.assertEqual(len(servers(early.tables[1])), 4)

        # A pod is lost: nothing is sent until another one has its place.
        lost = self.d.http("GET", "/standalone/pods/mindie/server-1-0")["spec"]["nodeName"]
        self.d.delete("server-1-0")
        until("that it is incomplete", lambda: not self.d.shown()["complete"])
        uid = self.d.create("server-1-0", "server", "server-1", 2, 8, 0)
        node = self.d.bind("server-1-0", uid)
        self.assertEqual(node, lost, "the only free one")
        self.d.address_of("server-1-0", node, 9)
        early.wait("the third table", lambda: len(early.tables) == 3)
        self.assertNotEqual(early.tables[2], early.tables[1])

        # The instance is removed.
        for pod in ("server-1-0", "server-1-1"):
            self.d.delete(pod)
        early.wait("the fourth table", lambda: len(early.tables) == 4)
        self.assertEqual(early.tables[3], first)

        # A later subscriber ends the first one's stream and gets the table at once.
        early.stopped = True
        late = self.client()
        late.wait("its table", lambda: late.tables == [first])
        early.wait("the end", lambda: early.ends and early.ends[-1] == "OK")
        self.assertEqual(len(early.tables), 4)

        # The scheduler is killed; its successor knows nothing at first and sends nothing before it knows all.
        self.d.end(hard=True)
        self.d.start()
        late.wait("the end", lambda: late.ends and late.ends[0] in ("UNAVAILABLE", "CANCELLED"))
        self.d.head("coordinator")
        self.d.head("controller")
        name, node = self.d.servers("server-0")
        self.d.address_of(name, node, 2)
        late.wait("a table", lambda: len(late.tables) == 2)
        self.assertEqual(servers(late.tables[1]), servers(first))


class Jobs(Case):
    """A reader of all jobs, signal by signal and in lists."""

    def subscribe(self, channel, lists=False):
        register, signals, in_lists = job_methods(JOB_STUBS, channel)
        status = register(JOB_STUBS.ClientInfo(role="CCAgent"), timeout=PATIENCE)
        self.assertEqual(status.code, 200)
        return (in_lists if lists else signals)(JOB_STUBS.ClientInfo(role="CCAgent", clientId=status.clientId), timeout=PATIENCE)

    def test_jobs_from_their_pods_to_their_deletion(self):
        until("that it serves", self.serves)
        self.d.head("coordinator")  # without chips, so it has no table
        name, node = self.d.servers("server-0")
        with grpc.insecure_channel(self.d.address()) as channel:
            stream = self.subscribe(channel)
            signal = next(stream)
            self.assertEqual((signal.jobName, signal.namespace, signal.jobStatus, signal.operator),
                             ("server-0", "mindie", "pending", "add"))
            self.assertEqual(json.loads(signal.HcclJson), {"status": "initializing"})
            self.d.address_of(name, node, 2)
            signal = next(stream)
            self.assertEqual((signal.jobStatus, signal.operator), ("running", "add"))
            table = json.loads(signal.HcclJson)
            self.assertEqual(table["status"], "completed")
            self.assertEqual(sum(len(server["device"]) for server in table["server_list"]), 16)
            self.assertEqual(signal.masterAddr, table["server_list"][0]["host_ip"])
            self.assertTrue(signal.jobId and signal.uuid and signal.time)

            lists = self.subscribe(channel, lists=True)
            first = next(lists)
            self.assertEqual(first.JobTotalNum, 1)
            self.assertEqual([one.HcclJson for one in first.jobSummarySignals], [signal.HcclJson])
            name, node = self.d.servers("server-1", 1)
            self.d.address_of(name, node, 1)
            seen = {}
            while seen.get("server-1") != "running":
                some = next(lists)
                self.assertEqual(some.JobTotalNum, len(some.jobSummarySignals))
                seen.update((one.jobName, one.jobStatus) for one in some.jobSummarySignals)
            self.assertNotIn("server-0", seen, "it has not changed")

            for pod in ("server-0-0", "server-0-1"):
                self.d.delete(pod)
            while True:
                after = next(stream)
                if after.operator == "delete":
                    break
            self.assertEqual((after.jobId, after.jobStatus), (signal.jobId, "failed"))
            self.assertTrue(after.deleteTime)

    def test_a_slow_reader_gets_the_newest(self):
        until("that it serves", self.serves)
        name, node = self.d.servers("server-0", 4)
        changes = 300
        # Without these gRPC may take in all of them for a client that does not read.
        small_window = [("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 65536)]
        with grpc.insecure_channel(self.d.address(), options=small_window) as channel:
            slow = self.subscribe(channel)
            self.assertEqual(next(slow).jobStatus, "pending")
            for number in range(changes):
                self.d.put_addresses(name, f"10.0.0.{node[1:]}", f"10.250.{number // 250}.{number % 250 + 1}")
            newest = f"10.250.{(changes - 1) // 250}.{(changes - 1) % 250 + 1}"
            read = 1
            while newest not in next(slow).HcclJson:
                read += 1
            self.assertLess(read, changes, "what is out of date is left out")

    def test_what_is_wrong_is_refused(self):
        until("that it serves", self.serves)
        with grpc.insecure_channel(self.d.address()) as channel:
            register, signals, lists = job_methods(JOB_STUBS, channel)
            for subscribe in (signals, lists):
                for client in ("", "unknown", "x" * 1000):
                    with self.assertRaises(grpc.RpcError) as raised:
                        next(subscribe(JOB_STUBS.ClientInfo(clientId=client), timeout=PATIENCE))
                    self.assertEqual(raised.exception.code().name, "NOT_FOUND")
            raw = channel.unary_stream("/job.Job/SubscribeJobSummarySignal")
            with self.assertRaises(grpc.RpcError) as raised:
                next(raw(b"\xff\xff\xff", timeout=PATIENCE))
            self.assertEqual(raised.exception.code().name, "NOT_FOUND")
            ids = {register(JOB_STUBS.ClientInfo(role="r"), timeout=PATIENCE).clientId for _ in range(10)}
            self.assertEqual(len(ids), 10)


class Refusals(Case):
    nodes = 1

    def code(self, call):
        with self.assertRaises(grpc.RpcError) as raised:
            call()
        return raised.exception.code().name, raised.exception.details()

    def test_what_is_wrong_is_refused(self):
        until("that it serves", self.serves)
        with grpc.insecure_channel(self.d.address()) as channel:
            _, subscribe = methods(STUBS, channel)
            code, why = self.code(lambda: list(subscribe(STUBS.ClientInfo(jobId="chat"), timeout=PATIENCE)))
            self.assertEqual(code, "NOT_FOUND")
            self.assertIn("is not registered", why)
            for job in ("", "a b", "-a", "x" * 64, "\u00e4", "a/b"):
                self.assertEqual(self.code(lambda: self.register(channel, job))[0], "INVALID_ARGUMENT", job)
            self.assertEqual(self.code(lambda: self.register(channel, "x" * (3 << 20)))[0], "RESOURCE_EXHAUSTED")
            self.assertEqual(self.register(channel, "chat").code, 0)
            # not a message
            raw = channel.unary_unary("/config.Config/Register")
            self.assertIn(self.code(lambda: raw(b"\xff\xff\xff", timeout=PATIENCE))[0], ("INTERNAL", "UNIMPLEMENTED"))
            nothing = channel.unary_unary("/config.Config/Nothing")
            self.assertEqual(self.code(lambda: nothing(b"", timeout=PATIENCE))[0], "UNIMPLEMENTED")
            self.assertEqual(self.register(channel, "chat").code, 0)

    def test_an_odd_status_is_refused(self):
        self.d.create("p", "server", "s", 1, 8)
        for path, body, code in (("p/status", {"hostIP": 7}, 400), ("p/status", {"other": ""}, 400), ("p/state", {}, 404),
                                 ("none/status", {}, 404), ("p/status", {"hostIP": "10.0.0.1"}, 409)):
            with self.assertRaises(urllib.error.HTTPError) as raised:
                self.d.http("PUT", f"/standalone/pods/mindie/{path}", body)
            self.assertEqual(raised.exception.code, code, (path, body))


class Many(Case):
    """As many deployments as ClusterD serves from one address; half of the clients never read."""

    def test_512_subscribers(self):
        self.d.head("coordinator")
        self.d.head("controller")
        last = self.d.servers("server-0", 1)
        until("that it serves", self.serves)
        reader = self.client()
        streams = []
        with grpc.insecure_channel(self.d.address()) as channel:
            register, subscribe = methods(STUBS, channel)
            for number in range(511):
                client = STUBS.ClientInfo(jobId=f"other-{number}", role="r")
                register(client, timeout=PATIENCE)
                streams.append(subscribe(client))
            until("all", lambda: self.d.subscribers() == 512)
            client = STUBS.ClientInfo(jobId="one-more", role="r")
            register(client, timeout=PATIENCE)
            with self.assertRaises(grpc.RpcError) as raised:
                list(subscribe(client, timeout=PATIENCE))
            self.assertEqual(raised.exception.code().name, "RESOURCE_EXHAUSTED")
            self.d.address_of(last[0], last[1], 1)
            reader.wait("its table", lambda: reader.tables)
            for stream in streams:
                stream.cancel()
            until("their end", lambda: self.d.subscribers() == 1)


class Thousand(Case):
    """A thousand readers of all jobs, from two addresses: each gets each new table of a job, whole."""
    host = "[::]"

    def read(self, stream, at):
        try:
            for signal in stream:
                with self.news:
                    self.got[at].append(signal.HcclJson)
                    self.news.notify_all()
        except grpc.RpcError as error:
            if error.code() != grpc.StatusCode.CANCELLED:
                self.ends.append(error.details())

    def test_1000_subscribers(self):
        until("that it serves", self.serves)
        pods = self.d.nodes
        name, node = self.d.servers("train", pods)
        self.got, self.ends, self.news = [[] for _ in range(1000)], [], threading.Condition()
        channels = [grpc.insecure_channel(self.d.address(host)) for host in ("127.0.0.1", "[::1]")]
        streams = []
        for at in range(1000):
            register, signals, _ = job_methods(JOB_STUBS, channels[at % 2])
            client = register(JOB_STUBS.ClientInfo(role="r"), timeout=PATIENCE).clientId
            streams.append(signals(JOB_STUBS.ClientInfo(role="r", clientId=client)))
            threading.Thread(target=self.read, args=(streams[-1], at), daemon=True).start()
        until("all", lambda: self.d.subscribers() == 1000)
        self.everyone("the empty table", lambda got: got[-1:] == ['{"status":"initializing"}'])
        tables = []
        for number in (7, 8):
            self.d.address_of(name, node, number)
            self.everyone("a new table", lambda got: f"10.244.{node[1:]}.{number}" in got[-1])
            tables.append(self.got[0][-1])
        for table in tables:
            self.assertEqual(sum(len(server["device"]) for server in json.loads(table)["server_list"]), 8 * pods)
        for got in self.got:
            self.assertEqual(got[-2:], tables)
        self.assertEqual(self.ends, [])
        for stream in streams:
            stream.cancel()
        for channel in channels:
            channel.close()
        until("their end", lambda: self.d.subscribers() == 0)

    def everyone(self, what, has):
        with self.news:
            if not self.news.wait_for(lambda: all(map(has, self.got)), PATIENCE):
                raise AssertionError(f"{what} came to {sum(map(has, self.got))} of 1000; ends {self.ends[:3]}")


if __name__ == "__main__":
    program = unittest.main(argv=[sys.argv[0], sys.argv[3]], exit=False)
    shutil.rmtree(STUBS_FOLDER)
    sys.exit(not program.result.wasSuccessful())
