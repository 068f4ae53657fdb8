"""Two references that see labels only: the most frequent class so far, and the label before."""

from numba.extending import register_jitable

#: What the most frequent class so far and the label before got right; then what these two say next.
MAJORITY_GIVEN, MAJORITY_CLEAN, BEFORE_GIVEN, BEFORE_CLEAN, MOST, LAST = range(6)


# A class that leads by n rows leads for n more, whatever they are. With a small lead rows go one by one, so
# many before it is looked at again.
_BLOCK = 128


@register_jitable
def _sum(codes):
    total = 0
    for t in range(codes.shape[0]):
        total += codes[t]
    return total


@register_jitable
def _unlike(codes, others):
    total = 0
    for t in range(codes.shape[0]):
        total += codes[t] ^ others[t]
    return total


@register_jitable
def _any_missing(told):
    found = 0
    for t in range(told.shape[0]):
        found |= told[t]
    return found < 0


@register_jitable
def references_of_two(given, clean, told, start, stop, so_far, beside):
    """Count what they get right of rows of two classes; see `tally_classes`."""
    end = start
    while end < stop:
        start = end
        lead = abs(so_far[1] - so_far[0])
        end = min(start + max(lead, _BLOCK), stop)
        if lead > _BLOCK and not _any_missing(told[start:end]):
            _of_a_block(given[start:end], clean[start:end], told[start:end], so_far, beside)
        else:
            end = min(start + _BLOCK, stop)
            _row_by_row(given, clean, told, start, end, so_far, beside)


@register_jitable
def _of_a_block(given, clean, told, so_far, beside):
    # The compiler makes vectors of the sums: nothing is waited for from row to row.
    n = given.shape[0]
    most = so_far[1] > so_far[0]
    y, z, u = _sum(given), _sum(clean), _sum(told)
    beside[MAJORITY_GIVEN] += y if most else n - y
    beside[MAJORITY_CLEAN] += z if most else n - z
    last = beside[LAST]
    beside[BEFORE_GIVEN] += n - (last ^ given[0]) - _unlike(given[1:], told[: n - 1])
    beside[BEFORE_CLEAN] += n - (last ^ clean[0]) - _unlike(clean[1:], told[: n - 1])
    so_far[0] += n - u
    so_far[1] += u
    beside[MOST], beside[LAST] = 1 if so_far[1] > so_far[0] else 0, told[n - 1]


@register_jitable
def _row_by_row(given, clean, told, start, stop, so_far, beside):
    # Sums without branches that could not be foretold: classes may be equally frequent, and only the first
    # labels told are none.
    lead, last = so_far[1] - so_far[0], beside[LAST]
    most_given = most_clean = before_given = before_clean = n_told = ones = 0
    for t in range(start, stop):
        y, z, u = given[t], clean[t], told[t]
        most = 1 if lead > 0 else 0
        most_given += 1 - (most ^ y)
        most_clean += 1 - (most ^ z)
        before_given += 1 - (last ^ y)
        before_clean += 1 - (last ^ z)
        if u >= 0:
            lead += 2 * u - 1
            last = u
            ones += u
            n_told += 1
    so_far[0] += n_told - ones
    so_far[1] += ones
    beside[MAJORITY_GIVEN] += most_given
    beside[MAJORITY_CLEAN] += most_clean
    beside[BEFORE_GIVEN] += before_given
    beside[BEFORE_CLEAN] += before_clean
    beside[MOST], beside[LAST] = 1 if lead > 0 else 0, last


@register_jitable
def references_of_many(given, clean, told, start, stop, so_far, beside):
    """Count what they get right of rows of any number of classes; see `tally_classes`."""
    most, last = beside[MOST], beside[LAST]
    for t in range(start, stop):
        y, z, u = given[t], clean[t], told[t]
        beside[MAJORITY_GIVEN] += most == y
        beside[MAJORITY_CLEAN] += most == z
        beside[BEFORE_GIVEN] += last == y
        beside[BEFORE_CLEAN] += last == z
        if u >= 0:
            so_far[u] += 1
            # Of equally frequent ones the lowest.
            if u != most and (so_far[u] > so_far[most] or (so_far[u] == so_far[most] and u < most)):
                most = u
            last = u
    beside[MOST], beside[LAST] = most, last
