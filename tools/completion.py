"""`ingot completion`: what a shell needs to complete the commands' words."""

from __future__ import annotations

import os
from typing import ClassVar

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    add_completion_class,
    get_completion_class,
    split_arg_string,
)

VARIABLE = "_INGOT_COMPLETE"
"""Where click looks for what to do instead of running a command."""


@add_completion_class
class BashWithColons(BashComplete):
    """Completes words with `:` and `=` in them, at which Bash splits.

    Bash replaces only what follows the last of them, so that is all that may be offered.
    """

    name: ClassVar[str] = "bash"
    source_template: ClassVar[str] = """\
%(complete_func)s() {
    local IFS=$'\\n' type value line
    for line in $(COMP_LINE="${COMP_LINE:0:COMP_POINT}" %(complete_var)s=bash_complete "$1"); do
        IFS=',' read -r type value <<< "$line"
        case $type in
            dir) COMPREPLY=(); compopt -o dirnames ;;
            file) COMPREPLY=(); compopt -o default ;;
            plain) COMPREPLY+=("$value") ;;
        esac
    done
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""

    def get_completion_args(self) -> tuple[list[str], str]:
        line = os.environ["COMP_LINE"]
        words = split_arg_string(line)
        incomplete = words.pop() if len(words) > 1 and not line[-1].isspace() else ""
        return words[1:], incomplete

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[str]]:
        """Offer what follows the last `:` or `=`."""
        found = super().get_completions(args, incomplete)
        # click takes the name of `--option=value` off itself.
        word = incomplete.partition("=")[2] if incomplete.startswith("-") else incomplete
        split = max(word.rfind(":"), word.rfind("=")) + 1
        for item in found:
            if item.type == "plain":
                item.value = item.value[split:]
        return found


@click.command("completion", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print a script that lets SHELL complete commands, targets, passes, kernels and files.

    \b
    Example:
      ingot completion bash > ~/.local/share/bash-completion/completions/ingot
      ingot completion zsh > ~/.zfunc/_ingot
      ingot completion fish > ~/.config/fish/completions/ingot.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(click.Group(), {}, "ingot", VARIABLE).source())
