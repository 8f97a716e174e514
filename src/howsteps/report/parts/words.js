// The table of phrases: what each video says about each step, in temporal order.

const ROWS = 40; // per batch; more are built when scrolled to

function buildWords() {
  const holder = view("words");
  if (!steps.length) {
    holder.replaceChildren(h("p", { class: "empty" }, "No act is mentioned by enough narrators."));
    return;
  }
  const head = h(
    "tr",
    {},
    h("th", { class: "corner", scope: "col" }, count(videos.length, "video")),
    steps.map((step, k) =>
      h("th", { scope: "col" }, h("span", { class: "name" }, badge(k), userText(step.label)), h("small", {}, `said in ${count(step.said, "video")}`)),
    ),
  );
  const row = (video, n) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, titleOf(n)),
      steps.map((_, k) => h("td", {}, spoken(n, k))),
    );
  const body = h("tbody");
  const table = h("table", { class: "words", "aria-labelledby": "words-title" }, h("thead", {}, head), body);
  holder.replaceChildren(table);
  buildAsNeeded(holder, videos.length, ROWS, (from, to) => {
    body.append(...videos.slice(from, to).map((video, index) => row(video, from + index)));
    return body.lastChild;
  });
  walkWithArrows(table, () => [...body.rows].flatMap(layers));
}

/** The buttons of a row, layer by layer: the first button of every cell, then the second, and so on. */
function layers(row) {
  const cells = [...row.querySelectorAll("td")].map((cell) => cell.querySelectorAll("button"));
  const depth = Math.max(...cells.map((buttons) => buttons.length));
  return Array.from({ length: depth }, (_, index) => cells.map((buttons) => buttons[index]));
}

function spoken(n, k) {
  const mentions = mentionsOf(n, k);
  if (!mentions.length) return h("span", { class: "silence" }, h("span", { class: "unseen" }, "not said"));
  return mentions.map((mention) =>
    h(
      "button",
      {
        type: "button",
        tabindex: -1,
        class: `said ${shade(k)}`,
        "data-video": n,
        "data-step": k,
        "data-time": mention.start,
        title: `at ${clock(mention.start)}`,
      },
      userText(mention.quote || mention.phrase, mention.usual ? "span" : "em"),
      h("small", {}, `at ${clock(mention.start)}`),
    ),
  );
}
