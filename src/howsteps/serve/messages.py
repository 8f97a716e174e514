"""Messages for the page: they name files, but not the folders of this machine."""

import os
import re
from pathlib import Path

# The folders of an absolute path. Their names may contain spaces, but do not end with one, so that
# two paths in a sentence stay apart.
_NAME = r"[^/\\:'\"\n]*[^/\\:'\"\s]"
_FOLDERS = re.compile(rf"(?<![\w.:/\\])(?:[A-Za-z]:)?[/\\](?:{_NAME}[/\\])+")


def without_folders(message: object, work: Path) -> str:
    """Return a message with paths relative to the work folder, and only the names of others."""
    text = str(message).replace(f"{work}{os.sep}", "").replace(str(work), "the work folder")
    return _FOLDERS.sub("", text)
