"""Twenty drawn faces: pictures are the points, an arrow is drawn, two values are corrected by hand, and it is known."""

import numpy as np
import pytest

from unmask.datasets import make_drawn_faces
from unmask.discovery import Discovery

from .conftest import FEW

# A browser is slow to start: of what needs one, the quick tests have the story of kinship.
pytestmark = pytest.mark.slow


def test_faces(open_study, few_starts):
    faces = make_drawn_faces(random_state=0)
    bench = open_study()
    pictures = {f"{label}.png": data for label, data in faces.pictures.items()}
    bench.drop({"faces.csv": faces.dissimilarities.to_csv().encode(), **pictures}, ".start")
    bench.page.wait_for_selector("text=face 20.png: a picture")
    bench.button("Make the first map").click()
    bench.says("Map 1")
    bench.page.wait_for_function("() => document.querySelectorAll('.map image').length === 20")
    drawn = bench.page.evaluate(
        """() => {
          const canvas = document.querySelector(".map canvas");
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          return data.some((value) => value > 0);
        }"""
    )
    assert not drawn, "no points behind the pictures"

    bench.tool("Arrow")
    bench.draw(bench.at("face 9", "face 10"))
    bench.page.wait_for_selector("text=From your arrow.")
    for label, value in {"face 5": "0.75", "face 7": "1.6"}.items():
        bench.page.get_by_label(f"Value of {label}", exact=True).fill(value)
        bench.press("Tab")
    bench.page.wait_for_selector("text=2 values corrected by hand.")
    bench.shot("faces-1")
    bench.name_it("smile", "sad below, glad above")
    bench.says("Map 2, given smile")
    bench.shot("faces-2")

    beside = Discovery(faces.dissimilarities)
    beside.fit(2, **FEW)
    found = beside.adopt("smile", **bench.drawn())
    assert np.corrcoef(found.values, faces.features["smile"])[0, 1] > 0.9
    beside.amend("smile", values={"face 5": 0.75, "face 7": 1.6})
    assert bench.study.known["smile"].equals(beside.known["smile"])
    assert bench.study.step.stress == pytest.approx(beside.fit(2, adjust="auto", **FEW).stress, rel=1e-9)
