#!/usr/bin/env -S uv run --script
# /// script
# dependencies = ["nox>=2025.2.9"]
# ///
"""Tasks of developers, each in a fresh environment: `nox -s tests`, `nox -s docs`, …"""

import nox

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "uv|virtualenv"


@nox.session
def lint(session: nox.Session) -> None:
    """Run ruff and mypy."""
    session.install("-e", ".[test,lint]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run(".ci/types", external=True)


@nox.session
def tests(session: nox.Session) -> None:
    """Run the fast tests, with the newest versions of all dependencies."""
    session.install("-e", ".[test]", "pytest-cov")
    session.run("pytest", *session.posargs)


@nox.session(venv_backend="uv", python="3.11", default=False)
def lowest(session: nox.Session) -> None:
    """Run the fast tests with the lowest versions that pyproject.toml allows, for tests too.

    River, which tests need, asks for somewhat later versions of NumPy and SciPy, and so of Numba and pandas.
    """
    # matplotlib 3.10.0 calls functions of pyparsing that warn from 3.3 on.
    session.install("--resolution", "lowest-direct", "-e", ".[test]", "pyparsing~=3.2.0")
    session.run("pytest", *session.posargs)


@nox.session(default=False)
def docs(session: nox.Session) -> None:
    """Build the site into docs/_build/html; a warning is an error."""
    session.install("-e", ".[test]", *nox.project.dependency_groups(nox.project.load_toml(), "docs"))
    session.run("sphinx-build", "-W", "--keep-going", "-b", "html", "docs", "docs/_build/html")


@nox.session(default=False)
def build(session: nox.Session) -> None:
    """Build the source archive and the wheel into dist, and check them."""
    session.install("build", "twine", "check-wheel-contents")
    session.run("python", "-m", "build")
    session.run("twine", "check", "--strict", "dist/*")
    session.run("check-wheel-contents", "dist")


if __name__ == "__main__":
    nox.main()
