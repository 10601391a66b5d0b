"""Releases with fewer records than their plan expects, and the likely causes."""

from collections.abc import Sequence
from typing import TypeAlias

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


Causes: TypeAlias = list[tuple[object, str]]
"""Whether a cause applies, and its text."""


class _Data:
    """What is known of the domain and of the data that was read.

    A release file does not have the formats: then causes of CSV, the most frequent one, are named, and no parameters,
    since they differ between Python and the command line. Nothing is known of the files of merged summaries.
    """

    def __init__(self, generator: Generator, *, accents: bool) -> None:
        reading, domain = generator.reading, generator.domain
        formats = reading.formats
        self.generator, self.accents = generator, accents
        self.merged = reading.merged or generator.release.merged > 1
        self.known = formats is not None
        self.in_memory = formats is not None and not formats
        self.csv = not self.merged if formats is None else "csv" in formats
        self.npy = formats is not None and "npy" in formats
        self.ndjson = formats is not None and "ndjson" in formats
        self.persons, self.declared = reading.persons, {*reading.declared}
        self.fields, self.columns = domain.fields(), domain.columns
        self.domains = [own.domain for own in domain.columns] or [domain]
        self.nearly_all = generator.total < HALF * generator.plan.expected_records
        self.misread = accents and self.csv and "encoding" not in self.declared
        """Whether accents may be read in another encoding."""

    @property
    def selected(self) -> str:
        """The parameter that selects columns, unless it was given."""
        return ": columns=" if self.known and not self.in_memory and "columns" not in self.declared else ""

    def proposed(self, *names: str) -> str:
        """Examples of the parameters of CSV that were not given."""
        examples = _DIALECT | ({"thousands": "."} if "decimal" in self.declared else {})
        texts = [f"csv=CsvDialect({name}={examples[name]!r})" for name in names if name not in self.declared]
        return f": {' or '.join(texts)}" if texts and self.csv and self.known else ""


def _causes(generator: Generator, *, accents: bool) -> list[str]:
    """Causes that apply to the domain and to the data that was read, with the parameter of `fit` to check.

    The likeliest are first: a summary that is missing, nested keys if a name has a dot, the cap of persons, an encoding
    that changes accented categories, and those of the columns. Causes that skip nearly all records apply to counts
    below half of the expected number alone.
    """
    data = _Data(generator, accents=accents)
    topics = [_of_parts, _of_persons, _of_encodings, _of_places, _of_possible_persons, _of_values, _of_csv, _of_others]
    return [text for causes_of in topics for applies, text in causes_of(data) if applies]


def _of_parts(data: _Data) -> Causes:
    dots = any("." in name for name in data.generator.domain.value_names)
    return [
        (data.merged, "a summary that is missing"),
        (data.ndjson and dots, _NESTED),
        (not data.known and not data.merged and dots, "nested keys of NDJSON, which are not read"),
    ]


def _of_persons(data: _Data) -> Causes:
    """The cap of persons; a release does not know whether there was one, but more than one record each suggests it."""
    single = data.generator.plan.max_records_per_person == 1
    beyond = "records beyond the number per person"
    return [
        (data.persons, f"{beyond}: max_records_per_person=" if single and data.known else beyond),
        (data.persons is None and not single, f"with a declared column of persons, {beyond}"),
        (data.persons and data.in_memory, "ids of persons that are neither integers, texts nor UUIDs"),
    ]


def _of_encodings(data: _Data) -> Causes:
    form = 'texts that were read in another encoding, or in another Unicode form: .str.normalize("NFC")'
    return [
        (data.misread, f"another encoding of the file{data.proposed('encoding')}"),
        (data.accents and data.in_memory, form),
    ]


def _of_places(data: _Data) -> Causes:
    """Causes that skip nearly all records, since values are read from other columns."""
    if not data.nearly_all:
        return []
    points, several = len(data.fields) > max(len(data.columns), 1), len(data.columns) > 1
    arrays = data.in_memory and data.generator.frame is None
    numbered = not data.columns and data.generator.domain.declared_names is None
    nameless = data.npy or arrays or data.merged or (data.csv and (not data.known or "header" in data.declared))
    swapped = ", such as latitude before longitude" if "geo" in _kinds(data) else ""
    return [
        (points, f"columns in another order{swapped}{data.selected}"),
        (not points and several and nameless, f"columns without names in another order{data.selected}"),
        (arrays and data.columns, "records that are not tuples, dicts or rows of a frame (files are a list of Paths)"),
        (
            data.csv and numbered,
            f"another column of a file without a header, where numbers count from 1{data.selected}",
        ),
    ]


