"""A proxy between two programs that speak HTTP/1.1 over TLS, which does to their requests what a rule says: refuses, delays or
loses them, loses or falsifies answers, cuts watches in the middle of an event. Without a rule everything goes through.

A request is forwarded on a connection of its own to the other side for each connection that the client keeps. If the client
goes away, so does the request, unless the rule says that it is already in flight (`late`)."""
import asyncio, contextlib, json, random, socket, struct, threading, time

HEAD_LIMIT, BODY_LIMIT = 1 << 16, 1 << 27
CUT_SECONDS = 1.5  # a watch that shall be cut in the middle of an event is cut without one after so long


class Loop:
    """The thread that all proxies run on."""

    def __init__(self):
        self.loop, self.servers = asyncio.new_event_loop(), []
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(30)

    # Gives the port.
    def listen(self, serve, tls):
        server = self.call(self.start_server(serve, tls))
        self.servers.append(server)
        return server.sockets[0].getsockname()[1]

    async def start_server(self, serve, tls):
        return await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls, limit=HEAD_LIMIT)

    def do(self, function, *arguments):
        self.loop.call_soon_threadsafe(function, *arguments)

    def stop(self):
        async def end_all():
            for server in self.servers:
                server.close()
            while others := asyncio.all_tasks() - {asyncio.current_task()}:
                for task in others:
                    task.cancel()
                await asyncio.wait(others)

        self.call(end_all())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()


class Rule:
    """What is done to the next request of a kind. Gone when it was used, or after `lasts` seconds."""

    def __init__(self, kinds, action, lasts=2.0, hit=lambda request: None, **how):
        self.kinds, self.action, self.how, self.hit = kinds, action, how, hit
        self.until = time.monotonic() + lasts


class Request:
    def __init__(self, method, target, head, body):
        self.method, self.target, self.head, self.body = method, target, head, body


class Gone(Exception):
    """One of the two sides has closed the connection, or was made to."""


class Proxy:
    # `route` gives the port of the other side for a request, or None: then the connection is closed, as by a host without
    # a listener. `kind_of` names a request for rules; "watch" is answered without an end.
    def __init__(self, loop, name, server_tls, client_tls, route, kind_of):
        self.loop, self.name, self.route, self.kind_of = loop, name, route, kind_of
        self.client_tls, self.rules, self.streams, self.late = client_tls, [], set(), set()
        self.frozen = asyncio.Event()  # set: nothing is forwarded in any direction
        self.seen = lambda kind, request: None
        self.port = loop.listen(self.serve, server_tls)

    # --- what tests do to it, from any thread

    def add(self, rule):
        self.loop.do(self.rules.append, rule)

    def clear(self):
        self.loop.do(self.rules.clear)

    # Cuts a watch in the middle of its next event; how many bytes of it get through is up to `dice`. False: there is none.
    def cut(self, pick, dice):
        streams = sorted(self.streams, key=lambda stream: stream.number)
        if not streams:
            return None
        chosen = streams[int(pick * len(streams))]
        self.loop.do(chosen.cut, int(dice * 900))
        return chosen.target

    # Events of a watch come so much later.
    def lag(self, pick, seconds):
        streams = sorted(self.streams, key=lambda stream: stream.number)
        if not streams:
            return None
        chosen = streams[int(pick * len(streams))]
        self.loop.do(setattr, chosen, "lag_until", time.monotonic() + seconds)
        return chosen.target

    # As when a cable is pulled: connections stay, nothing comes through.
    def freeze(self, on):
        self.loop.do(self.frozen.set if on else self.frozen.clear)

    # Requests whose client has given up get lost.
    def forget_late(self):
        def cancel():
            for task in list(self.late):
                task.cancel()

        self.loop.do(cancel)

    # --- one connection of a client

    async def serve(self, reader, writer):
        link = Link(self, reader, writer)
        try:
            await link.run()
        except (Gone, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError, ValueError):
            pass  # of this connection nothing is left; cancelled: of the whole proxy
        finally:
            link.close()

    def take_rule(self, kind):
        now = time.monotonic()
        self.rules[:] = [rule for rule in self.rules if rule.until > now]
        for rule in self.rules:
            if kind in rule.kinds or "any" in rule.kinds and kind != "watch":
                self.rules.remove(rule)
                return rule
        return None

    async def thawed(self):
        while self.frozen.is_set():
            await asyncio.sleep(0.05)


