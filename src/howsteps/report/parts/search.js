// Search in step names and transcripts.

const MAX_RESULTS = 40;
const box = document.getElementById("search");
const results = document.getElementById("results");
const news = document.getElementById("news");
let spokenLines = null; // built on first use

function everythingSaid() {
  spokenLines ??= videos.flatMap((video, n) =>
    video.said.map(([start, text]) => ({ n, start, text, plain: text.toLowerCase() })),
  );
  return spokenLines;
}

function search(wanted) {
  const plain = wanted.trim().toLowerCase();
  if (!plain) return closeResults();
  const ofSteps = steps.flatMap((step, k) =>
    [step.label, ...step.other].some((text) => text.toLowerCase().includes(plain)) ? [k] : [],
  );
  const said = everythingSaid().filter((line) => line.plain.includes(plain));
  const parts = [];
  if (ofSteps.length) {
    parts.push(heading(`${count(ofSteps.length, "step")}`), ...ofSteps.map((k) => stepResult(k, plain)));
  }
  if (said.length) {
    parts.push(heading(`said ${count(said.length, "time")}`), ...said.slice(0, MAX_RESULTS).map((line) => lineResult(line, plain)));
    if (said.length > MAX_RESULTS) parts.push(heading(`the first ${MAX_RESULTS} are shown`));
  }
  if (!parts.length) parts.push(h("p", { class: "empty" }, "No step or sentence contains these words."));
  results.replaceChildren(...parts);
  results.hidden = false;
  box.setAttribute("aria-expanded", "true");
  box.removeAttribute("aria-activedescendant");
  news.textContent = `${count(ofSteps.length, "step")}, ${count(said.length, "sentence")}`;
}

const heading = (text) => h("p", { class: "group", role: "presentation" }, text);

const stepResult = (k, plain) =>
  option({ "data-step": k, "data-video": steps[k].best }, badge(k), marked(steps[k].label, plain));

const lineResult = ({ n, start, text }, plain) =>
  option(
    { "data-video": n, "data-time": start },
    h("small", {}, clock(start), truncated(videos[n].id)),
    marked(text, plain),
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
