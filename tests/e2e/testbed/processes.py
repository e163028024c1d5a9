"""The programs of a testbed: which of them live, their command lines, starting them and stopping them."""
import contextlib, json, os, random, signal, socket, subprocess, time
from pathlib import Path

from testbed.say import Failure, say

# In the order of starting; they are stopped in reverse order, so that none of them reports a lost server.
PROGRAMS = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"]
EVERY_PROGRAM = [*PROGRAMS, "kwok"]  # kwok runs only on request
# Releases whose kube-scheduler schedules gangs itself, which is off by default: the version of the PodGroup API and the
# feature gates. The API server has the gates; the kube-scheduler that is started here does not.
POD_GROUPS = {"1.37": ("v1beta1", "GenericWorkload=true,TopologyAwareWorkloadScheduling=true"),
              "1.36": ("v1alpha2", "GenericWorkload=true,GangScheduling=true,TopologyAwareWorkloadScheduling=true")}
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
START_SECONDS = 120  # for each step of a start; an idle machine needs 5 s for all of them
STAGES = Path(__file__).resolve().parent / "kwok-stages.yaml"
STOP_SECONDS = 10  # kube-apiserver would wait a minute for clients that watch; it has nothing to save


# What `up` wrote down, or None. Only a testbed.json in a folder of our own says that a testbed lives there; nothing
# else is ever believed, stopped or removed.
def read_state(folder):
    try:
        if folder.is_symlink() or folder.stat().st_uid != os.geteuid():
            raise Failure(f"{folder} belongs to somebody else")
        return json.loads((folder / "testbed.json").read_text())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise Failure(f"{folder}/testbed.json cannot be read: {error}") from None


# For commands that make no sense without a testbed.
def need_state(folder):
    state = read_state(folder)
    if state is None:
        raise Failure(f"no testbed in {folder}; start one with scripts/testbed up")
    return state


# The pid of a program of this testbed, or None if it does not live. Programs are started by a path inside the data
# folder, so a pid that was given to another process since then is recognised.
def living_pid(folder, program):
    try:
        pid = int((folder / f"{program}.pid").read_text())
        name = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0]  # empty for a zombie
        return pid if name == os.fsencode(folder / "bin" / program) else None
    except (OSError, ValueError):
        return None


# Whether this name is in use, even if only in part.
def any_lives(folder):
    return any(living_pid(folder, program) for program in EVERY_PROGRAM)


# Below the ports that the kernel gives to outgoing connections, which could take one before its program starts.
def free_ports(count):
    with contextlib.ExitStack() as held:
        ports = []
        for port in random.sample(range(15000, 30000), 2000):
            candidate = held.enter_context(socket.socket())
            with contextlib.suppress(OSError):
                candidate.bind(("127.0.0.1", port))
                ports.append(port)
            if len(ports) == count:
                return ports
    raise Failure("no free ports on 127.0.0.1")


