"""What mkdocs does besides reading docs/: reference pages, links and colours.

A page in docs/ may have lines `<!-- generated: NAME -->`; each is replaced by what the code says
when the site is built, so nothing there can go stale. Links are written as GitHub follows them;
those that lead out of docs/ are turned to the site's page of the same content, or to plain text.
"""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import cast

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(Path(__file__).parent))

from reference import commands, dialects, passes, schema, targets  # noqa: E402

from ingot.compiler.dialects.context import DIALECTS  # noqa: E402
from ingot.compiler.driver.registry import LEVELS  # noqa: E402

SECTIONS: dict[str, Callable[[], str]] = {
    "commands": commands.reference,
    "dialects": lambda: dialects.overview("dialects"),
    "passes": lambda: passes.overview("passes"),
    "schema": schema.reference,
    "targets": targets.overview,
}
"""What may stand in a page's `<!-- generated: NAME -->`."""

BROUGHT_IN = {"README.md": "index.md", "CHANGELOG.md": "changes.md"}
"""Files outside of docs/ that pages link to, and the page of the site that stands for each."""

_MARK = re.compile(r"^<!-- generated: (\w+) -->$", re.M)
_LINK = re.compile(
    r"(?<!!)\[(?P<text>[^\]]+)\]\((?!\w+:|#)(?P<target>[^)#\s]+)(?P<anchor>#[^)]*)?\)"
)


def generated_pages() -> dict[str, Callable[[], str]]:
    """The pages that exist on the site only, by their path in it."""
    pages: dict[str, Callable[[], str]] = {}
    for name in DIALECTS:
        pages[f"reference/dialects/{name}.md"] = lambda name=name: dialects.page(name)
    for level in LEVELS:
        pages[f"reference/passes/{level}.md"] = lambda level=level: passes.page(level)
    pages["changes.md"] = changes
    return pages


def changes() -> str:
    """The changelog, with its links to docs/ as links of the site."""
    return (ROOT / "CHANGELOG.md").read_text("utf-8").replace("](docs/", "](")


Nav = list[dict[str, "str | Nav"]]
"""As in mkdocs.yml: titles with a page, or with what is below them."""


def _under(entries: Nav, page: str) -> Nav:
    """The part of the nav that has the entry `page`, empty where none has."""
    for entry in entries:
        for below in entry.values():
            if below == page:
                return entries
            if isinstance(below, list) and (found := _under(below, page)):
                return found
    return []


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the generated pages into the nav, below the page that has the table of them."""
    nav = cast("dict[str, Nav]", config)["nav"]
    for name in ("dialects", "passes"):
        section = _under(nav, f"reference/{name}.md")
        for path in generated_pages():
            if path.startswith(f"reference/{name}/"):
                section.append({Path(path).stem: path})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    for path, make in generated_pages().items():
        files.append(File.generated(config, path, content=make()))
    return files


def link(match: re.Match[str], page: str) -> str:
    """A link of `page` as the site can follow it: code outside of docs/ becomes its name."""
    folder = posixpath.join("docs", posixpath.dirname(page))
    target = posixpath.normpath(posixpath.join(folder, match["target"]))
    if target.startswith("docs/"):
        return match[0]
    if target not in BROUGHT_IN:
        return match["text"]
    path = posixpath.relpath(posixpath.join("docs", BROUGHT_IN[target]), folder)
    return f"[{match['text']}]({path}{match['anchor'] or ''})"


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Fill in what is generated, and turn links that lead out of docs/."""
    markdown = _MARK.sub(lambda match: SECTIONS[match[1]](), markdown)
    return _LINK.sub(lambda match: link(match, page.file.src_uri), markdown)
