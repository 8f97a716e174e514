"""``howsteps serve`` under load: ``python -m benchmarks.served --minutes 60``.

A job of thirty narrations is served to two pages, each with an event stream, which read the script
whenever it changes. Both edit it (every kind of edit, undo and redo) and write every
export. Once a minute prints what was asked so far, and memory, open files and threads of the
server; at the end, how memory grew from the second quarter of the time to the last.
"""

import argparse
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from itertools import islice
from pathlib import Path
from random import Random
from statistics import mean
from typing import Any
from urllib.parse import urlsplit

from benchmarks.many_tasks import write_tasks
from howsteps.pipeline.options import RunOptions
from howsteps.pipeline.run import run
from howsteps.report.exports import FORMATS

PAGES = 2
PAUSE = 0.5  # seconds between two requests of a page
EXPORT = 0.1  # of the requests
JOURNAL = 9_000  # edits; the journal takes ten thousand
HEADINGS = ("minutes", "edits", "refused", "exports", "reads", "MB", "files", "threads")


class Client:
    """One page: it asks, and counts what it asked."""

    def __init__(self, address: str, seed: int) -> None:
        self.url = urlsplit(address)
        self.rng = Random(seed)  # noqa: S311 - not cryptography
        self.counts: Counter[str] = Counter()

    def ask(self, method: str, what: str, body: bytes | None = None) -> bytes:
        """Send a request; return the body of the answer. A refusal (4xx) is counted."""
        talk = http.client.HTTPConnection(self.url.netloc, timeout=300)
        headers = {"origin": f"http://{self.url.netloc}", "content-type": "application/json"}
        talk.request(method, self.url.path + what, body, headers)
        answer = talk.getresponse()
        content = answer.read()
        talk.close()
        if answer.status >= 500:
            raise SystemExit(f"{method} {what}: {answer.status} {content!r:.300}")
        self.counts["refused"] += answer.status >= 400
        return content

    def post(self, what: str, **value: object) -> None:
        """Send JSON."""
        self.ask("POST", what, json.dumps(value).encode())

    def follow(self, done: threading.Event) -> None:
        """Read the event stream, and the script after every event that says it is new."""
        version = None
        while not done.is_set():
            talk = http.client.HTTPConnection(self.url.netloc, timeout=600)
            talk.request("GET", f"{self.url.path}events")
            stream = talk.getresponse()
            for line in islice(stream, 1000):  # then the page is closed and opened again
                if done.is_set():
                    break
                shown = json.loads(line[5:])["version"] if line.startswith(b"data:") else version
                if shown != version:
                    version = shown
                    self.ask("GET", "" if self.rng.random() < 0.1 else "content")
                    self.counts["reads"] += 1
            stream.close()
            talk.close()

    def work(self, done: threading.Event) -> None:
        """Edit and export at random."""
        while not done.wait(self.rng.expovariate(1 / PAUSE)):
            if self.rng.random() < EXPORT:
                formats = [name for name, each in FORMATS.items() if each.own_folder]
                self.post(f"exports/{self.rng.choice(formats)}")
                self.counts["exports"] += 1
            else:
                status = json.loads(self.ask("GET", "status"))
                if status["revision"] < JOURNAL:
                    change = self.change(status)
                    self.post("edits", revision=status["revision"], **change)
                    self.counts["edits"] += 1

    def change(self, status: dict[str, Any]) -> dict[str, object]:
        """An edit of the script as it is now."""
        if self.rng.random() < 0.3:
            return {"undo" if status["undo"] and self.rng.random() < 0.7 else "redo": True}
        shown = json.loads(self.ask("GET", "content"))
        steps, videos = len(shown["steps"]), [video["id"] for video in shown["videos"]]
        step, to = self.rng.randrange(max(1, steps)), self.rng.randrange(max(1, steps))
        label = f"step {self.rng.randrange(10**6)}"
        time = self.rng.uniform(0, 200)
        edits: list[dict[str, object]] = [
            {"op": "rename", "step": step, "label": label},
            {"op": "move", "step": step, "to": to},
            {"op": "optional", "step": step, "value": self.rng.random() < 0.5},
            {
                **{"op": "place", "step": step, "video": self.rng.choice(videos)},
                **{"time": time, "start": time, "end": time + 2},
            },
            {"op": "add", "at": step, "label": label}
            if steps < 8
            else {"op": "delete", "step": step},
        ]
        return {"do": self.rng.choice(edits)}


def usage(process: int) -> tuple[float, int, int]:
    """Resident memory in MB, open files and threads of a process."""
    folder = Path("/proc") / str(process)
    pages = int((folder / "statm").read_text().split()[1])
    size = pages * os.sysconf("SC_PAGE_SIZE") / 2**20
    return size, len(list((folder / "fd").iterdir())), len(list((folder / "task").iterdir()))


def load(folder: Path, minutes: float) -> None:
    """Serve a work folder for some minutes, and print a table."""
    command = [sys.executable, "-m", "howsteps", "serve", str(folder), "--no-browser"]
    with subprocess.Popen(  # noqa: S603 - our own interpreter
        command, stdout=subprocess.PIPE, text=True
    ) as server:
        output = iter(server.stdout or [])
        address = next(word for line in output for word in line.split() if "://" in word)
        threading.Thread(target=lambda: list(output), daemon=True).start()
        url = urlsplit(address)
        while True:  # it may be just starting
            try:
                socket.create_connection((url.hostname, url.port)).close()
                break
            except ConnectionRefusedError:
                time.sleep(0.1)
        pages = [Client(address, seed) for seed in range(PAGES)]
        done, sizes = threading.Event(), []
        threads = [
            threading.Thread(target=act, args=(done,))
            for page in pages
            for act in (page.follow, page.work)
        ]
        for thread in threads:
            thread.start()
        print("| " + " | ".join(HEADINGS) + " |\n" + "|---" * len(HEADINGS) + "|")
        end = time.monotonic() + 60 * minutes
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(60, left))
            asked = sum((page.counts for page in pages), Counter())
            size, files, running = usage(server.pid)
            sizes.append(size)
            cells = [len(sizes), *(asked[name] for name in HEADINGS[1:6])]
            print(
                "|", *(f"{cell} |" for cell in [*cells, f"{size:.0f}", files, running]), flush=True
            )
        done.set()
        for thread in threads:
            thread.join()
        time.sleep(5)
        print(f"afterwards: {usage(server.pid)[1]} files, {usage(server.pid)[2]} threads")
        server.send_signal(signal.SIGINT)
    quarter = len(sizes) // 4
    if quarter:
        before, after = mean(sizes[quarter : 2 * quarter]), mean(sizes[-quarter:])
        print(f"memory: {before:.0f} MB in the second quarter, {after:.0f} MB in the last")


def main() -> None:
    """Make a job, and serve it."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--minutes", type=float, default=60.0)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        source = write_tasks(Path(temporary) / "in", 1, narrators=30)
        [folder] = run(source, Path(temporary) / "out", RunOptions(vision=False)).folders.values()
        load(folder, chosen.minutes)


if __name__ == "__main__":
    main()
