import numpy as np
from numpy.typing import NDArray

def count_lines(block: bytes, /) -> int: ...
def scan(
    block: bytes,
    longest: int,
    places: NDArray[np.int64],
    kinds: NDArray[np.uint8],
    nullable: NDArray[np.bool_],
    values: NDArray[np.uint64],
    empty: NDArray[np.bool_],
    lost: NDArray[np.bool_],
    odd: NDArray[np.bool_],
    /,
) -> list[list[int]]: ...
