// The viewer: one video or two side by side, stepping through the same steps.

const viewer = document.getElementById("viewer");
const shown = { step: null, pair: false, loop: false };
let panes = [];
let title, place, announcement, chips, pairButton, loopButton, speed;
const SPEEDS = [0.5, 0.75, 1, 1.25, 1.5, 2];

function buildViewer() {
  panes = ["Video", "Video on the right"].map((name, side) =>
    makePane(name, (n) => setVideo(side, n), pick),
  );
  panes[1].video.muted = true; // two narrators at once are hard to follow; the controls can unmute it
  title = h("h2", { id: "viewer-title" });
  place = h("p", {});
  announcement = h("p", { class: "unseen", role: "status" });
  pairButton = h("button", { type: "button", "aria-pressed": "false", "data-action": "compare" }, icon("pair"), h("span", {}, "Side by side"));
  pairButton.disabled = videos.length < 2;
  loopButton = h("button", { type: "button", "aria-pressed": "false", title: "Loop a step (L)" }, icon("loop"), h("span", {}, "Loop"));
  loopButton.addEventListener("click", switchLoop);
  loopButton.hidden = !content.playable;
  speed = h("select", { "aria-label": "Speed", title: "Speed (< and >)" }, SPEEDS.map((rate) => h("option", { value: rate }, `${rate}×`)));
  speed.value = 1;
  speed.hidden = !content.playable;
  speed.addEventListener("change", () => setSpeed(Number(speed.value)));
  chips = h("ol", { class: "chips", "aria-label": "Steps" });
  fillChips();
  viewer.replaceChildren(
    h(
      "header",
      {},
      h("div", {}, title, place),
      loopButton, // has the focus when the viewer opens, not the speed, which takes arrow keys
      speed,
      pairButton,
      button("round", "Close", "close", () => viewer.close()),
    ),
    h("div", { class: "panes" }, panes.map((pane) => pane.element)),
    h(
      "footer",
      {},
      button("round", "Step before", "back", () => stepBy(-1)),
      chips,
      button("round", "Next step", "on", () => stepBy(1)),
    ),
    announcement,
  );
  viewer.addEventListener("close", () => panes.forEach((pane) => pane.stop()));
  viewer.addEventListener("click", (event) => event.target === viewer && viewer.close());
  viewer.addEventListener("keydown", viewerKeys, { capture: true });
}

function fillChips() {
  chips.replaceChildren(
    ...steps.map((step, k) => {
      const chip = h("button", { type: "button", "data-step": k, title: step.label }, badge(k), userText(step.label));
      chip.addEventListener("click", () => setStep(k));
      return h("li", {}, chip);
    }),
  );
}

/** Show the current content, without interrupting playback. */
function fillViewer() {
  fillChips();
  if (shown.step !== null && shown.step >= steps.length) shown.step = null;
  if (!viewer.open) return;
  for (const pane of visiblePanes()) pane.fill(shown.step);
  updateViewer();
}

function button(style, label, iconName, action) {
  const element = h("button", { type: "button", class: style, "aria-label": label, title: label }, icon(iconName));
  element.addEventListener("click", action);
  return element;
}

/** Open at a step of a video, or at any time of it. */
function openViewer(n, step, time = null, pair = false) {
  shown.step = step;
  if (!viewer.open) {
    viewer.showModal();
    setPair(pair);
  }
  panes[0].show(n, step, time);
  if (shown.pair) panes[1].show(other(n), step);
  updateViewer();
}

const visiblePanes = () => panes.slice(0, shown.pair ? 2 : 1);

function setStep(step) {
  shown.step = step;
  for (const pane of visiblePanes()) pane.show(pane.current, step);
  updateViewer();
}

const stepBy = (change) => {
  const next = (shown.step ?? -1) + change;
  if (next >= 0 && next < steps.length) setStep(next);
};

/** A mark or a sentence was clicked: a step applies to all panes, a time only to its own. */
function pick(pane, step, time) {
  if (time === null) return setStep(step);
  if (!shown.pair) shown.step = step;
  pane.show(pane.current, step, time);
  updateViewer();
}

