"""Tools and warnings that narrators agree on, and nothing that nobody says."""

from dataclasses import replace
from pathlib import Path

import pytest

from howsteps.io.files import Folder
from howsteps.report.agreed import Narrations, Told, verbatim
from howsteps.report.exports import export
from howsteps.report.exports.documents import howto
from howsteps.report.page import render_howto, rendered
from howsteps.task import Mention, Place, Result, Script, Sentence, Step, Task, Video, Word
from tests.report.how_to import check_how_to


def act(verb: str, noun: str, said: str, text: str, **more: object) -> Mention:
    """An act that is said with the words ``said`` of a text, which has a word every 0.4 s."""
    first = text.split().index(said.split(maxsplit=1)[0])
    last = first + len(said.split()) - 1
    times = (0.4 * first, 0.4 * last + 0.3)
    return Mention("", verb, noun, said, *times, **more)  # type: ignore[arg-type]


def video(name: str, text: str, *mentions: Mention) -> Video:
    words = tuple(Word(word, 0.4 * n, 0.4 * n + 0.3) for n, word in enumerate(text.split()))
    own = tuple(replace(mention, video=name) for mention in mentions)
    return Video(name, sentences=(Sentence(words),), mentions=own)


def result(*videos: Video, verb: str = "", name: str = "job") -> Result:
    mentions = tuple(m for v in videos for m in v.mentions if m.verb == verb)
    return Result(Task(name, videos), Script((Step("cook the egg", mentions),)), ())


def listed(*videos: Video, name: str = "job") -> list[tuple[str, int]]:
    return [(x.text, x.videos) for x in Narrations(result(*videos, name=name)).things_used()]


def needing(noun: str, count: int = 2) -> list[Video]:
    text = f"you need a {noun} for this"
    return [video(f"v{n}", text, act("need", noun, f"need a {noun}", text)) for n in range(count)]


def test_things_are_counted_and_named_as_narrators_do() -> None:
    text = "pry it off with the levers"
    pry = act("pry", "it", "pry it off", text, tools=("lever",))
    soda = "then use some baking soda"
    use = act("use", "soda", "use some baking soda", soda)
    videos = [video("a", text, pry), video("b", text, pry), video("c", text, pry)]
    videos += [video("d", soda, use), video("e", soda, use)]
    assert listed(*videos) == [("levers", 3), ("baking soda", 2)]


def test_a_thing_is_named_as_those_who_use_it_do() -> None:
    text, other = "pry it off with the levers", "open the lever"
    pry = act("pry", "it", "pry it off", text, tools=("lever",))
    opened = act("open", "lever", other, other)
    videos = [video(name, text, pry) for name in "ab"]
    assert listed(*videos, *(video(name, other, opened) for name in "cde")) == [("levers", 5)]


def test_a_thing_is_counted_wherever_it_is_worked_with() -> None:
    text = "then fold the paper in half"
    fold = act("fold", "paper", "fold the paper", text)
    assert listed(*needing("paper"), video("x", text, fold)) == [("paper", 3)]
    assert listed(video("x", text, fold), video("y", text, fold)) == []


def test_a_kind_with_a_name_of_its_own_is_another_thing() -> None:
    text = "then add some green pepper"
    add = act("add", "pepper", "add some green pepper", text)
    videos = [video(name, text, add) for name in "xy"]
    assert listed(*needing("pepper", 3), *videos) == [("pepper", 3), ("green pepper", 2)]


@pytest.mark.parametrize(
    "text",
    [
        "add it skipping the soap",
        "don't try to use the soap",
    ],
)
def test_what_is_skipped_is_not_used(text: str) -> None:
    verb = "use" if " use " in text else text.partition(" ")[0]
    wipe = act(verb, "soap", verb, text)
    assert listed(*needing("soap"), video("x", text, wipe)) == [("soap", 2)]


def test_what_the_job_is_done_without_is_not_listed() -> None:
    name = "make a milkshake without ice cream"
    assert listed(*needing("butter"), name=name) == [("butter", 2)]
    assert listed(*needing("cream"), name=name) == []


