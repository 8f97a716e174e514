"""The client: retries, time-outs, and a key that is never shown."""

import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from howsteps.reader import LanguageModel, LanguageModelError
from howsteps.reader.client import KEY_VARIABLE
from tests.reader.server import Behaviour, fails, says, send, serving

HELLO = [{"role": "user", "content": "hello"}]
SECRET = "no-key-at-all-0123456789"  # noqa: S105 - not a real key


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, SECRET)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def asked(behave: Behaviour, timeout: float = 5.0) -> tuple[str, list[float]]:
    """The reply, and the pauses before it."""
    pauses: list[float] = []
    with serving(behave) as served:
        text = LanguageModel("small", served.url, timeout).reply(HELLO, pause=pauses.append)
    return text, pauses


def failing(behave: Behaviour, timeout: float = 5.0) -> str:
    with serving(behave) as served, pytest.raises(LanguageModelError) as error:
        LanguageModel("small", served.url, timeout).reply(HELLO, pause=lambda _: None)
    return str(error.value)


def test_a_conversation_is_sent_and_the_reply_returned() -> None:
    with serving(says("fine")) as served:
        assert LanguageModel("small", served.url).reply(HELLO) == "fine"
    [request] = served.requests
    assert request["model"] == "small"
    assert request["messages"] == HELLO
    assert served.headers[0]["Authorization"] == f"Bearer {SECRET}"


def test_without_a_key_there_is_no_authorization_header(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY_VARIABLE)
    with serving(says("fine")) as served:
        LanguageModel("small", served.url).reply(HELLO)
    assert "Authorization" not in served.headers[0]


def refusing(setting: str) -> Behaviour:
    """Behave as a server that does not know a setting."""

    def behave(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        if setting in body:
            send(handler, 400, {"error": f"Unsupported parameter: {setting}"})
        else:
            says("fine")(handler, body)

    return behave


@pytest.mark.parametrize(
    ("setting", "sent"),
    [
        ("", [{"response_format", "max_tokens", "temperature"}]),
        ("response_format", [{"response_format", "max_tokens", "temperature"}, {"max_tokens"}]),
        ("max_tokens", [{"response_format"}, {"max_tokens", "temperature"}, set()]),
        ("model", [{"response_format"}, {"max_tokens"}, set()]),
    ],
)
def test_settings_that_a_server_refuses_are_left_out(setting: str, sent: list[set[str]]) -> None:
    schema = {"type": "object"}
    with serving(refusing(setting)) as served:
        reader = LanguageModel("small", served.url)
        if setting == "model":  # nothing helps
            with pytest.raises(LanguageModelError, match="400"):
                reader.reply(HELLO, schema)
        else:
            assert reader.reply(HELLO, schema) == "fine"
    assert len(served.requests) == len(sent)
    for request, settings in zip(served.requests, sent, strict=True):
        assert settings <= request.keys()
    assert served.requests[0]["response_format"]["json_schema"]["schema"] == schema
    assert ("response_format" in served.requests[-1]) == (not setting)


def test_settings_are_dropped_even_after_failures() -> None:
    assert asked(fails(503, 3, refusing("max_tokens"))) == ("fine", [1.0, 2.0, 4.0])


def test_address_and_key_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY_VARIABLE)
    assert LanguageModel("small").url == "http://localhost:11434/v1"
    with serving(says("fine")) as served:
        monkeypatch.setenv("OPENAI_BASE_URL", served.url)
        monkeypatch.setenv("OPENAI_API_KEY", SECRET)
        LanguageModel("small").reply(HELLO)
    assert served.headers[0]["Authorization"] == f"Bearer {SECRET}"


def test_a_key_of_openai_is_not_for_ollama(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY_VARIABLE)
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    with serving(says("fine")) as served:
        monkeypatch.setattr("howsteps.reader.client.OLLAMA", served.url)
        LanguageModel("small").reply(HELLO)
    assert "Authorization" not in served.headers[0]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_retried_with_exponential_backoff(status: int) -> None:
    assert asked(fails(status, 3, says("fine"))) == ("fine", [1.0, 2.0, 4.0])


