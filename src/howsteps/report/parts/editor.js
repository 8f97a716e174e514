// Editing in the page: buttons on every card, a toolbar with undo, and two dialogs.

const editor = document.getElementById("editor");
const dialog = document.getElementById("ask");
const history = { edits: [], undone: [], states: [] }; // states: the content before each edit
let editing = Boolean(content.served);
let lastMessage = "";
let redrawing = false; // if so, fields are replaced
let dragging = false; // if so, nothing is rebuilt under the pointer

const STORAGE_KEY = `howsteps-edits ${location.pathname} ${content.task}`;
const MAX_SAVED = 200_000; // characters, of a page from disk

/** Identifies the content, so that edits are not replayed on the result of another run. */
const identity = `${videos.length} ${steps.map((step) => step.label).join("|")} ${videos.reduce((sum, video) => sum + video.mentions.length, 0)}`;

function saveEdits() {
  if (content.served) return;
  const text = JSON.stringify({ identity, edits: history.edits });
  try {
    if (history.edits.length && text.length <= MAX_SAVED) localStorage.setItem(STORAGE_KEY, text);
    else localStorage.removeItem(STORAGE_KEY);
  } catch {
    // The browser may refuse storage; saving the script still works.
  }
}

/** Replay the edits of the last visit. */
function restore() {
  if (content.served) return;
  try {
    const saved = JSON.parse(localStorage.getItem(STORAGE_KEY));
    if (saved?.identity !== identity) return;
    for (const edit of saved.edits.slice(0, 1000)) if (!make(edit)) break;
  } catch {
    localStorage.removeItem(STORAGE_KEY);
  }
  if (history.edits.length) {
    editing = true;
    lastMessage = `${count(history.edits.length, "change")} of your last visit ${history.edits.length === 1 ? "is" : "are"} still here.`;
  }
}

const EDITS = { rename: "renamed", move: "moved", delete: "deleted", add: "added", merge: "merged", split: "split", place: "placed", release: "released", optional: "changed", keep: "used again", drop: "left out" };

/** What an edit does, in two or three words: "renamed step 3". */
function described({ op, step, at, video }) {
  if (op === "write") return "a script from outside of this page";
  return `${EDITS[op]} ${video && step === undefined ? `“${truncateTo(titleById(video), 40)}”` : `step ${(step ?? at) + 1}`}`;
}

const titleById = (id) => [...videos, ...content.set_aside].find((video) => video.id === id)?.title ?? id;

const REPEATED = 3000; // milliseconds after which the same key starts another edit

/** The edit that replaces the last one if a key was pressed again; null if it is another. */
function repeated(edit) {
  const last = history.edits.at(-1);
  if (!last || !history.states.length || last.op !== edit.op || Date.now() - history.at > REPEATED) return null;
  if (edit.op === "place") return last.step === edit.step && last.video === edit.video ? edit : null;
  return edit.op === "move" && last.to === edit.step ? { ...edit, step: last.step } : null;
}

/** Apply an edit to the content; false if it is invalid. */
function make(edit) {
  if (refusal(content, edit)) return false;
  history.states.push(content);
  history.edits.push(edit);
  history.undone.length = 0;
  setContent(afterEdit(content, edit));
  return true;
}

/** Why an edit cannot be made now; empty if it can. */
const whyNot = (edit) => (server.gone ? STOPPED : refusal(content, edit));

/** An edit by the user: applied at once, saved or sent, and announced; by a key it may replace the last one. */
function act(edit, message, focus = null, byKey = false) {
  const reason = whyNot(edit);
  if (reason) {
    announce(reason);
    return false;
  }
  const again = byKey ? repeated(edit) : null;
  const { revision } = content;
  redraw(() => {
    if (again) {
      history.edits.pop();
      setContent({ ...history.states.pop(), version: content.version });
    }
    make(again ?? edit);
    content.revision = revision + 1;
  }, focus);
  history.at = Date.now();
  if (content.served) send({ revision, ...(again ? { again } : { do: edit }) });
  saveEdits();
  announce(message);
  return true;
}

// The server tells what it has undone or made again, and how the script looks now.

function undo() {
  if (!canUndo()) return;
  if (content.served) return send({ undo: true });
  const edit = history.edits.pop();
  history.undone.push(edit);
  redraw(() => setContent(history.states.pop()));
  saveEdits();
  announce(`Undone: ${described(edit)}.`);
}

function redo() {
  if (!canRedo()) return;
  if (content.served) return send({ redo: true });
  const [edit, ...rest] = history.undone.toReversed();
  redraw(() => make(edit));
  history.undone = rest.toReversed();
  saveEdits();
  announce(`Redone: ${described(edit)}.`);
}

