// The connection to `howsteps serve`, if any: sends edits, and receives the new places.

const server = { status: null, revision: content.revision ?? 0, queue: [], busy: false, gone: false };

async function post(path, value) {
  const answer = await fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(value),
  });
  if (!answer.ok) throw Object.assign(new Error((await answer.text()).trim()), { status: answer.status });
  return answer;
}

/** Send changes one after another; a refused change is reverted and reported. */
async function send(change) {
  server.queue.push(change);
  if (server.busy) return;
  server.busy = true;
  while (server.queue.length) {
    try {
      const answer = await post("edits", { revision: server.revision, ...server.queue[0] });
      // The rest of the status is taken only from the event stream, which is ordered.
      const { revision, undo, redo } = await answer.json();
      server.revision = revision;
      const done = server.queue.shift();
      if (!done.undo && !done.redo) continue;
      history.states.length = 0; // they are of another script
      announce(done.undo ? `Undone: ${described(redo)}.` : `Redone: ${described(undo)}.`);
    } catch (error) {
      server.queue.length = 0;
      updateServer({ gone: error.status === undefined });
      await refresh(true).catch(() => {});
      announce(server.gone ? `${STOPPED} The last change was not kept.` : capital(error.message));
    }
  }
  server.busy = false;
  catchUp();
}

const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

function updateServer(change) {
  Object.assign(server, change);
  showEditor();
}

const STOPPED = "The server has stopped. Start “howsteps serve” again; what you type stays here.";

/** Show what the server has undone or placed since, unless edits of this page are still being sent. */
function catchUp() {
  const { status } = server;
  if (!status || dragging || server.busy) return;
  const isPlaced = status.revision >= server.revision && (status.placed === status.revision || status.error);
  if (content.revision < server.revision || (isPlaced && status.version > content.version)) refresh().catch(() => {});
}

/** Fetch and show the content; with `hard`, even if it is outdated, which discards local changes. */
async function refresh(hard = false) {
  const answer = await fetch("content");
  const newContent = await answer.json();
  // Edits made since the request make it outdated; newer content comes with the next event.
  const isOutdated = newContent.revision < server.revision;
  if (!hard && (server.queue.length || isOutdated || dragging)) return;
  server.revision = newContent.revision;
  if (hard) history.states.length = 0;
  redraw(() => setContent(newContent));
}

function startServer() {
  if (!content.served) return;
  document.querySelector(`[data-key="${sessionStorage.getItem("howsteps-focus")}"]`)?.focus({ preventScroll: true });
  sessionStorage.removeItem("howsteps-focus");
  const events = new EventSource("events");
  events.addEventListener("message", ({ data }) => {
    const status = JSON.parse(data);
    const before = server.status?.renewals ?? status.renewals;
    if (status.renewals !== before) {
      sessionStorage.setItem("howsteps-focus", "undo"); // it takes the choice back
      return location.reload(); // with other videos, or a script from outside, everything is new
    }
    updateServer({ gone: false, status });
    catchUp();
  });
  events.addEventListener("error", () => {
    updateServer({ gone: true });
  });
}

async function exportTo(name) {
  announce(`Writing ${name} …`);
  try {
    const { files, folder } = await (await post(`exports/${encodeURIComponent(name)}`, {})).json();
    announce(`${count(files, "file")} in ${folder} in the work folder.`);
  } catch (error) {
    announce(capital(error.message));
  }
}

function save(blob, name) {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
