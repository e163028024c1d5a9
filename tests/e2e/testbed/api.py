"""Requests to what runs in a testbed."""
import http.client, json, ssl


# Status and body of one request; ("no answer", reason) if there was none.
def request(port, path, ca=None, token=None, method="GET", body=None, content_type="application/json", tls=True):
    if tls:
        trust = ssl.create_default_context(cafile=ca)
        if ca is None:  # scheduler and controller manager sign their own certificates; only their health is read
            trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
        connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=10, context=trust)
    else:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    headers = {"Content-Type": content_type, **({"Authorization": f"Bearer {token}"} if token else {})}
    try:
        connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        response = connection.getresponse()
        return response.status, response.read().decode(errors="replace")
    except (OSError, http.client.HTTPException) as error:
        return "no answer", str(error)
    finally:
        connection.close()


# As the administrator.
def api(folder, state, path, **more):
    return request(state["ports"]["kube-apiserver"], path, folder / "ca.crt", state["token"], **more)


# What a living program lacks to be ready, or None.
def complaint(folder, state, program):
    port = state["ports"][program]
    if program == "kube-apiserver":
        code, text = api(folder, state, "/readyz")
    elif program in ("etcd", "kwok"):
        code, text = request(port, "/health" if program == "etcd" else "/healthz", tls=False)
    else:
        code, text = request(port, "/readyz" if program == "kube-scheduler" else "/healthz")
    lacking = "; ".join(line for line in text.splitlines() if not line.startswith("[+]"))
    return None if code == 200 else f"not ready ({code}: {lacking})"
