"""A machine for a kubelet inside this one: namespaces and cgroups of its own, with mounts, devices, containers and processes
that the host does not see, and that are gone when its first process ends.

Its first process ends with the one that made it, however that ends; so does everything else in it, as it has its own PID
namespace. A janitor outside it then removes the empty cgroups and the folder."""
import contextlib, ctypes, os, shutil, signal, subprocess, sys, time
from pathlib import Path

HERE = Path(__file__).resolve().parent
PR_SET_PDEATHSIG = 1
NEEDED = ["unshare", "nsenter", "mount", "openssl", "pkg-config", "gcc"]
V1_CONTROLLERS = ["cpu", "cpuacct", "cpuset", "memory", "devices", "freezer", "blkio", "pids", "name=systemd"]
GONE_SECONDS = 20


# What this machine lacks; empty if a kubelet can run.
def lacks():
    if os.geteuid() != 0:
        return "not run as root"
    for program in NEEDED:
        if not shutil.which(program):
            return f"no program {program}"
    if subprocess.run(["pkg-config", "--exists", "libseccomp"]).returncode != 0:
        return "no headers of libseccomp, which runc needs (package libseccomp-dev)"
    if subprocess.run(["unshare", "-m", "-C", "-p", "--fork", "true"], capture_output=True).returncode != 0:
        return "no new mount, cgroup and PID namespaces can be made (unshare -m -C -p)"
    if not v2() and not hierarchies():
        return "no cgroup hierarchy is mounted"
    for folder in parents():
        if not os.access(folder, os.W_OK):
            return f"the cgroup {folder} cannot be written"
    return ""


# The only hierarchy, where there is only one.
def v2():
    return Path("/sys/fs/cgroup/cgroup.controllers").exists()


# {controller, or "name=systemd": (where its hierarchy is mounted, the cgroup of this process in it)} of cgroup v1.
def hierarchies():
    own = {}
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        own.update({name: path for name in names.split(",") if name})
    found = {}
    for line in Path("/proc/mounts").read_text().splitlines():
        _, where, kind, options, *_ = line.split()
        if kind == "cgroup":
            found.update({name: (where, own[name]) for name in options.split(",") if name in own})
    return {name: found[name] for name in V1_CONTROLLERS if name in found}


# The cgroups of this process, under which those of the machine are made.
def parents():
    if v2():
        own = Path("/proc/self/cgroup").read_text().rpartition("::")[2].strip()
        return [Path("/sys/fs/cgroup" + own)]
    return list(dict.fromkeys(Path(where + path) for where, path in hierarchies().values()))


