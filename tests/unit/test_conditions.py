"""Conditions as text: the regions they are read as, the messages about wrong ones, and the way back."""

import ipaddress
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from privhp import (
    Box,
    Categories,
    Domain,
    DomainError,
    Geo,
    Integers,
    Interval,
    IPv4,
    IPv6,
    Nullable,
    Pattern,
    Table,
    Taxonomy,
    Time,
)
from privhp.domains.conditions import format_condition, read_condition
from privhp.domains.unions import AnyOf, share_inside

DAY = np.datetime64("2018-02-01")

SINGLE_NUMBER = "column 'fare': a single number such as 5 has measure 0 among real numbers; ask for a range"
TRIPS = Table(
    {
        "pickup": Time("2018-01-01", "2018-12-31", zone="Europe/Berlin"),
        "day": Time("2018-01-01", "2018-12-31", unit="D"),
        "fare": Interval(0, 500),
        "kind": Categories(["cash", "card", "gift card"], other="rest"),
        "floor": Categories([1, 2, 3]),
        "service": Taxonomy({"web": ["http", "https"], "mail": None}),
        "delay": Nullable(Integers(-120, 1440)),
        "source": IPv4(),
        "sixth": Nullable(IPv6("2001:db8::/32")),
        ("lon", "lat"): Geo(),
        ("x", "y"): Nullable(Box([(0, 1), (0, 9)])),
        "odd name": Interval(0, 1),
    }
)


def second(text: str) -> np.datetime64:
    return np.datetime64(text, "s")


@pytest.mark.parametrize(
    ("text", "region"),
    [
        ("fare < 10", {"fare": (None, 10)}),
        ("fare>=2.5 AND fare<1e1", {"fare": (2.5, 10.0)}),
        ("fare > 2 and kind = cash", {"fare": (2, None), "kind": "cash"}),
        ("fare>2&&kind=cash", {"fare": (2, None), "kind": "cash"}),
        ("fare < 5 || fare between 4 && 9", {"fare": (None, 9)}),
        ("kind in [cash, 'gift card', rest]", {"kind": ["cash", "gift card", "rest"]}),
        ("floor = 2", {"floor": 2}),
        ("floor in [1,3]", {"floor": [1, 3]}),
        ("service = web/https", {"service": "web/https"}),
        ("service in [web, mail]", {"service": ["web", "mail"]}),
        ("delay is null", {"delay": None}),
        ("delay Is Not Null", {"delay": (None, None)}),
        ("delay is not null and delay < -1", {"delay": (None, -2)}),
        ("delay = 7", {"delay": (7, 7)}),
        ("delay <= -2 and delay > -5.5", {"delay": (-5, -2)}),
        ("source in 10.0.0.0/8", {"source": "10.0.0.0/8"}),
        ("source = 10.0.0.1", {"source": "10.0.0.1/32"}),
        ("sixth in 2001:db8:1::/48", {"sixth": "2001:db8:1::/48"}),
        ("sixth is not null", {"sixth": "2001:db8::/32"}),
        ("lon,lat in -9:49.8:2:61", {("lon", "lat"): (-9, 49.8, 2, 61)}),
        ("x,y in 0:0.5,1:2", {("x", "y"): [(0, 0.5), (1, 2)]}),
        ("y < 3 and x >= 0.5 and y > 1", {("x", "y"): [(0.5, None), (1, 3)]}),
        ("x,y is null", {("x", "y"): None}),
        ("x,y is not null", {("x", "y"): [None, None]}),
        ("'odd name' < 0.5", {"odd name": (None, 0.5)}),
        ("pickup < 2018-02-01", {"pickup": (None, second("2018-01-31T22:59:59"))}),
        ("pickup <= '2018-02-01 00:00:00.5'", {"pickup": (None, second("2018-01-31T23:00:00"))}),
        ("pickup >= 2018-02-01T00:00:00.5Z", {"pickup": (second("2018-02-01T00:00:01"), None)}),
        ("day > 2018-02-01 and day < 2018-02-05", {"day": (np.datetime64("2018-02-02"), np.datetime64("2018-02-04"))}),
        ("day = 2018-02-01", {"day": (np.datetime64("2018-02-01"),) * 2}),
        ("delay == 7", {"delay": (7, 7)}),
        ("fare between 2.5 and 10 and kind = cash", {"fare": (2.5, 10), "kind": "cash"}),
        ("kind != cash", {"kind": ["card", "gift card", "rest"]}),
        ("kind != cash and kind != rest", {"kind": ["card", "gift card"]}),
        ("kind = cash or kind in [card, rest]", {"kind": ["cash", "card", "rest"]}),
        ("floor != 2", {"floor": [1, 3]}),
        ("service != web/http", {"service": ["https", "mail"]}),
        ("fare < 5 or fare between 4 and 9", {"fare": (None, 9)}),
    ],
)
def test_region_of_condition(text: str, region: Any) -> None:
    assert read_condition(text, TRIPS) == region
    TRIPS.overlap(region, np.zeros(1, dtype=np.uint64), level=0)  # raises if it is not a region


