// Which videos are used: those to use again and to leave out become one command to copy.

const chosen = new Map(); // video id: "keep" or "drop"

/** A button that uses a video again ("keep") or leaves it out ("drop"). */
function chooseButton(id, way, title) {
  const verb = way === "keep" ? "Use again" : "Leave out";
  const pressed = chosen.get(id) === way;
  const element = h("button", { type: "button", class: "choose", "aria-pressed": String(pressed), "aria-label": `${verb}: ${title}`, title: content.served ? "The steps are placed again; undo takes it back" : "Makes a command to run again" }, verb);
  element.addEventListener("click", () => {
    if (content.served) return act({ op: way, video: id }, `“${truncateTo(title, 40)}” is ${EDITS[way]} …`);
    chosen.has(id) ? chosen.delete(id) : chosen.set(id, way);
    element.setAttribute("aria-pressed", String(chosen.has(id)));
    showChoice();
  });
  return element;
}

/** An option in a form that every shell takes as one word. */
const keepOption = (id, way) => (/^[\w.-]+$/.test(id) ? `--${way}=${id}` : `'--${way}=${id.replaceAll("'", `'\\''`)}'`);

/** The command that runs again with what was chosen. */
function showChoice() {
  const holder = view("choice");
  holder.hidden = chosen.size === 0;
  const command = `howsteps run VIDEOS --out WORK ${[...chosen].map(([id, way]) => keepOption(id, way)).join(" ")}`;
  const copy = h("button", { type: "button" }, "Copy");
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(command);
      copy.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(holder.querySelector("code")); // the browser may refuse
    }
  });
  const clear = h("button", { type: "button" }, "Clear");
  clear.addEventListener("click", () => {
    chosen.clear();
    for (const each of document.querySelectorAll(".choose")) each.setAttribute("aria-pressed", "false");
    showChoice();
  });
  holder.replaceChildren(h("p", {}, "Run again with these videos:"), h("code", { tabindex: 0 }, command), copy, clear);
}

function buildAside() {
  for (const item of document.querySelectorAll("#aside [data-id]")) {
    item.append(chooseButton(item.dataset.id, "keep", item.dataset.title));
  }
}
