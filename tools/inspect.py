"""`ingot inspect`: what a bundle holds, and what a program becomes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from ingot.targets.bundle.layout import IDENTIFIER
from ingot.tools.report import (
    CommandLineError,
    Sources,
    debug_option,
    read_bytes,
    reported,
    text_of,
    write_output,
)
from ingot.tools.table import columns
from ingot.tools.units import size_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ingot.compiler.driver.history import History
    from ingot.targets.bundle.model import Bundle, Kernel, Variant


@click.command("inspect", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("file")
@click.option(
    "--target",
    metavar="TARGET",
    help="Show this variant (default: the first); for a program, compile it for this target.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--plan", is_flag=True, help="Show what the host does, command by command.")
@click.option("--cost", is_flag=True, help="Show what each kernel costs on its target at least.")
@click.option("--msl", "msl_of", metavar="KERNEL", help="Print the MSL of a kernel, nothing else.")
@click.option("--spirv", "spirv_of", metavar="KERNEL", help="Print the SPIR-V of a kernel as text.")
@click.option(
    "--html",
    metavar="FILE",
    help="Write a page with all of it: graph, memory, costs, and each kernel's texts side by side.",
)
@click.option(
    "--source",
    metavar="PROGRAM",
    help="With --html: the program that the bundle was made from, to show every stage of it.",
)
@debug_option
def command(
    file: str,
    target: str | None,
    as_json: bool,
    plan: bool,
    cost: bool,
    msl_of: str | None,
    spirv_of: str | None,
    html: str | None,
    source: str | None,
    debug: bool,
) -> None:
    """Show the functions, kernels, memory and provenance of a bundle.

    FILE may also be a program, which is compiled for --target; --html then shows every stage on the
    way to its kernels, with lines that belong together linked.

    \b
    Example:
      ingot inspect softmax.ingot
      ingot inspect softmax.ingot --plan
      ingot inspect softmax.ingot --msl softmax_softmax
      ingot inspect softmax.mlir --target metal:apple7 --html softmax.html
    """
    _check_forms(json=as_json, plan=plan, cost=cost, msl=msl_of, spirv=spirv_of, html=html)
    if source is not None and html is None:
        raise CommandLineError("error: --source is for the page: write --html FILE")
    sources = Sources()
    with reported(debug, sources):
        bundle, history = _read(file, target, sources, with_history=html is not None)
        variant = next((v for v in bundle.variants if target in (None, v.target)), None)
        if variant is None:
            names = ", ".join(v.target for v in bundle.variants)
            raise CommandLineError(f"{file}: error: no variant for {target}; it has {names}")
        if source is not None:
            history = _remade(bundle, variant, file, source, sources)
        if html is not None:
            from ingot.tools.page.build import page_html

            write_output(html, page_html(bundle, target, _name(file), history).encode())
        else:
            click.echo(_text(bundle, variant, file, as_json, plan, cost, msl_of, spirv_of))


def _check_forms(**forms: object) -> None:
    """Raise `CommandLineError` for two forms at once, but for --json, which --cost has, too."""
    given = [f"--{name}" for name, value in forms.items() if value]
    if len(given) > 1 and set(given) != {"--json", "--cost"}:
        raise CommandLineError(f"error: {' and '.join(given)} are several forms; choose one")


def _read(
    file: str, target: str | None, sources: Sources, *, with_history: bool
) -> tuple[Bundle, History | None]:
    """A bundle; of a program what it compiles to, and with `with_history` how."""
    data = read_bytes(file)
    if data[4:8] == IDENTIFIER or (target is None and not _is_text(data)):
        from ingot.targets.bundle.reader import read_bundle

        return read_bundle(data, "<stdin>" if file == "-" else file), None
    from ingot.tools.compile import check_target_names, compile_with_progress

    if target is None:
        raise CommandLineError(
            f"{file}: error: not an ingot bundle; to compile a program and inspect that, say for"
            " which target, for example --target metal:apple7"
        )
    check_target_names((target,))
    text = text_of(data, file, sources)
    if with_history:
        history = _compiled(text, sources.main, target)
        return history.bundle, history
    from ingot.compiler.driver.options import CompileOptions

    compiled = compile_with_progress(text, sources.main, CompileOptions((target,)))
    _warn(sources.main, compiled.warnings)
    return compiled.bundle, None


def _is_text(data: bytes) -> bool:
    """Whether a file may be a program, rather than a damaged bundle."""
    try:
        return bool(data.decode().strip()) and b"\0" not in data
    except UnicodeDecodeError:
        return False


def _compiled(text: str, name: str, target: str, **choices: Any) -> History:
    from ingot.tools.progress import progress

    with progress(f"compiling {name}") as step:
        from ingot.compiler.driver.history import compile_with_history
        from ingot.compiler.driver.options import CompileOptions

        history = compile_with_history(text, name, CompileOptions((target,), **choices), step)
    _warn(name, history.warnings)
    return history


def _warn(name: str, sentences: Sequence[str]) -> None:
    for sentence in sentences:
        click.echo(f"{name}: warning: {sentence}", err=True)


def _remade(bundle: Bundle, variant: Variant, file: str, source: str, sources: Sources) -> History:
    """How a variant of a bundle was made from `source`: compiled again, to the same code."""
    from ingot.compiler.frontends.source import SourceText

    text = text_of(read_bytes(source), source, sources)
    if SourceText.of(text).digest != bundle.provenance.input_hash:
        raise CommandLineError(f"{source}: error: {file} was not made from this program")
    demoted = "demote-f64{all=true}" in bundle.provenance.pipeline
    choices = {"math": variant.math_mode, "demote_f64": demoted}
    history = _compiled(text, sources.main, variant.target, **choices)
    (again,) = history.bundle.variants
    if [kernel.spirv for kernel in again.kernels] != [k.spirv for k in variant.kernels]:
        raise CommandLineError(
            f"{source}: error: it compiles to other kernels than {file} has, which another version"
            f" of Ingot made ({bundle.provenance.compiler_version}), or other options"
        )
    return history


def _name(file: str) -> str:
    """What the page is called: nothing on it depends on the folder."""
    from pathlib import PurePath

    return "standard input" if file == "-" else PurePath(file).name


def _text(
    bundle: Bundle,
    variant: Variant,
    file: str,
    as_json: bool,
    plan: bool,
    cost: bool,
    msl_of: str | None,
    spirv_of: str | None,
) -> str:
    if msl_of is not None:
        kernel = _kernel(variant, msl_of, file)
        if not kernel.msl:
            raise CommandLineError(
                f"{file}: error: {variant.target} has no MSL; --spirv shows its kernels"
            )
        return kernel.msl
    if spirv_of is not None:
        from ingot.targets.spirv import disassemble

        return disassemble(_kernel(variant, spirv_of, file).spirv)
    if cost:
        from ingot.tools.cost_text import cost_json, cost_text

        return cost_json(variant) if as_json else cost_text(variant)
    if as_json:
        from ingot.tools.description import describe_bundle

        return json.dumps(describe_bundle(bundle, variant.target), indent=2)
    if plan:
        from ingot.tools.plan_text import plan_text

        return plan_text(bundle, variant)
    return overview(file, bundle, variant.target)


def _kernel(variant: Variant, name: str, file: str) -> Kernel:
    from difflib import get_close_matches

    for kernel in variant.kernels:
        if kernel.name == name:
            return kernel
    known = [kernel.name for kernel in variant.kernels]
    close = get_close_matches(name, known, n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    raise CommandLineError(
        f"{file}: error: no kernel named {name}{hint}"
        f"\n{variant.target} has {', '.join(known) or 'no kernels'}"
    )


def overview(name: str, bundle: Bundle, target: str | None = None) -> str:
    """One variant (the first by default) as text; `name` stands at the top, for people.

    Raises `KeyError` when no variant is for `target`.
    """
    from ingot.tools.description import describe_bundle
    from ingot.tools.steps_text import step_lines

    description = describe_bundle(bundle, target)
    variant, memory = description["variant"], description["memory"]
    msl = f", MSL {variant['msl_version']}" if variant["msl_version"] != "0.0" else ""
    parts = [f"{name}: {variant['target']}, {variant['math_mode']} math{msl}"]
    if variant["required_features"]:
        parts[0] += f", needs {', '.join(variant['required_features'])}"
    others = [target for target in description["targets"] if target != variant["target"]]
    if others:
        parts[0] += f"\nother variants: {', '.join(others)}"
    platforms = dict.fromkeys(p for k in description["kernels"] for p in k["metallib_bytes"])
    if platforms:
        parts[0] += f"\nmetallibs for {', '.join(platforms)}"
    for function in description["functions"]:
        steps = [*step_lines(function["setup"]), *step_lines(function["commands"])]
        parts.append("\n".join([_signature(function), *(f"  {line}" for line in steps)]))
    headings = ("kernel", "threads", "shared", "SPIR-V", "MSL", "from", "bindings")
    parts.append(columns(headings, map(_kernel_row, description["kernels"])))
    provenance = description["provenance"]
    parts.append(
        f"memory: {size_text(memory['peak'])} of intermediates"
        f" (lower bound {size_text(memory['lower_bound'])}),"
        f" {size_text(memory['constants'])} of constants"
        f"\nmade by ingot {provenance['compiler_version']}"
        f" with SPIRV-Cross {provenance['spirv_cross_version'] or '-'}"
        f" from input {provenance['input_hash'][:16]}"
    )
    return "\n\n".join(parts)


def _signature(function: dict[str, Any]) -> str:
    def part(entry: dict[str, Any]) -> str:
        name = f"{entry['name']}: " if entry["name"] else ""
        sizes = ("?" if size < 0 else str(size) for size in entry["shape"])
        return f"{name}{'x'.join([*sizes, entry['dtype']])}"

    arguments = ", ".join(map(part, function["arguments"]))
    return f"{function['name']}({arguments}) -> ({', '.join(map(part, function['results']))})"


def _kernel_row(kernel: dict[str, Any]) -> tuple[str, ...]:
    bindings = ", ".join(f"{b['name']} {b['dtype']} {b['access']}" for b in kernel["bindings"])
    return (
        kernel["name"],
        "x".join(map(str, kernel["threadgroup_size"])),
        size_text(kernel["threadgroup_memory"]),
        size_text(kernel["spirv_bytes"]),
        size_text(kernel["msl_bytes"]),
        kernel["location"],
        bindings,
    )