@pytest.mark.parametrize(
    ("text", "regions"),
    [
        ("delay in [22, 445, 22]", [{"delay": (22, 22)}, {"delay": (445, 445)}]),
        ("delay != 7 and delay < 10", [{"delay": (None, 6)}, {"delay": (8, 9)}]),
        ("delay is null or delay > 30", [{"delay": (31, None)}, {"delay": None}]),
        ("fare < 5 or fare > 7 or fare > 6", [{"fare": (None, 5)}, {"fare": (6, None)}]),
        ("delay != 7 and kind = cash", [{"kind": "cash", "delay": (None, 6)}, {"kind": "cash", "delay": (8, None)}]),
        ("day < 2018-02-01 or day = 2018-03-01", [{"day": (None, DAY - 1)}, {"day": (DAY + 28, DAY + 28)}]),
    ],
)
def test_union_of_condition(text: str, regions: list[Any]) -> None:
    region = read_condition(text, TRIPS)
    assert region == AnyOf(tuple(regions))
    root = np.zeros(1, dtype=np.uint64)
    shares = [TRIPS.overlap(own, root, level=0)[0] for own in regions]
    assert share_inside(TRIPS, region, root, level=0)[0] == pytest.approx(sum(shares))


def test_condition_of_too_many_ranges() -> None:
    ports = ", ".join(map(str, range(0, 1400, 2)))
    with pytest.raises(DomainError, match="at most 1,000 ranges; query parts of it"):
        read_condition(f"delay in [{ports}] and day != 2018-02-01", TRIPS)


