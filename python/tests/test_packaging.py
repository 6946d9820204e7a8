"""The wheel, and what builds it for those who install a clone."""

from __future__ import annotations

import importlib.util
import os
from importlib import metadata

import pytest
from conftest import REPOSITORY


@pytest.fixture
def backend(monkeypatch, tmp_path):
    """The build backend of a clone in which nothing has been built."""
    file = REPOSITORY / "python/build_backend.py"
    found = importlib.util.spec_from_file_location("build_backend", file)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    monkeypatch.setattr(module, "REPOSITORY", str(tmp_path))
    monkeypatch.setattr(module, "said", [], raising=False)
    monkeypatch.setattr(module, "say", module.said.append)
    for name in (module.ARGUMENTS, "CARGO_BUILD_JOBS", "CARGO_TARGET_DIR"):
        monkeypatch.delenv(name, raising=False)
    return module


def built(folder, profile):
    (folder / "target" / profile).mkdir(parents=True)
    (folder / "target" / profile / "deadheat").touch()


def test_a_clone_is_compiled_quickly_on_all_cores_but_one(backend, monkeypatch):
    for cores, jobs in [(8, "7"), (2, "1"), (1, "1")]:
        monkeypatch.delenv("CARGO_BUILD_JOBS", raising=False)
        monkeypatch.delenv(backend.ARGUMENTS, raising=False)
        monkeypatch.setattr(backend, "cores", lambda cores=cores: cores)
        backend.prepare(None)
        assert os.environ["CARGO_BUILD_JOBS"] == jobs
        assert os.environ[backend.ARGUMENTS] == "--profile release"
    assert all("minutes" in words for words in backend.said)
    monkeypatch.delenv("CARGO_BUILD_JOBS")
    monkeypatch.delenv(backend.ARGUMENTS)


def test_a_program_that_is_there_is_taken_as_it_was_built(backend, tmp_path, monkeypatch):
    for profile in ("release", "dist"):
        built(tmp_path, profile)
        monkeypatch.delenv(backend.ARGUMENTS, raising=False)
        backend.prepare(None)
        assert os.environ[backend.ARGUMENTS] == f"--profile {profile}"
    assert "seconds" in backend.said[-1]
    monkeypatch.delenv("CARGO_BUILD_JOBS")
    monkeypatch.delenv(backend.ARGUMENTS)


def test_the_user_may_choose(backend, monkeypatch):
    monkeypatch.setenv("CARGO_BUILD_JOBS", "3")
    backend.prepare({"build-args": "--profile dev"})
    assert os.environ["CARGO_BUILD_JOBS"] == "3"
    assert backend.ARGUMENTS not in os.environ
    monkeypatch.setenv(backend.ARGUMENTS, "--profile dev")
    backend.prepare(None)
    assert os.environ[backend.ARGUMENTS] == "--profile dev"


def test_an_installed_wheel_has_its_licences_and_where_it_comes_from():
    try:
        wheel = metadata.distribution("deadheat")
    except metadata.PackageNotFoundError:
        pytest.skip("the package is not installed")
    urls = dict(url.split(", ") for url in wheel.metadata.get_all("Project-URL"))
    assert urls.keys() >= {"Homepage", "Documentation", "Changelog", "Issues", "Source"}
    files = {file.name: file.read_text() for file in wheel.files if "LICENSE" in file.name}
    assert "Permission is hereby granted" in files["LICENSE-MIT"]
    assert "Apache License" in files["LICENSE-APACHE"]
    assert "Programming Language :: Python :: 3.13" in wheel.metadata.get_all("Classifier")
    assert any(file.name == "py.typed" for file in wheel.files)
