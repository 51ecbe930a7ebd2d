"""The worker: it works, speaks, stops, and may die."""

import os
import queue
import signal

import pytest

from unmask.app._jobs import Jobs
from unmask.app._pipe import Pipe

from . import work

SOON = 300.0  # seconds within which a worker answers, even on a very busy machine


class Heard:
    """What the jobs said."""

    def __init__(self):
        self.news = queue.Queue()

    def next(self, *kinds):
        """Wait for news of one of some kinds."""
        while True:
            news = self.news.get(timeout=SOON)
            if news.kind in kinds:
                return news

    def end(self, number):
        """Wait for the end of a job."""
        while True:
            news = self.next("done", "failed", "stopped")
            if news.number == number:
                return news


@pytest.fixture(scope="module")
def shared_jobs():
    heard = Heard()
    jobs = Jobs(heard.news.put)
    yield jobs, heard
    jobs.close()


@pytest.fixture
def jobs(shared_jobs):
    return shared_jobs[0]


@pytest.fixture
def heard(shared_jobs):
    return shared_jobs[1]


def test_a_job_tells_how_far_it_is_and_what_it_found(jobs, heard):
    number = jobs.start(work.double, 21)
    assert heard.next("progress").content == {"done": 0.5}
    assert heard.end(number).content == 42


def test_a_job_that_runs_ends_when_it_is_cancelled(jobs, heard):
    number = jobs.start(work.until_stopped)
    heard.next("progress")
    jobs.cancel(number)
    assert heard.end(number).content == "stopped"


def test_a_job_that_waits_is_not_begun_when_it_is_cancelled(jobs, heard):
    first, second = jobs.start(work.until_stopped), jobs.start(work.double, 1)
    heard.next("progress")
    jobs.cancel(second)
    assert heard.end(second).kind == "stopped"
    jobs.cancel(first)
    assert heard.end(first).content == "stopped"


def test_a_background_job_steps_aside_for_an_urgent_one_and_begins_again(jobs, heard):
    background = jobs.start(work.until_stopped, urgent=False)
    heard.next("progress")
    urgent = jobs.start(work.double, 4)
    assert heard.end(urgent).content == 8
    again = heard.next("progress", "done", "failed")
    assert (again.number, again.kind) == (background, "progress"), "it works again, and does not stop at once"
    jobs.cancel(background)
    assert heard.end(background).content == "stopped"


def test_a_background_job_that_was_cancelled_does_not_come_again(jobs, heard):
    background = jobs.start(work.slow_to_stop, urgent=False)
    heard.next("progress")
    jobs.cancel(background)
    urgent = jobs.start(work.double, 5)
    ends = [heard.next("done", "failed", "stopped") for _ in range(2)]
    assert [(end.number, end.content) for end in ends] == [(background, "stopped"), (urgent, 10)]


@pytest.mark.parametrize(
    ("job", "text"),
    [(work.refuse, "n_components=-1 must be at least 0."), (work.break_down, "ZeroDivisionError: somewhere deep")],
)
def test_a_job_that_fails_says_why_and_the_worker_goes_on(jobs, heard, job, text):
    process = jobs.process_id
    assert heard.end(jobs.start(job)).content == text
    assert heard.end(jobs.start(work.double, 1)).content == 2
    assert jobs.process_id == process


@pytest.mark.parametrize(
    ("job", "given", "text"),
    [
        (work.same, lambda: 0, "lambda"),  # cannot be sent to the worker
        (work.give_what_cannot_be_sent, 0, "lambda"),
        (work.same, work.Unreadable(), "was replaced"),  # the worker cannot read it
        (work.give_what_cannot_be_read, 0, "was replaced"),
    ],
)
def test_what_cannot_be_sent_or_read_fails_and_the_next_job_is_done(jobs, heard, job, given, text):
    assert text in heard.end(jobs.start(job, given)).content
    assert heard.end(jobs.start(work.double, 1)).content == 2


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_mistake_of_who_hears_the_news_ends_no_other_job():
    heard = Heard()

    def hear(news):
        heard.news.put(news)
        if news.number == 1:
            raise RuntimeError("a mistake")

    jobs = Jobs(hear)
    try:
        for number in (1, 2):
            assert heard.end(jobs.start(work.double, number)).content == 2 * number
    finally:
        jobs.close()