def test_the_clearest_quote_comes_first() -> None:
    texts = ("we needed a fork for all of this", "after you need a fork you know", "need a fork")
    said = (act("need", "fork", text.split()[1], text) for text in texts[:2])
    need = act("need", "fork", "need a fork", texts[2])
    videos = [
        video(f"v{n}", text, each)
        for n, (text, each) in enumerate(zip(texts, (*said, need), strict=True))
    ]
    [fork] = Narrations(result(*videos)).things_used()
    assert fork.quotes[0].text == "need a fork"
    said = zip(texts, (each.mentions[0] for each in videos), strict=True)
    assert told("need a fork", *said).quotes[0].text == "need a fork"


def test_a_step_is_said_by_those_who_use_the_words_of_its_label() -> None:
    texts = ("cook the egg", "take the egg and cook it", "cook the onion now", "fry the egg now")
    mentions = [
        act("cook", "egg", "cook the egg", texts[0]),
        act("cook", "egg", "cook it", texts[1], resolved=True),
        act("cook", "onion", "cook", texts[2]),
        act("fry", "egg", "fry", texts[3]),
    ]
    found = told("cook the egg", *zip(texts, mentions, strict=True))
    assert [quote.text for quote in found.quotes] == list(texts[:2])
    assert not told("detach the egg", *zip(texts, mentions, strict=True)).quotes


IT = {"resolved": True}


@pytest.mark.parametrize(
    ("label", "noun", "said", "text", "more", "number"),
    [
        ("flip the egg", "egg", "flip the egg over", "flip the egg over", {"particle": "over"}, 1),
        ("glue the tabs", "glue", "glue it", "take glue and glue it", IT, 0),
        ("put the hat", "hat", "put on", "the ears that I put on my hat", IT, 0),
        ("put the hat", "hat", "put it", "now put it down and the hat is done", IT, 0),
        ("put the hat", "hat", "put it", "the hat is done so put it down", IT, 1),
        ("let the hat rest", "hat", "let it rest", "the hat is done so let it rest", IT, 1),
    ],
)
def test_the_words_are_those_of_the_label_and_a_pronoun_stands_for_its_object(
    label: str, noun: str, said: str, text: str, more: dict[str, object], number: int
) -> None:
    verb = said.split()[said.startswith("let ") and 2]
    one = act(verb, noun, said, text, **more)
    named = act(verb, label.split()[2], label, label)
    assert told(label, (text, one), (label, named)).videos == 1 + number


def test_an_object_after_a_preposition_is_named() -> None:
    text = "come back over the knuckles"
    come = act("come", "", "come back", text, particle="back", places=(Place("over", "knuckle"),))
    assert told(text, (text, come)).videos == 1


def told(label: str, *said: tuple[str, Mention]) -> Told:
    videos = [video(f"v{n}", text, mention) for n, (text, mention) in enumerate(said)]
    own = tuple(mention for each in videos for mention in each.mentions)
    return Narrations(replace(result(*videos), script=Script((Step(label, own),)))).told(0)


def put(
    noun: str, text: str, *place: str, said: str = "put", **more: object
) -> tuple[str, Mention]:
    return text, act("put", noun, said, text, places=(Place(*place),) if place else (), **more)


@pytest.mark.parametrize(
    ("label", "noun", "text", "more", "number"),
    [
        ("wash the right wrist", "wrist", "wash the left wrist", {}, 0),
        ("wash the right wrist", "wrist", "wash the right wrist", {}, 1),
        ("come up over the wrist", "", "come up under the wrist", {"particle": "up"}, 0),
        ("come up over the wrist", "", "come up over the wrist", {"particle": "up"}, 1),
        ("put the egg in the pan", "egg", "put the egg on the plate", {}, 0),
        ("put the egg in the pan", "egg", "put the egg into the pan", {}, 1),
        ("take the egg out of the pan", "egg", "take the egg from the pan", {}, 1),
    ],
)
def test_a_quote_says_no_other_side_place_or_preposition(
    label: str, noun: str, text: str, more: dict[str, object], number: int
) -> None:
    *_, preposition, _, last = text.split()
    places = (Place(preposition, last),) if preposition != "wash" else ()
    mention = act(text.split(maxsplit=1)[0], noun, text, text, places=places, **more)
    found = told(label, (text, mention))
    assert (found.narrators, len(found.quotes)) == (1, number)


