from dataclasses import replace

import numpy as np
import pytest

from howsteps.errors import HowstepsError
from howsteps.localise import Model, localise
from howsteps.localise.certainty import CUES, certainty_models
from howsteps.task import (
    BETWEEN,
    LIKE_SAID,
    READ,
    SAID,
    Mention,
    Reading,
    Script,
    Sentence,
    Step,
    Task,
    Video,
    Word,
)

LABELS = ("fill tub", "catch cat", "dry cat")
SECONDS = 1.0
LENGTH = 60


def narrated_task():
    """A task, its script, features, and the true place of each step.

    Eight videos of sixty seconds; each step is named, two seconds early, in two videos of three,
    and visible in the features for five seconds.
    """
    rng = np.random.default_rng(3)
    videos, features, truth = [], {}, {}
    mentions = [[], [], []]
    for n in range(8):
        name = f"v{n}"
        places = np.array([12, 30, 48]) + rng.integers(-6, 7, 3)
        x = 0.2 * rng.random((LENGTH, 6)).astype(np.float32)
        words = []
        for k, t in enumerate(places):
            x[t - 2 : t + 3, k] += 1.0
            if (n + k) % 3:
                mentions[k].append(Mention(name, *LABELS[k].split(), LABELS[k], t - 2.0, t - 1.0))
                words += [Word(w, t - 2.0, t - 1.0) for w in LABELS[k].split()]
        videos.append(Video(name, duration=float(LENGTH), sentences=(Sentence(tuple(words)),)))
        features[name] = x
        truth[name] = places
    steps = tuple(Step(label, tuple(rows)) for label, rows in zip(LABELS, mentions, strict=True))
    return Task("wash a cat", tuple(videos)), Script(steps), features, truth


@pytest.fixture
def narrated():
    return narrated_task()


def share_found(placement, truth):
    return np.mean(
        [
            abs(at.time - 0.5 - truth[at.video][at.step]) <= 2
            for at in placement.localisations
            if at.time is not None
        ]
    )


def test_the_narration_alone_is_enough(narrated):
    task, script, _, truth = narrated
    placement = localise(task, script, seconds=SECONDS)
    assert len(placement.localisations) == 24
    named = [at for at in placement.localisations if at.evidence == SAID]
    assert np.mean([abs(at.time - truth[at.video][at.step]) <= 6 for at in named]) > 0.9


def test_the_evidence_of_a_near_mention_is_like_what_others_say(narrated):
    task, script, _, _ = narrated
    mentions_by_video = {
        video.id: tuple(m for step in script.steps for m in step.mentions if m.video == video.id)
        for video in task.videos
    }
    task = replace(
        task,
        videos=tuple(replace(video, mentions=mentions_by_video[video.id]) for video in task.videos),
    )
    first = script.steps[0]
    shortened = replace(first, mentions=tuple(m for m in first.mentions if m.video != "v1"))
    complete, without = (
        localise(task, replace(script, steps=(step, *script.steps[1:])), seconds=SECONDS)
        for step in (first, shortened)
    )
    evidence = [
        next(at.evidence for at in result.localisations if (at.video, at.step) == ("v1", 0))
        for result in (complete, without)
    ]
    assert evidence == [SAID, LIKE_SAID]
    named = {(m.video, k) for k, step in enumerate(script.steps) for m in step.mentions}
    said = {(at.video, at.step) for at in without.localisations if at.evidence == SAID}
    assert said <= named - {("v1", 0)}


def test_a_learnt_model_finds_the_steps_in_a_new_video(narrated, tmp_path):
    task, script, features, truth = narrated
    train_features = {name: x for name, x in features.items() if name != "v0"}
    train_task = Task(task.name, task.videos[1:])
    placement = localise(train_task, script, train_features, seconds=SECONDS)
    placement.model.save(tmp_path)
    model = Model.load(tmp_path)
    assert (np.abs(model.localise([features["v0"]]).intervals[0] - truth["v0"]) <= 2).all()


def test_a_mention_at_the_wrong_time_is_overruled(narrated):
    task, script, features, truth = narrated
    [fill, *others] = script.steps
    wrong = Mention("v0", "fill", "tub", "fill tub", 55.0, 56.0)
    misled = Script((Step(fill.label, (wrong, *fill.mentions)), *others))
    placement = localise(task, misled, features, seconds=SECONDS)
    assert abs(placement.localisations[0].time - 0.5 - truth["v0"][0]) <= 2


def test_a_model_of_video_goes_by_the_narration_of_a_new_video_too(narrated):
    task, script, features, _ = narrated
    model = localise(task, script, features, seconds=SECONDS).model
    flat = np.full((LENGTH, 6), 0.1, np.float32)  # nothing to see
    said = np.array([[10.0, 11.0, 0, 1.0], [25.0, 26.0, 1, 1.0], [45.0, 46.0, 2, 1.0]])
    named = model.localise([flat], mentions=[said])
    assert (named.evidence == SAID).all()
    assert np.abs(named.intervals - [12, 27, 47]).max() <= 2
    unnamed = model.localise([flat], mentions=[np.empty((0, 4))], absent=True)
    assert (unnamed.presence < named.presence).all()
    least = certainty_models()["video"].threshold  # nothing is named
    assert ((unnamed.intervals == -1) == (unnamed.presence < least)).all()


def test_steps_are_found_where_they_are_done(narrated):
    task, script, features, truth = narrated
    placement = localise(task, script, features, seconds=SECONDS)
    assert [(at.video, at.step) for at in placement.localisations] == [
        (video.id, k) for video in task.videos for k in range(3)
    ]
    assert share_found(placement, truth) > 0.9


