"""``howsteps narration`` from the command line."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from howsteps._cli.app import app, main

GOOD = "1\n00:00:01,000 --> 00:00:05,000\nfirst you remove the nuts\n\n"


def run(*arguments: str | Path) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    captions = tmp_path / "change a tire"
    captions.mkdir()
    (captions / "one.srt").write_text(GOOD)
    (captions / "two.srt").write_text(GOOD.replace("first", "now"))
    return captions


def test_a_folder_is_one_task_and_its_relations_are_listed(folder: Path) -> None:
    code, out, _ = run("narration", folder)
    assert code == 0
    assert "change a tire: 2 videos" in out
    assert "remove nut" in out


def test_one_file_is_shown_sentence_by_sentence_with_times(folder: Path) -> None:
    code, out, _ = run("narration", folder / "one.srt")
    assert code == 0
    assert "first you remove the nuts" in out
    assert "→ remove the nuts" in out


def test_json_has_the_documented_shape(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "narration.json"
    code, _, _ = run("narration", folder, "--json", target)
    heard = json.loads(target.read_text("utf-8"))
    assert code == 0
    assert heard["version"] == 3
    [relation] = heard["videos"]["one"]["relations"]
    assert (relation["verb"], relation["noun"], relation["particle"]) == ("remove", "nut", "")
    assert 1.0 <= relation["start"] < relation["end"] <= 5.0
    assert relation["negated"] is False
    [sentence] = heard["videos"]["one"]["sentences"]
    assert sentence["text"] == "first you remove the nuts"


def test_json_has_places_tools_and_whether_it_is_work(tmp_path: Path) -> None:
    said = "now put the bread in the pan with the tongs"
    captions = tmp_path / "toast.srt"
    captions.write_text(GOOD.replace("first you remove the nuts", said))
    _, out, _ = run("narration", captions, "--json", "-")
    [video] = json.loads(out)["videos"].values()
    [relation] = video["relations"]
    assert relation["places"] == [{"preposition": "in", "noun": "pan"}]
    assert relation["tools"] == ["tongs"]
    assert relation["act"] is (relation["work"] >= 0.5)


@pytest.mark.parametrize("mode", ["paper", "authors"])
def test_the_modes_of_the_paper_use_direct_objects_only(tmp_path: Path, mode: str) -> None:
    captions = tmp_path / "toast.srt"
    captions.write_text(GOOD.replace("first you", "go around it and take a rag and"))
    _, out, _ = run("narration", captions, "--mode", mode, "--json", "-")
    [video] = json.loads(out)["videos"].values()
    assert [(r["verb"], r["noun"]) for r in video["relations"]] == [
        ("take", "rag"),
        ("remove", "nut"),
    ]
    assert all(r["act"] and not r["places"] for r in video["relations"])


def test_stdout_has_only_json(folder: Path) -> None:
    code, out, _ = run("narration", folder, "--json", "-", "--quiet")
    assert code == 0
    assert json.loads(out)["task"] == "change a tire"


def test_a_broken_file_is_reported_and_the_others_processed(folder: Path) -> None:
    (folder / "broken.srt").write_bytes(b"\x00\x01\x02\x03" * 500)
    code, out, err = run("narration", folder)
    assert code == 3
    assert "2 videos" in out
    assert "broken.srt" in err


@pytest.mark.parametrize("content", [b"", b"\x00\x01" * 600, b"just a few words of no format"])
def test_a_single_file_that_cannot_be_used_is_one_line(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    path = tmp_path / "bad.srt"
    path.write_bytes(content)
    monkeypatch.setattr("sys.argv", ["howsteps", "narration", str(path)])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    err = capsys.readouterr().err
    assert "bad.srt" in err
    assert "Traceback" not in err


@pytest.mark.parametrize("command", ["narration", "script"])
def test_a_folder_of_videos_alone_says_how_to_transcribe_them(command: str, tmp_path: Path) -> None:
    (tmp_path / "film.mp4").write_bytes(b"not really a film")
    code, _, err = run(command, tmp_path, "--speech", "none")
    assert code == 1
    assert (
        "film.mp4: has no captions, and transcription is off (to turn it on: --speech"
        in err.replace("\n", "")
    )


def test_version_and_help() -> None:
    assert run("--version")[1].startswith("howsteps 0.")
    code, out, _ = run("narration", "--help")
    assert code == 0
    assert "SubRip" in out


class TestCache:
    @pytest.fixture
    def parsed(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        """The videos whose captions are parsed."""
        from howsteps.pipeline import stages

        extract, videos = stages._extract, []

        def noted(job: tuple) -> dict:
            videos.append(job[0].id)
            return extract(job)

        monkeypatch.setattr(stages, "_extract", noted)
        return videos

    def test_without_a_work_folder_the_users_cache_is_used(
        self, folder: Path, tmp_path: Path, parsed: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
        monkeypatch.chdir(tmp_path)
        before = set(tmp_path.iterdir())
        for _ in range(2):
            run("narration", folder)
        assert parsed == ["one", "two"]  # once
        assert set(tmp_path.iterdir()) - before == {tmp_path / "home"}
        assert (tmp_path / "home" / "howsteps" / "narration").is_dir()


def test_several_tasks_are_written_by_name(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "fix a bike").mkdir()
    (tmp_path / "fix a bike" / "three.srt").write_text(GOOD)
    _, out, _ = run("narration", tmp_path, "--json", "-", "--quiet")
    assert set(json.loads(out)["tasks"]) == {"change a tire", "fix a bike"}
