// The summary figures of the job, and its steps as cards.

function buildFacts() {
  view("videos").textContent = count(videos.length, "video");
  const footage = videos.reduce((sum, video) => sum + video.length, 0);
  const facts = [
    [count(steps.length, "step"), "in the script"],
    [formatDuration(footage), content.filmed ? "of video" : "of narration"],
  ];
  const places = videos.flatMap((video) => video.places);
  const found = places.filter((place) => place && isFound(place)).length;
  if (content.located) facts.push([`${formatNumber(found)} of ${formatNumber(places.length)}`, "steps found in their videos"]);
  view("facts").replaceChildren(...facts.map(([value, meaning]) => h("div", {}, h("dt", {}, meaning), h("dd", {}, value))));
  const tally = tallyOf(places);
  view("certainty").replaceChildren(...(content.located ? [tallyBar(tally), legend(tally)] : []));
  const unread = videos.filter((video) => video.unread).length;
  const unasked = unread && `${count(unread, "video")} ${unread === 1 ? "was" : "were"} not read by the language model.`;
  const silent = content.silent && "Nobody says what is being done: the steps were found by sight alone, and no place is sure. Edit gives them names.";
  view("remarks").textContent = [silent, unasked].filter(Boolean).join(" ");
}

const KINDS = { sure: "sure", likely: "likely", guess: "a guess", placed: "placed", absent: "absent", open: "not placed" };

/** How many places are of which kind: a level, or absent. */
function tallyOf(places) {
  const tally = Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, 0]));
  for (const place of places) tally[!place ? "open" : isFound(place) ? (place.level ?? "placed") : "absent"] += 1;
  return tally;
}

const kindsIn = (tally) => Object.keys(KINDS).filter((kind) => tally[kind]);

/** A bar with one part for each kind of place, and a line up to where it is said. */
function tallyBar(tally, said = null) {
  const total = Object.values(tally).reduce((sum, number) => sum + number, 0);
  const text = kindsIn(tally).map((kind) => `${KINDS[kind]} in ${formatNumber(tally[kind])}`).join(", ");
  return h(
    "span",
    { class: "tally", role: "img", "aria-label": text, title: text },
    kindsIn(tally).map((kind) => h("span", { class: `kind-${kind}`, "--n": tally[kind] })),
    said !== null && h("i", { "--at": percent(said / (total || 1)) }),
  );
}

function legend(tally) {
  // Of the places of a level, the share that is expected to be right.
  const right = (kind) => {
    const sure = videos.flatMap(({ places }) => places.filter((place) => place && isFound(place) && place.level === kind));
    return sure.length && sure.reduce((sum, { confidence }) => sum + confidence, 0) / sure.length;
  };
  const entry = (kind) =>
    h(
      "li",
      {},
      h("span", { class: `sample kind-${kind}` }),
      h("b", {}, formatNumber(tally[kind])),
      ` ${tally[kind] > 1 && kind === "guess" ? "guesses" : KINDS[kind]}`,
      right(kind) > 0 && h("small", {}, ` about ${percent(right(kind))} right`),
    );
  const said = h("li", {}, h("span", { class: "sample tally" }, h("i", { "--at": "50%" })), " the upright line: how many videos say the step");
  return h("ul", { class: "kinds" }, kindsIn(tally).map(entry), !content.silent && said);
}

const OFTEN = 1 / 3; // the card of a step that is absent from this share of the videos says so

function buildSheet() {
  const holder = view("sheet");
  holder.classList.toggle("plain", !content.has_thumbnails);
  holder.replaceChildren(...steps.map(card), ...(editing ? [addCard()] : []));
  view("no-steps").hidden = steps.length > 0;
}

function card(step, k) {
  const play = { type: "button", "data-step": k, "data-video": step.best, disabled: step.best === null };
  const moment = step.best === null ? null : momentOf(step.best, k);
  const absent = step.absent > 0 && step.absent >= OFTEN * videos.length && `absent in ${percent(step.absent / videos.length)} of the videos`;
  const item = h(
    "li",
    { class: shade(k) },
    content.has_thumbnails &&
      h(
        "button",
        { ...play, class: "frame", tabindex: -1, "aria-label": `${content.playable ? "Play" : "Show"} step ${k + 1}, ${step.label}` },
        step.thumbnail ? h("img", { src: step.thumbnail, alt: "", decoding: "async" }) : icon("video"),
        content.playable && h("span", { class: "play" }, icon("play")),
      ),
    h(
      "div",
      { class: "card" },
      h("h3", {}, h("span", { class: "badge" }, String(k + 1)), editing ? labelField(step, k) : userText(step.label, "button", play)),
      step.example && userText(step.example, "p", { class: "quote" }),
      content.located && tallyBar(tallyOf(videos.map((video) => video.places[k])), content.silent ? null : step.said),
      !content.silent && h("p", { class: "support" }, `said in ${formatNumber(step.said)} of ${count(videos.length, "video")}${elsewhereSaid(step)}`),
      step.best !== null && watchLink(step.best, moment, { class: "elsewhere" }, `watch on YouTube from ${clock(moment)}`),
      isUnmentioned(k) && h("p", { class: "warning" }, "No narrator mentions this step: its places are guesses."),
      step.alternative && h("p", {}, h("span", { class: "pill" }, "or"), " in place of the step before"),
      (step.optional || absent) && h("p", {}, step.optional && h("span", { class: "pill" }, "optional"), absent && ` ${absent}`),
      step.other.length > 0 && h("p", { class: "other" }, "also: ", userText(step.other.join(", "))),
      editing && cardTools(step, k),
    ),
  );
  if (editing) makeDraggable(item, k);
  item.addEventListener("focusin", () => setHere(k));
  return item;
}

/** The number of other videos that mention a step, if it was learnt from others. */
const elsewhereSaid = ({ learnt }) => (learnt ? `, and in ${formatNumber(learnt)} that it was learnt from` : "");

/** Whether a step was placed, and not by hand, although others are mentioned and it is not. */
const isUnmentioned = (k) =>
  !content.silent && steps[k].said + steps[k].learnt === 0 && videos.some(({ places }) => isFound(places[k]) && places[k].evidence !== BY_HAND);
