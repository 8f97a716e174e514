"""English paragraphs are distinguished from other languages; a few words always pass."""

import pytest

from howsteps.captions.reading import looks_english
from howsteps.task import Word

ENGLISH = [
    "first you want to loosen the nuts just a little before you jack the car up and then you can "
    "take them all the way off with your hand and put them somewhere safe",
    "Preheat oven 350 degrees. Mix flour, sugar, salt and baking powder. Add eggs, milk, melted "
    "butter. Stir until smooth. Pour into pan. Bake thirty minutes. Let it cool before serving.",
]
OTHERS = {
    "German": "zuerst lösen wir die Muttern ein wenig und dann heben wir das Auto mit dem Heber "
    "an so dass man das Rad ganz leicht abnehmen kann und in den Kofferraum legt",
    "Dutch": "eerst draaien we de bouten een beetje los en dan krikken we de auto op zodat je het "
    "wiel er makkelijk af kan halen en het in de kofferbak legt of over de grond rolt",
    "French": "d'abord on va desserrer les écrous un petit peu avant de lever la voiture avec le "
    "cric et ensuite on peut enlever la roue et la mettre dans le coffre",
    "Spanish": "primero vamos a aflojar las tuercas un poco antes de levantar el coche con el gato "
    "y luego ya podemos quitar la rueda y ponerla en el maletero sin más",
    "Italian": "prima di tutto allentiamo un po' i dadi e poi alziamo la macchina con il cric così "
    "si può togliere la ruota e metterla nel bagagliaio insieme agli attrezzi",
    "Indonesian": "pertama kita longgarkan dulu mur rodanya sedikit lalu kita angkat mobilnya "
    "dengan dongkrak supaya bannya bisa dilepas dan disimpan di bagasi belakang mobil itu",
    "Russian": "сначала немного ослабим гайки а потом поднимем машину домкратом чтобы можно было "
    "снять колесо и положить его в багажник вместе с инструментами которые нам больше не нужны",
}


def words(text: str) -> list[Word]:
    return [Word(word, 0.0, 0.0) for word in text.split()]


@pytest.mark.parametrize("text", ENGLISH)
def test_english(text: str) -> None:
    assert looks_english(words(text))


@pytest.mark.parametrize("name", OTHERS)
def test_other_languages(name: str) -> None:
    assert not looks_english(words(OTHERS[name]))


@pytest.mark.parametrize("text", ["", "lug nuts", "whisk two eggs, sugar, milk; bake 40 minutes"])
def test_a_few_words_pass(text: str) -> None:
    assert looks_english(words(text))
