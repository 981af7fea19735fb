"""Measurements between two hosts, as ``anabranch measure --out`` writes them, shown as a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import polars as pl

from ..result import Result
from .page import facts, number

BACK = ", from the server"
"""Suffix of the name of a flow for the direction from the server."""


def is_measured(manifest: Mapping[str, Any]) -> bool:
    """True of the manifest of a measurement."""
    return str(manifest.get("schema", "")).startswith("anabranch.measure/")


def by_direction(result: Result) -> Result:
    """The result with a flow for each direction in which data was sent, and with the probes of latency."""
    back = pl.col("quantity").str.starts_with("back")
    # Data that arrives at this side in an interval comes from the server.
    arrives = pl.col("quantity").eq("throughput") & pl.col("path").is_null()
    scalars, series = _split(result.scalars, back), _split(result.series, back | arrives)
    sent = scalars.filter(pl.col("quantity").is_in(["offered_bytes", "received_bytes"]) & (pl.col("value") > 0))
    flows = sent["flow"].unique().to_list()
    probes = pl.col("flow").str.starts_with("probe:")
    return replace(
        result,
        scalars=scalars.filter(pl.col("flow").is_in(flows) | probes),
        series=series.filter(pl.col("flow").is_in(flows) | probes),
    )


def _split(frame: pl.DataFrame, back: pl.Expr) -> pl.DataFrame:
    return frame.with_columns(
        flow=pl.when(back).then(pl.col("flow") + BACK).otherwise(pl.col("flow")),
        quantity=pl.col("quantity").str.replace("^back[-_]", ""),
    )


def origin(manifest: Mapping[str, Any]) -> str:
    """When and how long was measured."""
    total = manifest["total"]
    begun = datetime.fromtimestamp(manifest["begun_us"] / 1e6, UTC)
    return facts([
        ("measured", begun.strftime("%Y-%m-%d %H:%M:%S UTC")),
        ("seconds", f"{number(total['from_s'])} to {number(total['to_s'])}"),
        ("transports", ", ".join(sorted({flow["transport"] for flow in total["flows"]}))),
        ("measurement", str(manifest["measurement"])),
    ])  # fmt: skip
