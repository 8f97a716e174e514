// One video with its steps and words, or a still frame if the file is gone.

const calm = matchMedia("(prefers-reduced-motion: reduce)");

/**
 * A pane of the viewer. `choose(n)` is called when another video is chosen in it, and
 * `pick(pane, step, time)` when a mark or a sentence of it is clicked.
 */
function makePane(name, choose, pick) {
  const video = h("video", { controls: true, playsinline: true, preload: "metadata" });
  const thumbnail = h("div", { class: "still", hidden: true });
  const notice = h("p", { class: "notice", role: "status", hidden: true });
  const select = h(
    "select",
    { "aria-label": name },
    videos.map((one, n) => h("option", { value: n }, cutTo(one.title, 60))),
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
  let wish = null; // the time to go to as soon as the file says how long it is
  let shownStep = null;
  let stretch = null; // the step that is played from its start to its end
  let looked = 0; // the time that was gone to last, for narrations without a video

  select.addEventListener("change", () => choose(Number(select.value)));
  for (const holder of [strip, about]) {
    holder.addEventListener("click", (event) => {
      const mark = event.target.closest("button");
      if (!mark) return;
      event.stopPropagation();
      pick(pane, Number(mark.dataset.step), mark.dataset.time === undefined ? null : Number(mark.dataset.time));
    });
  }
  video.addEventListener("loadedmetadata", () => wish !== null && seek(wish));
  video.addEventListener("error", () => pane.current !== null && lose(shownStep));
  video.addEventListener("timeupdate", () => {
    follow(video.currentTime);
    endStretch(video.currentTime);
  });

  /** At the end of a step: stop, or begin it again. Whoever goes on from there, or elsewhere, is let go. */
  function endStretch(now) {
    if (!stretch || video.seeking || now < stretch.end) return;
    if (now > stretch.end + 1.5) stretch = null;
    else if (loops()) video.currentTime = stretch.start;
    else {
      video.pause();
      stretch = null;
    }
  }

  function seek(time) {
    wish = time;
    if (video.readyState < HTMLMediaElement.HAVE_METADATA) return;
    video.currentTime = time;
    wish = null;
  }

  /** Show a video at a step, or at any time of it. */
  pane.show = (n, step, time = null) => {
    if (pane.current !== n) load(n);
    const place = step === null ? null : videos[n].places[step];
    const goal = time ?? (step === null ? null : momentOf(n, step));
    stretch = time === null && isFound(place) && place.end > place.start ? place : null;
    const absent = step !== null && time === null && !isFound(place);
    looked = goal ?? 0;
    tellStep(step);
    say(absent ? `Step ${step + 1} is ${place ? "absent" : "not placed"} in this video.` : "");
    if (goal !== null) follow(goal);
    if (!videos[n].source || video.error) return lose(step);
    if (goal !== null) seek(goal);
    if (absent || goal === null) video.pause();
    else pane.play();
  };

  /** Write what is known of a step in this video. */
  function tellStep(step) {
    const n = pane.current;
    shownStep = step;
    where.textContent = step === null ? "" : `Step ${step + 1} here: ${describe(n, step)}`;
    link.hidden = !videos[n].youtube;
    if (videos[n].youtube) {
      link.href = youtubeAt(videos[n].youtube, looked);
      link.textContent = `watch on YouTube from ${clock(looked)}`;
    }
    about.replaceChildren(...(step === null ? [] : spokenAbout(n, step)));
    placing.replaceChildren(...placeTools(n, step, () => (video.hidden ? looked : video.currentTime)));
    for (const mark of strip.querySelectorAll(".mark")) {
      setCurrent(mark, Number(mark.dataset.step) === step);
    }
  }

  /** Show the content as it is now, without going anywhere. */
  pane.fill = (step) => {
    if (pane.current === null) return;
    pane.current = Math.min(pane.current, videos.length - 1);
    fillStrip();
    write(pane.current);
    tellStep(step);
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
    wish = null;
    if (videos[n].source) video.src = videos[n].source;
    else {
      video.removeAttribute("src");
      video.load(); // or the video before it would play on, unseen
    }
    fillStrip();
    write(n);
  }

  function fillStrip() {
    const lanes = h("div", { class: "lanes" });
    strip.replaceChildren(lanes);
    fillLanes(lanes, pane.current, { linked: false });
  }

  /** The file cannot be played: a thumbnail and a line replace the player. */
  function lose(step) {
    const { file, places, source } = videos[pane.current];
    const shown = step === null ? null : places[step];
    video.hidden = true;
    thumbnail.hidden = false;
    thumbnail.replaceChildren(shown?.thumbnail ? still(shown, step) : icon("video"));
    const gone = `The video file “${file}” was not found. Put it back, or make the page again.`;
    // It was there when the page was made: it can be gone by now, or of a kind like AVI.
    const unplayable = `The video file “${file}” cannot be played here: it was moved, or this browser does not know its format.`;
    say(!file ? "There is no video file here, only the words." : source ? unplayable : gone);
  }

  /** What is said about a step here, in the order of the video. */
  function spokenAbout(n, step) {
    const mentions = mentionsOf(n, step);
    return mentions.map((mention) =>
      h(
        "button",
        { type: "button", "data-step": step, "data-time": mention.start },
        words(`“${mention.phrase}”`),
        ` ${clock(mention.start)}`,
      ),
    );
  }

  function say(text) {
    notice.textContent = text;
    notice.hidden = !text;
  }

  function write(n) {
    const { said, mentions } = videos[n];
    pane.lines = said.map(([start, text], place) => {
      const end = said[place + 1]?.[0] ?? Infinity;
      const named = mentions.filter((one) => one.step >= 0 && one.start >= start && one.start < end);
      const line = h(
        "button",
        { type: "button" },
        h("time", {}, clock(start)),
        words(text),
        h("span", { class: "badges" }, named.map((one) => badge(one.step))),
      );
      line.addEventListener("click", () => pick(pane, shownStep, start));
      return { start, line, item: h("li", {}, line) };
    });
    transcript.replaceChildren(...pane.lines.map(({ item }) => item));
    if (!said.length) transcript.replaceChildren(h("li", { class: "empty" }, "This video has no transcript."));
  }

  /** Mark the sentence that is being said, and keep it in sight. */
  function follow(time) {
    const now = pane.lines.findLast(({ start }) => start <= time + 0.05);
    for (const one of pane.lines) setCurrent(one.line, one === now);
    if (!now) return;
    const top = now.item.offsetTop - transcript.clientHeight / 2 + now.item.clientHeight / 2;
    transcript.scrollTo({ top, behavior: calm.matches ? "auto" : "smooth" });
  }

  return pane;
}