@pytest.mark.parametrize(
    ("label", "text", "said", "more"),
    [
        ("turn the heat to medium", "turn down my heat", "turn down my heat", {"particle": "down"}),
        ("sprinkle the seeds", "sprinkle with some seeds", "sprinkle", {"tools": ("seed",)}),
        ("add the wrap", "put plastic wrap on top", "put plastic wrap", {}),
    ],
)
def test_the_words_of_a_step_may_be_said_in_any_order(
    label: str, text: str, said: str, more: dict[str, object]
) -> None:
    noun = "" if "tools" in more else said.rsplit(maxsplit=1)[-1]
    mention = act(said.split(maxsplit=1)[0], noun, said, text, **more)
    other = act("wait", "", "wait", "wait")
    assert told(label, (text, mention)).narrators == 1
    videos = [video("a", text, mention), video("b", "wait", other)]
    steps = (Step(label, videos[1].mentions),)
    assert Narrations(replace(result(*videos), script=Script(steps))).told(0).narrators == 1


IN_PAN = put("egg", "put the egg in the pan", "in", "pan")
INTO_PAN = put("egg", "put the egg into the pan", "into", "pan")
IT_IN_PAN = put(
    "egg", "take the egg and put it in the pan", "in", "pan", said="put it", resolved=True
)
ON_PLATE = put("egg", "put the egg on the plate", "on", "plate")


@pytest.mark.parametrize(
    ("said", "number", "unsaid"),
    [
        ([IN_PAN] * 2, 2, ()),
        ([IN_PAN, INTO_PAN], 2, ()),
        ([IN_PAN, IT_IN_PAN], 2, ()),
        ([IT_IN_PAN] * 3, 3, ()),
        ([IN_PAN], 1, ()),
        # Somewhere else.
        ([IN_PAN, ON_PLATE, ON_PLATE], 3, ("pan",)),
        ([ON_PLATE] * 2, 2, ("pan",)),
    ],
)
def test_two_narrators_must_name_the_place_of_a_step(
    said: list[tuple[str, Mention]], number: int, unsaid: tuple[str, ...]
) -> None:
    found = told("put the egg in the pan", *said)
    assert (found.text, found.narrators) == ("put the egg in the pan", number)
    assert found.unsaid == unsaid
    assert not any("plate" in quote.text for quote in found.quotes)


def test_who_says_it_does_not_name_the_thing() -> None:
    text, named = "fill it in with soil", "fill the tree in with soil"
    fill = act("fill", "tree", "fill it", text, resolved=True)
    assert not told("fill the tree", *[(text, fill)] * 3).quotes
    # A pronoun may stand for something else.
    far = "set the pot into the tree over there and now go on and fill it"
    fills = act("fill", "tree", "fill it", far, resolved=True)
    assert told("fill the tree", *[(far, fills)] * 2).unsaid == ("tree",)
    assert told("fill the tree", (text, fill), (named, replace(fill, resolved=False))).videos == 1


