"""Features of narrations, and the embeddings behind them."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from howsteps.narration import mentions
from howsteps.narration.features import (
    Vocabulary,
    narration_features,
    video_interval_count,
)
from howsteps.report.content import video_length
from howsteps.store import without_captions
from howsteps.task import Caption, Mention, Sentence, Video, Word


def video(identity, text, step=2.0, duration=None):
    """One word every two seconds."""
    words = tuple(Word(w, step * n, step * n + 1) for n, w in enumerate(text.split()))
    sentences = (Sentence(words),) if words else ()
    captions = (Caption(0, words[-1].end, text),) if words else ()
    return Video(identity, captions, duration=duration, sentences=sentences)


VIDEOS = [
    video("a", "now loosen the nuts now remove the wheel"),
    video("b", "now fill the tub now loosen the nut"),
    video("c", "now remove a wheel now dry the cat"),
]


def test_the_vocabulary_has_words_of_several_but_not_all_videos():
    assert Vocabulary.of(VIDEOS).words == ("loosen", "nut", "remove", "wheel")


def test_rare_words_have_more_weight():
    videos = [video(str(n), "pump" + " fill" * (n < 2) + " dry" * (n < 3)) for n in range(4)]
    vocabulary = Vocabulary.of(videos)
    weights = dict(zip(vocabulary.words, vocabulary.weights, strict=True))
    assert weights["fill"] > weights["dry"]
    assert "pump" not in weights


def test_a_word_counts_for_the_intervals_around_it():
    vocabulary = Vocabulary.of(VIDEOS)
    x = vocabulary.features(VIDEOS[0], 16, seconds=1.0)
    loosen = vocabulary.words.index("loosen")
    # Spoken from 2 to 3 s: intervals whose middle is less than 5 s from 2.5 s.
    np.testing.assert_array_equal(np.flatnonzero(x[:, loosen]), [*range(7)])


@given(st.floats(0.1, 3.0))
def test_rows_have_length_one_or_zero(seconds):
    for x in narration_features(VIDEOS, seconds=seconds):
        length = np.linalg.norm(x, axis=1)
        assert ((np.abs(length - 1) < 1e-5) | (length == 0)).all()
        assert x.dtype == np.float32


def test_the_grid_ends_with_the_video_or_with_its_captions():
    assert video_interval_count(video("a", "one two", duration=10.0), 1 / 3) == 30
    assert video_interval_count(video("a", "one two"), 1 / 3) == 9
    assert video_interval_count(video("a", ""), 1 / 3) == 1


def test_the_length_is_the_same_for_every_stage_and_after_reading(monkeypatch):
    """The duration is unknown, and captions follow the last word."""
    said = video("a", "one two")
    whole = replace(said, captions=(*said.captions, Caption(3, 90.0, "[Music]")))
    read = without_captions(whole)  # as from result.json
    monkeypatch.setattr(mentions, "act_features", lambda *_, **__: set())
    loosen = Mention("a", "loosen", "nut", "loosen the nut", start=44, end=46)
    for form in (whole, read):
        assert form.length == video_length(form, []) == 90.0
        assert video_interval_count(form, 1 / 3) == 270
        found = mentions.ActMentions([*form.sentences], [loosen], [None])
        assert mentions.mention_features(form, found) == [{"at=4"}]


def test_without_shared_words_all_have_the_same_weight():
    vocabulary = Vocabulary.of([video("alone", "loosen the nut")])
    assert vocabulary.words == ("loosen", "nut", "the")
    assert vocabulary.weights.tolist() == [1, 1, 1]
    assert narration_features([]) == []


def test_silence_has_a_row_of_zeros():
    [_, silent] = narration_features([VIDEOS[0], video("s", "", duration=4.0)], seconds=1.0)
    assert len(silent) == 4
    assert not silent.any()
