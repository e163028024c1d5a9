"""Faults of the rank tables in ConfigMaps: of the requests that read and write them, and by other programs that write or delete
them. Importing this adds them to faults.FAULTS."""
import json, time

from parts.blows import kill_sender
from parts.faults import arm, fault, which
from parts.tables.ledger import KEY, PREFIX

TABLE = ["table"]
WAIT_SECONDS = 10
RETRY_SECONDS = 0.3


# --- between our schedulers and the API server


@fault("table-refused", 10, lambda d: {"status": d.choice((409, 429, 500, 503)), "wait": d.choice((None, 1)),
                                       "count": d.choice((1, 1, 3))}, tables=True)
def table_refused(world, v, hit):
    """the API server refuses to store or to show a rank table: 409, 429, 500 or 503, up to three times"""
    for _ in range(v["count"]):
        arm(which(world, 0).api, TABLE, "refuse", hit, status=v["status"], retry_after=v["wait"])


@fault("table-lost", 10, lambda d: {"action": d.choice(("lose_request", "lose_answer", "lose_answer"))}, tables=True)
def table_lost(world, v, hit):
    """a request that stores a rank table is lost, or its answer is"""
    arm(which(world, 0).api, TABLE, v["action"], hit)


@fault("table-cut", 4, lambda d: {"dice": round(d.random(), 3)}, tables=True)
def table_cut(world, v, hit):
    """only a part of the answer about a rank table comes"""
    arm(which(world, 0).api, TABLE, "cut_answer", hit, dice=v["dice"])


@fault("table-false", 6, lambda d: {"status": d.choice((409, 429, 500, 503))}, tables=True)
def table_false(world, v, hit):
    """a rank table was stored, and our scheduler receives an error"""
    arm(which(world, 0).api, TABLE, "lie", hit, status=v["status"])


@fault("table-late", 8, lambda d: {"seconds": round(d.choice((d.uniform(0.1, 3), d.uniform(3, 12), d.uniform(10, 45))), 2)},
       tables=True)
def table_late(world, v, hit):
    """a request that stores a rank table arrives up to 45 s later, after every caller gave it up"""
    arm(which(world, 0).api, TABLE, "late", hit, seconds=v["seconds"])


@fault("table-twice", 6, lambda d: {"seconds": d.choice((0, 0, 0.3, 3))}, tables=True)
def table_twice(world, v, hit):
    """a request that stores a rank table arrives twice"""
    arm(which(world, 0).api, TABLE, "twice", hit, seconds=v["seconds"])


# --- others


# Path of a rank table; None: there is none.
def some_table(world, pick):
    found = []
    for namespace in world.namespaces:
        path = f"/api/v1/namespaces/{namespace}/configmaps"
        code, answer = world.bed.ask("GET", path)
        if code == 200 and isinstance(answer, dict):
            found += [f"{path}/{one['metadata']['name']}" for one in answer["items"] if one["metadata"]["name"].startswith(PREFIX)]
    return sorted(found)[int(pick * len(found))] if found else None


# Its numbers make the texts different from all others.
def foreign_table(number):
    return json.dumps({"status": "completed", "version": "1.0", "server_count": "1", "server_list": [
        {"server_id": "192.0.2.1", "device": [{"device_id": "0", "device_ip": "192.0.2.99", "rank_id": "0"}]}], "by": number})


@fault("table-overwritten", 4, lambda d: {"pick": d.random(), "number": d.random(), "seconds": round(d.uniform(1, 40), 2)},
       tables=True)
def table_overwritten(world, v, hit):
    """another program writes a table of its own, which our scheduler must leave alone, and up to 40 s later `initializing`"""
    path = some_table(world, v["pick"])
    if not path:
        return
    tables, lock = world.judge.tables, world.judge.lock
    foreign, reset = foreign_table(v["number"]), json.dumps({"status": "initializing", "by": v["number"]})
    with lock:
        tables.will_be_foreign(foreign)
    code, stored = world.bed.ask("PATCH", path, {"data": {KEY: foreign}})
    if code in (404, 409):
        return
    hit(of=path, said=code)
    world.healing.wait(v["seconds"])
    with lock:
        tables.will_be_reset(reset, foreign)
    # Nothing was written if the answer to the first request was lost before it came; then this does no harm.
    while world.bed.ask("PATCH", path, {"data": {KEY: reset}})[0] not in (200, 404):
        time.sleep(RETRY_SECONDS)


@fault("table-deleted", 4, lambda d: {"pick": d.random()}, tables=True)
def table_deleted(world, v, hit):
    """another client deletes the ConfigMap of a rank table"""
    if path := some_table(world, v["pick"]):
        hit(of=path, said=world.bed.ask("DELETE", path)[0])


# --- blows


@fault("kill-in-table-write", 5, lambda d: {"after": d.choice((0, 0, 0.005, 0.02, 0.1)), "away": d.choice((0, 0, 1, 4))}, blow=True,
       tables=True)
def kill_in_table_write(world, v, hit):
    """kill -9 of a scheduler that has just sent a rank table"""
    kill_sender(world, v, hit, world.next_sent("table", WAIT_SECONDS))
