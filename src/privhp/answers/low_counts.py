"""Releases with fewer records than their plan expects, and the likely causes."""

from collections.abc import Sequence

from privhp.answers.generator import NOISE_Z, Generator
from privhp.answers.unseen_categories import describe_unseen_categories
from privhp.domains.fields import NULL_TEXTS, FieldKind
from privhp.errors import LowCountError

_ISO = "2024-12-31 or 2024-12-31T19:30"
_ADDRESSES = {"ipv4", "ipv6"}
_BOUNDED = {"interval", "integers", "box", "geo", "time"} | _ADDRESSES
_LISTED = {"categories", "taxonomy", "pattern"}
_DIALECT = {"delimiter": ";", "encoding": "cp1252", "currency": "$", "thousands": ",", "decimal": ","}
_QUOTES = (
    "; if each line is a record: csv=CsvDialect(records='lines'), or csv=CsvDialect(records='unquoted') if quotes are "
    "characters like others"
)
_NESTED = (
    "in NDJSON, nested keys are not read: a name with a dot is a key with a dot, which "
    "jq -c '. + {\"user.age\": .user.age}' writes"
)
_FORMS_OF_NUMBERS = {
    "currency": "percent or currency signs",
    "thousands": "thousands separators",
    "decimal": "decimal commas",
}
"""Numbers that are read as declared alone, by the parameter that declares them."""
_OTHER_EPOCH = {"epoch": "epoch_ms"} | dict.fromkeys(("epoch_ms", "epoch_us", "epoch_ns"), "epoch")
_DATES = ("%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y")
"""Frequent forms of dates."""
HALF = 1 / 2
"""A count below this share of the expected number may have nearly all records skipped."""


def describe_low_count(generator: Generator) -> str | None:
    """Text on a noisy count below the expected number, with a line for each likely cause; None for other counts.

    Parameters of the reading that were given are not proposed.
    """
    if not generator.is_below_expected:
        return None
    unseen = describe_unseen_categories(generator)
    accents = unseen is not None and not unseen.isascii()
    causes = _causes(generator, accents=accents) + ([] if unseen is None else [unseen])
    return (
        f"{generator.counted_text} and {generator.plan.expected_records:,} were expected: records "
        "may have been skipped. Likely causes, if that number was right:"
        + "".join(f"\n- {cause}" for cause in causes)
        + "\nCheck them before you use the release; a second fit of the same data costs epsilon again"
    )


def check_min_records(generator: Generator, least: int | None) -> None:
    """Refuse a release whose noisy number of records is below `min_records=`; the error holds its generator."""
    if least is not None and generator.total < least:
        raise LowCountError(f"{generator.counted_text}, fewer than min_records={least:,}", generator)


