// Steps by videos, with the frame where each step was found.

function buildGrid() {
  const holder = view("grid");
  if (!steps.length || !videos.length) {
    holder.replaceChildren(h("p", { class: "empty" }, "There is nothing to show without steps and videos."));
    return;
  }
  const head = h(
    "tr",
    { role: "row" },
    h("th", { class: "corner", scope: "col", role: "columnheader" }, `${count(steps.length, "step")}`),
    videos.map((video) =>
      h("th", { scope: "col", role: "columnheader", title: video.title }, words(video.id)),
    ),
  );
  const rows = steps.map((step, k) =>
    h(
      "tr",
      { role: "row" },
      h(
        "th",
        { scope: "row", role: "rowheader" },
        h("span", { class: "name" }, badge(k), words(step.label)),
        h("small", {}, content.located ? `in ${step.found} of ${count(videos.length, "video")}` : ""),
      ),
      videos.map((_, n) => h("td", { role: "gridcell" }, cell(n, k))),
    ),
  );
  const table = h(
    "table",
    { class: content.has_thumbnails ? "grid" : "grid bare", role: "grid", "aria-labelledby": "grid-title" },
    h("thead", { role: "rowgroup" }, head),
    h("tbody", { role: "rowgroup" }, rows),
  );
  holder.replaceChildren(table);
  walkWithArrows(table, rows.map((row) => [...row.querySelectorAll("button")]));
}

function cell(n, k) {
  const place = videos[n].places[k];
  const label = `Step ${k + 1}, ${steps[k].label}, in ${videos[n].id}: ${describe(n, k)}`;
  const common = { type: "button", "data-video": n, "data-step": k, "aria-label": label };
  if (!isFound(place)) {
    const said = named(n, k);
    return h(
      "button",
      { ...common, class: "cell absent" },
      h("span", { class: "frame" }, place ? "absent" : "not placed"),
      h("span", { class: "under" }, said ? `said at ${clock(said.start)}` : "not said"),
    );
  }
  return h(
    "button",
    { ...common, class: `cell ${shade(k)}${isGuess(place) ? " guess" : ""}`, title: describe(n, k) },
    h("span", { class: "frame" }, still(place, k)),
    place.level && h("span", { class: "sure", "--share": place.confidence }),
    h(
      "span",
      { class: "under" },
      h("span", {}, `at ${clock(place.time)}`),
      place.level && h("span", {}, place.level),
    ),
  );
}

/** The thumbnail of a localisation, or its number if there is none. */
function still(place, step) {
  if (!place?.thumbnail) return h("span", { class: "drawn" }, badge(step));
  const image = h("img", { alt: "", loading: "lazy", decoding: "async", width: 320, height: 180 });
  image.addEventListener("error", () => image.replaceWith(h("span", { class: "drawn" }, badge(step))), {
    once: true,
  });
  image.src = place.thumbnail;
  return image;
}