class Machine:
    # folder: for its files, and what it stores. It must not exist; it is removed at the end, or, with `keep`, all but its
    # logs. afterwards: a command that is run when all has gone.
    def __init__(self, folder, keep=False, afterwards=()):
        self.folder, self.processes = Path(folder), []
        self.folder.mkdir(mode=0o755)
        for name in ("lib", "log", "sysctl"):
            (self.folder / name).mkdir()
        self.cgroups = [parent / f"chipweave-{self.folder.parent.name}-{self.folder.name}" for parent in parents()]
        self.janitor = start_janitor(self.folder, self.cgroups, keep, afterwards)
        for cgroup in self.cgroups:
            make_cgroup(cgroup)
        controllers = [] if v2() else list(hierarchies())
        with open(self.folder / "machine.log", "ab") as log:
            self.init = subprocess.Popen(
                ["unshare", "-m", "-C", "-p", "--fork", "--kill-child=SIGKILL", "--propagation", "private",
                 HERE / "inside", self.folder, *controllers],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=self.into_cgroups)
        self.wait_for(lambda: (self.folder / "ready").exists(), "the machine's mounts")
        self.pid = child_of(self.init.pid)

    def wait_for(self, test, what, seconds=60):
        deadline = time.monotonic() + seconds
        while not test():
            if self.init.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{what} did not come; the last of machine.log:\n" +
                                   (self.folder / "machine.log").read_text()[-2000:])
            time.sleep(0.05)

    # In the child, before it is another program. It ends with the process that started it.
    def into_cgroups(self):
        for cgroup in self.cgroups:
            where = cgroup / "daemons" if (cgroup / "daemons").is_dir() else cgroup
            (where / "cgroup.procs").write_text("0")
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)

    def enter(self, *command):
        return ["nsenter", "-t", str(self.pid), "-m", "-C", "-p", "--wd=/", *(str(part) for part in command)]

    # A process in it, in a process group of its own; to be stopped with stop().
    def start(self, log, *command, env=None):
        with open(log, "ab") as to:
            process = subprocess.Popen(self.enter(*command), stdin=subprocess.DEVNULL, stdout=to, stderr=to,
                                       env={**os.environ, **(env or {})}, start_new_session=True,
                                       preexec_fn=self.into_cgroups)
        process.inner = None
        self.processes.append(process)
        return process

    def run(self, *command, good=True):
        done = subprocess.run(self.enter(*command), capture_output=True, text=True, preexec_fn=self.into_cgroups)
        if good and done.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}")
        return done.stdout

    # nsenter stands before the program, which must be gone as well.
    def stop(self, process, sign=signal.SIGKILL):
        inner = child_of(process.pid)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, sign)
        process.wait()
        deadline = time.monotonic() + GONE_SECONDS
        while inner and lives(inner):
            if time.monotonic() > deadline:
                raise RuntimeError(f"process {inner} does not end")
            time.sleep(0.01)
        if process in self.processes:
            self.processes.remove(process)

    # All of it, and waits for the janitor.
    def close(self):
        self.init.kill()
        self.init.wait()
        self.janitor.stdin.close()
        self.janitor.wait()


def lives(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


# The first child of a process that has one; None if it has none.
def child_of(pid):
    for _ in range(100):
        with contextlib.suppress(OSError):
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            if children:
                return int(children[0])
        if not lives(pid):
            return None
        time.sleep(0.01)
    return None


# v1: no process can enter a cpuset that has nothing. v2: only a cgroup without processes has children with controllers.
def make_cgroup(cgroup):
    cgroup.mkdir()
    for name in ("cpuset.cpus", "cpuset.mems"):
        if not v2() and (cgroup / name).exists():
            (cgroup / name).write_text((cgroup.parent / name).read_text())
    if v2():
        with contextlib.suppress(OSError):
            enable = " ".join(f"+{name}" for name in (cgroup.parent / "cgroup.controllers").read_text().split())
            (cgroup.parent / "cgroup.subtree_control").write_text(enable)
        (cgroup / "daemons").mkdir()


# Waits for the end of its standard input, which is the end of the process that made the machine.
def start_janitor(folder, cgroups, keep, afterwards):
    command = [sys.executable, "-B", Path(__file__), str(int(keep)), folder, *cgroups, "--", *afterwards]
    return subprocess.Popen([str(part) for part in command], stdin=subprocess.PIPE, start_new_session=True)


def remove_cgroup(cgroup):
    for path, folders, _ in os.walk(cgroup, topdown=False):
        for folder in folders:
            with contextlib.suppress(OSError):
                os.rmdir(os.path.join(path, folder))
    with contextlib.suppress(FileNotFoundError):
        os.rmdir(cgroup)


# Killed processes need a moment until they are gone.
def clean_up(keep, folder, cgroups, afterwards):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sys.stdin.read()
    deadline = time.monotonic() + GONE_SECONDS
    while cgroups and time.monotonic() < deadline:
        for cgroup in list(cgroups):
            with contextlib.suppress(OSError):
                remove_cgroup(cgroup)
                cgroups.remove(cgroup)
        time.sleep(0.05)
    for cgroup in cgroups:
        print(f"the cgroup {cgroup} cannot be removed", file=sys.stderr)
    shutil.rmtree(os.path.join(folder, "lib") if keep else folder, ignore_errors=True)
    if afterwards:
        subprocess.run(afterwards, check=False)


if __name__ == "__main__":
    end = sys.argv.index("--")
    clean_up(sys.argv[1] == "1", sys.argv[2], sys.argv[3:end], sys.argv[end + 1:])
