"""A way to the API server that holds back what it answers: watches come late."""
import contextlib, queue, socket, threading, time

CHUNK = 1 << 16


class LateServer:
    """Forwards connections to a port of 127.0.0.1; TLS passes through. What the server sends arrives `delay` seconds later,
    and not at all while it is held."""

    def __init__(self, port, delay=0.0):
        self.port, self.delay, self.held_until = port, delay, 0.0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def hold(self, seconds):
        self.held_until = time.monotonic() + seconds

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            try:
                server = socket.create_connection(("127.0.0.1", self.port), timeout=10)
            except OSError:
                client.close()
                continue
            server.settimeout(None)
            for one in (client, server):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            waiting = queue.Queue()
            for what in (lambda c=client, s=server: self.forward(c, s), lambda s=server, w=waiting: self.read(s, w),
                         lambda w=waiting, c=client, s=server: self.write(w, c, s)):
                threading.Thread(target=what, daemon=True).start()

    @staticmethod
    def forward(client, server):
        with contextlib.suppress(OSError):
            while data := client.recv(CHUNK):
                server.sendall(data)
        with contextlib.suppress(OSError):
            server.shutdown(socket.SHUT_WR)

    def read(self, server, waiting):
        data = b"-"
        while data:
            try:
                data = server.recv(CHUNK)
            except OSError:
                data = b""
            waiting.put((time.monotonic() + self.delay, data))

    # An end of the connection waits, too.
    def write(self, waiting, client, server):
        with contextlib.suppress(OSError):
            while True:
                due, data = waiting.get()
                while (left := max(due, self.held_until) - time.monotonic()) > 0:
                    time.sleep(min(left, 0.1))
                if not data:
                    break
                client.sendall(data)
        for one in (client, server):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
