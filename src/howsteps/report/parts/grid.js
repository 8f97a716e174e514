// The grid of steps by videos, with the frame where each step is placed, or the words said there.

const COLUMNS = 40; // per batch; more are built when scrolled to

function buildGrid() {
  const holder = view("grid");
  if (!steps.length || !videos.length) {
    holder.replaceChildren(h("p", { class: "empty" }, "There is nothing to show without steps and videos."));
    return;
  }
  const head = h(
    "tr",
    { role: "row" },
    h("th", { scope: "col", role: "columnheader" }, h("span", {}, "Step")),
  );
  const rows = steps.map((step, k) =>
    h(
      "tr",
      { role: "row" },
      h(
        "th",
        { scope: "row", role: "rowheader" },
        h("span", { class: "name" }, badge(k), userText(step.label)),
        h("small", {}, content.located ? `placed in ${step.found} of ${count(videos.length, "video")}` : ""),
      ),
    ),
  );
  const table = h(
    "table",
    {
      class: content.has_thumbnails ? "grid" : "grid bare",
      role: "grid",
      "aria-labelledby": "grid-title",
      "aria-colcount": videos.length + 1,
    },
    h("thead", { role: "rowgroup" }, head),
    h("tbody", { role: "rowgroup" }, rows),
  );
  // The box scrolls sideways only, so the titles that stay while the page scrolls are outside it.
  const heads = h("div", { class: "heads", "aria-hidden": "true" }, h("span", { class: "corner" }));
  holder.replaceChildren(table);
  view("heads").replaceChildren(heads);
  holder.addEventListener("scroll", () => (view("heads").scrollLeft = holder.scrollLeft), { passive: true });
  buildAsNeeded(holder, videos.length, COLUMNS, (from, to) => {
    const indices = Array.from({ length: to - from }, (_, index) => from + index);
    head.append(...indices.map(columnHead));
    heads.append(...indices.map((n) => titleOf(n, 48)));
    rows.forEach((row, k) => row.append(...indices.map((n) => h("td", { role: "gridcell" }, cell(n, k), elsewhere(n, k)))));
    return head.lastChild;
  });
  // The link below a place is reached by the down key.
  const column = (row, name) => [...row.cells].slice(1).map((cell) => cell.querySelector(name));
  walkWithArrows(table, () => rows.flatMap((row) => [column(row, "button"), column(row, "a")]));
}

function columnHead(n) {
  return h("th", { scope: "col", role: "columnheader" }, userText(videos[n].title));
}

function cell(n, k) {
  const place = videos[n].places[k];
  const label = `Step ${k + 1}, ${steps[k].label}, in ${videos[n].id}: ${describe(n, k)}`;
  const common = { type: "button", tabindex: -1, "data-video": n, "data-step": k, "aria-label": label };
  if (!isFound(place)) {
    const said = firstMention(n, k);
    return h(
      "button",
      { ...common, class: "cell absent" },
      h("span", { class: "frame" }, place ? "absent" : "not placed"),
      h("span", { class: "under" }, said ? `only said, at ${clock(said.start)}` : content.silent ? "" : "not said"),
    );
  }
  return h(
    "button",
    { ...common, class: `cell ${shade(k)}${isGuess(place) ? " guess" : ""}`, title: `${videos[n].title}: ${describe(n, k)}` },
    h("span", { class: "frame" }, still(place, k, n)),
    place.level && h("span", { class: "sure", "--share": place.confidence }),
    h(
      "span",
      { class: "under" },
      h("span", {}, `at ${clock(place.time)}`),
      place.level && h("span", {}, place.level),
    ),
  );
}

/** The link to a step on YouTube, below its cell. */
function elsewhere(n, k) {
  const moment = momentOf(n, k);
  const label = moment === null ? null : `Watch step ${k + 1}, ${steps[k].label}, on YouTube from ${clock(moment)}: ${videos[n].title}`;
  return watchLink(n, moment, { class: "elsewhere", tabindex: -1, "aria-label": label, title: `watch on YouTube from ${clock(moment)}` }, "YouTube");
}

/** The thumbnail of a place; without one, the words said there, or the step's number. */
function still(place, step, n = null) {
  if (!place?.thumbnail) return drawn(place, step, n);
  const image = h("img", { alt: "", loading: "lazy", decoding: "async", width: 320, height: 180 });
  image.addEventListener("error", () => image.replaceWith(drawn(place, step, n)), { once: true });
  image.src = place.thumbnail;
  return image;
}

function drawn(place, step, n) {
  const near = n === null || content.has_thumbnails ? null : mentionNear(n, step, place.time);
  const text = near === null ? null : near ? near.quote || near.phrase : sentenceAt(n, place.time);
  return text ? userText(text, "span", { class: "saying" }) : h("span", { class: "drawn" }, badge(step));
}