function setVideo(side, n) {
  const [before, otherPane] = [panes[side].current, panes[1 - side]];
  panes[side].show(n, shown.step);
  // Never show one video twice: if the other pane has it, swap the two.
  if (shown.pair && otherPane.current === n) otherPane.show(before, shown.step);
  updateViewer();
}

/** Show the next or previous video; in a pair, skip the one in the other pane. */
function videoBy(side, change) {
  const skipped = shown.pair ? panes[1 - side].current : null;
  let n = panes[side].current;
  do n = (n + change + videos.length) % videos.length;
  while (n === skipped);
  if (n !== panes[side].current) setVideo(side, n);
}

const loops = () => shown.loop;

function switchLoop() {
  if (!content.playable) return;
  shown.loop = !shown.loop;
  loopButton.setAttribute("aria-pressed", String(shown.loop));
  announcement.textContent = shown.loop ? "Steps are looped." : "Steps are played once.";
}

/** Play at another speed, also the videos that are opened later. */
function setSpeed(rate) {
  speed.value = rate;
  for (const { video } of panes) video.defaultPlaybackRate = video.playbackRate = rate;
  announcement.textContent = `Speed ${rate}.`;
}

const speedBy = (change) => setSpeed(SPEEDS[SPEEDS.indexOf(Number(speed.value)) + change] ?? Number(speed.value));

function setPair(pair) {
  shown.pair = pair;
  viewer.classList.toggle("pair", shown.pair);
  pairButton.setAttribute("aria-pressed", String(shown.pair));
  panes[1].element.hidden = !shown.pair;
  if (!shown.pair) panes[1].stop();
}

/** The video to compare with: the next one in which this step is placed. */
function other(first) {
  const order = videos.map((_, n) => (first + 1 + n) % videos.length).filter((n) => n !== first);
  return order.find((n) => shown.step !== null && isFound(videos[n].places[shown.step])) ?? order[0];
}

/** Switch between one video and two (button and key C). */
function compare() {
  if (videos.length < 2) return;
  if (!viewer.open) return openViewer(mostComplete(), steps.length ? 0 : null, null, true);
  setPair(!shown.pair);
  if (shown.pair) panes[1].show(other(panes[0].current), shown.step);
  updateViewer();
}

/** The video with the most placed steps. */
function mostComplete() {
  const found = videos.map((video) => video.places.filter(isFound).length);
  return found.indexOf(Math.max(...found));
}

/** Update the header and the chips, and announce what is shown to screen readers. */
function updateViewer() {
  const { step } = shown;
  viewer.dataset.step = step ?? "";
  if (step !== null) setHere(step);
  title.replaceChildren(...(step === null ? [userText(videos[panes[0].current].title)] : [badge(step), userText(steps[step].label)]));
  place.textContent = step === null ? "" : `Step ${step + 1} of ${steps.length}`;
  const seen = visiblePanes().map((pane) => pane.current);
  [...chips.querySelectorAll("button")].forEach((chip, k) => {
    setCurrent(chip, k === step);
    chip.classList.toggle("absent", !seen.some((n) => isFound(videos[n].places[k])));
  });
  const chip = chips.children[step ?? 0];
  if (chip) chips.scrollTo({ left: chip.offsetLeft - chips.clientWidth / 2 + chip.clientWidth / 2 });
  announcement.textContent =
    step === null ? "" : `Step ${step + 1}, ${steps[step].label}. ${seen.map((n) => `${videos[n].id}: ${describe(n, step)}`).join(". ")}`;
}

function viewerKeys(event) {
  if (event.target.matches("select, input") || event.ctrlKey || event.metaKey || event.altKey) return;
  const side = event.shiftKey && shown.pair ? 1 : 0;
  const actions = {
    ArrowLeft: () => stepBy(-1),
    ArrowRight: () => stepBy(1),
    ArrowUp: () => videoBy(side, -1),
    ArrowDown: () => videoBy(side, 1),
    l: switchLoop,
    "<": () => speedBy(-1),
    ">": () => speedBy(1),
    " ": togglePlay,
  };
  const action = actions[event.key];
  if (!action || (event.key === " " && event.target.matches("button"))) return;
  event.preventDefault();
  event.stopPropagation();
  action();
}

function togglePlay() {
  const running = visiblePanes().some((pane) => !pane.video.paused);
  for (const pane of visiblePanes()) running ? pane.stop() : pane.play();
}
