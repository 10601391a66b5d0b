"""Numbers and signs in conditions as people write them elsewhere: the message says what to write."""

import pytest

from privhp import DomainError, Interval
from privhp.domains.conditions import read_condition


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("fare < 1,000", "got ','; write 1000 without a separator or 1.000, with a decimal point"),
        ("fare < $1,000", "got ','; write 1000 without a separator or 1.000, with a decimal point"),
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
        ("fare <> 10", "column 'fare': expected one of <= >= < > = !=; write !="),
        ("fare < 9,99", "got ','; write 9.99, with a decimal point"),
        ("fare > -9,5 and fare < 7", "got ','; write -9.5, with a decimal point"),
        ("fare between 0,5 and 7", "got ','; write 0.5, with a decimal point"),
    ],
)
def test_numbers_and_signs(text: str, says: str) -> None:
    with pytest.raises(DomainError) as refusal:
        read_condition(text, Interval(0, 1e6).named("fare"))
    assert str(refusal.value).endswith(says)
