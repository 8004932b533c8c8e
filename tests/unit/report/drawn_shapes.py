"""What an SVG drawing shows, so that two drawings can be compared: paths, texts and tooltips with places and styles."""

import re
from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np

from confidence_tasks.report.figures import Panel
from confidence_tasks.report.figures.page_panels import drawn, written

TENTH = 0.11
"""Difference of two coordinates that were cut off after a tenth of a point."""

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@dataclass
class Shape:
    """An element: its kind, commands or text, points, style, tooltip, and whether it is clipped."""

    kind: str
    content: str
    points: np.ndarray
    style: str
    tip: str
    clipped: bool


def shapes(svg: str) -> list[Shape]:
    """Return the visible elements of a drawing in their order; used parts stand where they are used."""
    root = ElementTree.fromstring(svg)
    parts = {each.get("id"): each for each in root.iter() if each.get("id")}
    return list(_shapes(root, parts, clipped=False))


def _shapes(element, parts, *, clipped):
    if element.tag == "defs":
        return
    clipped = clipped or "clip-path" in element.attrib
    if element.tag == "path":
        yield _path(element.get("d"), (0.0, 0.0), element.get("style"), "", clipped=clipped)
    elif element.tag == "use":
        part, place = parts[element.get("href")[1:]], (float(element.get("x")), float(element.get("y")))
        tip = "".join(each.text for each in element if each.tag == "title")
        yield _path(part.get("d"), place, element.get("style"), tip, clipped=clipped)
    elif element.tag == "text":
        place = np.array([[float(element.get("x")), float(element.get("y"))]])
        turn = element.get("transform", "").partition(" ")[0]
        yield Shape("text", f"{element.text} {turn}", place, element.get("style"), "", clipped)
    for child in element:
        yield from _shapes(child, parts, clipped=clipped)


def _path(path, place, style, tip, *, clipped):
    points = np.array([float(each) for each in _NUMBER.findall(path)]).reshape(-1, 2) + place
    commands = re.sub(r"[^MCLz]", "", path)
    if commands.endswith("z"):  # points that close a shape may be repeated
        following = np.roll(points, -1, axis=0)
        points = points[np.abs(points - following).max(axis=1) > 1e-6]
        commands = commands.replace("L", "")
    return Shape("path", commands, points, style, tip, clipped)


def assert_same_drawing(panel: Panel, size: tuple[float, float]) -> None:
    """Fail unless a panel is written as Matplotlib draws it."""
    ours, theirs = shapes(written(panel, size)), shapes(drawn(panel, size))
    assert [_look(each) for each in ours] == [_look(each) for each in theirs]
    for one, other in zip(ours, theirs, strict=True):
        assert one.points.shape == other.points.shape, one
        tolerance = 2.0 * TENTH if one.kind == "path" else TENTH  # a used part adds two coordinates
        np.testing.assert_allclose(one.points, other.points, rtol=0.0, atol=tolerance, err_msg=str(one))


def _look(shape: Shape) -> tuple[str, str, str, str, bool]:
    return shape.kind, shape.content, shape.style, shape.tip, shape.clipped
