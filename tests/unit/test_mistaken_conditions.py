"""Numbers and signs in conditions as people write them elsewhere: the message says what to write."""

import pytest

from privhp import Categories, Domain, DomainError, Geo, Integers, Interval, IPv4, Nullable, Pattern, Table
from privhp.domains.conditions import read_condition


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("fare < 1,000", "got ','; write 1000 without a separator or 1.000, with a decimal point"),
        ("fare < $20,000", "got ','; write 20000"),
        ("fare < -$1,000", "got ','; write -1000"),
        ("fare < $9,99", "got ','; write 9.99, with a decimal point"),
        ("fare < $1000", "expected a number, got '$1000'; write 1000"),
        ("fare < 1,000,000 EUR", "got ','; write 1000000"),
        ("fare < -€1.234,50", "got ','; write -1234.50"),
        ("fare < 1,234.50", "got ','; write 1234.50"),
        ("fare between $1,000.00 and $2,000.00", "got ','; write 1000.00"),
        ("fare < 1,", "expected and, or, or the end of the condition, got ','; quote names and values with spaces"),
        ("fare < 5 10", "expected and, or, or the end of the condition, got '10'; quote names and values with spaces"),
        ("fare < 10.0.0.1", "expected a number, got '10.0.0.1'"),
        ("fare => 10", "column 'fare': expected one of <= >= < > = !=; write >="),
        ("fare =< 10", "column 'fare': expected one of <= >= < > = !=; write <="),
        ("NOT fare < 10", "not is not read before a condition; write fare != VALUE, or fare is not null"),
        ("fare not between 10 and 20", "column 'fare': not between is not read; write fare < 10 or fare > 20"),
        ("fare not between 10", "column 'fare': expected between LOW and HIGH, got the end"),
        ("fare not like '9%'", "not like is not read; write fare != VALUE, or fare is not null"),
        ("fare not null", "not null is not read; write fare != VALUE, or fare is not null"),
        ("fare like '9%'", "written NAME >= LOW and NAME <= HIGH, or in [VALUE], got like 9%"),
        ("fare like", "column 'fare': expected a value, got the end"),
        ("9 > fare < 10", "column 'fare': expected two signs in one direction, such as 0 < fare < 18"),
        ("9 = fare = 9", "column 'fare': expected two signs in one direction, such as 0 < fare < 18"),
        ("0,5 < fare < 7", "column 'fare': expected a value before it, got '0,5'; write 0.5, with a decimal point"),
        ("1 < fare < 7,5", "got ','; write 7.5, with a decimal point"),
        ("1 < fare <", "column 'fare': expected a value, got the end"),
        ("1 < fare =< 9", "column 'fare': expected one of <= >= < > = !=; write <="),
        ("5 <= fare", "expected the name of a column before the value; write fare >= 5"),
        ("5 < fare and fare < 9", "expected the name of a column before the value; write fare > 5"),
        ("'5 %' = fare", "expected the name of a column before the value; write fare = '5 %'"),
        ("5 <= tip", "expected a condition on fare, got one on '5'"),
        ("fare in (10", "expected a list that ends in ] or ), got the end"),
        ("fare < 9,99", "got ','; write 9.99, with a decimal point"),
        ("fare > -9,5 and fare < 7", "got ','; write -9.5, with a decimal point"),
        ("fare between 0,5 and 7", "got ','; write 0.5, with a decimal point"),
    ],
)
def test_numbers_and_signs(text: str, says: str) -> None:
    with pytest.raises(DomainError) as refusal:
        read_condition(text, Interval(0, 1e6).named("fare"))
    assert str(refusal.value).endswith(says)


@pytest.mark.parametrize(
    "text",
    [
        "(fare < 5 or fare > 7) and fare < 9",
        "fare < 9 and (fare < 5 or fare > 7)",
        "fare < 9 or(fare > 12)",
        "(fare < 9)",
        "not (fare = 1)",
        "NOT(fare = 1)",
        "(0 < fare < 9)",
    ],
)
def test_parentheses_around_conditions(text: str) -> None:
    binds = 'without parentheses around them, got .*; "and" binds before "or"; quote a name that begins with a paren'
    with pytest.raises(DomainError, match=binds):
        read_condition(text, Integers(0, 99).named("fare"))


@pytest.mark.parametrize(
    ("domain", "text", "says"),
    [
        (IPv4(), "value like '8.8.8.%'", "; write in 8.8.8.0/24"),
        (IPv4(), "value LIKE '8.%'", "; write in 8.0.0.0/8"),
        (IPv4(), "value like '8%'", "or a list in [...], got like 8%"),
        (Pattern("E[0-9]{2}"), "value LIKE 'E1%'", "like is not read; write in E1* for texts that begin so"),
        (Categories(["Dover", "York"]), "value like 'D%'", "expected = VALUE or in [VALUE, VALUE], got like D%"),
        (
            Nullable(Categories(["Dover", "York"])),
            "value like 'D%'",
            "expected = VALUE or in [VALUE, VALUE], got like D%",
        ),
    ],
)
def test_patterns_of_sql(domain: Domain, text: str, says: str) -> None:
    """The advice is that of the domain."""
    with pytest.raises(DomainError) as refusal:
        read_condition(text, domain)
    assert str(refusal.value).endswith(says)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("n <> 3", "n != 3"),
        ("n not in (3, 4)", "n != 3 and n != 4"),
        ("n NOT IN [3] and kind not in (a)", "n != 3 and kind != a"),
        ("n not in (3) or n = 3", "n != 3 or n = 3"),
        ("kind not in a", "kind != a"),
        ("0 < n < 8", "n > 0 and n < 8"),
        ("8>=n>3 and kind = a", "n <= 8 and n > 3 and kind = a"),
        ("1 <= n < 3 or 5 < n <= 6", "n >= 1 and n < 3 or n > 5 and n <= 6"),
        ("n in (1, 2)", "n in [1, 2]"),
        ("kind IN ('a','b (c)') and n in(1,2)", "kind in [a, 'b (c)'] and n in [1, 2]"),
        ("kind in (a) or kind = (d)", "kind in [a, '(d)']"),
    ],
)
def test_forms_of_sql(text: str, same: str) -> None:
    table = Table(n=Integers(0, 9), kind=Categories(["a", "b (c)", "(d)"]))
    assert read_condition(text, table) == read_condition(same, table)


@pytest.mark.parametrize("text", ["source in 8.8.8.*", "source = 8.8.8.%", "source in [1.1.1.1, 8.8.8.*]"])
def test_wildcards_of_addresses(text: str) -> None:
    with pytest.raises(DomainError, match=r"; write in 8\.8\.8\.0/24$"):
        read_condition(text, IPv4().named("source"))


@pytest.mark.parametrize(
    ("text", "box"),
    [
        ("lon > 9", "9:-90:180:90"),
        ("lon >= -9 and lon < 2 and lat < 55.5", "-9:-90:2:55.5"),
        ("lat between 50 and 51", "-180:50:180:51"),
    ],
)
def test_bounds_of_a_place(text: str, box: str) -> None:
    places = Geo().named("lon", "lat")
    with pytest.raises(DomainError) as refusal:
        read_condition(text, places)
    assert str(refusal.value).endswith(f"; write lon,lat in {box}")
    read_condition(f"lon,lat in {box}", places)