@pytest.mark.parametrize(
    ("domain", "names", "text", "region"),
    [
        (Interval(0, 1).named("fare"), None, "fare < 0.5", (None, 0.5)),
        (Interval(0, 1), None, "value < 0.5", (None, 0.5)),
        (Interval(0, 1), ["fare"], "fare < 0.5", (None, 0.5)),
        (Nullable(Integers(0, 9)), None, "value is null", None),
        (Box([(0, 1), (0, 1)]), None, "x2 < 0.5", [None, (None, 0.5)]),
        (Box([(0, 1)]), None, "x1 in 0:0.5", [(0, 0.5)]),
        (Box([(0, 1)]), None, "x1 < 0.5", [(None, 0.5)]),
        (Geo(), None, "longitude,latitude in 0:0:1:1", (0, 0, 1, 1)),
        (Geo(), ["lon", "lat"], "lon,lat in 0:0:1:1", (0, 0, 1, 1)),
        (IPv4(), None, "value in 10.0.0.0/8", "10.0.0.0/8"),
    ],
)
def test_condition_without_table(domain: Domain, names: list[str] | None, text: str, region: Any) -> None:
    assert read_condition(text, domain, names=names) == region


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "expected the name of a column, got the end"),
        ("fare", "column 'fare': expected one of <= >= < > = != in between is, got the end"),
        ("fare 10", "column 'fare': expected one of <= >= < > = != in between is, got '10'"),
        ("fare <", "column 'fare': expected a value, got the end"),
        ("fare != 5", SINGLE_NUMBER),
        ("fare == 5", SINGLE_NUMBER),
        ("fare < 5 or kind = cash", "or joins conditions on one column, got several columns; query each separately"),
        ("fare < 5 or fare > 7 and kind = cash", "or joins conditions on one column"),
        ("source != 0.0.0.0/0", "column 'source': no address meets all conditions"),
        ("source in 10.0.0.0/8 and source = 1.1.1.1", "column 'source': no address meets all conditions"),
        ("source = 10.1", "column 'source': expected an address such as \"10.0.0.1\" or a prefix such as"),
        ("source = 10.0.0.300", "got '10.0.0.300': octet 300 (> 255) not permitted"),
        ("source in 10.0.0.0/33", "got '10.0.0.0/33': '33' is not a valid netmask"),
        ("source in 45.148.10.1/24", "'45.148.10.1/24', which has bits after its prefix; write 45.148.10.0/24"),
        ("x < 0.2 or x > 0.5", "column 'x,y': conditions on this column cannot be joined by or"),
        ("delay between 5", "column 'delay': expected between LOW and HIGH, got the end"),
        ("delay between 7 and 5", "column 'delay': no value meets all conditions"),
        ("fare < 5 or", "expected the name of a column, got the end"),
        ("kind = a,b", "got ','; quote names and values with spaces"),
        ("fare < 5 fare > 7", "expected and, or, or the end of the condition, got 'fare'"),
        ("fare < 5 and", "expected the name of a column, got the end"),
        ("fare < 'ten", "close quotes"),
        ("fair < 5", "got one on 'fair'; did you mean fare?"),
        ("FARE < 5", "got one on 'FARE'; did you mean fare?"),
        ("lat > 5", "column 'lon,lat': expected lon,lat in WEST:SOUTH:EAST:NORTH"),
        ("colour = red", "expected a condition on pickup or day or fare"),
        ("fare < ten", "column 'fare': expected a number, got 'ten'"),
        ("fare < nan", "column 'fare': expected a finite number for the value"),
        ("fare = 5", SINGLE_NUMBER),
        ("fare in [5, 6]", SINGLE_NUMBER),
        ("fare in 5,6", "column 'fare': expected a range, written NAME >= LOW and NAME <= HIGH, or in [VALUE]"),
        ("fare > 7 and fare < 5", "column 'fare': no value meets all conditions"),
        ("delay > 3 and delay < 4", "column 'delay': no value meets all conditions"),
        ("delay = 1.5", "column 'delay': '1.5' is not a possible value"),
        ("fare is null", "column 'fare': its values cannot be null"),
        ("delay is null and delay > 5", "column 'delay': null meets no other condition"),
        ("delay is 5", "column 'delay': expected is null or is not null, got '5'"),
        ("kind < cash", "column 'kind': expected = VALUE or in [VALUE, VALUE], got < cash"),
        ("kind = cahs", "column 'kind': expected a declared value, such as cash, got 'cahs'; did you mean cash?"),
        ("kind in [cash", "column 'kind': expected a list that ends in ] or ), got the end"),
        ("kind = cash and kind = card", "column 'kind': no value meets all conditions"),
        ("kind != cahs", "column 'kind': expected a declared value, such as cash, got 'cahs'; did you mean cash?"),
        ("source > 10.0.0.1", "column 'source': expected a prefix, such as in "),
        ("source in 10.0.0.1,10.0.0.2", "column 'source': expected a prefix, such as in "),
        ("lon,lat in 1:2:3", "column 'lon,lat': expected lon,lat in WEST:SOUTH:EAST:NORTH"),
        ("x,y in 1:2", "column 'x,y': expected in LOW:HIGH,LOW:HIGH, one pair per coordinate"),
        ("x,y < 5", "column 'x,y': expected in LOW:HIGH,LOW:HIGH"),
        ("x in 0:1", "column 'x,y': expected a range, written NAME >= LOW and NAME <= HIGH"),
        ("pickup < soon", "column 'pickup': expected a time such as"),
        ("day = 2018-02-01T12:00", "column 'day': '2018-02-01T12:00' is not a possible value"),
    ],
)
def test_wrong_condition(text: str, says: str) -> None:
    with pytest.raises(DomainError) as refusal:
        read_condition(text, TRIPS)
    assert says in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_number_of_names() -> None:
    with pytest.raises(DomainError, match="expected 2 names for the values of Box"):
        read_condition("x < 1", Box([(0, 1), (0, 1)]), names=["x"])


