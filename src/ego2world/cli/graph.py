"""ego2world graph"""

from contextlib import closing
from pathlib import Path

import typer

from ego2world.cli.common import names, out, print_json, progress
from ego2world.cli.models import SERVICE, ModelOptions, model_options
from ego2world.core.canonical import pretty_json, write_atomic
from ego2world.evaluate.direct_graph import compare_graphs, mock_graph


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("graph")
    @model_options
    def graph_command(
        worlds: Path = typer.Argument(help="A compiled collection."),
        model: str = typer.Option("mock", help="mock (the parser alone), replay:FILE, or PROVIDER/MODEL."),
        service: ModelOptions = SERVICE,
        episodes: str | None = typer.Option(None, help="Only these episodes, comma-separated."),
        out_file: Path | None = typer.Option(
            None, "--out", help="Output JSON file with every hallucinated entity and fact."
        ),
        as_json: bool = typer.Option(False, "--json", help="Print the totals as JSON."),
    ) -> None:
        """Let a model write each episode's world directly from its narrations, and check it against the annotations.

        Example: ego2world graph worlds --model openai/gpt-5-mini --out graph.json
        """
        with closing(service.connector(model, mock_graph)()) as client, progress("writing graphs") as update:
            result = compare_graphs(worlds, client, names(episodes) or None, update)
        if out_file is not None:
            write_atomic(out_file, pretty_json(result))
        if as_json:
            print_json({k: v for k, v in result.items() if k != "episodes"})
            return
        rate = "no graph" if result["rate"] is None else f"{100 * result['rate']:.1f} %"
        out.print(f"{result['model']}: {rate} hallucinated (paper: 48 %)", markup=False)
        for what in ("entities", "facts"):
            out.print(f"  {what:<9} {result[f'{what}_hallucinated']:>6} of {result[what]}", markup=False)
        own = result["compiled"]
        out.print(
            f"compiled: {own['entities_hallucinated']} of {own['entities']} entities without source; "
            f"{own['operations_inferred']} of {own['operations']} operations inferred, each with its reason",
            markup=False,
        )