def test_a_task_that_cannot_be_localised_is_refused(narrated):
    task, script, features, _ = narrated
    with pytest.raises(HowstepsError, match="no step"):
        localise(task, Script(()), features)
    with pytest.raises(HowstepsError, match="long enough"):
        localise(task, script, {name: x[:2] for name, x in features.items()})
    silent = replace(task, videos=tuple(replace(video, sentences=()) for video in task.videos))
    with pytest.raises(HowstepsError, match="neither features nor captions"):
        localise(silent, script)


def readings_of(truth, videos):
    """Four seconds around each true place."""
    return [
        Reading(video, k, float(t) - 2.0, float(t) + 2.0, k + 1, k + 1)
        for video in videos
        for k, t in enumerate(truth[video])
    ]


def test_a_step_is_placed_where_it_was_read_and_absent_where_it_was_not(narrated):
    task, script, _, truth = narrated
    unread, *readings = readings_of(truth, truth)
    found = localise(task, script, seconds=SECONDS, readings=readings, read_videos=set(truth))
    absent, *placed = found.localisations
    assert (absent.video, absent.step, absent.time) == (unread.video, unread.step, None)
    assert {at.evidence for at in placed} == {READ}
    for at, reading in zip(placed, readings, strict=True):
        assert abs(at.time - reading.start - 2.0) <= 1.0
        assert (at.start, at.end) == pytest.approx((reading.start, reading.end), abs=1.0)


def test_what_was_read_overrules_mentions_and_the_order(narrated):
    task, script, _, truth = narrated
    swapped = [Reading("v0", 0, 50.0, 56.0, 9, 9), Reading("v0", 2, 5.0, 11.0, 2, 2)]
    readings = [*swapped, *readings_of(truth, set(truth) - {"v0"})]
    found = localise(task, script, seconds=SECONDS, readings=readings, read_videos=set(truth))
    first, _, last = found.localisations[:3]
    assert first.time == pytest.approx(53.0, abs=1.0)
    assert last.time == pytest.approx(8.0, abs=1.0)


def test_the_exact_place_of_a_reading_is_moved_by_the_frames(narrated):
    task, script, features, truth = narrated
    late = [replace(r, start=r.start - 5.0, end=r.end - 5.0) for r in readings_of(truth, truth)]
    found = localise(task, script, features, seconds=SECONDS, readings=late, read_videos=truth)
    assert share_found(found, truth) > 0.9


def test_a_video_that_was_not_read_learns_from_those_that_were(narrated):
    task, script, features, truth = narrated
    silent = Script(tuple(replace(step, mentions=()) for step in script.steps))
    others = set(truth) - {"v0"}
    readings = readings_of(truth, others)
    found = localise(task, silent, features, seconds=SECONDS, readings=readings, read_videos=others)
    times = [at.time - 0.5 for at in found.localisations[:3]]
    assert times == pytest.approx(truth["v0"], abs=2)


def test_what_was_read_is_supported_by_what_was_read_elsewhere(narrated):
    """Mentions miss what reading finds, so unread videos say nothing against it."""
    task, script, features, truth = narrated
    readings = readings_of(truth, ["v0", "v1", "v2"])[1:]
    found = localise(
        task, script, features, seconds=SECONDS, readings=readings, read_videos=["v0", "v1", "v2"]
    )
    support = found.cues[:, :, CUES.index("support")]
    assert support[:3] == pytest.approx(np.tile([2 / 3, 1, 1], (3, 1)))
    assert (support[3:] < 1).all()


def test_a_video_without_features_is_placed_by_its_words(narrated):
    task, script, features, _ = narrated
    by_words = localise(task, script, seconds=SECONDS).localisations
    found = localise(
        task, script, {v: x for v, x in features.items() if v != "v1"}, seconds=SECONDS
    ).localisations
    for at, words in zip(found, by_words, strict=True):
        assert (at == words) == (at.video == "v1")
    task = replace(task, videos=tuple(replace(v, sentences=()) for v in task.videos))
    found = localise(
        task, script, {v: x for v, x in features.items() if v != "v1"}, seconds=SECONDS
    ).localisations
    assert [at.video for at in found if at.time is None] == ["v1"] * 3


def test_a_video_without_features_is_placed_by_what_was_read(narrated):
    task, script, features, _ = narrated
    del features["v0"]
    swapped = [Reading("v0", 0, 50.0, 58.0, 9, 9), Reading("v0", 2, 4.0, 12.0, 2, 2)]
    found = localise(task, script, features, seconds=SECONDS, readings=swapped, read_videos=["v0"])
    first, middle, last = found.localisations[:3]
    assert (first.time, middle.time, last.time) == (54.5, None, 8.5)
    assert first.evidence == last.evidence == READ


@pytest.mark.parametrize("by_sight", [False, True])
def test_a_step_that_nobody_names_is_a_guess(narrated, by_sight):
    task, script, features, _ = narrated
    unsaid = replace(script.steps[1], mentions=())
    steps = (script.steps[0], unsaid, script.steps[2])
    found = localise(
        task, Script(steps), features if by_sight else None, seconds=SECONDS, absent=False
    )
    middle = [at for at in found.localisations if at.step == 1]
    assert {(at.level, at.evidence) for at in middle} == {("guess", BETWEEN)}
    assert {at.level for at in found.localisations if at.step == 0} - {"guess"}
