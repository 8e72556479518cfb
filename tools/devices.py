"""`ingot devices`: what this machine can run bundles on."""

from __future__ import annotations

import json

import click

from ingot.tools.report import debug_option, reported


@click.command("devices", context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@debug_option
def command(as_json: bool, debug: bool) -> None:
    """List the devices of this machine, and why others cannot be used.

    \b
    Example:
      ingot devices
      ingot run softmax.ingot --input random:0 --device vulkan:0
    """
    with reported(debug):
        from ingot.runtime import list_devices

        devices = list_devices()
        if as_json:
            entries = [
                {
                    "name": d.name,
                    "api": d.api,
                    "description": d.description,
                    "simd_width": d.simd_width,
                    "features": sorted(d.features),
                    "problem": d.problem,
                }
                for d in devices
            ]
            click.echo(json.dumps(entries, indent=2))
            return
        width = max(len(d.name) for d in devices)
        for d in devices:
            text = f"{d.description} (SIMD width {d.simd_width})" if d.is_available else d.problem
            click.echo(f"{d.name:{width}}  {'' if d.is_available else 'not available: '}{text}")