const canUndo = () => (content.served ? Boolean(server.status?.undo || server.queue.length) : history.edits.length > 0);
const nextUndo = () => (content.served ? server.status?.undo : history.edits.at(-1));
const canRedo = () => (content.served ? Boolean(server.status?.redo) : history.undone.length > 0);

/** Change the content and rebuild the page, preserving scroll positions, focus and typed text. */
function redraw(change, focus = document.activeElement?.dataset.key) {
  const scrollers = [document.scrollingElement, view("grid"), view("words")];
  const positions = scrollers.map((each) => [each.scrollLeft, each.scrollTop]);
  const typed = fields().filter(isTyped);
  const focusable = () => [...view("sheet").querySelectorAll("a[href], button, input, select, textarea, summary")];
  const nth = focusable().indexOf(document.activeElement); // for what has no key
  const { selectionStart, selectionEnd } = document.activeElement ?? {};
  change();
  spokenLines = null;
  redrawing = true;
  build();
  redrawing = false;
  for (const { dataset, value, defaultValue } of typed) {
    const field = fields().find((each) => each.dataset.key === dataset.key && each.defaultValue === defaultValue);
    if (field) field.value = value;
  }
  fillViewer();
  scrollers.forEach((each, index) => each.scrollTo({ left: positions[index][0], top: positions[index][1], behavior: "instant" }));
  showEditor();
  const focused = focus ? document.querySelector(`[data-key="${CSS.escape(focus)}"]`) : focusable()[nth];
  focused?.focus({ preventScroll: true });
  if (Number.isInteger(selectionStart)) document.activeElement.setSelectionRange?.(selectionStart, selectionEnd);
}

const isTyped = (field) => field.value !== field.defaultValue;

/** Keep key events of a field from the page, except for undo in an unchanged field. */
function keepKeys(event) {
  const isUndo = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z";
  if (!isUndo || isTyped(event.target)) event.stopPropagation();
}

const fields = () => [...view("sheet").querySelectorAll("textarea.label, input.label, select")];

function switchEditing() {
  editing = !editing;
  lastMessage = "";
  redraw(() => {}, editing ? "undo" : null);
  if (editing) announce("Editing: use the buttons below each step.");
}

function announce(text) {
  lastMessage = text;
  news.textContent = text;
  showEditor();
}

// The toolbar

function showEditor() {
  document.body.classList.toggle("editing", editing);
  for (const each of document.querySelectorAll("[data-action=edit]")) each.setAttribute("aria-pressed", String(editing));
  editor.hidden = !editing;
  if (!editing) return;
  const focus = editor.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  editor.replaceChildren(
    tool("undo", "Undo", undo, !canUndo(), canUndo() && nextUndo() ? { title: `Undo: ${described(nextUndo())}` } : {}),
    tool("redo", "Redo", redo, !canRedo()),
    h("p", { class: "state" }, statusText()),
    ...(content.served ? servedTools() : diskTools()),
  );
  if (focus) editor.querySelector(`[data-key="${focus}"]`)?.focus();
}

function tool(key, label, action, disabled = false, attributes = {}) {
  const element = h("button", { type: "button", "data-key": key, "aria-disabled": disabled ? "true" : null, ...attributes }, label);
  element.addEventListener("click", () => disabled || action());
  return element;
}

/** The status of editing, in one line. */
function statusText() {
  if (!content.served) {
    const changes = history.edits.length ? `${count(history.edits.length, "change")}, kept in this browser.` : "No changes yet.";
    return [lastMessage, lastMessage.includes("change") ? "" : ` ${changes}`].join("");
  }
  const { status } = server;
  const doing = { placing: "Placing again …", frames: "Reading the videos …", thumbnails: "Placed. Making thumbnails …", exports: "Placed. Writing the exports …" };
  if (server.gone) return STOPPED;
  if (status?.error) return `Not placed: ${status.error}`;
  if (server.busy || (status && (status.placed !== status.revision || status.revision < server.revision))) return doing[status?.activity] ?? doing.placing;
  const lost = status?.kept && !canUndo() && !lastMessage ? ` What you changed before the videos were others cannot be undone; it is in ${status.kept}.` : "";
  const outside = status?.undo?.op === "write" && !lastMessage ? " The script was changed outside of this page; Undo takes it back." : "";
  return doing[status?.activity] ?? `${lastMessage || "Everything is placed."}${outside}${lost}${unmentionedWarning()}`;
}

/** A warning about steps that were placed although no narrator mentions them. */
function unmentionedWarning() {
  const labels = steps.filter((_, k) => isUnmentioned(k)).map((step) => `“${truncateTo(step.label, 40)}”`);
  return labels.length ? ` No narrator mentions ${labels.join(", ")}.` : "";
}

