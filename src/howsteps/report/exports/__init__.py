"""Exports: a result in the words of other programs, one file of this folder for each format.

``docs/guide/exports.md`` says what each is good for, and what becomes of labels it cannot hold.
"""

from howsteps.report.exports.formats import FORMATS, TEXT, Format, export

__all__ = ["FORMATS", "TEXT", "Format", "export"]