def _of_possible_persons(data: _Data) -> Causes:
    single = data.generator.plan.max_records_per_person == 1
    return [(data.persons is None and single, "with a declared column of persons, records beyond one for each")]


def _of_values(data: _Data) -> Causes:
    specs, kinds = [own.inner.cell_spec() for own in data.domains], _kinds(data)
    nullable = [own.nullable for own in data.domains]
    unbounded = [spec for spec in specs if spec.get("outside") == "clamp" or "other" in spec or spec.keys() == {"kind"}]
    dropping = {spec["kind"] for spec in specs if spec not in unbounded}
    times = sorted({spec.get("format", _ISO) for spec in specs if spec["kind"] == "time"})
    form = f"times in another form than {' or '.join(times)}, which a column of kind time declares by its format"
    nulls = f"missing values in nullable columns that are written otherwise than {NULL_TEXTS[0]}"
    nulls += ": csv=CsvDialect(nulls=['-'])" if data.known else ""
    total, noise = data.generator.total, data.generator.total_stderr
    return [
        (any(field.kind in (FieldKind.REAL, FieldKind.INTEGER) for field in data.fields), _describe_numbers(data)),
        ("integers" in kinds, "numbers with decimals where integers are declared"),
        (times, form + (_propose_form(times) if data.known else "")),
        (data.csv and any(nullable) and "nulls" not in data.declared, nulls),
        (kinds & _ADDRESSES, "texts that are not addresses, such as addresses with a port"),
        (dropping & _BOUNDED, "values outside the bounds"),
        (dropping & _LISTED, "values that are not declared"),
        (dropping - _BOUNDED - _LISTED, "values outside the domain"),
        (not all(nullable), "missing values in columns that are not nullable"),
        (total <= NOISE_Z * noise, "no rows: the input may be empty"),
    ]


def _of_csv(data: _Data) -> Causes:
    if not data.csv:
        return []
    dialect = ["delimiter"] if data.misread else ["delimiter", "encoding"]
    quotes = 'quotes (") that are not closed or, inside quotes, not doubled'
    quotes += _QUOTES if data.known and "records" not in data.declared else ""
    lines = {"records", "header"} <= data.declared
    awk = "column numbers of awk: a quoted field is one column here, unless csv=CsvDialect(records='unquoted')"
    return [
        (data.nearly_all, f"another {' or '.join(dialect)} of the file{data.proposed(*dialect)}"),
        ("header" not in data.declared, "records with another number of fields than the header"),
        ("unquoted" not in data.declared, quotes),
        (lines and "unquoted" not in data.declared, awk),
    ]


def _of_others(data: _Data) -> Causes:
    array = 'in NDJSON, one JSON array in place of one object per line, which jq -c ".[]" writes'
    arrays = "a list of arrays, each of which is one record: join them with numpy.concatenate"
    return [
        (data.nearly_all and data.ndjson, array),
        (data.ndjson, f"in NDJSON, a key that the objects do not have (nested keys are not read){data.selected}"),
        (data.nearly_all and data.in_memory and data.generator.frame is None, arrays),
        (not data.in_memory, "an input that was cut short, such as a pipe"),
    ]


def _kinds(data: _Data) -> set[str]:
    """Kinds of the domains of the columns."""
    return {own.inner.cell_spec()["kind"] for own in data.domains}


def _describe_numbers(data: _Data) -> str:
    """Texts that are no numbers, and the parameters that declare other forms of numbers."""
    texts = ["text", *(text for name, text in _FORMS_OF_NUMBERS.items() if data.csv and name not in data.declared)]
    texts += ["numbers that are not written as declared"] if data.declared & _FORMS_OF_NUMBERS.keys() else []
    form = " or ".join(filter(None, (", ".join(texts[:-1]), texts[-1])))
    return f"{form} where numbers are declared{data.proposed(*_FORMS_OF_NUMBERS)}"


def _propose_form(times: Sequence[str]) -> str:
    """Another form of times than the declared ones, as the parameter that declares it."""
    epochs = [_OTHER_EPOCH[own] for own in times if own in _OTHER_EPOCH]
    form = next((own for own in (*epochs, *_DATES) if own not in times), _DATES[0])
    numbers = "; epoch or epoch_ms for numbers since 1970" if _ISO in times else ""
    return f': :format={form} on the command line, format = "{form}" in a domain file or in Python{numbers}'
