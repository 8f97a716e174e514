// What every part of the page uses: the content, and elements made from plain text.

const content = JSON.parse(document.getElementById("content").textContent);
const { steps, videos } = content;

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
const words = (text, name = "span", attributes = {}) => h(name, { dir: "auto", ...attributes }, text);

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
const percent = (share) => `${Math.round(100 * share)} %`;
const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

const isFound = (place) => place !== null && place.time !== null;
const isGuess = (place) => place.level === "guess";

/** The first mention of a step in a video, if there is one. */
const named = (video, step) => videos[video].mentions.find((mention) => mention.step === step);

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

/** Call once when an element comes near the screen. */
function whenNear(element, build) {
  const observer = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      build(element);
    },
    { rootMargin: "600px" },
  );
  observer.observe(element);
}

/**
 * One stop for Tab in rows of buttons; the arrow keys go from button to button.
 * Rows may have gaps (undefined), which are stepped over.
 */
function walkWithArrows(holder, rows) {
  const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  const places = new Map();
  rows.forEach((row, down) => row.forEach((button, right) => button && places.set(button, [down, right])));
  const buttons = [...places.keys()];
  for (const button of buttons) button.tabIndex = -1;
  let stop = buttons[0];
  if (!stop) return;
  stop.tabIndex = 0;
  holder.addEventListener("focusin", (event) => {
    if (!places.has(event.target)) return;
    stop.tabIndex = -1;
    stop = event.target;
    stop.tabIndex = 0;
  });
  holder.addEventListener("keydown", (event) => {
    const move = moves[event.key];
    if (!move || !places.has(event.target) || event.altKey || event.ctrlKey || event.metaKey) return;
    let [down, right] = places.get(event.target);
    const inside = () => rows[down] && right >= 0 && right < rows[down].length;
    do {
      down += move[0];
      right += move[1];
    } while (inside() && !rows[down][right]);
    if (!inside()) return;
    event.preventDefault();
    rows[down][right].focus();
  });
}

const view = (name) => document.querySelector(`[data-view=${name}]`);
