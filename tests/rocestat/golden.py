#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs rocestat over TESTLIST and compares with the golden files; --update rewrites them."""
import importlib.util
import pathlib

HERE = pathlib.Path(__file__).resolve().parent

spec = importlib.util.spec_from_file_location("rocedump_run", HERE.parent / "rocedump" / "run.py")
rocedump_run = importlib.util.module_from_spec(spec)
spec.loader.exec_module(rocedump_run)

if __name__ == "__main__":
    rocedump_run.main("rocestat", HERE, HERE.parent / "golden" / "rocestat")
