from itertools import islice
from random import Random

import spacy

from tests.training.trees import DO_NOT, LOWER_IT
from training.train import INSTRUCTIONS, batches, training_draw
from training.treebanks import GENERATED, SILVER, Document

GOLD = [Document("a", "answers", (LOWER_IT,)), Document("GUM_vlog_b", "vlog", (DO_NOT,))]
CAPTIONS = [Document(f"silver/{i}", SILVER, (LOWER_IT,)) for i in range(10)]


def test_a_pass_draws_gold_vlogs_twice_some_silver_and_instructions():
    draw = training_draw(GOLD, CAPTIONS, 0.3, Random(0))
    genres = [document.genre for document in draw]
    assert [genres.count(g) for g in ("answers", "vlog", SILVER, GENERATED)] == [1, 2, 3, 1]
    assert len(draw[-1].trees) == INSTRUCTIONS


def test_silver_is_drawn_anew_for_every_pass():
    random = Random(0)
    assert training_draw(GOLD, CAPTIONS, 0.3, random) != training_draw(GOLD, CAPTIONS, 0.3, random)


def test_batches_have_about_the_words_asked_for_and_never_end():
    document = Document("a", "answers", (LOWER_IT, DO_NOT) * 50)
    stream = batches(spacy.blank("en"), lambda: [document], 60, Random(0))
    sizes = [sum(len(example.reference) for example in batch) for batch in islice(stream, 40)]
    assert all(60 <= size < 60 + 12 * len(DO_NOT) for size in sizes)
