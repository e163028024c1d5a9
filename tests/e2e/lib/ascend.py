"""Ascend machines of tests, whose devices have addresses as those of real machines do, and the manifests of their users."""
import json, os
from pathlib import Path

from lib.bed import ROOT


# Writes the description of a machine of eight NPUs, or of some of them. address: of a chip, by its index.
def machine_file(bed, binaries, file, address, keep=range(8)):
    machine = json.loads(bed.run(binaries / "chipweave", "topo", "show", "ascend-910b-8", "-o", "json").stdout)
    machine["chips"] = [{**chip, "device_ips": [address(chip["index"])]} for chip in machine["chips"] if chip["index"] in keep]
    machine["links"] = [link for link in machine["links"] if link["a"] in keep and link["b"] in keep]
    file.write_text(json.dumps(machine))
    return file


# Texts of manifests of users, which may not be copied into the repository; None: they are not here.
def users_manifests(*names):
    folder = Path(os.environ.get("CHIPWEAVE_SHARED_DATA", ROOT.parent / "shared/data")) / "manifests"
    files = [folder / name for name in names]
    if all(file.exists() for file in files):
        return [file.read_text() for file in files]
    print(f"     SKIPPED: the manifests of users are not in {folder} (CHIPWEAVE_SHARED_DATA); manifests of our own are used",
          flush=True)
    return None
