"""Loops are compiled wherever they run, also where nothing can be kept."""

from howsteps.compiled import compiled


def total(numbers):
    result = 0.0
    for number in numbers:
        result += number
    return result


def test_without_a_place_for_machine_code_it_is_made_each_time(monkeypatch):
    monkeypatch.setattr("numba.core.caching.FunctionCache._impl_class._locator_classes", [])
    assert compiled(total)((1.0, 2.5)) == 3.5