function servedTools() {
  const formats = h(
    "select",
    { "data-key": "format", "aria-label": "Format of the export" },
    content.formats.map(([name, about]) => h("option", { value: name }, `${name}: ${about}`)),
  );
  formats.value = servedTools.format ?? "youtube";
  formats.addEventListener("change", () => (servedTools.format = formats.value));
  return [formats, tool("export", "Export", () => exportTo(formats.value))];
}

function diskTools() {
  const text = () => save(new Blob([scriptText(content)], { type: "text/markdown" }), "script.md");
  return [
    tool("save", "Save script.md", () => {
      text();
      announce("Saved. To place these steps, run: howsteps place WORK --script script.md");
    }),
    history.edits.length > 0 &&
      tool("discard", "Discard", () => {
        redraw(() => {
          setContent(history.states[0]);
          Object.assign(history, { edits: [], undone: [], states: [] });
        });
        saveEdits();
        announce("All changes were undone.");
      }),
  ].filter(Boolean);
}

// The cards

let pressing = false; // a button of the pointer is down
addEventListener("pointerdown", () => (pressing = true), { capture: true });
for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => (pressing = false), { capture: true });

/** The label of a card in edit mode: a text field that renames its step. */
function labelField(step, k) {
  const field = h("textarea", { class: "label", dir: "auto", rows: 1, maxlength: LONGEST_LABEL, "aria-label": `Name of step ${k + 1}`, "data-key": `label ${k}` }, step.label);
  let done = false;
  const commit = (focus) => {
    const label = cleanLabel(field.value);
    if (label === step.label || done || server.gone) return; // it stays in the field
    done = true;
    if (!act({ op: "rename", step: k, label }, `Step ${k + 1} is now “${label}”.`, focus)) {
      field.value = step.label;
      done = false;
    }
  };
  // Once the focus is where it goes; and before the click that took it, whose button is replaced. Of a field
  // that was redrawn while somebody typed, there is no "change".
  field.addEventListener("blur", () => {
    if (redrawing) return; // its text goes to the new field
    addEventListener("click", () => commit(), { capture: true, once: true });
    setTimeout(() => commit(), pressing ? 500 : 0);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault(); // a name is one line
      commit(field.dataset.key);
    }
    if (event.key === "Escape") {
      field.value = step.label;
      field.blur();
    }
    keepKeys(event);
  });
  return field;
}

/** The buttons of a card. */
function cardTools(step, k) {
  const last = steps.length - 1;
  const said = videos.flatMap((video) => video.mentions.filter((mention) => mention.step === k)).length;
  const move = (to, where) => () => act({ op: "move", step: k, to }, `“${step.label}” is now step ${to + 1}.`, `${where} ${to}`, true);
  const name = (text) => ({ "aria-label": `${text}: step ${k + 1}, ${step.label}` });
  return h(
    "div",
    { class: "card-tools", role: "group", "aria-label": `Edit step ${k + 1}` },
    tool(`earlier ${k}`, "Earlier", move(k - 1, "earlier"), k === 0, name("Move earlier")),
    tool(`later ${k}`, "Later", move(k + 1, "later"), k === last, name("Move later")),
    tool(`merge ${k}`, "Merge …", () => askMerge(k), last === 0, name("Merge")),
    tool(`split ${k}`, "Split …", () => askSplit(k), said < 2, name("Split")),
    tool(`optional ${k}`, "Optional", () => act({ op: "optional", step: k, value: !step.optional }, `“${step.label}” is ${step.optional ? "not optional any more" : "optional"}.`), false, { "aria-pressed": String(step.optional), ...name("Optional") }),
    tool(`delete ${k}`, "Delete", () => act({ op: "delete", step: k }, `“${step.label}” is deleted. Undo brings it back.`, `label ${Math.min(k, last - 1)}`), false, name("Delete")),
  );
}

let here = null; // how many steps are up to the one that was chosen last: a new one goes after it

function setHere(k) {
  here = k + 1;
  const after = fields().find((each) => each.dataset.key === "after");
  if (after && !isTyped(after)) after.value = after.defaultValue = String(here);
}