def _causes(generator: Generator, *, accents: bool) -> list[str]:
    """Causes that apply to the domain and to the data that was read, with the parameter of `fit` to check.

    The likeliest are first: a summary that is missing, nested keys if a name has a dot, the cap of persons, an encoding
    that changes accented categories, and those of the columns. Causes that skip nearly all records apply to counts
    below half of the expected number alone, and causes of formats not to merged summaries, whose files are not known.
    """
    formats, persons, declared = generator.reading.formats, generator.reading.persons, {*generator.reading.declared}
    merged = generator.reading.merged or generator.release.merged > 1
    examples = _DIALECT | ({"thousands": "."} if "decimal" in declared else {})

    def proposed(*names: str) -> str:
        texts = [f"csv=CsvDialect({name}={examples[name]!r})" for name in names if name not in declared]
        return f": {' or '.join(texts)}" if texts else ""

    domain = generator.domain
    fields, columns = domain.fields(), domain.columns
    specs = [own.domain.inner.cell_spec() for own in columns] or [domain.inner.cell_spec()]
    kinds = {spec["kind"] for spec in specs}
    unbounded = [spec for spec in specs if spec.get("outside") == "clamp" or "other" in spec or spec.keys() == {"kind"}]
    dropping = {spec["kind"] for spec in specs if spec not in unbounded}
    times = sorted({spec.get("format", _ISO) for spec in specs if spec["kind"] == "time"})
    csv, ndjson, npy = (not merged if formats is None else each in formats for each in ("csv", "ndjson", "npy"))
    nullable = [own.domain.nullable for own in columns] or [domain.nullable]
    in_memory = formats is not None and not formats
    numbers = any(field.kind in (FieldKind.REAL, FieldKind.INTEGER) for field in fields)
    points, numbered = len(fields) > max(len(columns), 1), not columns and domain.declared_names is None
    texts = ["text", *(text for name, text in _FORMS_OF_NUMBERS.items() if csv and name not in declared)]
    texts += ["numbers that are not written as declared"] if declared & _FORMS_OF_NUMBERS.keys() else []
    form = " or ".join(filter(None, (", ".join(texts[:-1]), texts[-1])))
    swapped = ", such as latitude before longitude" if "geo" in kinds else ""
    selected = "" if in_memory or merged or "columns" in declared else ": columns="
    misread = accents and csv and "encoding" not in declared
    dialect = ["delimiter"] if misread else ["delimiter", "encoding"]
    beyond = "records beyond the number per person"
    beyond += ": max_records_per_person=" if generator.plan.max_records_per_person == 1 else ""
    nearly_all = generator.total < HALF * generator.plan.expected_records
    likely = {
        "a summary that is missing": merged,
        _NESTED: ndjson and any("." in name for name in domain.value_names),
        beyond: persons,
        "ids of persons that are neither integers, texts nor UUIDs": persons and in_memory,
        f"another encoding of the file{proposed('encoding')}": misread,
        'texts that were read in another encoding, or in another Unicode form: .str.normalize("NFC")': accents
        and in_memory,
        f"columns in another order{swapped}{selected}": nearly_all and points,
        f"columns without names in another order{selected}": nearly_all
        and not points
        and len(columns) > 1
        and (csv or npy or in_memory or merged),
        "records that are not tuples, dicts or rows of a frame (files are a list of Paths)": nearly_all
        and columns
        and in_memory
        and generator.frame is None,
        f"another column of a file without a header, where numbers count from 1{selected}": nearly_all
        and csv
        and numbered,
        f"{form} where numbers are declared{proposed(*_FORMS_OF_NUMBERS) * csv}": numbers,
        "numbers with decimals where integers are declared": "integers" in kinds,
        f"times in another form than {' or '.join(times)}, which a column of kind time declares by its format"
        f"{_propose_form(times)}": times,
        f"missing values in nullable columns that are written otherwise than {NULL_TEXTS[0]}: "
        "csv=CsvDialect(nulls=['-'])": csv and any(nullable) and "nulls" not in declared,
        "texts that are not addresses, such as addresses with a port": kinds & _ADDRESSES,
        "values outside the bounds": dropping & _BOUNDED,
        "values that are not declared": dropping & _LISTED,
        "values outside the domain": dropping - _BOUNDED - _LISTED,
        "missing values in columns that are not nullable": not all(nullable),
        "no rows: the input may be empty": generator.total <= NOISE_Z * generator.total_stderr,
        f"another {' or '.join(dialect)} of the file{proposed(*dialect)}": nearly_all and csv,
        "records with another number of fields than the header": csv and "header" not in declared,
        'quotes (") that are not closed or, inside quotes, not doubled'
        f"{_QUOTES if 'records' not in declared else ''}": csv and "unquoted" not in declared,
        "column numbers of awk: a quoted field is one column here, unless csv=CsvDialect(records='unquoted')": csv
        and {"records", "header"} <= declared
        and "unquoted" not in declared,
        'in NDJSON, one JSON array in place of one object per line, which jq -c ".[]" writes': nearly_all and ndjson,
        f"in NDJSON, a key that the objects do not have (nested keys are not read){selected}": ndjson,
        "a list of arrays, each of which is one record: join them with numpy.concatenate": nearly_all
        and in_memory
        and generator.frame is None,
        "an input that was cut short, such as a pipe": not in_memory,
        f"with a declared column of persons, {beyond}": persons is None,
    }
    return [cause for cause, applies in likely.items() if applies]


def _propose_form(times: Sequence[str]) -> str:
    """Another form of times than the declared ones, as the parameter that declares it."""
    epochs = [_OTHER_EPOCH[own] for own in times if own in _OTHER_EPOCH]
    form = next((own for own in (*epochs, *_DATES) if own not in times), _DATES[0])
    numbers = "; epoch or epoch_ms for numbers since 1970" if _ISO in times else ""
    return f': :format={form} on the command line, format = "{form}" in a domain file or in Python{numbers}'
