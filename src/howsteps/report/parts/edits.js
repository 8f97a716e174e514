// Edits of the script: small values, applied one after another to what is shown. The server does
// the same to the script itself (howsteps/serve/edits.py); tests hold the two to each other.

const LONGEST_LABEL = 200; // signs
const MOST_STEPS = 100;
const BY_HAND = "placed by hand";
const BARE = { said: 0, learnt: 0, found: 0, likely: 0, absent: 0, optional: false, marked: false, alternative: false, other: [], example: "", thumbnail: null, best: null };

const operations = {
  rename: (shown, { step, label }) => withStep(shown, step, { label: tidy(label) }),
  optional: (shown, { step, value }) => withStep(shown, step, { marked: value, optional: value }),
  move: (shown, { step, to }) => {
    const order = [...shown.steps.keys()].filter((k) => k !== step);
    order.splice(to, 0, step);
    return inOrder(shown, order);
  },
  delete: (shown, { step }) => inOrder(shown, [...shown.steps.keys()].filter((k) => k !== step)),
  add: (shown, { at, label }) => {
    const order = [...shown.steps.keys()];
    order.splice(at, 0, null);
    return inOrder(shown, order, { ...BARE, label: tidy(label) });
  },
  merge: (shown, { step, into }) => {
    const [own, other] = [shown.steps[into], shown.steps[step]];
    const joined = withStep(shown, into, {
      marked: own.marked && other.marked,
      example: own.example || other.example,
      other: [...new Set([...own.other, other.label.toLowerCase(), ...other.other])],
    });
    const ofHand = (place) => place?.evidence === BY_HAND;
    const better = (one, two) => (ofHand(one) || (isFound(one) && !ofHand(two)) ? one : (two ?? one));
    const videos = joined.videos.map((video) => ({
      ...video,
      places: video.places.with(into, better(video.places[into], video.places[step])),
      mentions: video.mentions.map((mention) => (mention.step === step ? { ...mention, step: into } : mention)),
    }));
    return operations.delete({ ...joined, videos }, { step });
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
};

/** What is shown after an edit. */
const edited = (shown, edit) => tallied(operations[edit.op](shown, edit));

/** Why an edit cannot be made; empty where it can. */
function refusal(shown, edit) {
  if (!Object.hasOwn(operations, edit?.op)) return "There is no such edit.";
  const isStep = (k) => Number.isInteger(k) && k >= 0 && k < shown.steps.length;
  if (["step", "to", "into"].some((name) => name in edit && !isStep(edit[name]))) return "There is no such step.";
  if ("label" in edit) {
    const label = tidy(String(edit.label));
    if (!label) return "A step needs a name.";
    if ([...label].length > LONGEST_LABEL) return `A name can have at most ${LONGEST_LABEL} characters.`;
    const same = shown.steps.findIndex((step) => step.label.toLowerCase() === label.toLowerCase());
    if (same >= 0 && !(edit.op === "rename" && same === edit.step)) return `There is already a step “${label}”.`;
  }
  if (["add", "split"].includes(edit.op) && shown.steps.length >= MOST_STEPS) return `A script can have at most ${MOST_STEPS} steps.`;
  if (edit.op === "merge" && edit.step === edit.into) return "A step cannot be merged with itself.";
  if (edit.op === "split") {
    const own = shown.videos.flatMap((video) => video.mentions.filter((one) => one.step === edit.step)).length;
    if (!edit.mentions.length || edit.mentions.length >= own) return "Choose some of the mentions, but not all.";
  }
  return "";
}

const tidy = (text) => text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, " ").split(/\s+/u).filter(Boolean).join(" ");

const withStep = (shown, k, change) => ({ ...shown, steps: shown.steps.with(k, { ...shown.steps[k], ...change }) });

const withPlace = (shown, id, k, place) => ({
  ...shown,
  videos: shown.videos.map((video) => (video.id === id ? { ...video, places: video.places.with(k, place) } : video)),
});

/** The steps with these numbers in this order; null stands for a new one. */
function inOrder(shown, order, added) {
  const place = new Map(order.map((old, k) => [old, k]));
  const moved = (mention) => {
    const step = mention.step < 0 ? -1 : (place.get(mention.step) ?? -1);
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

/** The same with the counts of its steps as they are now. */
function tallied(shown) {
  const steps = shown.steps.map((step) => ({ ...step, said: 0, found: 0, likely: 0, absent: 0, best: null, thumbnail: null }));
  const surest = steps.map(() => -1);
  shown.videos.forEach((video, n) => {
    for (const k of new Set(video.mentions.map((mention) => mention.step))) {
      if (k < 0) continue;
      steps[k].said += 1;
      if (surest[k] < 0) steps[k].best ??= n;
    }
    video.places.forEach((place, k) => {
      if (place === null) return;
      if (place.time === null) return (steps[k].absent += 1);
      steps[k].found += 1;
      steps[k].likely += place.level === "sure" || place.level === "likely" ? 1 : 0;
      const worth = (place.thumbnail ? 10 : 0) + (video.source || video.youtube ? 2 : 0) + (place.confidence ?? 0);
      if (worth <= surest[k]) return;
      surest[k] = worth;
      steps[k].best = n;
      steps[k].thumbnail = place.thumbnail;
    });
  });
  return { ...shown, steps };
}

/** The script as a page of text, as `howsteps localise --script` reads it. */
function scriptText(shown) {
  const phrases = shown.steps.map(() => new Map());
  for (const video of shown.videos) {
    for (const { step, phrase } of video.mentions) {
      const plain = tidy(phrase.replaceAll(",", " ").replace(/<!--|-->/g, ""));
      if (step >= 0 && plain) phrases[step].set(plain, (phrases[step].get(plain) ?? 0) + 1);
    }
  }
  const lines = [`# ${tidy(shown.task)}`, ""];
  shown.steps.forEach((step, k) => {
    const number = `${k + 1}. `;
    lines.push(`${number}${step.alternative ? "or " : ""}${tidy(step.label.replace(/<!--|-->/g, ""))}${step.marked ? " (optional)" : ""}`);
    const said = [...phrases[k]].sort((a, b) => b[1] - a[1]).map(([phrase]) => phrase);
    for (let at = 0; at < said.length; at += 8) {
      lines.push(`${" ".repeat(number.length)}also: ${said.slice(at, at + 8).join(", ")}`);
    }
  });
  return `${lines.join("\n")}\n`;
}
