"""Functions are compiled even if the machine code cannot be cached."""

from howsteps.compiled import compiled


def total(numbers):
    result = 0.0
    for number in numbers:
        result += number
    return result


def test_without_a_cache_folder_functions_are_compiled_each_time(monkeypatch):
    monkeypatch.setattr("numba.core.caching.FunctionCache._impl_class._locator_classes", [])
    assert compiled(total)((1.0, 2.5)) == 3.5