# Until the end of the line that ends the header.
async def read_head(reader, begin=b""):
    try:
        head = begin + await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        raise Gone from None
    lines = head.decode("latin-1").split("\r\n")
    return head, lines[0], {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:-2])}


# As it stands on the wire.
async def read_body(reader, fields, to_the_end=False):
    if "chunked" in fields.get("transfer-encoding", ""):
        parts = []
        while True:
            line = await reader.readuntil(b"\r\n")
            size = int(line.split(b";")[0], 16)
            parts += [line, await reader.readexactly(size + 2)]
            if size == 0:
                return b"".join(parts)
            if size > BODY_LIMIT:
                raise ValueError("a chunk is too long")
    if "content-length" in fields:
        length = int(fields["content-length"])
        if not 0 <= length <= BODY_LIMIT:
            raise ValueError("a body is too long")
        return await reader.readexactly(length)
    return await reader.read(BODY_LIMIT) if to_the_end else b""


def reset(writer):
    with contextlib.suppress(OSError, AttributeError):
        raw = writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


# As the API server words its refusals.
def refusal(status, retry_after=None):
    text = {409: "Conflict", 410: "Expired", 429: "TooManyRequests", 500: "InternalError", 503: "ServiceUnavailable",
            504: "Timeout"}[status]
    body = json.dumps({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": status,
                       "message": f"a proxy of the chaos suite says {status}", "reason": text}).encode()
    wait = f"Retry-After: {retry_after}\r\n" if retry_after else ""
    head = f"HTTP/1.1 {status} {text}\r\nContent-Type: application/json\r\n{wait}Content-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


class Upstream:
    """The connection to the other side that belongs to one of a client."""

    def __init__(self, proxy):
        self.proxy, self.writer, self.reader, self.port = proxy, None, None, None

    async def send(self, request, port):
        if port is None:
            raise Gone
        if self.writer and (port != self.port or self.reader.at_eof()):
            self.close()
        if not self.writer:
            self.reader, self.writer = await asyncio.open_connection(
                "127.0.0.1", port, ssl=self.proxy.client_tls, server_hostname="127.0.0.1", limit=HEAD_LIMIT)
            self.port = port
        self.writer.write(request.head + request.body)
        await self.writer.drain()
        return await read_head(self.reader)

    async def answer(self, request, port):
        head, line, fields = await self.send(request, port)
        status = int(line.split()[1])
        bare = status in (204, 304) or request.method == "HEAD"
        body = b"" if bare else await read_body(self.reader, fields, to_the_end=True)
        if "close" in fields.get("connection", ""):
            self.close()
        return status, head + body

    def close(self):
        if self.writer:
            self.writer.transport.abort()
        self.writer = None


