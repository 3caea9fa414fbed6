"""All samples by name: small low-level programs over every level, pattern and position."""

from __future__ import annotations

from tests.codegen.samples import blocks, counts, edges, folds, layout, levels, scans, staging, tiles, vectors
from tests.codegen.samples.base import SAMPLES, Sample

MODULES = (levels, layout, folds, scans, counts, staging, vectors, edges, blocks, tiles)  # each registers its samples

__all__ = ["MODULES", "SAMPLES", "Sample"]
