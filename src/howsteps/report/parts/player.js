// One video with its steps and transcript, or a still frame if the file is gone.

const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

/**
 * Create a pane of the viewer. `choose(n)` is called when another video is selected, and
 * `pick(pane, step, time)` when a mark or a sentence is clicked.
 */
function makePane(name, choose, pick) {
  const video = h("video", { controls: true, playsinline: true, preload: "metadata" });
  const thumbnail = h("div", { class: "still", hidden: true });
  const notice = h("p", { class: "notice", role: "status", hidden: true });
  const select = h(
    "select",
    { "aria-label": name },
    videos.map((one, n) => h("option", { value: n }, shortTitle(n, 60))),
  );
  const where = h("p", { class: "where" });
  const link = h("a", { class: "elsewhere", target: "_blank", rel: "noopener noreferrer" });
  const about = h("p", { class: "spoken" });
  const strip = h("div", { class: "strip" });
  const placing = h("div", { class: "placing" });
  const transcript = h("ol", { class: "transcript", tabindex: 0, "aria-label": "What is said" });
  const element = h(
    "section",
    { class: "pane", "aria-label": name },
    h("div", { class: "screen" }, video, thumbnail, notice),
    h("div", { class: "about" }, select, where, link, about, placing, strip),
    transcript,
  );
  const pane = { element, video, select, current: null, lines: [] };
  let pendingSeek = null; // the time to seek to when the metadata is loaded
  let shownStep = null;
  let segment = null; // the place that is being played from start to end
  let lastTime = 0; // the last requested time, for narrations without a video

  select.addEventListener("change", () => choose(Number(select.value)));
  for (const holder of [strip, about]) {
    holder.addEventListener("click", (event) => {
      const mark = event.target.closest("button");
      if (!mark) return;
      event.stopPropagation();
      pick(pane, Number(mark.dataset.step), mark.dataset.time === undefined ? null : Number(mark.dataset.time));
    });
  }
  video.addEventListener("loadedmetadata", () => pendingSeek !== null && seek(pendingSeek));
  video.addEventListener("error", () => pane.current !== null && showStill(shownStep));
  video.addEventListener("timeupdate", () => {
    follow(video.currentTime);
    endSegment(video.currentTime);
  });

  /** At the end of a step, stop or start it again, unless the user has moved on. */
  function endSegment(now) {
    if (!segment || video.seeking || now < segment.end) return;
    if (now > segment.end + 1.5) segment = null;
    else if (loops()) video.currentTime = segment.start;
    else {
      video.pause();
      segment = null;
    }
  }

  function seek(time) {
    pendingSeek = time;
    if (video.readyState < HTMLMediaElement.HAVE_METADATA) return;
    video.currentTime = time;
    pendingSeek = null;
  }

  /** Show a video at a step, or at any time of it. */
  pane.show = (n, step, time = null) => {
    if (pane.current !== n) load(n);
    const place = step === null ? null : videos[n].places[step];
    const target = time ?? (step === null ? null : momentOf(n, step));
    segment = time === null && isFound(place) && place.end > place.start ? place : null;
    const absent = step !== null && time === null && !isFound(place);
    lastTime = target ?? 0;
    showStep(step);
    showNotice(absent ? `Step ${step + 1} is ${place ? "absent" : "not placed"} in this video.` : "");
    if (target !== null) follow(target);
    if (!videos[n].source || video.error) return showStill(step);
    if (target !== null) seek(target);
    if (absent || target === null) video.pause();
    else pane.play();
  };

  /** Show what is known about a step in this video. */
  function showStep(step) {
    const n = pane.current;
    shownStep = step;
    where.textContent = step === null ? "" : `Step ${step + 1} here: ${describe(n, step)}`;
    link.hidden = !videos[n].youtube;
    if (videos[n].youtube) {
      link.href = youtubeAt(videos[n].youtube, lastTime);
      link.textContent = `watch on YouTube from ${clock(lastTime)}`;
    }
    about.replaceChildren(...(step === null ? [] : spokenAbout(n, step)));
    placing.replaceChildren(...placeTools(n, step, () => (video.hidden ? lastTime : video.currentTime)));
    for (const mark of strip.querySelectorAll(".mark")) {
      setCurrent(mark, Number(mark.dataset.step) === step);
    }
  }

  /** Show the current content, without seeking. */
  pane.fill = (step) => {
    if (pane.current === null) return;
    pane.current = Math.min(pane.current, videos.length - 1);
    fillStrip();
    write(pane.current);
    showStep(step);
  };

  pane.play = () => {
    // A browser may refuse to start by itself; the controls are there for that.
    if (!video.hidden) video.play().catch(() => {});
  };
  pane.stop = () => video.pause();

  function load(n) {
    pane.current = n;
    element.dataset.video = n;
    select.value = n;
    element.classList.toggle("no-video", !videos[n].file);
    video.hidden = false;
    thumbnail.hidden = true;
    pendingSeek = null;
    if (videos[n].source) video.src = videos[n].source;
    else {
      video.removeAttribute("src");
      video.load(); // otherwise the previous video would keep playing
    }
    fillStrip();
    write(n);
  }

  function fillStrip() {
    const lanes = h("div", { class: "lanes" });
    strip.replaceChildren(lanes);
    fillLanes(lanes, pane.current, { linked: false });
  }

  /** If the file cannot be played, show a thumbnail and a notice instead of the player. */
  function showStill(step) {
    const { file, places, source } = videos[pane.current];
    const shown = step === null ? null : places[step];
    video.hidden = true;
    thumbnail.hidden = false;
    thumbnail.replaceChildren(shown?.thumbnail ? still(shown, step) : icon("video"));
    const gone = `The video file “${file}” was not found. Put it back, or make the page again.`;
    // The file existed when the page was made; it may be gone by now, or in a format such as AVI.
    const unplayable = `The video file “${file}” cannot be played here: it was moved, or this browser does not know its format.`;
    showNotice(!file ? "There is no video file here, only the transcript." : source ? unplayable : gone);
  }

  /** Buttons for the mentions of a step in this video. */
  function spokenAbout(n, step) {
    const mentions = mentionsOf(n, step);
    return mentions.map((mention) =>
      h(
        "button",
        { type: "button", "data-step": step, "data-time": mention.start },
        userText(spokenAs(mention)),
        ` ${clock(mention.start)}`,
      ),
    );
  }

  function showNotice(text) {
    notice.textContent = text;
    notice.hidden = !text;
  }

  function write(n) {
    const { said, mentions } = videos[n];
    pane.lines = said.map(([start, text], index) => {
      const end = said[index + 1]?.[0] ?? Infinity;
      const inside = mentions.filter((mention) => mention.step >= 0 && mention.start >= start && mention.start < end);
      const line = h(
        "button",
        { type: "button" },
        h("time", {}, clock(start)),
        userText(text),
        h("span", { class: "badges" }, inside.map((mention) => badge(mention.step))),
      );
      line.addEventListener("click", () => pick(pane, shownStep, start));
      return { start, line, item: h("li", {}, line) };
    });
    transcript.replaceChildren(...pane.lines.map(({ item }) => item));
    if (!said.length) transcript.replaceChildren(h("li", { class: "empty" }, "This video has no transcript."));
  }

  /** Highlight the current sentence of the transcript, and scroll to it. */
  function follow(time) {
    const current = pane.lines.findLast(({ start }) => start <= time + 0.05);
    for (const each of pane.lines) setCurrent(each.line, each === current);
    if (!current) return;
    const top = current.item.offsetTop - transcript.clientHeight / 2 + current.item.clientHeight / 2;
    transcript.scrollTo({ top, behavior: reducedMotion.matches ? "auto" : "smooth" });
  }

  return pane;
}
