// Search in step names, titles of videos and transcripts.

const MAX_RESULTS = 40;
const MAX_TITLES = 5;
const box = document.getElementById("search");
const results = document.getElementById("results");
const news = document.getElementById("news");
let spokenLines = null; // built on first use

/** Every sentence, with the steps that it mentions. */
function everythingSaid() {
  spokenLines ??= videos.flatMap((video, n) => {
    const lines = video.said.map(([start, text]) => ({ n, start, text, plain: text.toLowerCase(), steps: new Set() }));
    for (const { step, start } of video.mentions) {
      if (step >= 0) lines.findLast((line) => line.start <= start + 0.05)?.steps.add(step);
    }
    return lines;
  });
  return spokenLines;
}

function search(wanted) {
  const plain = wanted.trim().toLowerCase();
  if (!plain) return closeResults();
  const has = (text) => text.toLowerCase().includes(plain);
  const said = everythingSaid().filter((line) => line.plain.includes(plain));
  const sayers = steps.map((_, k) => new Set(said.filter((line) => line.steps.has(k)).map(({ n }) => n)).size);
  const isNamed = steps.map(({ label, other }) => [label, ...other].some(has));
  // First the steps that are called so, then those of which it is said, by how many say it.
  const found = [...steps.keys()].filter((k) => isNamed[k] || sayers[k]).sort((a, b) => isNamed[b] - isNamed[a] || sayers[b] - sayers[a]);
  const titled = [...videos.keys()].filter((n) => has(videos[n].title));
  const parts = [];
  const add = (title, all, show, most = all.length) => {
    if (!all.length) return;
    parts.push(heading(title), ...all.slice(0, most).map(show));
    if (all.length > most) parts.push(heading(`the first ${most} are shown`));
  };
  add(count(found.length, "step"), found, (k) => stepResult(k, sayers[k], plain));
  add(`in the title of ${count(titled.length, "video")}`, titled, (n) => titleResult(n, plain), MAX_TITLES);
  add(`said ${count(said.length, "time")}`, said, (line) => lineResult(line, plain), MAX_RESULTS);
  if (!parts.length) parts.push(h("p", { class: "empty" }, "No step, title or sentence contains these words."));
  results.replaceChildren(...parts);
  results.hidden = false;
  box.setAttribute("aria-expanded", "true");
  box.removeAttribute("aria-activedescendant");
  news.textContent = `${count(found.length, "step")}, ${count(titled.length, "title")}, ${count(said.length, "sentence")}`;
}

const heading = (text) => h("p", { class: "group", role: "presentation" }, text);

const stepResult = (k, sayers, plain) =>
  option(
    { "data-step": k, "data-video": steps[k].best },
    badge(k),
    marked(steps[k].label, plain),
    sayers > 0 && h("small", {}, `said in ${count(sayers, "video")}`),
  );

const titleResult = (n, plain) => option({ "data-video": n, "data-time": 0 }, icon("video"), marked(videos[n].title, plain));

const lineResult = ({ n, start, text, steps: own }, plain) =>
  option(
    { "data-video": n, "data-time": start },
    h("span", {}, marked(text, plain), h("small", {}, `${clock(start)} `, titleOf(n, 60))),
    h("span", { class: "badges" }, [...own].map(badge)),
  );

let made = 0;
const option = (data, ...children) =>
  h("button", { type: "button", role: "option", id: `result-${made++}`, tabindex: -1, ...data }, children);

/** Text with the search term highlighted. */
function marked(text, plain) {
  const at = text.toLowerCase().indexOf(plain);
  // Lower-casing can change the length of a text; then nothing is highlighted.
  if (at < 0 || text.toLowerCase().length !== text.length) return userText(text);
  const end = at + plain.length;
  return h("span", { dir: "auto" }, text.slice(0, at), h("mark", {}, text.slice(at, end)), text.slice(end));
}

function closeResults() {
  results.hidden = true;
  results.replaceChildren();
  box.setAttribute("aria-expanded", "false");
  box.removeAttribute("aria-activedescendant");
}

function chooseResult(change) {
  const all = [...results.querySelectorAll("[role=option]")];
  const now = all.findIndex((one) => one.ariaSelected === "true");
  // If nothing is selected yet, down selects the first and up the last.
  const next = all.at(now < 0 && change < 0 ? -1 : (now + change) % all.length);
  for (const one of all) one.setAttribute("aria-selected", String(one === next));
  if (!next) return;
  box.setAttribute("aria-activedescendant", next.id);
  next.scrollIntoView({ block: "nearest" });
}

function searchKeys(event) {
  if (event.key === "Escape") {
    box.value = "";
    closeResults();
    box.blur();
  } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    chooseResult(event.key === "ArrowDown" ? 1 : -1);
  } else if (event.key === "Enter") {
    const chosen = results.querySelector("[aria-selected=true]") ?? results.querySelector("[role=option]");
    chosen?.click();
  } else return;
  event.preventDefault();
}

function startSearch() {
  box.addEventListener("input", () => search(box.value));
  box.addEventListener("focus", () => search(box.value));
  box.addEventListener("keydown", searchKeys);
  document.addEventListener("click", (event) => event.target.closest(".search") || closeResults());
}
