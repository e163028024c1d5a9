"""A stand-in for chipweave-scheduler in tests of what surrounds it: takes every node, gives chips 0 and 1, binds."""
import http.server, json, ssl, threading
from urllib.parse import urlsplit

from testbed.api import request


class StandIn:
    # `folder` holds tls.crt and tls.key; the pods are bound with `token` at the API server.
    def __init__(self, folder, api_server, ca, token):
        self.verbs = []  # each once, in the order of their first request
        self.bind = lambda path, body: request(urlsplit(api_server).port, path, ca, token, "POST", body)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        trust = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        trust.load_cert_chain(folder / "tls.crt", folder / "tls.key")
        self.server.socket = trust.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def handler(self):
        stand_in = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                verb = self.path.removeprefix("/kube/")
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if verb not in stand_in.verbs:
                    stand_in.verbs.append(verb)
                answer = json.dumps(getattr(stand_in, f"answer_{verb}")(asked)).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        return Handler

    def answer_filter(self, asked):
        return {"NodeNames": asked["NodeNames"], "FailedNodes": {}, "Error": ""}

    def answer_prioritize(self, asked):
        return [{"Host": name, "Score": 10} for name in asked["NodeNames"]]

    def answer_preempt(self, _):
        return {"NodeNameToMetaVictims": {}}

    def answer_bind(self, asked):
        placement = {"v": 1, "node": asked["Node"], "podUid": asked["PodUID"], "chips": [{"index": 0}, {"index": 1}]}
        body = {"apiVersion": "v1", "kind": "Binding", "target": {"kind": "Node", "name": asked["Node"]},
                "metadata": {"name": asked["PodName"], "namespace": asked["PodNamespace"], "uid": asked["PodUID"],
                             "annotations": {"chipweave.dev/placement": json.dumps(placement)}}}
        code, text = self.bind(f"/api/v1/namespaces/{asked['PodNamespace']}/pods/{asked['PodName']}/binding", body)
        return {"Error": "" if code == 201 else text}
