"""How the testbed speaks: progress and failures go to standard error, results to standard output."""
import sys


class Failure(Exception):
    """Ends the script with a sentence and an exit status."""

    def __init__(self, text, status=1):
        super().__init__(text)
        self.status = status


def say(text):
    print(f"testbed: {text}", file=sys.stderr, flush=True)
