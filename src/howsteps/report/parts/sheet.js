// The summary figures of the job, and its steps as cards.

function buildFacts() {
  view("videos").textContent = count(videos.length, "video");
  const total = (name) => steps.reduce((sum, step) => sum + step[name], 0);
  const footage = videos.reduce((sum, video) => sum + video.length, 0);
  const facts = [
    [count(steps.length, "step"), "in the script"],
    [formatDuration(footage), content.filmed ? "of video" : "of narration"],
    content.located && [count(total("found"), "place"), "of steps in the videos"],
    content.located && total("absent") > 0 && [count(total("absent"), "absence"), "of steps in the videos"],
  ];
  view("facts").replaceChildren(
    ...facts.filter(Boolean).map(([value, meaning]) => h("div", {}, h("dt", {}, meaning), h("dd", {}, value))),
  );
  const levels = content.levels.map(({ level, count: places, right }, index) => {
    const name = level !== "guess" ? level : places === 1 ? "a guess" : "guesses";
    const meaning = index ? "" : " of such places are right";
    return `${index ? formatNumber(places) : count(places, "place")} ${places === 1 ? "is" : "are"} ${name} (about ${right}%${meaning})`;
  });
  const odd = videos.filter((video) => video.odd).length;
  const misfits = odd && `${count(odd, "video")} ${odd === 1 ? "does" : "do"} not fit this job well and ${odd === 1 ? "is" : "are"} marked odd.`;
  const unread = videos.filter((video) => video.unread).length;
  const unasked = unread && `${count(unread, "video")} ${unread === 1 ? "was" : "were"} not read by the language model.`;
  view("certainty").textContent = [levels.length && `${levels.join(", ")}.`, misfits, unasked].filter(Boolean).join(" ");
}

const OFTEN = 1 / 3; // the card of a step that is absent from this share of the videos says so

function buildSheet() {
  const holder = view("sheet");
  holder.classList.toggle("plain", !content.has_thumbnails);
  holder.replaceChildren(...steps.map(card), ...(isEditable() ? [addCard()] : []));
  view("no-steps").hidden = steps.length > 0;
}

function card(step, k) {
  const play = { type: "button", "data-step": k, "data-video": step.best, disabled: step.best === null };
  const likely = content.confident ? `, likely or sure in ${formatNumber(step.likely)}` : "";
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
      h("h3", {}, h("span", { class: "badge" }, String(k + 1)), isEditable() ? labelField(step, k) : userText(step.label, "button", play)),
      step.example && userText(step.example, "p", { class: "quote" }),
      h("p", { class: "support" }, shareBar(step.said), `said in ${formatNumber(step.said)} of ${count(videos.length, "video")}${elsewhereSaid(step)}`),
      content.located &&
        h(
          "p",
          { class: "support" },
          shareBar(content.confident ? step.likely : step.found, step.found),
          `placed in ${formatNumber(step.found)}${likely}`,
        ),
      step.best !== null && watchLink(step.best, moment, { class: "elsewhere" }, `watch on YouTube from ${clock(moment)}`),
      isUnmentioned(k) && h("p", { class: "warning" }, "No narrator mentions this step: its places are guesses."),
      step.alternative && h("p", {}, h("span", { class: "pill" }, "or"), " in place of the step before"),
      (step.optional || absent) && h("p", {}, step.optional && h("span", { class: "pill" }, "optional"), absent && ` ${absent}`),
      step.other.length > 0 && h("p", { class: "other" }, "also said: ", userText(step.other.join(", "))),
      isEditable() && cardTools(step, k),
    ),
  );
  if (isEditable()) makeDraggable(item, k);
  return item;
}

/** The number of other videos that mention a step, if it was learnt from others. */
const elsewhereSaid = ({ learnt }) => (learnt ? `, and in ${formatNumber(learnt)} that it was learnt from` : "");

/** Whether a step was placed, and not by hand, although no narrator mentions it. */
const isUnmentioned = (k) =>
  steps[k].said + steps[k].learnt === 0 && videos.some(({ places }) => isFound(places[k]) && places[k].evidence !== BY_HAND);

/** A bar for a share of the videos: `part` of them dark, up to `of` pale. */
const shareBar = (part, of = part) =>
  h("span", {
    class: "share",
    "aria-hidden": "true",
    "--part": percent(part / (videos.length || 1)),
    "--of": percent(of / (videos.length || 1)),
  });
