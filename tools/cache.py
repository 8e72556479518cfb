"""`ingot cache`: what `ingot compile` keeps for the next time."""

from __future__ import annotations

import click

from ingot.tools.report import debug_option, reported


@click.command("cache", context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--stats", is_flag=True, help="Show where the cache is and what it holds (default).")
@click.option("--clear", is_flag=True, help="Remove all entries.")
@debug_option
def command(stats: bool, clear: bool, debug: bool) -> None:
    """Show or clear the cache of compiled programs.

    It lies in the user's cache folder, or in INGOT_CACHE_DIR, which may be shared, and holds at
    most INGOT_CACHE_SIZE bytes (1 GiB); what was not used for longest goes first.

    \b
    Example:
      ingot cache --stats
      ingot cache --clear
    """
    with reported(debug):
        from ingot.compiler.driver.cache import Cache

        cache = Cache.default()
        if clear:
            removed = cache.clear()
            click.echo(f"removed {removed} {'entry' if removed == 1 else 'entries'}")
        if stats or not clear:
            found = cache.statistics()
            click.echo(f"folder   {found.folder}")
            click.echo(f"entries  {found.entries}")
            click.echo(f"size     {found.size / 2**20:.1f} MiB of {found.limit / 2**20:.0f} MiB")