def test_what_is_said_to_a_worker_that_has_gone_is_no_error():
    ends = [os.fdopen(end, mode) for end, mode in zip(os.pipe(), ("rb", "wb"), strict=True)]
    pipe = Pipe(*ends)
    pipe.close()
    with pytest.raises(OSError, match="has gone"):  # as of a pipe that broke, which is passed over
        pipe.send("stop")


def test_what_is_shared_is_sent_once_and_is_the_same_when_it_comes_back(jobs, heard):
    shared = list(range(1000))
    jobs.use(shared)
    size, process = heard.end(jobs.start(work.size_of, shared)).content
    assert (size, process) == (1000, jobs.process_id)
    assert heard.end(jobs.start(work.same, shared)).content is shared


def test_a_worker_that_dies_is_replaced_and_knows_what_the_old_one_knew(jobs, heard):
    shared, process = ["material"], jobs.process_id
    jobs.use(shared)
    lost, next_one = jobs.start(work.die), jobs.start(work.same, shared)
    assert "was replaced" in heard.end(lost).content
    assert heard.end(next_one).content is shared
    assert jobs.process_id != process


def test_what_is_waited_for_comes_before_background_jobs_and_says_why_there_is_nothing(jobs, heard):
    background = jobs.start(work.until_stopped, urgent=False)
    heard.next("progress")
    assert jobs.result(work.double, 4) == 8
    with pytest.raises(ValueError, match="n_components=-1"):
        jobs.result(work.refuse)
    jobs.cancel(background)
    assert heard.end(background).content == "stopped"


def test_a_job_that_does_not_stop_is_ended_with_its_worker(jobs, heard):
    jobs.use(shared := ["material"])
    process = jobs.process_id
    number = jobs.start(work.deaf)
    heard.next("progress")
    jobs.cancel(number)
    jobs.restart()
    end = heard.end(number)
    assert (end.kind, "was started anew" in end.content) == ("failed", True)
    assert heard.end(jobs.start(work.same, shared)).content is shared, "the next worker knows what the old one knew"
    assert jobs.process_id != process


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="a process cannot be halted here")
def test_nobody_waits_for_a_worker_that_does_not_read(jobs, heard):
    assert heard.end(jobs.start(work.double, 1)).content == 2
    os.kill(jobs.process_id, signal.SIGSTOP)
    number = jobs.start(work.same, bytes(2_000_000))  # more than a pipe holds
    jobs.cancel(number)
    jobs.restart()
    assert heard.end(number).kind in ("failed", "stopped")
    assert heard.end(jobs.start(work.double, 2)).content == 4


def test_where_no_worker_can_be_started_jobs_fail_until_one_can(monkeypatch, capfd):
    heard = Heard()
    monkeypatch.setattr("unmask.app._jobs.__package__", "nowhere")
    jobs = Jobs(heard.news.put)
    try:
        assert "ended unexpectedly" in heard.end(jobs.start(work.double, 1)).content
        monkeypatch.undo()
        ends = [heard.end(jobs.start(work.double, 2)) for _ in range(2)]
        assert ends[-1].content == 4
    finally:
        jobs.close()
    assert "ModuleNotFoundError" in capfd.readouterr().err


def test_a_file_in_the_folder_of_the_data_is_not_taken_for_a_module(tmp_path, monkeypatch):
    (tmp_path / "queue.py").write_text("raise SystemExit('a file of the user was run')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    heard = Heard()
    jobs = Jobs(heard.news.put)
    try:
        assert heard.end(jobs.start(work.double, 3)).content == 6
    finally:
        jobs.close()


def test_closing_ends_the_worker_and_what_waits():
    heard = Heard()
    jobs = Jobs(heard.news.put)
    process, thread = jobs._process, jobs._thread
    numbers = [jobs.start(work.deaf), jobs.start(work.double, 1)]
    jobs.close()
    assert {heard.end(number).kind for number in numbers} == {"failed"}
    assert process.poll() is not None
    assert not thread.is_alive()
