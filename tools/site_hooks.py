"""What mkdocs.yml hooks in: pages and files beside docs/ that its pages link to, so that the site is whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from pygments.formatters import HtmlFormatter

ROOT = Path(__file__).parents[1]
BESIDE = ("design", "examples")
TABLES = """
.wy-nav-content { max-width: 1000px }
.wy-table-responsive table td, .wy-table-responsive table th { white-space: normal }
.rst-content .highlight pre { font-size: 13px; line-height: 1.45; padding: 12px }
.doc-contents { margin-left: 1.2em }
"""


def on_files(files: Files, config: Any) -> Files:
    """Add the decisions (design/) and the scripts (examples/)."""
    for folder in BESIDE:
        for path in sorted((ROOT / folder).iterdir()):
            if path.suffix in {".md", ".py"}:
                files.append(File.generated(config, f"{folder}/{path.name}", abs_src_path=str(path)))
    style = HtmlFormatter(style="friendly").get_style_defs(".highlight") + TABLES
    files.append(File.generated(config, "site.css", content=style))
    pages = [f"design/{path.name}" for path in sorted((ROOT / "design").glob("*.md"))]
    config.nav = [{"Design": pages} if item == {"Design": "design"} else item for item in config.nav]
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Point links from docs/ to what lies beside it at where the site has it."""
    for folder in BESIDE:
        markdown = markdown.replace(f"](../{folder}/", f"]({folder}/")
    return markdown.replace("](../docs/", "](../") if page.file.src_uri.startswith("design/") else markdown
