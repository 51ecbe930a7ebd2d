"""The worker: it works, speaks, stops, and may die."""

import os
import queue
import signal
import time

import pytest

from unmask.app._jobs import STILLBORN, Jobs
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
    jobs.cancel(second)
    assert heard.end(second).kind == "stopped"
    jobs.cancel(first)
    assert heard.end(first).content == "stopped"


def test_a_background_job_steps_aside_for_an_urgent_one_and_begins_again(jobs, heard):
    background = jobs.start(work.until_stopped, urgent=False)
    heard.next("progress")
    urgent = jobs.start(work.double, 4)
    assert heard.end(urgent).content == 8
    assert heard.next("running").number == background
    assert heard.next("progress", "done", "failed").kind == "progress", "it works again, and does not stop at once"
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


def test_a_silent_worker_is_killed_and_replaced():
    heard = Heard()
    jobs = Jobs(heard.news.put, patience=3.0)
    try:
        assert heard.end(jobs.start(work.double, 1)).content == 2
        assert "silent" in heard.end(jobs.start(work.hang)).content
        assert heard.end(jobs.start(work.double, 2)).content == 4
    finally:
        jobs.close()


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="a process cannot be halted here")
def test_a_worker_that_does_not_read_is_replaced_and_nobody_waits_for_it():
    heard = Heard()
    jobs = Jobs(heard.news.put, patience=2.0)
    try:
        assert heard.end(jobs.start(work.double, 1)).content == 2
        process = jobs.process_id
        os.kill(process, signal.SIGSTOP)
        number = jobs.start(work.same, bytes(2_000_000))  # more than a pipe holds
        assert jobs.process_id == process, "it was started without waiting for the worker"
        assert "silent" in heard.end(number).content
        assert heard.end(jobs.start(work.double, 2)).content == 4
        os.kill(jobs.process_id, signal.SIGSTOP)
        jobs.start(work.same, bytes(2_000_000))
    finally:
        jobs.close()


@pytest.fixture(scope="module")
def strict():
    """Jobs that are given little time to stop."""
    heard = Heard()
    jobs = Jobs(heard.news.put, grace=0.5)
    yield jobs, heard
    jobs.close()


def test_a_job_that_does_not_ask_whether_to_stop_is_ended_and_its_worker_replaced(strict):
    jobs, heard = strict
    jobs.use(shared := ["material"])
    number, process = jobs.start(work.deaf), jobs.process_id
    heard.next("progress")
    jobs.cancel(number)
    end = heard.end(number)
    assert (end.kind, "did not stop" in end.content) == ("failed", True)
    assert heard.end(jobs.start(work.same, shared)).content is shared, "the next worker knows what the old one knew"
    assert jobs.process_id != process


def test_a_deaf_background_job_makes_room_for_an_urgent_one_and_comes_again(strict):
    jobs, heard = strict
    background = jobs.start(work.deaf, 1.5, urgent=False)
    heard.next("progress")
    assert heard.end(jobs.start(work.double, 4)).content == 8
    assert heard.next("running").number == background
    assert heard.end(background).content == "ended"


def test_a_job_that_has_heard_may_bring_what_it_has_to_an_end_even_if_it_is_told_again(strict):
    jobs, heard = strict
    number, process = jobs.start(work.slow_to_stop, 1.5), jobs.process_id
    heard.next("progress")
    jobs.cancel(number)
    assert _until(lambda: jobs._running.has_heard)
    jobs.cancel(number)
    assert heard.end(number).content == "stopped", "three times the time that it would have, had it not heard"
    assert jobs.process_id == process


def test_a_job_that_has_heard_and_never_ends_is_ended(strict, monkeypatch):
    jobs, heard = strict
    number = jobs.start(work.hears_and_goes_on)
    heard.next("progress")
    jobs.cancel(number)
    while heard.next("progress").content != {"done": 1.0}:
        pass
    monkeypatch.setattr(jobs, "_longest", 0.5)
    assert "did not stop" in heard.end(number).content


def _until(holds):
    """Wait until something holds."""
    end = time.monotonic() + SOON
    while not holds() and time.monotonic() < end:
        time.sleep(0.01)
    return holds()


def test_a_job_that_takes_too_long_is_told_to_stop(strict, monkeypatch):
    jobs, heard = strict
    monkeypatch.setattr(jobs, "_longest", 0.2)
    assert heard.end(jobs.start(work.until_stopped)).content == "stopped"


def test_a_worker_is_not_taken_for_silent_while_others_are_busy_with_its_news():
    heard = Heard()

    def hear(news):
        if news.kind == "progress":
            time.sleep(5.0)
        heard.news.put(news)

    jobs = Jobs(hear, patience=2.0)
    try:
        process = jobs.process_id
        for number in (4, 5):
            assert heard.end(jobs.start(work.double, number)).content == 2 * number
        assert jobs.process_id == process
    finally:
        jobs.close()


def test_where_no_worker_can_be_started_jobs_fail_until_one_can(monkeypatch, capfd):
    heard = Heard()
    monkeypatch.setattr("unmask.app._jobs.__package__", "nowhere")
    jobs = Jobs(heard.news.put)
    try:
        with jobs._lock:
            numbers = [jobs.start(work.double, 1) for _ in range(5)]
        ends = [heard.next("done", "failed") for _ in numbers]
        assert [end.number for end in ends] == numbers
        assert ["no worker can be started" in end.content for end in ends] == [False, False, True, True, True]
        monkeypatch.undo()
        assert heard.end(jobs.start(work.double, 2)).content == 4
    finally:
        jobs.close()
    assert capfd.readouterr().err.count("ModuleNotFoundError") == STILLBORN


def test_a_file_in_the_folder_of_the_data_is_not_taken_for_a_module(tmp_path, monkeypatch):
    (tmp_path / "queue.py").write_text("raise SystemExit('a file of the user was run')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    heard = Heard()
    jobs = Jobs(heard.news.put)
    try:
        assert heard.end(jobs.start(work.double, 3)).content == 6
    finally:
        jobs.close()


def test_closing_ends_the_worker_and_its_threads():
    jobs = Jobs(lambda news: None)
    process, threads = jobs._process, jobs._threads
    jobs.close()
    assert process.poll() is not None
    assert not any(thread.is_alive() for thread in threads)