class Barcodes(Domain):
    """A custom domain with the defaults of the protocol."""

    kind = "conditions-barcodes"
    depth = 1
    encode = diameter = parameters = None  # type: ignore[assignment]  # never called

    def decode(self, codes, *, level, rng):
        return rng.random(codes.size)


class Ranks(Barcodes):
    """An ordered custom domain with the defaults of the protocol."""

    kind = "conditions-ranks"
    ordered = True


@pytest.mark.parametrize(
    ("domain", "text", "region"),
    [
        (Barcodes(), "value = GA", "GA"),
        (Barcodes(), "value in GA", "GA"),
        (Barcodes(), "value in [GA, 'T C']", ["GA", "T C"]),
        (Ranks(), "value >= 2 and value < 5", (2, 5)),
    ],
)
def test_condition_of_custom_domain(domain: Domain, text: str, region: Any) -> None:
    assert read_condition(text, domain) == region
    assert read_condition(format_condition(region, domain), domain) == region


def test_region_of_custom_domain_without_regions() -> None:
    with pytest.raises(DomainError, match="has no regions"):
        Barcodes().overlap(read_condition("value = GA", Barcodes()), np.zeros(1, dtype=np.uint64), level=0)


def test_condition_of_region() -> None:
    assert format_condition({"fare": (0.0, 31.25), "kind": "gift card", "delay": None}, TRIPS) == (
        "fare >= 0.0 and fare < 31.25 and kind = 'gift card' and delay is null"
    )
    assert format_condition({"kind": ["cash", "card"], ("lon", "lat"): (0.0, 1.0, 2.0, 3.0)}, TRIPS) == (
        "kind in [cash, card] and lon,lat in 0.0:1.0:2.0:3.0"
    )
    assert format_condition("10.0.0.0/8", IPv4(), names=["source"]) == "source in 10.0.0.0/8"
    assert format_condition({}, TRIPS) == "everything"


def test_advice_on_names() -> None:
    """Only a release without names is told to give names."""
    with pytest.raises(DomainError, match=r"got one on 'fare'; values of a release without .* names=\['fare'\]"):
        read_condition("fare < 5", Interval(0, 10))
    with pytest.raises(DomainError, match=r"expected a condition on fare, got one on 'value'$"):
        read_condition("value < 5", Interval(0, 10).named("fare"))
    with pytest.raises(DomainError, match=r"expected a condition on fare, got one on 'value'$"):
        read_condition("value < 5", Interval(0, 10), names=["fare"])


@pytest.mark.parametrize("word", ["null", "NULL", "NA", "n/a", "nan", "None"])
def test_words_for_null(word: str) -> None:
    delays = Nullable(Integers(0, 9))
    assert read_condition(f"value = {word}", delays) is None
    assert read_condition(f"value != {word}", delays) == read_condition("value is not null", delays)
    assert read_condition(f"value != {word} and value > 5", delays) == (6, None)
    either = read_condition("value is null or value > 5", delays)
    assert read_condition(f"value = {word} or value > 5", delays) == either
    with pytest.raises(DomainError, match=r"expected a (finite )?number"):
        read_condition(f"value = {word}", Integers(0, 9))


def test_declared_values_are_never_null() -> None:
    assert read_condition("value = NA", Nullable(Categories(["NA", "DE"]))) == "NA"
    assert read_condition("value = null", Nullable(Categories(["NA", "DE"]))) is None
    assert read_condition("value = NA", Nullable(Pattern("[A-Z]{2}"))) == read_condition(
        "value = NA", Pattern("[A-Z]{2}")
    )


