"""Page and server apply edits in the same way: random edits, in Chromium and in Python."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from howsteps.report import page as report_page
from howsteps.report.content import capitalised, content
from howsteps.serve.changes import PageEdit
from howsteps.serve.edits import Draft, Refused, apply_edit, draft_of
from howsteps.store import converted
from howsteps.task import BY_HAND, Reading
from tests.report.job import tea

PARTS = Path(report_page.__file__).parent / "parts"
NAMES = (
    "pour",
    "Stir it",
    "fill THE kettle",
    "wait  a\tbit",
    "",
    "x" * 201,
    "<b>ü👩🏽‍🔧</b>",
    "a\u00a0b",
)


def random_edit(chance: random.Random, draft: Draft) -> dict[str, object]:
    step = chance.randrange(-1, len(draft.steps) + 1)
    other = chance.randrange(len(draft.steps) + 1)
    label = f"{chance.choice(NAMES)}{chance.choice(['', f' {chance.randrange(99)}'])}"
    video = chance.choice(draft.task.videos)
    own = draft.steps[step].mentions if 0 <= step < len(draft.steps) else ()
    some = chance.sample(own, chance.randint(0, len(own)))
    ids = {v.id: list(v.mentions) for v in draft.task.videos}
    time = chance.choice([None, round(chance.uniform(2, 60), 2)])
    ends = {"start": None, "end": None} if time is None else {"start": time - 2, "end": time + 4}
    return chance.choice(
        [
            {"op": "rename", "step": step, "label": label},
            {"op": "move", "step": step, "to": other},
            {"op": "merge", "step": step, "into": other},
            {"op": "delete", "step": step},
            {"op": "add", "at": min(other, len(draft.steps)), "label": label},
            {"op": "optional", "step": step, "value": chance.random() < 0.5},
            {"op": "place", "step": step, "video": video.id, "time": time, **ends},
            {"op": "release", "step": step, "video": video.id},
            {
                **{"op": "split", "step": step, "label": label},
                "mentions": [[m.video, ids[m.video].index(m)] for m in some],
            },
        ]
    )


def told(draft: Draft) -> dict[str, object]:
    """The state that both sides must agree on."""
    of = {m: k for k, step in enumerate(draft.steps) for m in step.mentions}
    hand = [[p.video, p.step, p.time] for p in draft.by_hand]
    return {
        "labels": [capitalised(step.label) for step in draft.steps],
        "optional": [step.optional for step in draft.steps],
        "said": [step.support for step in draft.steps],
        "owners": [[of.get(m, -1) for m in v.mentions] for v in draft.task.videos],
        "hand": sorted(hand, key=json.dumps),
    }


@pytest.mark.browser
def test_page_and_server_agree_on_every_edit(browser) -> None:
    read = [Reading(video, k, 2.0, 4.0, 1, 1) for video in ("Ada", "Bo") for k in (1, 3)]
    result = tea(5, 5)
    result = replace(result, script=result.script.read(read))
    assert result.steps[1].support != len({m.video for m in result.steps[1].mentions})
    chance = random.Random(7)
    runs = []
    for _ in range(40):
        draft, steps = draft_of(result), []
        for _ in range(12):
            edit = (
                random_edit(chance, draft) if draft.steps else {"op": "add", "at": 0, "label": "a"}
            )
            try:
                draft = apply_edit(draft, converted(edit, PageEdit))
                steps.append({"edit": edit, "after": told(draft)})
            except (Refused, ValueError):
                steps.append({"edit": edit, "after": None})
        runs.append(steps)
    assert sum(one["after"] is None for steps in runs for one in steps) > 40
    page = browser.new_page()
    programs = (PARTS / "edits.js").read_text("utf-8")
    wrong = page.evaluate(
        f"""([content, runs, byHand]) => {{
          const isFound = (place) => place !== null && place.time !== null;
          {programs}
          const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);
          const told = ({{ steps, videos }}) => ({{
            labels: steps.map((step) => capital(step.label)),
            optional: steps.map((step) => step.optional),
            said: steps.map((step) => step.said),
            owners: videos.map(({{ mentions }}) =>
              mentions.toSorted((a, b) => a.id - b.id).map((mention) => mention.step)),
            hand: videos.flatMap(({{ id, places }}) => places.flatMap((place, k) =>
              place?.evidence === byHand ? [JSON.stringify([id, k, place.time])] : [])).sort(),
          }});
          const wrong = [];
          for (const run of runs) {{
            let shown = content;
            for (const {{ edit, after }} of run) {{
              const reason = refusal(shown, edit);
              if (Boolean(reason) !== (after === null)) {{
                wrong.push([edit, reason, after]);
                break;
              }}
              if (reason) continue;
              shown = afterEdit(shown, edit);
              const now = told(shown);
              after.hand = after.hand.map((one) => JSON.stringify(one)).sort();
              if (JSON.stringify(now) !== JSON.stringify(after)) {{
                wrong.push([edit, now, after]);
                break;
              }}
            }}
          }}
          return wrong.slice(0, 3);
        }}""",
        [content(result, Path("out"), {}), runs, BY_HAND],
    )
    page.close()
    assert wrong == []