class Link:
    """One connection of a client, and its requests one after another."""

    def __init__(self, proxy, reader, writer):
        self.proxy, self.reader, self.writer = proxy, reader, writer
        self.upstream = Upstream(proxy)
        self.next_byte = None

    def close(self):
        if self.next_byte:
            self.next_byte.cancel()
        self.upstream.close()
        self.writer.transport.abort()

    async def run(self):
        self.next_byte = asyncio.ensure_future(self.reader.read(1))
        while begin := await self.next_byte:
            request = await self.read_request(begin)
            kind = self.proxy.kind_of(request.method, request.target)
            await self.proxy.thawed()
            self.proxy.seen(kind, request)
            rule = self.proxy.take_rule(kind)
            # The client sends nothing before it has the answer: what comes first is its end.
            self.next_byte = asyncio.ensure_future(self.reader.read(1))
            work = asyncio.ensure_future(self.answer(kind, request, rule))
            try:
                await asyncio.wait({work, self.next_byte}, return_when=asyncio.FIRST_COMPLETED)
                if not work.done() and not self.next_byte.result():
                    raise Gone
                await work
            finally:
                work.cancel()

    async def read_request(self, begin):
        head, line, fields = await read_head(self.reader, begin)
        method, target, _ = line.split(" ", 2)
        return Request(method, target, head, await read_body(self.reader, fields))

    async def tell(self, data):
        await self.proxy.thawed()
        self.writer.write(data)
        await self.writer.drain()

    async def answer(self, kind, request, rule):
        if rule is None:
            return await (self.relay_stream(request) if kind == "watch" else self.relay(request))
        rule.hit(request)
        await getattr(self, rule.action)(kind, request, **rule.how)

    # --- what rules may say

    async def relay(self, request):
        port = self.proxy.route(request)
        _, answer = await self.upstream.answer(request, port)
        await self.tell(answer)

    # Answered by the proxy; the other side does not hear of it.
    async def refuse(self, kind, request, status, retry_after=None):
        await self.tell(refusal(status, retry_after))

    # Lost on the way.
    async def lose_request(self, kind, request):
        reset(self.writer)
        raise Gone

    async def delay(self, kind, request, seconds):
        await asyncio.sleep(seconds)
        await (self.relay_stream(request) if kind == "watch" else self.relay(request))

    # It did its work, but the answer is lost.
    async def lose_answer(self, kind, request):
        await self.upstream.answer(request, self.proxy.route(request))
        reset(self.writer)
        raise Gone

    # Half of the answer.
    async def cut_answer(self, kind, request, dice):
        _, answer = await self.upstream.answer(request, self.proxy.route(request))
        await self.tell(answer[:max(1, int(dice * len(answer)))])
        reset(self.writer)
        raise Gone

    # It did its work, but the client receives an error.
    async def lie(self, kind, request, status):
        await self.upstream.answer(request, self.proxy.route(request))
        await self.tell(refusal(status))

    # The client waits, as long as it likes, for an answer that is there.
    async def hold_answer(self, kind, request, seconds):
        _, answer = await self.upstream.answer(request, self.proxy.route(request))
        await asyncio.sleep(seconds)
        await self.tell(answer)

    # Sent twice; the client has the answer to the second one.
    async def twice(self, kind, request, seconds):
        await self.upstream.answer(request, self.proxy.route(request))
        await asyncio.sleep(seconds)
        await self.relay(request)

    # The request is delayed for so long, and arrives even if the client has disconnected meanwhile.
    async def late(self, kind, request, seconds):
        async def arrive():
            alone = Upstream(self.proxy)
            try:
                await asyncio.sleep(seconds)
                await self.proxy.thawed()
                return await alone.answer(request, self.proxy.route(request))
            finally:
                alone.close()

        task = asyncio.ensure_future(arrive())
        self.proxy.late.add(task)

        def ended(done):
            self.proxy.late.discard(done)
            with contextlib.suppress(BaseException):
                done.exception()

        task.add_done_callback(ended)
        _, answer = await asyncio.shield(task)
        await self.tell(answer)

    # --- an answer without an end

    async def relay_stream(self, request):
        head, line, fields = await self.upstream.send(request, self.proxy.route(request))
        if int(line.split()[1]) != 200:
            return await self.tell(head + await read_body(self.upstream.reader, fields))
        stream = Stream(self, request)
        await self.tell(head)
        self.proxy.streams.add(stream)
        try:
            while data := await self.upstream.reader.read(1 << 16):
                await stream.pass_on(data)
        finally:
            self.proxy.streams.discard(stream)
        raise Gone