@pytest.mark.parametrize("domain", [IPv4("10.0.0.0/28"), Nullable(IPv4("10.0.0.0/28")), IPv6("2001:db8::/124")])
@given(data=st.data())
def test_prefixes(domain: Domain, data: st.DataObject) -> None:
    """Conditions on addresses hold for the addresses for which a slow reading of each comparison holds."""
    network = ipaddress.ip_network("2001:db8::/124" if isinstance(domain, IPv6) else "10.0.0.0/28")
    bits = network.max_prefixlen
    addresses = list(network)

    def prefix() -> Any:
        length = data.draw(st.integers(bits - 5, bits))
        return ipaddress.ip_network((data.draw(st.sampled_from(addresses)), length), strict=False)

    def comparison() -> tuple[str, set[Any]]:
        named = [prefix() for _ in range(data.draw(st.integers(1, 3)))]
        inside = {address for address in addresses if any(address in own for own in named)}
        if len(named) > 1:
            return f"value in [{', '.join(map(str, named))}]", inside
        sign = data.draw(st.sampled_from(["=", "in", "!="]))
        return f"value {sign} {named[0]}", set(addresses) - inside if sign == "!=" else inside

    texts, expected = [], set[Any]()
    for _ in range(data.draw(st.integers(1, 2))):
        both = [comparison() for _ in range(data.draw(st.integers(1, 2)))]
        texts.append(" and ".join(text for text, _ in both))
        met = set.intersection(*(inside for _, inside in both))
        assume(met)  # a condition that no address meets is refused
        expected |= met
    codes = domain.encode(list(map(str, addresses)), level=domain.depth)
    region = read_condition(" or ".join(texts), domain)
    shares = share_inside(domain, region, codes, level=domain.depth)
    assert shares.tolist() == [float(address in expected) for address in addresses]


@pytest.mark.parametrize(
    ("domain", "region", "condition"),
    [
        (Interval(0, 8), (0.0, 4.0), "fare >= 0.0 and fare < 4.0"),
        (Interval(0, 8), (4.0, 8.0), "fare >= 4.0 and fare <= 8.0"),
        (Interval(1, 16, scale="log"), (1.0, 4.0), "fare >= 1.0 and fare < 4.0"),
        (Nullable(Interval(0, 8)), (0.0, 4.0), "fare >= 0.0 and fare < 4.0"),
        (Interval(0, 8, step="0.5"), (0.0, 3.5), "fare >= 0.0 and fare <= 3.5"),
        (Integers(0, 7), (0, 3), "fare >= 0 and fare <= 3"),
    ],
    ids=repr,
)
def test_cells_of_real_numbers_are_half_open(domain: Domain, region: Any, condition: str) -> None:
    """The number between two cells is in one of them alone."""
    assert format_condition(region, domain, names=["fare"]) == condition
    assert read_condition(condition, domain, names=["fare"]) == region


@pytest.mark.parametrize(
    ("value", "low", "high"),
    [("5", "4.5", "5.5"), ("19.99", "19.985", "19.995"), ("-1.0", "-1.05", "-0.95"), ("1e3", "999.5", "1000.5")],
)
def test_range_in_place_of_a_single_number(value: str, low: str, high: str) -> None:
    with pytest.raises(DomainError, match=f"such as between {low} and {high}"):
        read_condition(f"fare = {value}", TRIPS)
    assert read_condition(f"fare between {low} and {high}", TRIPS) == {"fare": (float(low), float(high))}


@pytest.mark.parametrize("value", ["(d)", "in(d)", "In(", "not(d)", "or(", "(", "d)", "()"])
def test_values_with_parentheses(value: str) -> None:
    """A list may stand in parentheses, so a value that begins with one is quoted."""
    domain = Categories([value, "other"]).named("kind")
    for region in (value, [value, "other"]):
        assert read_condition(format_condition(region, domain), domain) == region
    codes = Pattern("[(][0-9][)][0-9]").named("code")
    assert read_condition(format_condition("(1*", codes), codes) == "(1*"
