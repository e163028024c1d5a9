#!/usr/bin/python3
"""Follows the rank table of a MindIE deployment with the client of tests/component/clusterd, and prints a JSON line for each
table and for each status with which a call or stream ends.

  mindie_controller.py FOLDER-FOR-STUBS HOST:PORT JOB-ID

It runs until it is ended."""
import json, sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent.parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "tests/component/clusterd"))
from deployment import Controller, make_stubs


def main():
    work, address, job = sys.argv[1:]
    controller = Controller(make_stubs(SOURCE, work), lambda: address, job)
    controller.start()
    tables = ends = 0
    while True:
        with controller.news:
            controller.news.wait_for(lambda: len(controller.tables) > tables or len(controller.ends) > ends)
            news = [{"table": table} for table in controller.tables[tables:]]
            news += [{"end": end} for end in controller.ends[ends:]]
            tables, ends = len(controller.tables), len(controller.ends)
        for line in news:
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
