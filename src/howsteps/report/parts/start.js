// Clicks and keys, and the start of the page.

const help = document.getElementById("help");
const actions = {
  compare,
  edit: switchEditing,
  theme: switchTheme,
  print: () => window.print(),
  help: () => (help.open ? help.close() : help.showModal()),
};
const KEYS = { "/": () => box.focus(), "?": actions.help, c: compare, e: switchEditing, t: switchTheme, p: actions.print };

document.addEventListener("click", (event) => {
  const target = event.target.closest("button");
  if (!target || target.disabled) return;
  const { action, video, step, time } = target.dataset;
  if (action) return actions[action]();
  if (video === undefined) return;
  const number = (text) => (text === undefined ? null : Number(text));
  openViewer(Number(video), number(step), number(time));
  if (target.closest(".results")) closeResults();
});

document.addEventListener("keydown", (event) => {
  if (!editing || event.altKey || !(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
  if (event.target.matches("input, textarea") && (isTyped(event.target) || event.target.closest("dialog"))) return; // leave undo to the field
  if (!(event.shiftKey ? canRedo() : canUndo())) return;
  event.preventDefault();
  event.shiftKey ? redo() : undo();
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("input, select, textarea")) return;
  const action = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!action || (viewer.open && event.key === "/")) return;
  event.preventDefault();
  action();
});

for (const box of [help, dialog]) box.addEventListener("click", (event) => event.target === box && box.close());

/** Build all views of the content. */
function build() {
  buildFacts();
  buildSheet();
  buildGrid();
  buildTimelines();
  // Reserve space for the rows before they are built, so that links to the table work.
  view("words").style.setProperty("--rows", videos.length);
  if (view("words").childElementCount) return buildWords();
  const words = () => view("words").childElementCount || buildWords();
  whenNear([view("words")], words);
  if (videos.length <= MAX_EAGER) whenIdle([words]);
}

window.addEventListener("beforeprint", () => fillTimelines());
buildViewer();
buildAside();
startSearch();
restore();
build();
showEditor();
startServer();
