"""Arguments of `privhp completion`."""

from privhp.cli.arguments.parsers import Commands, command

_EXAMPLES = """\
examples:
  privhp completion bash > privhp.bash    # then: source privhp.bash, or keep it where bash looks
  privhp completion zsh > _privhp         # in a folder of $fpath
  privhp completion fish > privhp.fish    # in ~/.config/fish/completions
"""


def add(commands: Commands) -> None:
    """Put the command among the others."""
    parser = command(
        commands, "completion", "Print a script that lets a shell complete commands and options.", _EXAMPLES
    )
    parser.add_argument("shell", choices=["bash", "zsh", "fish"], help="the shell")
