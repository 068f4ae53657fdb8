"""Two references that see labels only: the most frequent class so far, and the label before."""

from numba.extending import register_jitable

#: What the most frequent class so far and the label before got right; then what these two say next.
MAJORITY_GIVEN, MAJORITY_CLEAN, BEFORE_GIVEN, BEFORE_CLEAN, MOST, LAST = range(6)


# A class that leads by n rows leads for n more, whatever they are: where that is more than so many, their sums
# tell all. With a smaller lead it goes row by row, so many before the lead is looked at again.
_LEAD, _BLOCK = 32, 256


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
        end = min(start + (lead if lead > _LEAD else _BLOCK), stop)
        ys, zs, us = given[start:end], clean[start:end], told[start:end]
        if _any_missing(us):
            _some_untold(ys, zs, us, so_far, beside)
        else:
            _all_told(ys, zs, us, lead > _LEAD, so_far, beside)


@register_jitable
def _all_told(given, clean, told, leads, so_far, beside):
    # The compiler makes vectors of the sums: nothing is waited for from row to row.
    n = given.shape[0]
    last = beside[LAST]
    beside[BEFORE_GIVEN] += n - (last ^ given[0]) - _unlike(given[1:], told[: n - 1])
    beside[BEFORE_CLEAN] += n - (last ^ clean[0]) - _unlike(clean[1:], told[: n - 1])
    lead = so_far[1] - so_far[0]
    if leads:
        y, z, ones = _sum(given), _sum(clean), _sum(told)
        beside[MAJORITY_GIVEN] += y if lead > 0 else n - y
        beside[MAJORITY_CLEAN] += z if lead > 0 else n - z
    else:
        wrong_given = wrong_clean = 0
        before = lead
        for t in range(n):
            most = 1 if lead > 0 else 0
            wrong_given += most ^ given[t]
            wrong_clean += most ^ clean[t]
            lead += 2 * told[t] - 1
        ones = (lead - before + n) // 2
        beside[MAJORITY_GIVEN] += n - wrong_given
        beside[MAJORITY_CLEAN] += n - wrong_clean
    so_far[0] += n - ones
    so_far[1] += ones
    beside[MOST], beside[LAST] = 1 if so_far[1] > so_far[0] else 0, told[n - 1]


@register_jitable
def _some_untold(given, clean, told, so_far, beside):
    # The first labels of a stream whose labels come late.
    lead, last = so_far[1] - so_far[0], beside[LAST]
    for t in range(given.shape[0]):
        y, z, u = given[t], clean[t], told[t]
        most = 1 if lead > 0 else 0
        beside[MAJORITY_GIVEN] += 1 - (most ^ y)
        beside[MAJORITY_CLEAN] += 1 - (most ^ z)
        beside[BEFORE_GIVEN] += 1 - (last ^ y)
        beside[BEFORE_CLEAN] += 1 - (last ^ z)
        if u >= 0:
            lead += 2 * u - 1
            last = u
            so_far[u] += 1
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
