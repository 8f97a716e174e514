"""Files that are either whole or not there."""

import os
import tempfile
from pathlib import Path


def write_bytes(path: Path, content: bytes) -> None:
    """Write beside and rename, so that a run that is killed leaves no half of a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".part-", delete=False) as part:
        try:
            part.write(content)
            part.close()
            Path(part.name).chmod(0o644)  # as any file of the user, not as a secret
            os.replace(part.name, path)
        except BaseException:
            Path(part.name).unlink(missing_ok=True)
            raise
