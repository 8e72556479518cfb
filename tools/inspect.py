"""`ingot inspect`: what a bundle holds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from ingot.tools.report import CommandLineError, debug_option, read_bytes, reported
from ingot.tools.steps_text import step_lines
from ingot.tools.table import columns

if TYPE_CHECKING:
    from ingot.targets.bundle.model import Bundle, Kernel


@click.command("inspect", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("file")
@click.option("--target", metavar="TARGET", help="Show this variant (default: the first).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--cost", is_flag=True, help="Show what each kernel costs on its target at least.")
@click.option("--msl", "msl_of", metavar="KERNEL", help="Print the MSL of a kernel, nothing else.")
@click.option("--spirv", "spirv_of", metavar="KERNEL", help="Print the SPIR-V of a kernel as text.")
@debug_option
def command(
    file: str,
    target: str | None,
    as_json: bool,
    cost: bool,
    msl_of: str | None,
    spirv_of: str | None,
    debug: bool,
) -> None:
    """Show the functions, kernels, memory and provenance of a bundle.

    \b
    Example:
      ingot inspect softmax.ingot
      ingot inspect softmax.ingot --cost
      ingot inspect softmax.ingot --json
      ingot inspect softmax.ingot --msl softmax
    """
    with reported(debug):
        from ingot.targets.bundle.reader import read_bundle

        bundle = read_bundle(read_bytes(file), "<stdin>" if file == "-" else file)
        names = [variant.target for variant in bundle.variants]
        if target is not None and target not in names:
            raise CommandLineError(
                f"{file}: error: no variant for {target}; it has {', '.join(names)}"
            )
        if msl_of is not None:
            click.echo(_kernel(bundle, target, msl_of, file).msl)
        elif spirv_of is not None:
            from ingot.targets.spirv import disassemble

            click.echo(disassemble(_kernel(bundle, target, spirv_of, file).spirv))
        elif cost:
            from ingot.tools.cost_text import cost_json, cost_text

            variant = next(v for v in bundle.variants if target in (None, v.target))
            click.echo(cost_json(variant) if as_json else cost_text(variant))
        elif as_json:
            from ingot.tools.description import describe_bundle

            click.echo(json.dumps(describe_bundle(bundle, target), indent=2))
        else:
            click.echo(overview(file, bundle, target))


def _kernel(bundle: Bundle, target: str | None, name: str, file: str) -> Kernel:
    variant = next(v for v in bundle.variants if target in (None, v.target))
    for kernel in variant.kernels:
        if kernel.name == name:
            return kernel
    known = ", ".join(k.name for k in variant.kernels)
    raise CommandLineError(f"{file}: error: no kernel named {name}; {variant.target} has {known}")


def overview(name: str, bundle: Bundle, target: str | None = None) -> str:
    """One variant (the first by default) as text; `name` stands at the top, for people.

    Raises `KeyError` when no variant is for `target`.
    """
    from ingot.tools.description import describe_bundle

    description = describe_bundle(bundle, target)
    variant, memory = description["variant"], description["memory"]
    msl = f", MSL {variant['msl_version']}" if variant["msl_version"] != "0.0" else ""
    parts = [f"{name}: {variant['target']}, {variant['math_mode']} math{msl}"]
    if variant["required_features"]:
        parts[0] += f", needs {', '.join(variant['required_features'])}"
    others = [target for target in description["targets"] if target != variant["target"]]
    if others:
        parts[0] += f"\nother variants: {', '.join(others)}"
    for function in description["functions"]:
        steps = [*step_lines(function["setup"]), *step_lines(function["commands"])]
        parts.append("\n".join([_signature(function), *(f"  {line}" for line in steps)]))
    headings = ("kernel", "threads", "shared", "SPIR-V", "MSL", "from", "bindings")
    parts.append(columns(headings, map(_kernel_row, description["kernels"])))
    provenance = description["provenance"]
    parts.append(
        f"memory: {_size(memory['peak'])} of intermediates"
        f" (lower bound {_size(memory['lower_bound'])}), {_size(memory['constants'])} of constants"
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
        _size(kernel["threadgroup_memory"]),
        _size(kernel["spirv_bytes"]),
        _size(kernel["msl_bytes"]),
        kernel["location"],
        bindings,
    )


def _size(count: int) -> str:
    for unit, scale in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= scale:
            return f"{count / scale:.1f} {unit}"
    return f"{count} B"
