"""Builds the programs of a testbed, once, from the Go modules that tests/e2e/modules pins, into a cache of the user."""
import fcntl, hashlib, os, re, shutil, subprocess, tempfile, time
from pathlib import Path

from testbed.say import Failure, say

MODULES = Path(__file__).resolve().parent.parent / "modules"
VERSIONS = ["1.36", "1.37", "1.34"]  # the first one is the default
KUBERNETES = ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"]
TOOLS = ["helm", "kubeconform", "kwok", "vale"]  # built on request, each from the module of its name
# What a node runs, by the module that has it.
NODE = {"kubelet": ["kubelet"], "containerd": ["containerd", "containerd-shim-runc-v2", "ctr"], "runc": ["runc"],
        "cni-loopback": ["loopback"]}
NEED_C = ["vale", "runc"]  # parsers of source comments; what runs before Go in a new namespace
TAGS = {"runc": "seccomp"}  # the kubelet asks for a profile for each pod
PACKAGES = {"etcd": "go.etcd.io/etcd/server/v3", **{name: f"k8s.io/kubernetes/cmd/{name}" for name in KUBERNETES},
            "helm": "helm.sh/helm/v3/cmd/helm", "kubeconform": "github.com/yannh/kubeconform/cmd/kubeconform",
            **{name: f"github.com/containerd/containerd/v2/cmd/{name}" for name in NODE["containerd"]},
            "kubelet": "k8s.io/kubernetes/cmd/kubelet", "runc": "github.com/opencontainers/runc",
            "loopback": "github.com/containernetworking/plugins/plugins/main/loopback",
            "kwok": "sigs.k8s.io/kwok/cmd/kwok", "vale": "github.com/errata-ai/vale/v3/cmd/vale"}


# The Go that is installed, as "go1.26.8 linux/amd64", if it can build this module.
def usable_go(module):
    needed = re.search(r"^go (\S+)", (module / "go.mod").read_text(), re.M).group(1)
    advice = f"Install Go {needed} or newer (https://go.dev/dl/) and put it into PATH."
    try:
        command = ["go", "version"]
        output = subprocess.run(command, cwd="/", env=go_environment(), check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        raise Failure(f"NO GO HERE: `go version` does not work, so nothing can be built. {advice}", 3) from None
    version = output.stdout.removeprefix("go version ").strip()
    here = re.search(r"go([\d.]+)", version)
    if not here or [int(n) for n in here[1].split(".")] < [int(n) for n in needed.split(".")]:
        raise Failure(f"GO IS TOO OLD: {module} needs {needed}, here is {version}. {advice}", 3)
    return version


# Only the Go that is here and only what go.mod and go.sum pin, whatever the user's settings are.
def go_environment(**more):
    return {**os.environ, "GOTOOLCHAIN": "local", "CGO_ENABLED": "0", "GOWORK": "off", **more}


# The linker flags that give a program its version. Without them Kubernetes' programs call themselves v0.0.0-master, and
# helm takes a cluster that it cannot ask for Kubernetes 1.20.
def linker_flags(module):
    pinned = dict(re.findall(r"^(?:require)?\s+(\S+) v(\S+)", (module / "go.mod").read_text(), re.M))
    names = {}
    if release := pinned.get("k8s.io/kubernetes"):
        major, minor, _ = release.split(".")
        versions = {"gitVersion": f"v{release}", "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
        names = {f"k8s.io/component-base/version.{name}": value for name, value in versions.items()}
    if release := pinned.get("helm.sh/helm/v3"):
        minor = pinned["k8s.io/client-go"].split(".")[1]
        names = {"helm.sh/helm/v3/internal/version.version": f"v{release}"}
        for package in ("pkg/lint/rules", "pkg/chartutil"):
            names |= {f"helm.sh/helm/v3/{package}.k8sVersionMajor": "1",
                      f"helm.sh/helm/v3/{package}.k8sVersionMinor": minor}
    return " ".join(["-s -w", *(f"-X {name}={value}" for name, value in names.items())])


# The cache folder that holds these programs of a module; a folder that is there is complete. Programs that PACKAGES does not
# know are folders of the module, which then has sources of ours.
def build_module(module, programs):
    go = usable_go(module)
    pins = b"".join(file.read_bytes() for file in (module / "go.mod", module / "go.sum", *sorted(module.rglob("*.go"))))
    cache = Path(os.environ.get("CHIPWEAVE_TESTBED_CACHE") or Path.home() / ".cache/chipweave/testbed").absolute()
    complete = cache / hashlib.sha256(pins + go.encode()).hexdigest()[:16]
    if complete.is_dir():
        return complete
    cache.mkdir(parents=True, exist_ok=True)
    with open(cache / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # waits for a build of another testbed, which may be the same one
        for abandoned in cache.glob("building-*"):
            shutil.rmtree(abandoned, ignore_errors=True)
        if not complete.is_dir():
            compile_into(complete, module, programs)
    return complete


# Compiles in a folder beside the wanted one and renames it at the end: an interrupted build leaves nothing half.
def compile_into(complete, module, programs):
    say(f"building {', '.join(programs)} from {module} into {complete}; this happens once and takes minutes")
    with tempfile.TemporaryDirectory(prefix="building-", dir=complete.parent, ignore_cleanup_errors=True) as work:
        done, scratch = Path(work, "done"), Path(work, "scratch")
        done.mkdir()
        scratch.mkdir()
        for program in programs:
            began = time.monotonic()
            flags = ["-mod=readonly", "-trimpath", "-buildvcs=false", "-tags", TAGS.get(program, ""), "-ldflags", linker_flags(module)]
            command = ["go", "build", *flags, "-o", done / program, PACKAGES.get(program, f"./{program}")]
            environment = go_environment(GOTMPDIR=str(scratch), CGO_ENABLED="1" if program in NEED_C else "0")
            if subprocess.run(command, cwd=module, env=environment).returncode != 0:
                raise Failure(f"building {program} failed, see above")
            say(f"built {program} in {time.monotonic() - began:.0f} s")
        done.rename(complete)


# Every program and its path.
def build_all(minor):
    # Kubernetes first: it needs the newer Go, so a missing one is reported at once.
    folders = [(build_module(MODULES / f"kubernetes-{minor}", KUBERNETES), KUBERNETES)]
    folders.append((build_module(MODULES / "etcd", ["etcd"]), ["etcd"]))
    return {program: folder / program for folder, programs in folders for program in programs}


# One of TOOLS.
def build_tool(name):
    return build_module(MODULES / name, [name]) / name


# Every program of a node and its path.
def build_node():
    folders = [(build_module(MODULES / module, programs), programs) for module, programs in NODE.items()]
    return {program: folder / program for folder, programs in folders for program in programs}