@pytest.mark.parametrize(
    ("label", "said", "mark"),
    [
        ("put the egg in the pan", [IN_PAN, INTO_PAN], ""),
        ("put the egg in the pan", [IN_PAN], "(one narrator says it like this)"),
        ("put the egg in the pan", [ON_PLATE] * 2, "(no two narrators say “pan” there)"),
        ("fry the egg", [IN_PAN] * 2, "(nobody says it like this)"),
    ],
)
def test_the_how_to_has_the_name_of_the_step_and_marks_what_is_not_said(
    label: str, said: list[tuple[str, Mention]], mark: str
) -> None:
    videos = [video(f"v{n}", text, mention) for n, (text, mention) in enumerate(said)]
    steps = (Step(label, tuple(m for each in videos for m in each.mentions)),)
    shown = howto(replace(result(*videos), script=Script(steps)), Path(), lambda _: None)
    [step] = shown["steps"]
    assert step["said"] == steps[0].support  # the figure of the page and the table
    assert (step["sentence"].lower(), step["mark"]) == (f"{label}.", mark)
    assert f"1. **{step['sentence']}**{mark and f' {mark}'}\n" in rendered("howto.md", shown=shown)
    assert mark in render_howto(shown).decode()


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        (
            "so after you cleaned up the dishes and wiping down the stove we are going to go on",
            "… and wiping down the stove we are going to go on",
        ),
        (
            "wiping down the stove with some warm water and a lot of soap because it is dirty",
            "wiping down the stove with some warm water and a lot of soap …",
        ),
        (
            "wiping down the stove is what I like to do on a day of the week",
            "wiping down the stove …",
        ),
    ],
)
def test_a_long_quote_begins_and_ends_with_a_clause(text: str, quote: str) -> None:
    wipe = act("wipe", "stove", "wiping down the stove", text, particle="down")
    assert told("wipe down the stove", (text, wipe)).quotes[0].text == quote


def test_the_quote_of_a_thing_has_the_thing() -> None:
    text = "you see this small bamboo mat here that I have got for you to use with " * 2
    use = act("use", "mat", "use with", text)
    found = Narrations(result(video("a", text, use), video("b", text, use)))
    assert all(
        "bamboo mat" in quote.text for thing in found.things_used() for quote in thing.quotes
    )


def test_the_quote_of_a_step_has_its_place() -> None:
    text = "then put the egg with all of the butter in the pan and go on with the rest of it"
    said = [put("egg", text, "in", "pan")] * 2
    assert all(" pan" in quote.text for quote in told("put the egg in the pan", *said).quotes)


def test_a_thing_of_one_narrator_is_not_listed() -> None:
    assert listed(*needing("whisk", 1)) == []


@pytest.mark.parametrize(
    ("text", "said", "verb"),
    [
        ("you have grease on it", "have grease", "have"),
        ("you want the grease off", "want the grease", "want"),
        ("get the grease off there", "get the grease", "get"),
        ("use soap if you use grease", "use grease", "use"),
    ],
)
def test_what_is_named_but_not_used_is_not_listed(text: str, said: str, verb: str) -> None:
    videos = [video(name, text, act(verb, "grease", said, text)) for name in "ab"]
    assert listed(*videos) == []


@pytest.mark.parametrize("change", [{"negated": True}, {"work": 0.2}])
def test_denials_and_talk_do_not_count(change: dict[str, float]) -> None:
    videos = needing("whisk")
    changed = [replace(v, mentions=(replace(v.mentions[0], **change),)) for v in videos]  # type: ignore[arg-type]
    assert listed(*changed) == []


@pytest.mark.parametrize(
    ("nouns", "is_listed"),
    [
        ("jack wrench towel bowl scissors glue microwave", True),
        ("salt water soil butter onion vinegar fertilizer cloth", True),
        ("air room sun time way effort fun flavor heat question corner", False),
        ("finger thumb knuckle friend car breakfast video", False),
        ("tool thing stuff product ingredient material", False),
        ("flibbertigadget", False),
    ],
)
def test_only_tools_and_materials_are_listed(nouns: str, is_listed: bool) -> None:
    for noun in nouns.split():
        assert listed(*needing(noun)) == [(noun, 2)] * is_listed


def test_the_object_of_the_job_is_listed_where_it_is_an_ingredient() -> None:
    assert listed(*needing("tire"), name="how to change a tire") == []
    assert listed(*needing("egg"), name="how to scramble eggs") == [("egg", 2)]


