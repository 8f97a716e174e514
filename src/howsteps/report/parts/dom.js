// Shared by all parts of the page: the content, and helpers that create elements.

let content, steps, videos;
let sharedStarts = null; // built on first use

function setContent(shown) {
  content = withCounts(shown);
  ({ steps, videos } = content);
  sharedStarts = null;
}

setContent(JSON.parse(document.getElementById("content").textContent));

/** Create an element. Attributes and children are only ever text or elements, never markup. */
function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("--")) element.style.setProperty(key, value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child || child === ""));
  return element;
}

function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  const use = document.createElementNS(space, "use");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  use.setAttribute("href", `#icon-${name}`);
  svg.append(use);
  return svg;
}

/** User text, isolated so that its writing direction does not affect its surroundings. */
const userText = (text, name = "span", attributes = {}, ...more) => h(name, { dir: "auto", ...attributes }, text, more);

const TAIL = 9; // characters at the end that are always shown

/** Text for narrow places: truncated in the middle. */
function truncateTo(text, limit) {
  const characters = [...text];
  if (characters.length <= limit) return text;
  return `${characters.slice(0, limit - TAIL - 1).join("")}…${characters.slice(-TAIL).join("")}`;
}

/**
 * The title of a video for narrow places. One that is too long loses the words with which another
 * title begins too, so that titles differ where they are cut.
 */
function shortTitle(n, limit) {
  const { title } = videos[n];
  if ([...title].length <= limit) return title;
  sharedStarts ??= findSharedStarts();
  const lastWords = title.lastIndexOf(" ", title.lastIndexOf(" ") - 1) + 1;
  const start = title.lastIndexOf(" ", Math.min(sharedStarts[n], lastWords)) + 1;
  return truncateTo(`${start ? "…" : ""}${title.slice(start)}`, limit);
}

/** For each video, the length of the longest beginning of its title that another one shares. */
function findSharedStarts() {
  const found = videos.map(() => 0);
  const order = [...videos.keys()].sort((a, b) => (videos[a].title < videos[b].title ? -1 : 1));
  order.slice(1).forEach((n, index) => {
    const before = order[index];
    const [a, b] = [videos[before].title, videos[n].title];
    let at = 0;
    while (at < a.length && a[at] === b[at]) at += 1;
    found[before] = Math.max(found[before], at);
    found[n] = at;
  });
  return found;
}

/** The same as an element, with the whole title on hover. */
const titleOf = (n, limit = 52) => userText(shortTitle(n, limit), "span", { class: "title", title: videos[n].title });

function setCurrent(element, isCurrent) {
  if (isCurrent) element.setAttribute("aria-current", "true");
  else element.removeAttribute("aria-current");
}

// Colours repeat after twenty steps; the numbers on the marks do not.
const shade = (step) => `c${step % 20}`; // in colours.css
const badge = (step) => h("span", { class: `badge ${shade(step)}` }, String(step + 1));

