"""Draw the picture of docs/architecture.md: the walk of the data through a fit, and the rooms it passes.

``python docs/architecture.py`` writes docs/images/architecture.svg. The background is white in dark themes too, as that
of the other pictures is.
"""

from pathlib import Path
from xml.sax.saxutils import escape

OUT = Path(__file__).parent / "images" / "architecture.svg"
WIDTH, HEIGHT = 960, 610
INK, QUIET = "#1b1f24", "#57606a"
# Of the groups of rooms: what comes in, what sees pairs, what knows what is known, what looks for the minimum, people.
IN, PAIRS, KNOWN, SEARCH, PEOPLE = "#fff3d6", "#dcebff", "#dff3e3", "#efe3fa", "#f1f2f4"
STROKES = {IN: "#8f6a12", PAIRS: "#3b78c2", KNOWN: "#2b7543", SEARCH: "#7d4fb0", PEOPLE: "#57606a"}


def text(x: float, y: float, words: str, size: int = 13, color: str = INK, style: str = "") -> str:
    """Return a line of text centred at x."""
    return (
        f'<text x="{x}" y="{y}" font-size="{size}" fill="{color}" text-anchor="middle" {style}>{escape(words)}</text>'
    )


def box(x: float, y: float, width: float, height: float, fill: str, lines: list[str], room: str = "") -> str:
    """Return a box with a bold first line, further lines, and the room it stands for below them."""
    parts = [
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="8" fill="{fill}" stroke="{STROKES[fill]}" '
        'stroke-width="1.5"/>'
    ]
    middle = x + width / 2
    top = y + 22
    for number, line in enumerate(lines):
        style = 'font-weight="600"' if number == 0 else ""
        parts.append(text(middle, top + 18 * number, line, 14 if number == 0 else 12, INK, style))
    if room:
        parts.append(text(middle, y + height - 9, room, 12, STROKES[fill], 'font-family="monospace"'))
    return "".join(parts)


def arrow(points: list[tuple[float, float]], words: str = "", at: tuple[float, float] | None = None) -> str:
    """Return a line of straight pieces with a head, and words beside it."""
    way = " ".join(f"{x},{y}" for x, y in points)
    line = f'<polyline points="{way}" fill="none" stroke="{QUIET}" stroke-width="1.8" marker-end="url(#head)"/>'
    return line + (text(*at, words, 12, QUIET, 'font-style="italic"') if at else "")


def picture() -> str:
    """Return the whole picture."""
    parts = [
        # what comes in
        box(20, 20, 210, 92, IN, ["what you have", "a table, a list of pairs,", "or features and a metric"],
            "dissimilarities/"),
        box(270, 20, 210, 92, IN, ["a source", "n, dtype, tile, rows", "and the labels"], "checking/"),
        box(520, 20, 200, 92, KNOWN, ["pairs that count", "a scheme of weights,", "a measurement level"], "problem/"),
        box(520, 128, 200, 92, KNOWN, ["what is known", "types of features,", "coded as columns V"], "problem/"),
        box(760, 74, 180, 92, KNOWN, ["a problem", "pairs, known, p"], "problem/"),
        arrow([(230, 66), (268, 66)]),
        arrow([(480, 66), (518, 66)]),
        arrow([(125, 112), (125, 174), (518, 174)], "known=", (320, 167)),
        arrow([(720, 66), (740, 66), (740, 105), (758, 105)]),
        arrow([(720, 174), (740, 174), (740, 135), (758, 135)]),
        # the seam
        f'<rect x="20" y="250" width="920" height="200" rx="12" fill="none" stroke="{QUIET}" stroke-dasharray="5 5"/>',
        text(62, 271, "the seam", 13, QUIET, 'font-weight="600"'),
        box(40, 300, 190, 92, SEARCH, ["θ = (U, B, …)", "starts, step rules,", "one loop"], "solvers/"),
        box(300, 300, 170, 92, KNOWN, ["Z = [U, VB]", "a structure: lift,", "adjoint, metric"], "problem/"),
        box(540, 300, 170, 92, PAIRS, ["an engine", "reads each pair once:", "stress and gradient"], "engines/"),
        box(770, 300, 150, 92, PAIRS, ["the passes", "compiled; NumPy", "for few objects"], "kernels/"),
        arrow([(230, 330), (298, 330)], "lift", (264, 322)),
        arrow([(470, 330), (538, 330)], "pass", (504, 322)),
        arrow([(710, 330), (768, 330)]),
        arrow([(768, 365), (712, 365)]),
        arrow([(540, 365), (472, 365)], "σ, G", (506, 382)),  # noqa: RUF001 - the stress
        arrow([(300, 365), (232, 365)], "adjoint", (265, 382)),
        arrow([(205, 392), (205, 426), (150, 426), (150, 394)], "step, until it stops", (275, 430)),
        arrow([(850, 166), (850, 272), (625, 272), (625, 298)]),
        arrow([(805, 166), (805, 236), (385, 236), (385, 298)]),
        # what comes out
        box(40, 490, 190, 92, SEARCH, ["the best of the starts", "in canonical form,", "and why it stopped"],
            "solvers/"),
        box(290, 490, 190, 92, PEOPLE, ["a fitted estimator", "embedding_, coef_,", "stress_, leak_, …"],
            "estimators/"),
        box(540, 490, 380, 92, PEOPLE,
            ["whoever reads it", "scores and tests, pictures,", "files, studies, reports, commands"],
            "inspection/ plotting/ io/ discovery/ reports/ cli/"),
        arrow([(90, 392), (90, 488)]),
        arrow([(230, 536), (288, 536)]),
        arrow([(480, 536), (538, 536)]),
    ]  # fmt: skip
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        'font-family="system-ui, -apple-system, Segoe UI, Roboto, Helvetica, Arial, sans-serif">'
        f'<defs><marker id="head" viewBox="0 0 10 10" refX="8" refY="5" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M 0 0 L 10 5 L 0 10 z" fill="{QUIET}"/></marker></defs>'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>' + "\n".join(parts) + "</svg>\n"
    )


if __name__ == "__main__":
    OUT.write_text(picture(), encoding="utf-8")
