"""The files of a data folder: certificates, tokens, kubeconfigs, the scheduler's configuration, shell variables."""
import base64, json, secrets, shlex, subprocess

from testbed.say import Failure

MANAGED_RESOURCES = ["nvidia.com/gpu", "huawei.com/Ascend910", "amd.com/gpu", "metax-tech.com/gpu"]


# A CA, the API server's certificate and the key pair that signs service account tokens.
def write_certificates(folder):
    (folder / "openssl.cnf").write_text(
        "[req]\ndistinguished_name=dn\n[dn]\n"
        "[ca]\nbasicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign\nsubjectKeyIdentifier=hash\n"
        "[server]\nbasicConstraints=CA:FALSE\nkeyUsage=critical,digitalSignature,keyEncipherment\n"
        "extendedKeyUsage=serverAuth\nsubjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\n"
        "subjectAltName=IP:127.0.0.1,IP:10.0.0.1,DNS:localhost,DNS:kubernetes.default.svc\n")
    key = "-newkey rsa:2048 -nodes -config openssl.cnf"
    for arguments in [
            f"req -x509 {key} -extensions ca -days 365 -subj /CN=chipweave-testbed-ca -keyout ca.key -out ca.crt",
            f"req {key} -subj /CN=kube-apiserver -keyout apiserver.key -out apiserver.csr",
            "x509 -req -in apiserver.csr -CA ca.crt -CAkey ca.key -set_serial 2 -days 365 "
            "-extfile openssl.cnf -extensions server -out apiserver.crt",
            "genrsa -out service-account.key 2048",
            "rsa -in service-account.key -pubout -out service-account.pub"]:
        try:
            done = subprocess.run(["openssl", *arguments.split()], cwd=folder, capture_output=True, text=True)
        except FileNotFoundError:
            raise Failure("openssl is not here; install the package openssl") from None
        if done.returncode != 0:
            raise Failure(f"openssl {arguments}: {done.stderr.strip()}")


# With the certificate inside, so that a copy works anywhere.
def write_kubeconfig(folder, file, server, user, token):
    ca = base64.b64encode((folder / "ca.crt").read_bytes()).decode()
    (folder / file).write_text(
        "apiVersion: v1\nkind: Config\n"
        f"clusters:\n- name: testbed\n  cluster:\n    server: {server}\n    certificate-authority-data: {ca}\n"
        f"users:\n- name: {user}\n  user:\n    token: {token}\n"
        f"contexts:\n- name: testbed\n  context:\n    cluster: testbed\n    user: {user}\ncurrent-context: testbed\n")


# User names and groups that Kubernetes' own bootstrap roles know, and one user without any rights.
def write_users(folder, state):
    users = [("kubeconfig", "admin", "system:masters"), ("kube-scheduler.kubeconfig", "system:kube-scheduler", ""),
             ("kube-controller-manager.kubeconfig", "system:kube-controller-manager", ""),
             ("somebody.kubeconfig", "somebody", "")]
    with open(folder / "tokens.csv", "w") as tokens:
        for file, user, group in users:
            token = state["token"] if user == "admin" else secrets.token_hex(16)
            tokens.write(f"{token},{user},{user},{group}\n")
            write_kubeconfig(folder, file, state["server"], user, token)


# High limits for requests: the defaults (50 a second) would cap a benchmark. JSON is YAML.
def write_scheduler_config(folder, extender):
    config = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
              "leaderElection": {"leaderElect": False},
              "clientConnection": {"kubeconfig": str(folder / "kube-scheduler.kubeconfig"), "qps": 1000, "burst": 2000}}
    if extender:
        config["extenders"] = [{
            "urlPrefix": extender, "filterVerb": "filter", "prioritizeVerb": "prioritize", "preemptVerb": "preempt",
            "bindVerb": "bind", "weight": 12, "nodeCacheCapable": True, "httpTimeout": "5s",
            "managedResources": [{"name": name} for name in MANAGED_RESOURCES]}]
    (folder / "scheduler.yaml").write_text(json.dumps(config, indent=2) + "\n")


# For `eval` in a shell and for tests that speak HTTP themselves. kubectl keeps its cache out of the home folder.
def write_env(folder, state):
    values = {"KUBECONFIG": folder / "kubeconfig", "KUBECACHEDIR": folder / "kubectl-cache",
              "CHIPWEAVE_TESTBED": folder,
              "CHIPWEAVE_TESTBED_BIN": folder / "bin", "CHIPWEAVE_TESTBED_CA": folder / "ca.crt",
              "CHIPWEAVE_TESTBED_SERVER": state["server"], "CHIPWEAVE_TESTBED_TOKEN": state["token"]}
    for program, port in state["ports"].items():
        values[f"CHIPWEAVE_TESTBED_PORT_{program.upper().replace('-', '_')}"] = port
    text = "".join(f"export {key}={shlex.quote(str(value))}\n" for key, value in values.items())
    text += f"export PATH={shlex.quote(str(folder / 'bin'))}:\"$PATH\"\n"
    (folder / "env").write_text(text)