function clock(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (number) => String(number).padStart(2, "0");
  return hours ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

const formatDuration = (seconds) => `${clock(seconds)} ${seconds >= 3600 ? "h" : "min"}`;
const percent = (share) => `${Math.round(100 * share)}%`;
const formatNumber = (number) => number.toLocaleString("en");
const count = (number, noun) => `${formatNumber(number)} ${noun}${number === 1 ? "" : "s"}`;

const isFound = (place) => place !== null && place.time !== null;
const isGuess = (place) => place.level === "guess";

/** The mentions of a step in a video, in temporal order; and the first, if any. */
const mentionsOf = (video, step) => videos[video].mentions.filter((mention) => mention.step === step);
const firstMention = (video, step) => videos[video].mentions.find((mention) => mention.step === step);

/** When a step begins in a video: at its place, or else at its first mention; null if unknown. */
function momentOf(video, step) {
  const place = videos[video].places[step];
  return (isFound(place) ? place.start : firstMention(video, step)?.start) ?? null;
}

const youtubeAt = (id, seconds) => `https://youtu.be/${id}?t=${Math.max(0, Math.floor(seconds))}`;

/** A link to a moment on YouTube, for a video that cannot be played here; null if there is none. */
function watchLink(video, seconds, attributes, ...children) {
  const { youtube, source } = videos[video];
  if (!youtube || source || seconds === null) return null;
  return h("a", { href: youtubeAt(youtube, seconds), target: "_blank", rel: "noopener noreferrer", ...attributes }, children);
}

/** What is said at a mention, in quotes; a phrase with what "it" stands for is no quote. */
const spokenAs = ({ quote, phrase }) => (quote ? `“${quote}”` : phrase);

const MAX_DISTANCE = 15; // seconds from a place to a mention that is shown for it

/** The mention of a step that is nearest to a time of a video, if it is close enough. */
function mentionNear(video, step, time) {
  const distance = (mention) => Math.abs(mention.start - time);
  const [nearest] = mentionsOf(video, step).sort((a, b) => distance(a) - distance(b));
  return nearest && distance(nearest) <= MAX_DISTANCE ? nearest : undefined;
}

/** The last sentence that started at or before a time of a video, if any. */
const sentenceAt = (video, time) => videos[video].said.findLast(([start]) => start <= time)?.[1];

/** A localisation in words, for screen readers and for the line under the player. */
function describe(video, step) {
  const place = videos[video].places[step];
  const mention = firstMention(video, step);
  const mentioned = mention ? `, mentioned at ${clock(mention.start)}` : content.silent ? "" : ", not mentioned";
  if (!isFound(place)) return `${place ? "absent" : "not placed"}${mentioned}`;
  const level = place.level ? `, ${place.level} (${percent(place.confidence)})` : "";
  // A narrator may speak of a step where it is not done.
  const isOnlySaid = place.level === "guess" && place.evidence === "said here";
  const evidence = isOnlySaid ? ": said here, perhaps done elsewhere" : place.evidence ? `: ${place.evidence}` : "";
  return `at ${clock(place.time)}${level}${evidence}`;
}

/** Call `build` once for every element when it comes near the viewport, or the visible part of `root`. */
function whenNear(elements, build, root = null) {
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        observer.unobserve(target);
        build(target);
      }
    },
    { root, rootMargin: "900px" },
  );
  for (const element of elements) observer.observe(element);
  return observer;
}

/** Run many small tasks while the browser is idle. */
function whenIdle(tasks) {
  const remaining = [...tasks];
  const schedule = window.requestIdleCallback ?? ((callback) => setTimeout(() => callback({ timeRemaining: () => 10 }), 50));
  const runSome = (deadline) => {
    do remaining.shift()?.();
    while (remaining.length && deadline.timeRemaining() > 4);
    if (remaining.length) schedule(runSome);
  };
  if (remaining.length) schedule(runSome);
}

/**
 * Build hundreds of items lazily, in batches, as the holder is scrolled: `build(from, to)` appends
 * a batch and returns its last element.
 */
function buildAsNeeded(holder, total, batch, build) {
  let built = 0;
  const buildUpTo = (next) => {
    const last = build(built, next);
    built = holder.dataset.built = next;
    if (built < total) whenNear([last], () => buildUpTo(Math.min(total, built + batch)), holder);
  };
  // As many as before a rebuild, so that the scroll position can be kept.
  buildUpTo(Math.min(total, Math.max(batch, Number(holder.dataset.built ?? 0))));
}

/**
 * Roving tabindex: one tab stop for rows of buttons (which have tabindex −1), and arrow keys to move
 * between them. `rows()` may have gaps (undefined), which are skipped.
 */
function walkWithArrows(holder, rows) {
  const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  let stop = holder.querySelector("button, a");
  if (!stop) return;
  stop.tabIndex = 0;
  holder.addEventListener("focusin", (event) => {
    if (!event.target.matches("button, a")) return;
    stop.tabIndex = -1;
    stop = event.target;
    stop.tabIndex = 0;
  });
  holder.addEventListener("keydown", (event) => {
    const move = moves[event.key];
    if (!move || event.altKey || event.ctrlKey || event.metaKey) return;
    const grid = rows();
    let row = grid.findIndex((buttons) => buttons.includes(event.target));
    let column = grid[row]?.indexOf(event.target);
    if (column === undefined) return;
    const isInside = () => grid[row] && column >= 0 && column < grid[row].length;
    do {
      row += move[0];
      column += move[1];
    } while (isInside() && !grid[row][column]);
    if (!isInside()) return;
    event.preventDefault();
    grid[row][column].focus();
  });
}

const view = (name) => document.querySelector(`[data-view=${name}]`);
