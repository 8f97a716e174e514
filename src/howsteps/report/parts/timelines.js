// One timeline per video: its steps, and where the narration mentions them.

const MAX_EAGER = 120; // up to this many, all timelines are built while idle; else only those near the viewport

function buildTimelines() {
  const holder = view("timelines");
  if (!videos.length) {
    holder.replaceChildren(h("p", { class: "empty" }, "There are no videos."));
    return;
  }
  // Screenshots of the whole page and prints show what was never near the viewport.
  const few = videos.length <= MAX_EAGER;
  holder.classList.toggle("few", few);
  const before = new Set([...holder.querySelectorAll(".timeline:has(.axis)")].map((one) => one.dataset.video));
  const articles = videos.map((video, n) => {
    const found = video.places.filter(isFound).length;
    return h(
      "article",
      { class: "timeline", "data-video": n },
      h(
        "header",
        {},
        h("h3", {}, titleOf(n)),
        h("p", {}, formatDuration(video.length), content.located ? ` · ${found} of ${count(steps.length, "step")} placed` : ""),
        video.unread && h("p", {}, "not read by the language model"),
        video.source || !content.filmed ? null : h("p", { class: "missing" }, video.file ? "video file not found" : "no video file"),
        watchLink(n, 0, { class: "elsewhere" }, "watch on YouTube"),
        chooseButton(video.id, "drop", video.title),
      ),
      h("div", { class: "lanes" }),
    );
  });
  holder.replaceChildren(...articles);
  const width = articles[0].lastChild.clientWidth;
  const fill = (article) => article.lastChild.childElementCount || fillLanes(article.lastChild, Number(article.dataset.video));
  articles.forEach((article, n) => {
    // Reserve the height before the lanes are built, so that nothing moves.
    article.style.setProperty("--rows", Math.max(0, ...rowsOf(n, width)));
  });
  articles.filter((article) => before.has(article.dataset.video)).forEach(fill); // avoids flicker
  whenNear(articles, fill);
  if (few) whenIdle(articles.map((article) => () => fill(article)));
  fillTimelines = () => articles.forEach(fill);
}

/** Build all remaining timelines, for printing. */
let fillTimelines = () => {};

/**
 * The lanes of a video: its steps, and below them its mentions. Positions are shares of its
 * duration. If `linked`, the steps of a video that cannot be played here link to YouTube.
 */
function fillLanes(lanes, n, { linked = true } = {}) {
  const video = videos[n];
  const share = (seconds) => `${(100 * Math.min(1, seconds / (video.length || 1))).toFixed(3)}%`;
  const wide = (start, end) => share(Math.max(0, Math.min(end, video.length) - start));
  const rows = [stepLane(n, share, wide, rowsOf(n, lanes.clientWidth), linked), !content.silent && wordLane(n, share, wide)].filter(Boolean);
  lanes.replaceChildren(...rows, axis(video.length, share));
  walkWithArrows(lanes, () => rows.map((lane) => [...lane.querySelectorAll("button, a")]));
}

const MARK = 21; // width of a mark in pixels

/** The row of every mark, chosen so that marks do not overlap: the first free row, or the last. */
function rowsOf(n, width) {
  const { length, places } = videos[n];
  const rows = places.map(() => 0);
  const inOrder = [...places.keys()].filter((k) => isFound(places[k])).sort((a, b) => places[a].time - places[b].time);
  const ends = [];
  for (const k of inOrder) {
    const at = (places[k].time / (length || 1)) * width;
    const free = ends.findIndex((end) => at - end >= MARK);
    rows[k] = free >= 0 ? free : Math.min(ends.length, 2);
    ends[rows[k]] = at;
  }
  return rows;
}

function stepLane(n, share, wide, rows, linked) {
  const [blocks, marks] = [[], []];
  videos[n].places.forEach((place, k) => {
    if (!isFound(place)) return;
    const block = h("span", {
      class: `block ${shade(k)}${isGuess(place) ? " guess" : ""}`,
      "--at": share(place.start),
      "--wide": wide(place.start, place.end),
    });
    const label = `Step ${k + 1}, ${steps[k].label}: ${describe(n, k)}`;
    const attributes = { tabindex: -1, class: `badge mark ${shade(k)}`, "--at": share(place.time), "--row": rows[k], "data-step": k };
    const labelled = (text) => ({ ...attributes, "aria-label": text, title: text });
    const mark =
      (linked && !mayPlace() && watchLink(n, place.start, labelled(`${label}; watch on YouTube`), String(k + 1))) ||
      h("button", { type: "button", "data-video": n, ...labelled(label) }, String(k + 1));
    if (mayPlace()) makeMovable(mark, n, k);
    blocks.push(block);
    marks.push(mark);
  });
  const lane = { class: "lane steps", role: "group", "aria-label": "Steps", "--rows": Math.max(0, ...rows) };
  return h("div", lane, blocks, marks); // marks on top
}

function wordLane(n, share, wide) {
  const marks = videos[n].mentions.map((mention) => {
    const at = { "--at": share(mention.start), title: `${spokenAs(mention)} at ${clock(mention.start)}` };
    if (mention.step < 0) return h("span", { class: "tick", ...at });
    return h(
      "button",
      {
        type: "button",
        tabindex: -1,
        class: `window ${shade(mention.step)}`,
        ...at,
        "--at": share(mention.window[0]),
        "--wide": wide(...mention.window),
        "data-video": n,
        "data-step": mention.step,
        "data-time": mention.start,
        "aria-label": `Step ${mention.step + 1} is mentioned: ${at.title}`,
      },
      String(mention.step + 1),
    );
  });
  return h("div", { class: "lane said", role: "group", "aria-label": "What is said" }, marks);
}

function axis(length, share) {
  const gaps = [5, 10, 15, 30, 60, 120, 300, 600, 1200, 3600];
  const every = gaps.find((gap) => length / gap <= 7) ?? 3600 * Math.ceil(length / 7 / 3600);
  const ticks = [];
  for (let at = 0; at < length - every / 3; at += every) {
    ticks.push(h("span", { "--at": share(at) }, clock(at)));
  }
  return h("div", { class: "lane axis", "aria-hidden": "true" }, ticks);
}
