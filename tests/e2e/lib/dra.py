"""What Kubernetes knows of chips that DRA hands over: the slices of a vendor's driver, and claims."""
from lib.fake_nvml import bus_of

DRIVER, TAINT = "gpu.nvidia.com", "chipweave.dev/managed"
API = "/apis/resource.k8s.io/v1"
SLICES = f"{API}/resourceslices"


# As the driver of the vendor publishes it, which knows nothing of us.
def slice_body(node, chips=8):
    text = lambda value: {"string": value}
    devices = [{"name": f"gpu-{i}", "attributes": {
        "uuid": text(f"GPU-{i}"), "resource.kubernetes.io/pciBusID": text(bus_of(i)[4:].lower())}} for i in range(chips)]
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": f"{node}-{DRIVER}"},
            "spec": {"driver": DRIVER, "nodeName": node, "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
                     "devices": devices}}