# Started by the path in the data folder, which living_pid() relies on.
def command_of(folder, state, program):
    ports, at = state["ports"], lambda name: str(folder / name)
    client, peer = f"http://127.0.0.1:{ports['etcd']}", f"http://127.0.0.1:{ports['etcd-peer']}"
    arguments = {
        "etcd": ["--data-dir", at("etcd"), "--listen-client-urls", client, "--advertise-client-urls", client,
                 "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                 "--initial-cluster", f"default={peer}", "--unsafe-no-fsync"],
        "kube-apiserver": [
            f"--etcd-servers={client}", "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
            f"--tls-cert-file={at('apiserver.crt')}", f"--tls-private-key-file={at('apiserver.key')}",
            f"--client-ca-file={at('ca.crt')}", f"--token-auth-file={at('tokens.csv')}",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={at('service-account.pub')}",
            f"--service-account-signing-key-file={at('service-account.key')}", "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction", "--service-cluster-ip-range=10.0.0.0/24",
            "--allow-privileged=true", "--endpoint-reconciler-type=none"],
        # Without the node lifecycle controller a node without heartbeats stays Ready.
        "kube-controller-manager": [
            f"--kubeconfig={at('kube-controller-manager.kubeconfig')}", "--controllers=*,-node-lifecycle-controller",
            "--use-service-account-credentials=true", f"--service-account-private-key-file={at('service-account.key')}",
            f"--root-ca-file={at('ca.crt')}", "--leader-elect=false"],
        "kube-scheduler": [f"--config={at('scheduler.yaml')}"],
        # It renews no Leases: nothing here reads them.
        "kwok": [f"--kubeconfig={at('kubeconfig')}", f"--config={STAGES}", "--node-lease-duration-seconds=0",
                 "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake", "--node-ip=127.0.0.1",
                 f"--server-address=127.0.0.1:{ports['kwok']}"]}[program]
    if program in ("kube-controller-manager", "kube-scheduler"):
        user = at(f"{program}.kubeconfig")
        arguments += [f"--authentication-kubeconfig={user}", f"--authorization-kubeconfig={user}",
                      "--bind-address=127.0.0.1", f"--cert-dir={at(program + '-certificates')}"]
    if program.startswith("kube-"):
        arguments.append(f"--secure-port={ports[program]}")
    if program == "kube-apiserver" and state["kubernetes"] in POD_GROUPS:
        version, gates = POD_GROUPS[state["kubernetes"]]
        arguments += [f"--feature-gates={gates}", f"--runtime-config=scheduling.k8s.io/{version}=true"]
    return [at(f"bin/{program}"), *arguments]


# A session of its own: Ctrl-C in the terminal and the end of the shell do not reach it. Signals wait until the pid is
# written, so that no program can be started and forgotten.
def launch(folder, state, program):
    unblock = lambda: signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        with open(folder / f"{program}.log", "ab") as log:
            process = subprocess.Popen(command_of(folder, state, program), cwd=folder, stdin=subprocess.DEVNULL,
                                       stdout=log, stderr=log, start_new_session=True, preexec_fn=unblock)
        (folder / f"{program}.pid").write_text(f"{process.pid}\n")
        return process
    finally:
        unblock()


# Until test() is true; a program that ends meanwhile ends the start.
def wait_until(folder, running, what, test):
    deadline = time.monotonic() + START_SECONDS
    while not test():
        for program, process in running.items():
            if process.poll() is not None:
                raise Failure(f"{program} ended with status {process.returncode}\n{last_lines(folder, program)}")
        if time.monotonic() > deadline:
            program = list(running)[-1]
            raise Failure(f"{what} did not happen within {START_SECONDS} s\n{last_lines(folder, program)}")
        time.sleep(0.05)


# Shown because the folder is removed after a failed start.
def last_lines(folder, program, count=20):
    lines = (folder / f"{program}.log").read_text(errors="replace").splitlines()[-count:]
    return "\n".join([f"--- the last lines of {program}.log", *lines])


# A server that was just killed may hold its port for a moment.
def wait_for_port(state, program):
    deadline = time.monotonic() + START_SECONDS
    while True:
        with socket.socket() as candidate:
            candidate.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the programs do
            try:
                return candidate.bind(("127.0.0.1", state["ports"][program]))
            except OSError as error:
                if time.monotonic() > deadline:
                    raise Failure(f"port {state['ports'][program]} of {program}: {error}") from None
        time.sleep(0.05)


# At once and without a chance to save anything; returns when it is gone.
def kill_program(folder, program):
    deadline = time.monotonic() + STOP_SECONDS
    while pid := living_pid(folder, program):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        if time.monotonic() > deadline:
            raise Failure(f"{program}, process {pid}, does not end")
        time.sleep(0.01)


# Those that only watch first, the API server next, etcd last. Only what living_pid() knows to be ours.
def stop_all(folder):
    for together in (EVERY_PROGRAM[:1:-1], PROGRAMS[1:2], PROGRAMS[0:1]):
        for sign in (signal.SIGTERM, signal.SIGKILL):
            for program in together:
                if pid := living_pid(folder, program):
                    if sign == signal.SIGKILL:
                        say(f"{program} did not end within {STOP_SECONDS} s; killing it")
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, sign)
            deadline = time.monotonic() + STOP_SECONDS
            while any(living_pid(folder, program) for program in together) and time.monotonic() < deadline:
                time.sleep(0.05)