class Stream:
    """A watch that goes through the proxy."""
    count = 0

    def __init__(self, link, request):
        Stream.count += 1
        self.link, self.target, self.number = link, request.target, Stream.count
        self.left, self.lag_until = None, 0  # bytes that still get through, if it shall be cut

    def cut(self, bytes_left):
        self.left = bytes_left
        asyncio.get_running_loop().call_later(CUT_SECONDS, self.end)

    def end(self):
        reset(self.link.writer)

    async def pass_on(self, data):
        while (wait := self.lag_until - time.monotonic()) > 0 and self.left is None:
            await asyncio.sleep(min(wait, 0.1))
        if self.left is None:
            return await self.link.tell(data)
        await self.link.tell(data[:self.left])
        self.end()
        raise Gone


# --- self-test


# A server that answers with the number of requests it has seen; a watch tells a line every 20 ms.
class Counter:
    def __init__(self, loop, tls):
        self.requests = 0
        self.port = loop.listen(self.serve, tls)

    async def serve(self, reader, writer):
        with contextlib.suppress(Gone, OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                _, line, fields = await read_head(reader)
                await read_body(reader, fields)
                self.requests += 1
                if "watch" in line:
                    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                    while True:
                        writer.write(b"14\r\n0123456789012345678\n\r\n")
                        await writer.drain()
                        await asyncio.sleep(0.02)
                body = str(self.requests).encode()
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)


# Every action with what the client and the server must see of it; needs a certificate of 127.0.0.1 and its CA.
def self_test(server_tls, client_tls):
    loop, wrong = Loop(), 0
    counter = Counter(loop, server_tls)
    proxy = Proxy(loop, "test", server_tls, client_tls, lambda _: counter.port, lambda _, target: target.strip("/"))

    def ask(kind, limit=5):
        try:
            with socket.create_connection(("127.0.0.1", proxy.port), limit) as raw, \
                    client_tls.wrap_socket(raw, server_hostname="127.0.0.1") as secure:
                secure.sendall(f"POST /{kind} HTTP/1.1\r\nContent-Length: 2\r\n\r\nab".encode())
                data = b""
                while piece := secure.recv(4096):
                    data += piece
                    if kind != "watch" and b"\r\n\r\n" in data and len(data.split(b"\r\n\r\n")[1]) > 0:
                        break
                return data or b"nothing"
        except OSError:
            return b"nothing"

    def check(name, answer, begins, requests):
        nonlocal wrong
        good = answer.startswith(begins) and counter.requests == requests
        wrong += not good
        print(f"{'ok  ' if good else 'FAIL'} proxy: {name}" + ("" if good else f": {answer!r}, {counter.requests} requests"))

    check("no rule", ask("a"), b"HTTP/1.1 200", 1)
    for name, begins, seen, how in [("refuse", b"HTTP/1.1 429", 1, {"status": 429}), ("lose_request", b"nothing", 1, {}),
                                    ("delay", b"HTTP/1.1 200", 2, {"seconds": 0.05}), ("lose_answer", b"nothing", 3, {}),
                                    ("lie", b"HTTP/1.1 500", 4, {"status": 500}), ("twice", b"HTTP/1.1 200", 6, {"seconds": 0}),
                                    ("hold_answer", b"HTTP/1.1 200", 7, {"seconds": 0.05})]:
        proxy.add(Rule({"a"}, name, 60, **how))
        check(name, ask("a"), begins, seen)
    proxy.add(Rule({"a"}, "late", 60, seconds=0.5))
    check("late: the client gives up", ask("a", 0.1), b"nothing", 7)
    deadline = time.monotonic() + 10
    while counter.requests == 7 and time.monotonic() < deadline:
        time.sleep(0.02)
    check("late: the request arrives", b"", b"", 8)
    check("rules are used once", ask("a"), b"HTTP/1.1 200", 9)
    threading.Timer(0.2, lambda: proxy.cut(0, random.random() * 0.02)).start()
    check("cut", ask("watch"), b"HTTP/1.1 200", 10)
    loop.stop()
    return wrong
