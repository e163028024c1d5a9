"""An image without a registry: an OCI layout with one static program in one layer."""
import hashlib, io, json, tarfile

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def tar_of(files):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, (mode, data) in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(data), mode
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


# A tar file that `ctr images import` takes; the program starts with these arguments unless a pod says others.
def write_image(to, name, program, arguments, machine):
    layer = tar_of({program.name: (0o755, program.read_bytes())})
    command = [f"/{program.name}", *arguments]
    config = json.dumps({"architecture": ARCHITECTURES[machine], "os": "linux", "config": {"Entrypoint": command},
                         "rootfs": {"type": "layers", "diff_ids": [digest(layer)]}}).encode()
    described = lambda kind, data: {"mediaType": f"application/vnd.oci.image.{kind}", "digest": digest(data), "size": len(data)}
    manifest = json.dumps({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                           "config": described("config.v1+json", config),
                           "layers": [described("layer.v1.tar", layer)]}).encode()
    entry = {**described("manifest.v1+json", manifest), "annotations": {"io.containerd.image.name": name}}
    blobs = {"blobs/sha256/" + digest(data)[7:]: (0o644, data) for data in (layer, config, manifest)}
    index = json.dumps({"schemaVersion": 2, "manifests": [entry]}).encode()
    to.write_bytes(tar_of({"oci-layout": (0o644, b'{"imageLayoutVersion": "1.0.0"}'), "index.json": (0o644, index), **blobs}))
