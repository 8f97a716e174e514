// The server behind the page, where there is one: edits go there, and what was placed comes back.

// One tab is one writer, also after a reload.
const writer =
  (content.served && sessionStorage.getItem("howsteps-writer")) ||
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
const server = { status: null, revision: content.revision ?? 0, queue: [], busy: false, gone: false, dropped: null };

async function post(path, value) {
  const answer = await fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(value),
  });
  if (!answer.ok) throw Object.assign(new Error((await answer.text()).trim()), { status: answer.status });
  return answer;
}

/** Send changes one after another; what is refused is taken back and said. */
async function send(change) {
  server.queue.push(change);
  if (server.busy) return;
  server.busy = true;
  while (server.queue.length) {
    try {
      const answer = await post("edits", { writer, revision: server.revision, ...server.queue[0] });
      // How things stand comes with the news alone, in its order.
      server.revision = (await answer.json()).revision;
      server.queue.shift();
    } catch (error) {
      server.queue.length = 0;
      settle({ gone: error.status === undefined });
      await refresh(true).catch(() => {});
      tellEditor(server.gone ? "The server has stopped: the last change was not kept. Start “howsteps serve” again." : capital(error.message));
    }
  }
  server.busy = false;
  catchUp();
}

const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

/** Take news of the server; whether one may write decides how the cards look. */
function settle(change) {
  const could = mayWrite();
  Object.assign(server, change);
  if (could === mayWrite()) showEditor();
  else redraw(() => {});
}


const mayWrite = () => !server.gone && (!server.status?.pen || server.status.pen === writer);

/** Show what was placed since, once nothing of ours is on its way. */
function catchUp() {
  const { status } = server;
  if (!status || dragging || server.busy || status.revision < server.revision || status.version <= (content.version ?? 0)) return;
  if (status.placed === status.revision || status.trouble) refresh().catch(() => {});
}

/** Fetch the content and show it where one was; with `hard`, also what was refused is forgotten. */
async function refresh(hard = false) {
  const answer = await fetch("content");
  const shownNow = await answer.json();
  // What was edited since it was asked for makes it old; what is newer comes with the next news.
  const isOld = shownNow.revision < server.revision || (shownNow.placed !== shownNow.revision && !server.status?.trouble);
  if (!hard && (server.queue.length || isOld || dragging)) return;
  server.revision = shownNow.revision;
  if (hard) history.states.length = 0;
  redraw(() => take(shownNow));
}

function startServer() {
  if (!content.served) return;
  sessionStorage.setItem("howsteps-writer", writer);
  document.addEventListener("dragover", (event) => event.dataTransfer.types.includes("Files") && event.preventDefault());
  document.addEventListener("drop", (event) => {
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    if (mayWrite()) dropFiles(event.dataTransfer.files);
  });
  const news = new EventSource(`events?writer=${writer}`);
  news.addEventListener("message", ({ data }) => {
    settle({ gone: false, status: JSON.parse(data) });
    catchUp();
    tellDropped();
  });
  news.addEventListener("error", () => {
    settle({ gone: true });
  });
}

/** Send new videos and captions; the model places them. */
async function dropFiles(files) {
  const dropped = { names: [], refused: [], last: 0 };
  server.dropped = null; // what is said is about these files alone
  for (const file of files) {
    tellEditor(`Uploading ${cutTo(file.name, 40)} …`);
    const answer = await fetch(`new-videos?name=${encodeURIComponent(file.name)}`, {
      method: "POST",
      headers: { "content-type": "application/octet-stream" },
      body: file,
    }).catch(() => null);
    if (answer?.ok) {
      const { name, number } = await answer.json();
      dropped.names.push(name);
      dropped.last = number;
    } else dropped.refused.push([file.name, answer ? (await answer.text()).trim() : "did not arrive"]);
  }
  tellEditor(`${count(dropped.names.length, "file")} received; the steps are being placed …`);
  server.dropped = dropped;
  tellDropped();
}

/** Say what became of the files that were dropped last, once all of them were looked at. */
function tellDropped() {
  const { dropped, status } = server;
  if (!dropped || (dropped.last && !(status?.looked_at >= dropped.last))) return;
  server.dropped = null;
  const { names } = dropped;
  const refused = names.filter((name) => Object.hasOwn(status?.refused ?? {}, name));
  const reasons = [...dropped.refused, ...refused.map((name) => [name, status.refused[name]])];
  const placed = status?.remark ? 0 : names.length - refused.length;
  const said = placed ? [`${count(placed, "new file")} ${placed === 1 ? "is" : "are"} placed.`] : [];
  tellEditor([...said, ...reasons.map(([name, why]) => `Not placed: ${cutTo(name, 40)} ${why}.`)].join(" "));
}

async function download(name) {
  tellEditor(`Writing ${name} …`);
  try {
    const answer = await post(`exports/${encodeURIComponent(name)}`, {});
    const file = /filename="([^"]+)"/.exec(answer.headers.get("content-disposition"))?.[1] ?? name;
    save(await answer.blob(), file);
    const all = file.endsWith(".zip") ? `${file}, with a file for each video,` : file;
    tellEditor(`${all} was downloaded. It is in the work folder too, in exports/${name}.`);
  } catch (error) {
    tellEditor(capital(error.message));
  }
}

function save(blob, name) {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