/** The card at the end, which adds a step. */
function addCard() {
  const field = h("input", { class: "label", placeholder: "A step that is missing", maxlength: LONGEST_LABEL, "aria-label": "Name of the new step", "data-key": "new" });
  const after = h(
    "select",
    { "aria-label": "Where the new step goes", "data-key": "after" },
    h("option", { value: 0 }, "at the beginning"),
    steps.map((step, k) => h("option", { value: k + 1 }, truncateTo(`after ${k + 1}. ${step.label}`, 40))),
  );
  after.value = after.defaultValue = String(Math.min(here ?? steps.length, steps.length));
  const form = h("form", {}, field, after, h("button", { "data-key": "add" }, "Add"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const edit = { op: "add", at: Number(after.value), label: cleanLabel(field.value) };
    if (!whyNot(edit)) field.value = "";
    const { at, label } = edit;
    act(edit, `“${label}” is step ${at + 1}.`, `label ${at}`);
  });
  field.addEventListener("keydown", keepKeys);
  return h("li", { class: "add" }, h("h3", {}, "Add a step"), form);
}

/** Drag and drop: onto the edge of another card to move, onto its middle to merge. */
function makeDraggable(item, k) {
  const grip = item.querySelector(".badge");
  grip.draggable = true;
  grip.title = "Drag: between two steps to move, onto one to merge";
  grip.addEventListener("dragstart", (event) => {
    event.dataTransfer.setData("text/plain", String(k));
    event.dataTransfer.setDragImage(item, 20, 20);
    makeDraggable.from = k;
    dragging = true;
  });
  const zone = (event) => {
    const box = item.getBoundingClientRect();
    const share = (event.clientX - box.left) / box.width;
    return share < 0.25 ? "before" : share > 0.75 ? "after" : "onto";
  };
  item.addEventListener("dragover", (event) => {
    if (makeDraggable.from === undefined || makeDraggable.from === k) return;
    event.preventDefault();
    item.dataset.drop = zone(event);
  });
  item.addEventListener("dragleave", () => delete item.dataset.drop);
  item.addEventListener("drop", (event) => {
    const from = makeDraggable.from;
    delete item.dataset.drop;
    makeDraggable.from = undefined; // the card may be gone before its drag ends
    endDrag();
    if (from === undefined || from === k) return;
    event.preventDefault();
    const where = zone(event);
    const label = steps[from].label;
    if (where === "onto") return act({ op: "merge", step: from, into: k }, `“${label}” is merged into “${steps[k].label}”.`);
    const to = k + (where === "after") - (from < k);
    act({ op: "move", step: from, to }, `“${label}” is now step ${to + 1}.`);
  });
  grip.addEventListener("dragend", () => {
    makeDraggable.from = undefined;
    endDrag();
  });
}

function endDrag() {
  dragging = false;
  if (content.served) setTimeout(catchUp); // after the drop handler
}

// The dialogs

function ask(heading, ...body) {
  const close = h("button", { type: "button", class: "round", "aria-label": "Close" }, icon("close"));
  close.addEventListener("click", () => dialog.close());
  dialog.replaceChildren(h("header", {}, h("h2", { id: "ask-title" }, heading), close), ...body);
  dialog.showModal();
}

function askMerge(k) {
  const others = [...steps.keys()].filter((other) => other !== k);
  const choice = (into) => {
    const choose = h("button", { type: "button" }, badge(into), userText(steps[into].label));
    choose.addEventListener("click", () => {
      const [label, target] = [steps[k].label, steps[into].label];
      dialog.close();
      act({ op: "merge", step: k, into }, `“${label}” is merged into “${target}”.`, `label ${into - (k < into)}`);
    });
    return h("li", {}, choose);
  };
  ask(`Merge “${truncateTo(steps[k].label, 40)}” into …`, h("ol", { class: "choices" }, others.map(choice)));
}

/** The sentence of a mention. */
const sentence = (video, { start, phrase }) => `“${video.said.findLast(([from]) => from <= start + 0.05)?.[1] ?? phrase}”`;

/** A button that plays what is said, in the player above the dialog. */
function listen(video, { start, step }) {
  const title = `${clock(start)} in ${truncateTo(video.title, 50)}`;
  const play = h("button", { type: "button", title, "aria-label": `Play ${title}` }, icon("play"), clock(start));
  play.addEventListener("click", () => openViewer(videos.findIndex(({ id }) => id === video.id), step, start));
  return play;
}

