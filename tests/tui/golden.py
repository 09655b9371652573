#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs rocetop over TESTLIST in batch mode and compares with tests/screens; --update rewrites them."""
import importlib.util
import pathlib

HERE = pathlib.Path(__file__).resolve().parent

spec = importlib.util.spec_from_file_location("rocedump_run", HERE.parent / "rocedump" / "run.py")
rocedump_run = importlib.util.module_from_spec(spec)
spec.loader.exec_module(rocedump_run)


def options_of(words):
    """A screen's options: batch mode, no one's own settings; words behind the capture are a BPF expression."""
    return ["--batch", "--config=/dev/null"] + words


if __name__ == "__main__":
    rocedump_run.main("rocetop", HERE, HERE.parent / "screens", options_of)