def test_retry_after_is_respected() -> None:
    assert asked(fails(429, 1, says("fine"), Retry_After="7")) == ("fine", [7.0])
    assert asked(fails(429, 1, says("fine"), Retry_After="86400")) == ("fine", [60.0])
    assert asked(fails(429, 1, says("fine"), Retry_After="Wed, 21 Oct")) == ("fine", [1.0])


def test_a_server_that_stays_broken_is_given_up() -> None:
    assert "it answers 500" in failing(fails(500, 99, says("")))


@pytest.mark.parametrize("status", [400, 401, 404])
def test_permanent_errors_are_not_retried(status: int) -> None:
    with serving(fails(status, 99, says(""))) as served, pytest.raises(LanguageModelError):
        LanguageModel("small", served.url).reply(HELLO, pause=lambda _: None)
    assert len(served.requests) == (2 if status == 400 else 1)  # once without settings


def cut(key: str) -> str:
    return f"{'x' * 180}{key[:-3]}"


def escaped(key: str) -> str:
    return "".join(f"\\u{ord(letter):04x}" for letter in key)


def broken(key: str) -> str:
    return "\\n".join(key[n : n + 8] for n in range(0, len(key), 8))


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500])
@pytest.mark.parametrize("repeat", [str, cut, escaped, broken])
def test_a_key_that_the_server_repeats_is_not_shown(status: int, repeat: Any) -> None:
    body = f'{{"error": "wrong key {repeat(SECRET)}"}}'.encode()
    message = failing(lambda handler, _: send(handler, status, body))
    assert f"it answers {status}" in message
    assert "wrong" not in message


@pytest.mark.parametrize(("status", "text"), [(401, KEY_VARIABLE), (404, "no such model")])
def test_the_text_of_an_error_is_shown_unless_it_is_about_the_key(status: int, text: str) -> None:
    body = {"error": "no such model"}
    assert text in failing(lambda handler, _: send(handler, status, body))


def test_the_key_is_in_no_representation() -> None:
    assert SECRET not in repr(LanguageModel("small", "http://localhost/v1"))


def test_a_redirect_is_not_followed() -> None:
    with serving(says("stolen")) as other:

        def redirect(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
            send(handler, 307, {}, Location=f"{other.url}/chat/completions")

        message = failing(redirect)
    assert "redirects" in message
    assert other.requests == []


def test_a_server_that_says_nothing_is_given_up() -> None:
    def sleep(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        time.sleep(0.6)

    assert "within 0.1 s" in failing(sleep, timeout=0.1)


def test_a_server_that_sends_a_byte_now_and_then_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("howsteps.reader.client._MAX_TRANSFER", 0.3, raising=False)

    def drip(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        handler.send_response(200)
        handler.end_headers()
        with suppress(OSError):
            for _ in range(40):
                handler.wfile.write(b" ")
                time.sleep(0.1)

    with (
        serving(drip) as served,
        pytest.raises(LanguageModelError, match=r"not complete after 0\.8"),
    ):
        LanguageModel("small", served.url, 0.5).reply(HELLO, pause=lambda _: None)
    assert len(served.requests) == 1  # another attempt would take as long


def test_half_a_character_is_replaced() -> None:
    assert asked(says("boil \ud800 the water \U0001f375"))[0] == "boil ? the water \U0001f375"


def test_an_unreachable_server_is_reported_in_one_line() -> None:
    with serving(says("")) as served:
        url = served.url
    with pytest.raises(LanguageModelError, match="cannot be reached") as error:
        LanguageModel("small", url).reply(HELLO, pause=lambda _: None)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "value", [b"<html>", {}, {"choices": []}, [], {"choices": [{"message": {"content": None}}]}]
)
def test_a_reply_that_is_not_a_chat_completion_is_refused(value: object) -> None:
    message = failing(lambda handler, body: send(handler, 200, value))
    assert "chat completion" in message or "no text" in message


def test_an_endless_reply_is_refused() -> None:
    assert "larger than" in failing(lambda handler, body: send(handler, 200, b" " * (5 << 20)))


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("localhost:11434", "not an address"),
        ("file:///etc/passwd", "not an address"),
        ("http://someone@localhost/v1", KEY_VARIABLE),
        ("http://someone:secret@localhost/v1", KEY_VARIABLE),
        ("https://x.example/v1?key=secret", KEY_VARIABLE),
        ("https://x.example/v1?api-version=1&api-key=secret", KEY_VARIABLE),
        ("http://[", "not an address"),
        ("http://localhost:80000/v1", "not an address"),
        ("http://localhost:port/v1", "not an address"),
        ("http:///v1", "not an address"),
        ("http://two words/v1", "not an address"),
        ("http://localhost%0a/v1", "not an address"),
        ("http://h\udcff.example/v1", "not an address"),
        ("http://localhost/\udcff", "not an address"),
    ],
)
def test_a_bad_address_is_refused(url: str, reason: str) -> None:
    with pytest.raises(LanguageModelError, match=reason) as error:
        LanguageModel("small", url)
    assert str(error.value).isprintable()
    assert "secret" not in str(error.value)


