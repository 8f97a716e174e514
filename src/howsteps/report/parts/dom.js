// What every part of the page uses: the content, and elements made from plain text.

let content, steps, videos;

function take(shown) {
  content = shown;
  ({ steps, videos } = content);
}

take(JSON.parse(document.getElementById("content").textContent));

/** An element. Attributes and children are only ever text or elements, never markup. */
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

/** User text: isolated, so that its writing direction does not affect its surroundings. */
const words = (text, name = "span", attributes = {}, ...more) => h(name, { dir: "auto", ...attributes }, text, more);

/** The same where room is short: it is cut in its middle, as the ends tell titles apart. */
function cut(text) {
  const signs = [...text];
  const end = signs.length > 2 * TAIL ? signs.length - TAIL : signs.length;
  const [head, tail] = [signs.slice(0, end), signs.slice(end)].map((part) => h("span", {}, part.join("")));
  return words(head, "span", { class: "cut", title: text }, tail);
}
const TAIL = 9; // signs at the end that are always shown

/** The same where there are no elements, as in a list to choose from. */
function cutTo(text, most) {
  const signs = [...text];
  if (signs.length <= most) return text;
  return `${signs.slice(0, most - TAIL - 1).join("")}…${signs.slice(-TAIL).join("")}`;
}

function setCurrent(element, isCurrent) {
  if (isCurrent) element.setAttribute("aria-current", "true");
  else element.removeAttribute("aria-current");
}

// The colours of steps repeat; the number on the mark does not.
const shade = (step) => `c${step % content.shades}`;
const badge = (step) => h("span", { class: `badge ${shade(step)}` }, String(step + 1));

function clock(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (number) => String(number).padStart(2, "0");
  return hours ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

const lasting = (seconds) => `${clock(seconds)} ${seconds >= 3600 ? "h" : "min"}`;
const percent = (share) => `${Math.round(100 * share)}%`;
const grouped = (number) => number.toLocaleString("en");
const count = (number, noun) => `${grouped(number)} ${noun}${number === 1 ? "" : "s"}`;

const isFound = (place) => place !== null && place.time !== null;
const isGuess = (place) => place.level === "guess";

/** The mentions of a step in a video, in the order of the video; and the first, if there is one. */
const mentionsOf = (video, step) => videos[video].mentions.filter((mention) => mention.step === step);
const named = (video, step) => videos[video].mentions.find((mention) => mention.step === step);

/** When a step begins in a video: at its place, or else where it is first named; null if neither is known. */
function momentOf(video, step) {
  const place = videos[video].places[step];
  return (isFound(place) ? place.start : named(video, step)?.start) ?? null;
}

const youtubeAt = (id, seconds) => `https://youtu.be/${id}?t=${Math.max(0, Math.floor(seconds))}`;

/** A link to a moment on YouTube, for a video that cannot be played here; null where there is none. */
function watchLink(video, seconds, attributes, ...children) {
  const { youtube, source } = videos[video];
  if (!youtube || source || seconds === null) return null;
  return h("a", { href: youtubeAt(youtube, seconds), target: "_blank", rel: "noopener noreferrer", ...attributes }, children);
}

const NEAR = 15; // seconds from a mention to a place that it may stand for

/** The mention of a step that is nearest to a time of a video, if any is near. */
function mentionNear(video, step, time) {
  const far = (mention) => Math.abs(mention.start - time);
  const [nearest] = mentionsOf(video, step).sort((one, two) => far(one) - far(two));
  return nearest && far(nearest) <= NEAR ? nearest : undefined;
}

/** The sentence that is being said at a time of a video, if any was begun by then. */
const saidAt = (video, time) => videos[video].said.findLast(([start]) => start <= time)?.[1];

/** A localisation in words, for screen readers and for the line under the player. */
function describe(video, step) {
  const place = videos[video].places[step];
  const said = named(video, step);
  const spoken = said ? `named at ${clock(said.start)}` : "not named";
  if (!isFound(place)) return `${place ? "absent" : "not placed"}, ${spoken}`;
  const sure = place.level ? `, ${place.level} (${percent(place.confidence)})` : "";
  const why = place.evidence ? `: ${place.evidence}` : "";
  return `at ${clock(place.time)}${sure}${why}`;
}

/** Call once for every element that comes near the screen, or near what is seen of a scroller. */
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

/** Do many small things when nothing else is to be done. */
function whenIdle(things) {
  const rest = [...things];
  const ask = window.requestIdleCallback ?? ((act) => setTimeout(() => act({ timeRemaining: () => 10 }), 50));
  const some = (deadline) => {
    do rest.shift()?.();
    while (rest.length && deadline.timeRemaining() > 4);
    if (rest.length) ask(some);
  };
  if (rest.length) ask(some);
}

/**
 * Hundreds of parts, of which those near what is seen of a scroller are built: `build(from, to)`
 * adds some and returns the last of them.
 */
function buildAsNeeded(holder, many, some, build) {
  let built = 0;
  const more = (next) => {
    const last = build(built, next);
    built = holder.dataset.built = next;
    if (built < many) whenNear([last], () => more(Math.min(many, built + some)), holder);
  };
  // As many as were there before, so that whoever looks at the last of them stays there.
  more(Math.min(many, Math.max(some, Number(holder.dataset.built ?? 0))));
}

/**
 * One stop for Tab in rows of buttons, made with tabindex −1; the arrow keys go from button to
 * button. `rows()` may have gaps (undefined), which are stepped over.
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
    const now = rows();
    let down = now.findIndex((row) => row.includes(event.target));
    let right = now[down]?.indexOf(event.target);
    if (right === undefined) return;
    const inside = () => now[down] && right >= 0 && right < now[down].length;
    do {
      down += move[0];
      right += move[1];
    } while (inside() && !now[down][right]);
    if (!inside()) return;
    event.preventDefault();
    now[down][right].focus();
  });
}

const view = (name) => document.querySelector(`[data-view=${name}]`);
