"""The figures of paper 001."""

from __future__ import annotations

from matplotlib.figure import Figure

from anabranch import plots
from anabranch.plots import BLUE, GREEN, ORANGE, PINK, SKY, VERMILION, Look
from anabranch.reproduce import FigureData

VARIANTS = {
    "cmt": Look("CMT (SFR, CUCv2, DAC)", BLUE, "-", "o"),
    "no-dac": Look("CMT, DAC off", SKY, (0, (1, 1)), "x"),
    "cuc-v1": Look("CMT, CUCv1", GREEN, "-.", "v"),
    "cuc-normal": Look("CMT, CUC normal", PINK, (0, (5, 1)), "D"),
    "no-sfr": Look("CMT, SFR off", ORANGE, ":", "^"),
    "off": Look("CMT off", VERMILION, "--", "s"),
}


def figure_8_left(data: FigureData) -> Figure:
    """Throughput as a function of the rate of the paths, with CMT and with parts of CMT turned off, simulated."""
    return _throughput(data, VARIANTS)


def figure_8_right(data: FigureData) -> Figure:
    """Throughput with CMT on and off, with the Ethernet framing of the paper's testbed."""
    return _throughput(data, {name: VARIANTS[name] for name in ("cmt", "off")})


def _throughput(data: FigureData, looks: dict[str, Look]) -> Figure:
    figure = plots.new_figure(height=2.4 + 0.13 * len(looks))
    axes = figure.subplots()
    plots.curves(axes, data.summary(number="rho"), x="rho", series="variant", looks=looks, marks=data.marks("rho"))
    axes.set_xlabel("Data rate of each path ρ [Mbit/s]")
    axes.set_ylabel("Payload throughput [Mbit/s]")
    data.foot(figure)
    return figure
