"""`privhp init`: the schema of a file in, a domain file to fill in out."""

from argparse import Namespace

from privhp.cli.drafts import draft
from privhp.cli.output import check_output
from privhp.cli.reading import read_file
from privhp.errors import FileError
from privhp.io.disk import replacing
from privhp.io.sources.byte_streams import STANDARD_INPUT
from privhp.io.sources.schemas import read_schema


def run(options: Namespace) -> None:
    """Write the file."""
    if not options.output.endswith(".toml"):
        raise FileError(f"expected a domain file to be called something like domain.toml, got {options.output}")
    output = check_output(options.output, force=options.force)
    if options.data == STANDARD_INPUT:
        raise FileError("expected a file with a schema, got standard input, which can be read once; give a file")
    text = draft(read_file(read_schema, options.data))
    with replacing(output) as file:
        file.write(text.encode())
    if not options.quiet:
        print(f"wrote {output}; fill in the bounds, from public knowledge and never from the data")
