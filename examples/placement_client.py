#!/usr/bin/env python3
"""Asks chipweave-scheduler for chips over gRPC, as another scheduler would (docs/reference/grpc.md).

  placement_client.py ADDRESS [FLAGS] place NAMESPACE NAME UID RESOURCE CHIPS
  placement_client.py ADDRESS [FLAGS] watch
"""
import argparse
import json
import sys
import time

import grpc

from chipweave.v1 import placement_pb2, placement_pb2_grpc

CALL_SECONDS = 5


def connect(args):
    def content(path):
        with open(path, "rb") as file:
            return file.read()

    if not args.ca:
        return grpc.insecure_channel(args.address)
    pair = (content(args.key), content(args.cert)) if args.cert else (None, None)
    credentials = grpc.ssl_channel_credentials(content(args.ca), *pair)
    if args.token_file:
        token = grpc.access_token_call_credentials(content(args.token_file).decode().strip())
        credentials = grpc.composite_channel_credentials(credentials, token)
    return grpc.secure_channel(args.address, credentials)


class Patience:
    """UNAVAILABLE means that the server starts, stops or cannot be reached; calls that gRPC itself gives up while the server
    stops end with CANCELLED. Both are temporary; every other code is an answer. Each call may be repeated: if an answer was
    lost, Reserve returns the same chips again."""

    PASSING = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)

    def __init__(self, seconds):
        self.seconds = seconds
        self.reset()

    def reset(self):
        self.wait, self.end = 0.1, time.monotonic() + self.seconds

    def lasts(self, error, also=()):
        if error.code() not in (*self.PASSING, *also) or time.monotonic() > self.end:
            return False
        print(f"retrying: {error.details()}", file=sys.stderr, flush=True)
        time.sleep(self.wait)
        self.wait = min(2 * self.wait, 2)
        return True


def call(method, request, seconds):
    patience = Patience(seconds)
    while True:
        try:
            return method(request, timeout=CALL_SECONDS)
        except grpc.RpcError as error:
            if not patience.lasts(error):
                raise


def show(what, reply):
    chips = ",".join(map(str, reply.chips))
    print(f"{what}: node {reply.node}, chips {chips}, {reply.gbps:g} of at most {reply.best_gbps:g} GB/s", end="")
    print(f", held for {reply.lifetime_ms / 1000:.0f} s" if reply.lifetime_ms else "")


def place(client, args):
    pod = placement_pb2.PodKey(namespace=args.namespace, name=args.name)
    request = placement_pb2.PodRequest(pod=pod, uid=args.uid, resource=args.resource, chips=args.chips)

    what_if = placement_pb2.WhatIfRequest(request=request)
    show("what if", call(client.WhatIf, what_if, args.patience))
    found = call(client.Place, placement_pb2.PlaceRequest(request=request), args.patience)
    show("place", found)

    # From here on no other pod gets these chips until the pod is bound, they are released, or their time is over.
    reserve = placement_pb2.ReserveRequest(request=request, node=found.node)
    show("reserve", call(client.Reserve, reserve, args.patience))
    explained = call(client.Explain, placement_pb2.ExplainRequest(pod=pod), args.patience)
    print(f"explain: {json.loads(explained.json)['state']}")

    call(client.Release, placement_pb2.ReleaseRequest(pod=pod, uid=args.uid), args.patience)
    print("release: done")


def watch(client, args):
    patience = Patience(args.patience)
    while True:
        try:
            # A new stream begins with everything that holds, so that nothing is missed between two of them.
            for event in client.WatchDecisions(placement_pb2.WatchDecisionsRequest(initial=True)):
                patience.reset()
                kind = placement_pb2.DecisionKind.Name(event.kind).removeprefix("DECISION_KIND_")
                if event.kind == placement_pb2.DECISION_KIND_LIVE:
                    print(kind, flush=True)
                    continue
                chips = ",".join(map(str, event.chips))
                who = f"{event.pod.namespace}/{event.pod.name}"
                print(f"{kind} {who} node {event.node} chips {chips} {event.reason}".rstrip(), flush=True)
        except grpc.RpcError as error:
            # This reader fell behind, or there are too many.
            if not patience.lasts(error, also=(grpc.StatusCode.RESOURCE_EXHAUSTED,)):
                raise


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("address", help="HOST:PORT of the scheduler's gRPC side")
    parser.add_argument("--ca", help="who signed the scheduler's certificate; without it: in the clear")
    parser.add_argument("--cert", help="certificate to show")
    parser.add_argument("--key", help="its key")
    parser.add_argument("--token-file", help="bearer token to show")
    parser.add_argument("--patience", type=float, default=60, help="seconds until UNAVAILABLE is taken for an answer")
    commands = parser.add_subparsers(required=True)
    placing = commands.add_parser("place")
    placing.set_defaults(act=place)
    for name in ("namespace", "name", "uid", "resource"):
        placing.add_argument(name)
    placing.add_argument("chips", type=int)
    commands.add_parser("watch").set_defaults(act=watch)
    args = parser.parse_args()
    with connect(args) as channel:
        try:
            args.act(placement_pb2_grpc.PlacementStub(channel), args)
        except grpc.RpcError as error:
            sys.exit(f"{error.code().name}: {error.details()}")


if __name__ == "__main__":
    main()
