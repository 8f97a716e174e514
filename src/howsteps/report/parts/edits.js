// Edits of the script, applied one after another to the shown content. The server applies them to
// the script itself (howsteps/serve/edits.py); tests check that the two agree.

const LONGEST_LABEL = 200; // characters
const MAX_STEPS = 100;
const BY_HAND = "placed by hand";
const BARE = { read: [], learnt: 0, optional: false, alternative: false, other: [], example: "" };

const operations = {
  rename: (shown, { step, label }) => withStep(shown, step, { label: cleanLabel(label) }),
  optional: (shown, { step, value }) => withStep(shown, step, { optional: value }),
  move: (shown, { step, to }) => {
    const order = [...shown.steps.keys()].filter((k) => k !== step);
    order.splice(to, 0, step);
    return reordered(shown, order);
  },
  delete: (shown, { step }) => reordered(shown, [...shown.steps.keys()].filter((k) => k !== step)),
  add: (shown, { at, label }) => {
    const order = [...shown.steps.keys()];
    order.splice(at, 0, null);
    return reordered(shown, order, { ...BARE, label: cleanLabel(label) });
  },
  merge: (shown, { step, into }) => {
    const [kept, other] = [shown.steps[into], shown.steps[step]];
    const merged = withStep(shown, into, {
      optional: kept.optional && other.optional,
      example: kept.example || other.example,
      other: [...new Set([...kept.other, other.label.toLowerCase(), ...other.other])],
      read: [...kept.read, ...other.read],
    });
    const isByHand = (place) => place?.evidence === BY_HAND;
    const better = (a, b) => (isByHand(a) || (isFound(a) && !isByHand(b)) ? a : (b ?? a));
    const videos = merged.videos.map((video) => ({
      ...video,
      places: video.places.with(into, better(video.places[into], video.places[step])),
      mentions: video.mentions.map((mention) => (mention.step === step ? { ...mention, step: into } : mention)),
    }));
    return operations.delete({ ...merged, videos }, { step });
  },
  split: (shown, { step, label, mentions }) => {
    const chosen = new Set(mentions.map(([video, id]) => JSON.stringify([video, id])));
    const { steps: all, videos: every } = operations.add(shown, { at: step + 1, label });
    const videos = every.map((video) => ({
      ...video,
      mentions: video.mentions.map((mention) =>
        chosen.has(JSON.stringify([video.id, mention.id])) ? { ...mention, step: step + 1 } : mention,
      ),
    }));
    return { ...shown, steps: all, videos };
  },
  place: (shown, { step, video, time, start, end }) =>
    withPlace(shown, video, step, {
      time,
      ...(time !== null && { start, end, confidence: 1, level: "sure", thumbnail: null }),
      evidence: BY_HAND,
    }),
  release: (shown, { step, video }) => withPlace(shown, video, step, null),
  // The server places the steps again, and the page is loaded anew.
  keep: (shown) => shown,
  drop: (shown) => shown,
};

/** The content after an edit. */
const afterEdit = (shown, edit) => withCounts(operations[edit.op](shown, edit));

/** Why an edit is invalid; empty if it is valid. */
function refusal(shown, edit) {
  if (!Object.hasOwn(operations, edit?.op)) return "There is no such edit.";
  const isStep = (k) => Number.isInteger(k) && k >= 0 && k < shown.steps.length;
  if (["step", "to", "into"].some((name) => name in edit && !isStep(edit[name]))) return "There is no such step.";
  if ("label" in edit) {
    const label = cleanLabel(String(edit.label));
    if (!label) return "A step needs a name.";
    if ([...label].length > LONGEST_LABEL) return `A name can have at most ${LONGEST_LABEL} characters.`;
    const same = shown.steps.findIndex((step) => step.label.toLowerCase() === label.toLowerCase());
    if (same >= 0 && !(edit.op === "rename" && same === edit.step)) return `There is already a step “${label}”.`;
  }
  if (["add", "split"].includes(edit.op) && shown.steps.length >= MAX_STEPS) return `A script can have at most ${MAX_STEPS} steps.`;
  if (edit.op === "merge" && edit.step === edit.into) return "A step cannot be merged with itself.";
  if (edit.op === "split") {
    const total = shown.videos.flatMap((video) => video.mentions.filter((mention) => mention.step === edit.step)).length;
    if (!edit.mentions.length || edit.mentions.length >= total) return "Choose some of the mentions, but not all.";
  }
  return "";
}

const cleanLabel = (text) => text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, " ").split(/\s+/u).filter(Boolean).join(" ");

const withStep = (shown, k, change) => ({ ...shown, steps: shown.steps.with(k, { ...shown.steps[k], ...change }) });

const withPlace = (shown, id, k, place) => ({
  ...shown,
  videos: shown.videos.map((video) => (video.id === id ? { ...video, places: video.places.with(k, place) } : video)),
});

/** Keep the steps with these indices, in this order; null stands for the added step. */
function reordered(shown, order, added) {
  const newIndex = new Map(order.map((old, k) => [old, k]));
  const moved = (mention) => {
    const step = mention.step < 0 ? -1 : (newIndex.get(mention.step) ?? -1);
    return step === mention.step ? mention : { ...mention, step };
  };
  return {
    ...shown,
    steps: order.map((old) => (old === null ? added : shown.steps[old])),
    videos: shown.videos.map((video) => ({
      ...video,
      places: order.map((old) => (old === null ? null : video.places[old])),
      mentions: video.mentions.map(moved),
    })),
  };
}

/** The content with the counts of the steps, the video to play and its picture. */
function withCounts(shown) {
  const steps = shown.steps.map((step) => ({ ...step, said: 0, found: 0, absent: 0, best: null, thumbnail: null }));
  const bestScore = steps.map(() => -1);
  shown.videos.forEach((video, n) => {
    const mentioned = new Set(video.mentions.map((mention) => mention.step));
    steps.forEach((step, k) => {
      if (mentioned.has(k)) step.best ??= n;
      if (mentioned.has(k) || step.read.includes(n)) step.said += 1;
    });
    video.places.forEach((place, k) => {
      if (place === null) return;
      if (place.time === null) return (steps[k].absent += 1);
      steps[k].found += 1;
      const score = (place.thumbnail ? 10 : 0) + (video.source || video.youtube ? 2 : 0) + (place.confidence ?? 0);
      if (score <= bestScore[k]) return;
      bestScore[k] = score;
      steps[k].best = n;
      steps[k].thumbnail = place.thumbnail;
    });
  });
  return { ...shown, steps };
}

/** The script as text, for `howsteps place --script`. */
function scriptText(shown) {
  const phrases = shown.steps.map(() => new Map());
  for (const video of shown.videos) {
    for (const { step, phrase } of video.mentions) {
      const plain = cleanLabel(phrase.replaceAll(",", " ").replace(/<!--|-->/g, ""));
      if (step >= 0 && plain) phrases[step].set(plain, (phrases[step].get(plain) ?? 0) + 1);
    }
  }
  const lines = [`# ${cleanLabel(shown.task)}`, ""];
  shown.steps.forEach((step, k) => {
    const number = `${k + 1}. `;
    lines.push(`${number}${step.alternative ? "or " : ""}${cleanLabel(step.label.replace(/<!--|-->/g, ""))}${step.optional ? " (optional)" : ""}`);
    const said = [...phrases[k]].sort((a, b) => b[1] - a[1]).map(([phrase]) => phrase);
    for (let at = 0; at < said.length; at += 8) {
      lines.push(`${" ".repeat(number.length)}also: ${said.slice(at, at + 8).join(", ")}`);
    }
  });
  return `${lines.join("\n")}\n`;
}
