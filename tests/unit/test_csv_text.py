"""Rows as CSV text."""

from __future__ import annotations

from ctxcore.csv_text import csv_text


def test_a_text_that_a_spreadsheet_would_run_gets_an_apostrophe() -> None:
    rows = [
        {"name": "=1+1", "tokens": -3, "left": None},
        {"name": "a,b", "tokens": 2, "left": "@x"},
    ]

    assert csv_text(rows) == "name,tokens,left\r\n'=1+1,-3,\r\n\"a,b\",2,'@x\r\n"


def test_no_rows_have_no_header() -> None:
    assert csv_text([]).strip() == ""
