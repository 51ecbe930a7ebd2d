"""What every run of pytest here needs, of tests/ and of the examples in src/."""


def pytest_configure(config):
    """Let our own warnings about leaks pass: most fits here are about something else, the others ask for them."""
    # Named in pyproject.toml they would have unmask imported before coverage starts, which then misses what runs then.
    for ours in ("LeakWarning", "AdjustmentWarning"):
        config.addinivalue_line("filterwarnings", f"ignore::unmask.{ours}")
    # A guess by the clock, which a busy machine makes long.
    config.addinivalue_line("filterwarnings", "ignore:the posterior of .* will take about")
