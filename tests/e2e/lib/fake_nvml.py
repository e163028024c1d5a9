"""Machines for the fake driver library of tests/fakes/nvml: their descriptions in its scenario file, and the file."""
import json

LIBRARY = "tests/nvml_current/libnvidia-ml.so.1"  # in a build folder
XID = 8  # kind of event


def gpu(index, name, numa, sm):
    return {"uuid": f"GPU-{index}", "name": name, "minor": index, "module": index + 1, "bus": bus_of(index),
            "numa_mask": 1 << numa, "memory": 85899345920, "mig": [0, 0], "ecc": [1, 1], "uncorrected_errors": 0,
            "corrected_errors": 0, "clock_reasons": 1, "event_types": 0x1f, "retired_pending": 0,
            "remapped": [0, 0, 0, 0], "recovery_action": 0, "sm": sm, "links": []}


def bus_of(index):
    return f"00000000:{0x10 + index:02X}:00.0"


# Eight H100 on NVSwitches, 18 links each.
def hgx_h100():
    devices = [gpu(i, "NVIDIA H100 80GB HBM3", i // 4, [9, 0]) for i in range(8)]
    for device in devices:
        device["fabric"] = {"state": 3, "status": 0, "clique": 0, "health": 1}
        device["links"] = [{"link": link, "state": 1, "field_state": 1, "version": 6, "p2p": 1, "type": 2,
                            "remote": "00000000:C1:00.0", "field_replay": 0, "field_crc": 0, "field_recovery": 0}
                           for link in range(18)]
    return {"driver": "550.54.15", "cuda": 12040, "level": 50, "devices": devices, "levels": levels(4, 40)}


# Eight V100 in a hybrid cube mesh.
def dgx1v():
    devices = [gpu(i, "Tesla V100-SXM2-16GB", i // 4, [7, 0]) for i in range(8)]
    quad = [(0, 1, 1), (0, 2, 1), (1, 2, 2), (1, 3, 1)]
    pairs = [*quad, *((a + 4, b + 4, lanes) for a, b, lanes in quad), (0, 3, 2), (2, 3, 2), (4, 7, 2), (6, 7, 2),
             (0, 4, 2), (1, 5, 2), (2, 6, 1), (3, 7, 1)]
    for a, b, lanes in pairs:
        for _ in range(lanes):
            for one, other in ((devices[a], b), (devices[b], a)):
                one["links"].append({"link": len(one["links"]), "state": 1, "version": 2, "p2p": 1, "type": 0,
                                     "remote": bus_of(other), "replay": 0, "crc": 0, "recovery": 0})
    return {"driver": "418.40", "level": 50, "devices": devices, "levels": levels(4, 30) + levels(2, 10)}


def levels(size, level):
    return [{"a": a, "b": b, "level": level} for a in range(8) for b in range(a + 1, 8) if a // size == b // size]


# Every link between two devices, or every one that is down; two devices that have several stand there as often.
def all_lanes(machine, down=False):
    numbers = {device["bus"]: number for number, device in enumerate(machine["devices"])}
    return [(one, numbers[link["remote"]]) for one, device in enumerate(machine["devices"]) for link in device["links"]
            if numbers[link["remote"]] > one and not (down and link["state"])]


# One link between two devices that is not so yet, or to a switch where `b` is None.
def set_link(machine, a, b, up):
    for one, other in ((a, b), (b, a)) if b is not None else ((a, None),):
        link = next(link for link in machine["devices"][one]["links"] if link["state"] != int(up) and
                    (other is None or link["remote"] == bus_of(other)))
        link.update({key: int(up) for key in ("state", "field_state") if key in link})


class Driver:
    """The scenario file of one node's library."""

    def __init__(self, folder, node, machine):
        self.path, self.machine = folder / f"driver-{node}.json", machine
        self.write()

    # At once: the library never sees half of it.
    def write(self):
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps(self.machine))
        new.replace(self.path)

    # An XID of a device, told once. Later versions of the file do not say it again.
    def xid(self, device, number):
        self.machine["events"] = [{"device": device, "type": XID, "data": number}]
        self.write()
        del self.machine["events"]