@pytest.mark.parametrize(
    ("verb", "noun", "place", "things"),
    [
        ("whisk", "egg", "bowl", ["bowl", "egg"]),
        ("serve", "egg", "room", []),
        ("push", "stick", "floor", ["stick"]),
        ("scrub", "grout", "corner", []),
        ("pour", "milk", "batter", ["milk"]),
    ],
)
def test_ingredients_and_tools_are_used_whatever_is_done_with_them(
    verb: str, noun: str, place: str, things: list[str]
) -> None:
    text = f"now {verb} the {noun} in the {place}"
    mention = act(verb, noun, f"{verb} the {noun}", text, places=(Place("in", place),))
    videos = [video(name, text, mention) for name in "ab"]
    assert listed(*videos, name="how to scramble eggs") == [(thing, 2) for thing in things]


@pytest.mark.parametrize(
    ("text", "is_warning"),
    [
        ("and don't pinch the tube", True),
        ("never pinch the tube", True),
        ("make sure you don't pinch the tube", True),
        ("you don't want to pinch the tube", True),
        ("be careful not to pinch the tube", True),
        ("I don't pinch the tube", False),
        ("you don't have to pinch the tube", False),
        ("if you don't pinch the tube", False),
    ],
)
def test_warnings_are_what_two_narrators_forbid(text: str, is_warning: bool) -> None:
    pinch = act("pinch", "tube", "pinch the tube", text, negated=True)
    one, two = video("a", text, pinch), video("b", text, pinch)
    assert Narrations(result(one)).warnings() == []
    found = Narrations(result(one, two)).warnings()
    assert [quote.text for warning in found for quote in warning.quotes] == [text] * 2 * is_warning


def test_a_short_warning_goes_on_in_the_next_sentence() -> None:
    text, then = "don't pinch the tube", "until it is full of air and the tire is back on"
    pinch = act("pinch", "tube", "pinch the tube", text, negated=True)
    videos = [video(name, text, pinch) for name in "ab"]
    more = Sentence(tuple(Word(word, 9.0, 9.1) for word in then.split()))
    longer = [replace(v, sentences=(*v.sentences, more)) for v in videos]
    [warning] = Narrations(result(*longer)).warnings()
    assert {quote.text for quote in warning.quotes} == {f"{text} until it is full of air and …"}


def test_every_figure_of_the_how_to_is_in_the_captions(tmp_path: Path) -> None:
    texts = (
        "now cook the egg for about two minutes with a fork",
        "take the egg and cook it for ten minutes with a fork and never stop",
        "then cook the egg for five to six minutes and that is all there is to say of it at length",
        "cook the egg until it is done",
    )
    cook = {True: "cook it", False: "cook the egg"}
    videos = [
        video(f"v{n}", text, act("cook", "egg", cook[it], text, tools=("fork",), resolved=it))
        for n, text in enumerate(texts)
        for it in ["cook it" in text]
    ]
    [page, _], _ = export(result(*videos, verb="cook"), Folder(tmp_path), ["howto"])
    text = page.read_text("utf-8")
    assert "* fork (2 of 4 videos)" in text
    assert "Said in 4 of 4 videos" in text
    said = [(f"v{n}", text) for n, text in enumerate(texts)]
    check_how_to(text, said)
    made_up = (
        ("fork (2", "fork (3"),
        ("4 of 4", "5 of 4"),
        ("</details>", "It takes 8 minutes."),
    )
    for figure, untrue in made_up:
        with pytest.raises(AssertionError):
            check_how_to(text.replace(figure, untrue), said)


@pytest.mark.parametrize(
    ("text", "said", "phrase", "quote"),
    [
        ("now pump it up", "pump it up", "pump up the tire", "pump it up"),
        (
            "push the tire back on the rim.",
            "push the tire back",
            "push back the tire on the rim",
            "push the tire back on the rim",
        ),
        ("pump the tire then the pump", "pump the tire", "pump the tire", "pump the tire"),
    ],
)
def test_a_quote_is_what_was_said(text: str, said: str, phrase: str, quote: str) -> None:
    mention = replace(act("pump", "tire", said, text), phrase=phrase)
    spoken = video("v", text, mention)
    assert verbatim(mention, spoken.sentences) == quote
    assert verbatim(replace(mention, sentence=1), spoken.sentences) == ""
