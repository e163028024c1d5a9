"""The kubelet, ended and started again and again while pods come (--kubelet-ends): by SIGTERM and SIGKILL in turn, mostly
after some pods have been checked, sometimes soon after its start, when it has not said yet that it has devices."""
import signal, time

SOON, DOWN_SECONDS, LONGEST_SECONDS = 0.2, 2.0, 30.0
# A pod bound no longer than this after the kubelet's end was bound before the scheduler could know of it.
KNOWN_SECONDS = 1.0


class KubeletEnds:
    def __init__(self, mode, count, draw, checked):
        self.mode, self.left, self.draw, self.checked = mode, count, draw, checked
        self.done, self.ended_at, self.start_at = 0, [], None
        self.plan()

    def plan(self):
        now = time.monotonic()
        soon = self.draw.random() < SOON
        self.until = now + (self.draw.uniform(0, 3) if soon else LONGEST_SECONDS)
        self.pods = self.checked() + self.draw.randint(1, 3)

    def over(self):
        return self.left == 0 and self.start_at is None

    # True if the kubelet was ended now.
    def step(self):
        now = time.monotonic()
        if self.start_at is not None:
            if now >= self.start_at:
                self.start_at = None
                self.mode.node.start_kubelet()
                self.plan()
            return False
        if self.left == 0 or (now < self.until and self.checked() < self.pods):
            return False
        self.mode.keep_durations()
        self.ended_at.append(time.time())
        self.mode.node.stop_kubelet(signal.SIGTERM if self.done % 2 else signal.SIGKILL)
        self.start_at = time.monotonic() + self.draw.uniform(0, DOWN_SECONDS)
        self.done, self.left = self.done + 1, self.left - 1
        return True

    # Whether a pod that the kubelet rejected was bound before its node could be closed: before the last end, or just after.
    def caught(self, bound, rejected):
        ends = [ended for ended in self.ended_at if ended <= rejected]
        return bool(ends) and bound <= ends[-1] + KNOWN_SECONDS
