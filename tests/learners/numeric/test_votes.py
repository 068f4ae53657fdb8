"""The learner with the fewest mistakes so far predicts."""

import numpy as np

from singlepass.learners.numeric.votes import follow


def test_follow_of_three_classes():
    """By hand: learner 0 is wrong on rows 0 and 2, learner 1 on row 1; a tie is won by the first."""
    right, wrong = np.eye(3), np.roll(np.eye(3), 1, axis=1)
    codes = np.array([0, 1, 2], np.int32)
    scores = np.array([[wrong[0], right[1], wrong[2]], [right[0], wrong[1], right[2]]])
    mistakes, changes, out = np.zeros(2, np.int64), np.empty(3, np.int64), np.empty((3, 3))
    made, n_changes = follow(scores, codes, mistakes, changes, out)
    # Learner 1 leads after row 0, learner 0 again after row 1 (one mistake each), and learner 1 after row 2.
    assert (made, changes[:n_changes].tolist(), mistakes.tolist()) == (3, [1, 2, 3], [2, 1])
    assert out.tolist() == [scores[0, 0].tolist(), scores[1, 1].tolist(), scores[0, 2].tolist()]
