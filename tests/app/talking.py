"""A page that talks to a session, for the tests."""

import queue
from contextlib import contextmanager

SOON = 300.0  # seconds within which something happens, even on a machine that is very busy and compiles first


class Page:
    """Sends requests as the page does, and remembers what it heard."""

    def __init__(self, session):
        self.session, self.events, self.state = session, queue.Queue(), None
        session.listen(self._hear)
        self.state = self.ask("hello", protocol=1)["state"]

    def _hear(self, event):
        if event["event"] == "state":
            self.state = event["state"]
        self.events.put(event)

    def send(self, do, **fields):
        """Send a request, with the revision that the page shows, and return the answer."""
        return self.session.handle({"id": 7, "do": do, "revision": self.state["revision"], **fields})

    def ask(self, do, **fields):
        """Send a request that is to be answered, not refused."""
        self.state = self.state or {"revision": None}
        answer = self.send(do, **fields)
        assert answer["id"] == 7
        assert answer["ok"], answer
        return answer

    def refused(self, do, **fields):
        """Send a request that is to be refused, and return why."""
        answer = self.send(do, **fields)
        assert not answer["ok"], answer
        return answer["error"]

    def hear(self, *kinds, job=None):
        """Wait for an event of one of some kinds."""
        while True:
            event = self.events.get(timeout=SOON)
            if event["event"] in kinds and job in (None, event.get("job")):
                return event

    def job(self, do, **fields):
        """Ask for a job and wait for its end, which is to be a good one."""
        end = self.hear("done", "failed", job=self.ask(do, **fields)["job"])
        assert end["event"] == "done", end
        return end

    @property
    def fit(self):
        """What the page is told of the step that it shows."""
        return next(action["fit"] for action in self.state["tree"] if action["id"] == self.state["step"])


@contextmanager
def visiting(session):
    """Open a page that talks to a session, and leave at the end."""
    page = Page(session)
    yield page
    session.leave(page._hear)
