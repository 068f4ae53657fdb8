"""Two references that see labels only: the most frequent class so far, and the label before."""

from numba.extending import register_jitable

#: What the most frequent class so far and the label before got right; then what these two say next.
MAJORITY_GIVEN, MAJORITY_CLEAN, BEFORE_GIVEN, BEFORE_CLEAN, MOST, LAST = range(6)


@register_jitable
def references_of_two(given, clean, told, start, stop, so_far, beside):
    """Count what they get right of rows of two classes; see `tally_classes`."""
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
