"""Runs the notebooks and stores them with their outputs: ``make notebooks``."""

from __future__ import annotations

import tempfile
from pathlib import Path

import nbformat  # pyright: ignore[reportMissingImports]  # in the extra notebooks
from nbclient import NotebookClient  # pyright: ignore[reportMissingImports]

FOLDER = Path(__file__).parents[2] / "notebooks"


def main() -> None:
    """Runs every notebook in an empty folder."""
    for path in sorted(FOLDER.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        with tempfile.TemporaryDirectory() as folder:
            NotebookClient(
                notebook, timeout=600, coalesce_streams=True, resources={"metadata": {"path": folder}}
            ).execute()
        for cell in notebook.cells:
            # Times of the run, which differ each time.
            cell.metadata.pop("execution", None)
        notebook.metadata.language_info = {"name": "python"}
        nbformat.write(notebook, path)


if __name__ == "__main__":
    main()
