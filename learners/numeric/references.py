"""Two references that see labels only: the most frequent class so far, and the label before."""

from numba.extending import register_jitable

#: What the most frequent class so far and the label before got right; then what these two say next.
MAJORITY_GIVEN, MAJORITY_CLEAN, BEFORE_GIVEN, BEFORE_CLEAN, MOST, LAST = range(6)


# A class that leads by n rows leads for n more, whatever they are: sums tell all of them. With a small lead
# it goes row by row, so many before the lead is looked at again.
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
def references_of_two(given, clean, told, so_far, beside):
    """Count what they get right of rows of two classes; see `tally_classes`."""
    if not _any_missing(told):
        _label_before(given, clean, told, beside)
        _most_frequent(given, clean, told, so_far, beside)
        return
    # The first labels of a stream, where labels come late.
    start, n = 0, told.shape[0]
    while start < n:
        untold = told[start] < 0
        end = start + 1
        while end < n and (told[end] < 0) == untold:
            end += 1
        ys, zs, us = given[start:end], clean[start:end], told[start:end]
        if untold:
            _while_untold(ys, zs, beside)
        else:
            _label_before(ys, zs, us, beside)
            _most_frequent(ys, zs, us, so_far, beside)
        start = end


@register_jitable
def _while_untold(given, clean, beside):
    n, y, z = given.shape[0], _sum(given), _sum(clean)
    beside[MAJORITY_GIVEN] += y if beside[MOST] else n - y
    beside[MAJORITY_CLEAN] += z if beside[MOST] else n - z
    beside[BEFORE_GIVEN] += y if beside[LAST] else n - y
    beside[BEFORE_CLEAN] += z if beside[LAST] else n - z


@register_jitable
def _label_before(given, clean, told, beside):
    # The compiler makes vectors of the sums: nothing is waited for from row to row.
    n, last = given.shape[0], beside[LAST]
    if n == 0:
        return
    before = told[: n - 1]
    beside[BEFORE_GIVEN] += n - (last ^ given[0]) - _unlike(given[1:], before)
    beside[BEFORE_CLEAN] += n - (last ^ clean[0]) - _unlike(clean[1:], before)
    beside[LAST] = told[n - 1]


@register_jitable
def _most_frequent(given, clean, told, so_far, beside):
    n, lead = given.shape[0], so_far[1] - so_far[0]
    before = lead
    wrong_given = wrong_clean = start = 0
    while start < n:
        length = abs(lead) if abs(lead) > _LEAD else _BLOCK
        end = min(start + length, n)
        ys, zs, us = given[start:end], clean[start:end], told[start:end]
        if abs(lead) > _LEAD:
            y, z = _sum(ys), _sum(zs)
            wrong_given += end - start - y if lead > 0 else y
            wrong_clean += end - start - z if lead > 0 else z
            lead += 2 * _sum(us) - (end - start)
        else:
            for t in range(us.shape[0]):
                most = 1 if lead > 0 else 0
                wrong_given += most ^ ys[t]
                wrong_clean += most ^ zs[t]
                lead += 2 * us[t] - 1
        start = end
    ones = (lead - before + n) // 2
    so_far[0] += n - ones
    so_far[1] += ones
    beside[MAJORITY_GIVEN] += n - wrong_given
    beside[MAJORITY_CLEAN] += n - wrong_clean
    beside[MOST] = 1 if lead > 0 else 0


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
