#!/usr/bin/env python3
"""A MindIE deployment without a cluster: simulated Ascend nodes, a standalone scheduler, and a subscriber in place of MindIE's
controller, which gets the rank table when the last address is known, and again when a server is replaced.

usage: demo.py SOURCE-FOLDER PROGRAMS-FOLDER
"""
import json, shutil, sys, tempfile
from pathlib import Path

from deployment import Controller, Deployment, make_stubs


def title(text):
    print(f"\n== {text}", flush=True)


def show(table):
    for group in json.loads(table)["server_group_list"]:
        role = {"0": "coordinator", "1": "controller"}.get(group["group_id"], "servers")
        for server in group["server_list"]:
            ranks = [device["rank_id"] for device in server.get("device", [])]
            devices = f", ranks {ranks[0]} to {ranks[-1]}" if ranks else ""
            print(f"group {group['group_id']} ({role}): host {server['server_id']}, pod {server['server_ip']}{devices}")


def main():
    source, bin = map(Path, sys.argv[1:3])
    stubs_folder = Path(tempfile.mkdtemp())
    stubs = make_stubs(source, stubs_folder)
    deployment = Deployment(bin, 3)
    try:
        deployment.start()
        controller = Controller(stubs, deployment.address, "chat")
        controller.start()
        title("A coordinator, a controller and a server job of two pods are bound; one pod has no address yet")
        deployment.head("coordinator")
        deployment.head("controller")
        name, node = deployment.servers("server-0")
        print("missing:", ", ".join(deployment.shown()["missing"]))
        print("tables pushed:", len(controller.tables))
        title("The last address is known: the table is pushed")
        deployment.address_of(name, node, 2)
        controller.wait("the table", lambda: len(controller.tables) == 1)
        show(controller.tables[0])
        title(f"Pod {name} is lost: nothing is pushed")
        deployment.delete(name)
        print("missing:", ", ".join(deployment.shown()["missing"]))
        print("tables pushed:", len(controller.tables))
        title("Its replacement runs elsewhere: one new table, with the same ranks")
        deployment.replace(name, "server-0", node)
        controller.wait("the table", lambda: len(controller.tables) == 2)
        show(controller.tables[1])
        controller.stop()
    finally:
        deployment.end()
        shutil.rmtree(deployment.work)
        shutil.rmtree(stubs_folder)


main()