def test_a_key_in_a_bad_address_is_not_shown() -> None:
    with pytest.raises(LanguageModelError, match="not an address") as error:
        LanguageModel("small", f"http://{SECRET}@[")
    assert SECRET not in str(error.value)


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://ü.example:1/é", "http://xn--tda.example:1/%C3%A9/chat/completions"),
        ("http://[::1]:8080/v1/", "http://[::1]:8080/v1/chat/completions"),
        ("http://localhost/v1/chat/completions", "http://localhost/v1/chat/completions"),
        ("http://localhost/a b%20c", "http://localhost/a%20b%20c/chat/completions"),
        ("https://x.example/v1?api=1#x", "https://x.example/v1/chat/completions?api=1"),
        (
            "https://x.example/v1/chat/completions?api=ä",
            "https://x.example/v1/chat/completions?api=%C3%A4",
        ),
    ],
)
def test_an_address_is_made_ascii(url: str, address: str) -> None:
    assert LanguageModel("small", url).address == address


def test_a_path_with_other_letters_is_reached() -> None:
    with serving(says("fine")) as served:
        assert LanguageModel("small", f"{served.url}/é è").reply(HELLO) == "fine"


@pytest.mark.parametrize("bad", ["no\nkey", "no\rkey", "schlüssel", "ключ", "k\udcff"])
def test_a_key_that_no_header_can_hold_is_refused(
    monkeypatch: pytest.MonkeyPatch, bad: str
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, bad)
    with pytest.raises(LanguageModelError, match=KEY_VARIABLE) as error:
        LanguageModel("small", "http://localhost:1/v1").reply(HELLO, pause=lambda _: None)
    assert bad not in str(error.value)
    assert "\n" not in str(error.value)


def test_an_error_whose_text_breaks_off_is_reported() -> None:
    def stall(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        handler.send_response(400)
        handler.send_header("Content-Length", "999")
        handler.end_headers()
        handler.wfile.flush()
        time.sleep(0.6)

    assert "it answers 400" in failing(stall, timeout=0.1)


def test_an_invalid_proxy_is_reported_without_its_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "gopher://someone:secret@proxy:1")
    with pytest.raises(LanguageModelError, match="no request can be sent") as error:
        LanguageModel("small", "http://x.example/v1").reply(HELLO, pause=lambda _: None)
    assert "secret" not in str(error.value)


def test_a_model_needs_a_name() -> None:
    with pytest.raises(LanguageModelError, match="`llm`"):
        LanguageModel(" ", "http://localhost/v1")
