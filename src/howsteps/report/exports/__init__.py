"""Exports: a result in the formats of other programs.

``docs/guide/exports.md`` describes them, and how labels are escaped.
"""

from howsteps.report.exports.formats import FORMATS, TEXT_FORMATS, ExportFormat, export

__all__ = ["FORMATS", "TEXT_FORMATS", "ExportFormat", "export"]
