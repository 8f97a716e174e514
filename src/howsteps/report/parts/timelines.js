// One line for every video: its steps, and what its narrator says they are.

function buildTimelines() {
  const holder = view("timelines");
  if (!videos.length) {
    holder.replaceChildren(h("p", { class: "empty" }, "There are no videos."));
    return;
  }
  holder.replaceChildren(
    ...videos.map((video, n) => {
      const found = video.places.filter(isFound).length;
      const lanes = h("div", { class: "lanes" });
      whenNear(lanes, () => fillLanes(lanes, n));
      return h(
        "article",
        { class: "timeline" },
        h(
          "header",
          {},
          words(video.title, "h3"),
          h("p", {}, `${clock(video.length)} min`, content.located ? ` · ${found} of ${count(steps.length, "step")}` : ""),
          video.source ? null : h("p", { class: "missing" }, "video file not found"),
        ),
        lanes,
      );
    }),
  );
}

/** The lanes of a video: its steps, and below them its words; places are shares of its length. */
function fillLanes(lanes, n) {
  const video = videos[n];
  const share = (seconds) => `${(100 * Math.min(1, seconds / (video.length || 1))).toFixed(3)}%`;
  const wide = (start, end) => share(Math.max(0, Math.min(end, video.length) - start));
  const rows = [stepLane(n, share, wide), wordLane(n, share, wide)];
  lanes.replaceChildren(...rows, axis(video.length, share));
  walkWithArrows(lanes, rows.map((lane) => [...lane.querySelectorAll("button")]));
}

function stepLane(n, share, wide) {
  const marks = videos[n].places.flatMap((place, k) => {
    if (!isFound(place)) return [];
    const block = h("span", {
      class: `block ${shade(k)}`,
      "--at": share(place.start),
      "--wide": wide(place.start, place.end),
    });
    const label = `Step ${k + 1}, ${steps[k].label}: ${describe(n, k)}`;
    const mark = h(
      "button",
      {
        type: "button",
        class: `badge mark ${shade(k)}`,
        "--at": share(place.time),
        "data-video": n,
        "data-step": k,
        "aria-label": label,
        title: label,
      },
      String(k + 1),
    );
    return [block, mark];
  });
  return h("div", { class: "lane steps", role: "group", "aria-label": "Steps" }, marks);
}

function wordLane(n, share, wide) {
  const marks = videos[n].mentions.map((mention) => {
    const at = { "--at": share(mention.start), title: `“${mention.phrase}” at ${clock(mention.start)}` };
    if (mention.step < 0) return h("span", { class: "tick", ...at });
    return h(
      "button",
      {
        type: "button",
        class: `window ${shade(mention.step)}`,
        ...at,
        "--at": share(mention.window[0]),
        "--wide": wide(...mention.window),
        "data-video": n,
        "data-step": mention.step,
        "data-time": mention.start,
        "aria-label": `Step ${mention.step + 1} is named: ${at.title}`,
      },
      String(mention.step + 1),
    );
  });
  return h("div", { class: "lane said", role: "group", "aria-label": "What is said" }, marks);
}

function axis(length, share) {
  const every = [5, 10, 15, 30, 60, 120, 300, 600, 1200, 3600].find((gap) => length / gap <= 7) ?? 7200;
  const ticks = [];
  for (let at = 0; at < length - every / 3; at += every) {
    ticks.push(h("span", { "--at": share(at) }, clock(at)));
  }
  return h("div", { class: "lane axis", "aria-hidden": "true" }, ticks);
}