function askSplit(k) {
  const byPhrase = new Map();
  for (const video of videos) {
    for (const mention of video.mentions) {
      if (mention.step !== k) continue;
      byPhrase.set(mention.phrase, [...(byPhrase.get(mention.phrase) ?? []), { video, mention }]);
    }
  }
  const field = h("input", { class: "label", maxlength: LONGEST_LABEL, "aria-label": "Name of the new step", placeholder: "Name of the new step" });
  const boxes = [...byPhrase].map(([phrase, mentions]) => {
    const all = h("input", { type: "checkbox" });
    const each = mentions.map(({ video, mention }) => {
      const one = h("input", { type: "checkbox", value: JSON.stringify([video.id, mention.id]) });
      one.addEventListener("change", () => (all.checked = each.every((box) => box.querySelector("input").checked)));
      return h("div", { class: "said" }, h("label", {}, one, userText(sentence(video, mention))), listen(video, mention));
    });
    all.addEventListener("change", () => each.forEach((box) => (box.querySelector("input").checked = all.checked)));
    const head = h("label", {}, all, userText(phrase), h("small", {}, ` ${count(mentions.length, "time")}`));
    return h("li", {}, head, h("details", { open: mentions.length < 4 }, h("summary", {}, mentions.length > 1 ? "choose some of them" : "what is said"), each));
  });
  const form = h("form", {}, field, h("ol", { class: "choices" }, boxes), h("button", {}, "Split"), h("p", { role: "alert" }));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const mentions = [...form.querySelectorAll("[value]:checked")].map((box) => JSON.parse(box.value));
    const edit = { op: "split", step: k, label: cleanLabel(field.value), mentions };
    const reason = whyNot(edit);
    form.lastChild.textContent = reason;
    if (reason) return;
    dialog.close();
    act(edit, `“${edit.label}” is step ${k + 2}, with ${count(mentions.length, "mention")}.`, `label ${k + 1}`);
  });
  ask(`Split “${truncateTo(steps[k].label, 40)}”: what goes to a new step?`, form);
}

// Manual places

/** Move a place, keeping its duration. */
function placeAt(n, k, time, focus = null, byKey = false) {
  const { length, id, places } = videos[n];
  const at = Math.min(Math.max(0, time), length || time);
  const [before, after] = isFound(places[k]) ? [places[k].time - places[k].start, places[k].end - places[k].time] : [2, 4];
  const round = (seconds) => Math.round(100 * seconds) / 100;
  const edit = { op: "place", step: k, video: id, time: round(at), start: round(Math.max(0, at - before)), end: round(at + after) };
  act(edit, `Step ${k + 1} is at ${clock(at)} in ${truncateTo(videos[n].title, 40)}, placed by hand.`, focus, byKey);
}

const mayPlace = () => editing && content.served;

/** Make a mark movable: by dragging it along its lane, or by Shift and the arrow keys in steps of a second. */
function makeMovable(mark, n, k) {
  mark.dataset.key = `mark ${n} ${k}`;
  mark.addEventListener("keydown", (event) => {
    const change = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!mayPlace() || !event.shiftKey || !change) return;
    event.preventDefault();
    event.stopPropagation();
    placeAt(n, k, videos[n].places[k].time + change, mark.dataset.key, true);
  });
  mark.addEventListener("pointerdown", (event) => {
    if (!mayPlace() || event.button !== 0) return;
    const lane = mark.parentElement.getBoundingClientRect();
    const startX = event.clientX;
    let time = null;
    mark.setPointerCapture(event.pointerId);
    dragging = true;
    const move = ({ clientX }) => {
      if (time === null && Math.abs(clientX - startX) < 4) return;
      time = Math.min(1, Math.max(0, (clientX - lane.left) / lane.width)) * videos[n].length;
      mark.style.setProperty("--at", `${(100 * time) / videos[n].length}%`);
      mark.title = clock(time);
    };
    const end = () => {
      mark.removeEventListener("pointermove", move);
      mark.removeEventListener("pointerup", end);
      mark.removeEventListener("pointercancel", end);
      endDrag();
      if (time === null) return;
      mark.addEventListener("click", (click) => click.stopPropagation(), { once: true, capture: true });
      setTimeout(() => placeAt(n, k, time, mark.dataset.key));
    };
    mark.addEventListener("pointermove", move);
    mark.addEventListener("pointerup", end);
    mark.addEventListener("pointercancel", end);
  });
}

/** The buttons below the player that place a step by hand. */
function placeTools(n, k, now) {
  if (!mayPlace() || k === null) return [];
  const place = videos[n].places[k];
  const absent = place !== null && place.time === null;
  const edit = (change, message) => act({ ...change, step: k, video: videos[n].id }, message);
  return [
    tool("here", `Step ${k + 1} is here`, () => placeAt(n, k, now())),
    tool("absent", "Not in this video", () => edit({ op: "place", time: null, start: null, end: null }, `Step ${k + 1} is not in ${truncateTo(videos[n].title, 40)}.`), absent),
    place?.evidence === BY_HAND && tool("release", "Let howsteps place it", () => edit({ op: "release" }, `Step ${k + 1} is placed by howsteps again.`)),
  ].filter(Boolean);
}
