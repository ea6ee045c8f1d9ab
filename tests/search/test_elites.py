"""Tests of groups of good cuts."""

import numpy as np

from ecord_jax.search.elites import GROUP, Elite, admit, fill_groups, honour

SIZE = 300


def elite(seed, cut, flipped=0):
    labels = np.random.default_rng(seed).integers(0, 2, SIZE, np.int8)
    labels[:flipped] ^= 1
    return Elite(labels, cut, "tabu", 1.0)


def cuts(elites):
    return [one.cut for one in elites]


def test_groups_are_filled_in_order_and_the_rest_waits():
    waiting = []
    groups = fill_groups(waiting, [elite(i, i) for i in range(GROUP + 2)])
    assert [cuts(group) for group in groups] == [list(range(GROUP))]
    assert cuts(waiting) == [GROUP, GROUP + 1]
    groups = fill_groups(waiting, [elite(i, i) for i in range(10, 10 + GROUP)])
    assert [cuts(group) for group in groups] == [[GROUP, GROUP + 1, 10, 11]]
    assert cuts(waiting) == [12, 13]


def test_near_ones_do_not_wait_together():
    """Below a hundredth of the vertices, up to flipping all; the better one stays."""
    waiting = [elite(0, 5), elite(1, 6)]
    assert fill_groups(waiting, [elite(0, 4, flipped=2)]) == []
    assert cuts(waiting) == [5, 6]
    assert fill_groups(waiting, [elite(0, 7, flipped=2)]) == []
    assert cuts(waiting) == [7, 6]
    assert fill_groups(waiting, [elite(1, 8, flipped=SIZE)]) == []
    assert cuts(waiting) == [7, 8]
    assert fill_groups(waiting, [elite(1, 1, flipped=3)]) == []
    assert cuts(waiting) == [7, 8, 1]


def test_labels_of_few_vertices_are_one_only_if_they_are_equal():
    rows = [[0, 0, 0], [1, 1, 1], [0, 0, 1], [0, 1, 0]]
    elites = [Elite(np.array(row, np.int8), i, "ecord", 1.0) for i, row in enumerate(rows)]
    waiting = []
    fill_groups(waiting, elites)
    assert cuts(waiting) == [1, 2, 3]


def test_a_better_one_takes_the_place_of_the_worst():
    elites = [elite(0, 5), elite(1, 3), elite(2, 9)]
    assert cuts(admit(elites, elite(3, 4))) == [5, 4, 9]
    assert cuts(admit(elites, elite(3, 3))) == [5, 3, 9]
    assert admit(elites, elite(3, 3))[1].labels.tolist() == elite(3, 3).labels.tolist()
    assert cuts(admit(elites, elite(3, 2))) == [5, 3, 9]
    assert cuts(elites) == [5, 3, 9]


def test_the_hall_has_room_for_some():
    hall = honour(honour([], elite(0, 5), 2), elite(1, 3), 2)
    assert cuts(hall) == [5, 3]
    assert cuts(honour(hall, elite(2, 1), 3)) == [5, 3, 1]
    assert cuts(honour(hall, elite(2, 4), 2)) == [5, 4]
    assert cuts(honour(hall, elite(2, 3), 2)) == [5, 3]
    assert honour(hall, elite(2, 3), 2)[1] is hall[1]  # equals change nothing
    assert cuts(hall) == [5, 3]


def test_near_ones_are_not_in_the_hall_together():
    hall = [elite(0, 5), elite(1, 3)]
    assert cuts(honour(hall, elite(1, 4, flipped=2), 3)) == [5, 4]
    assert cuts(honour(hall, elite(0, 9, flipped=SIZE), 3)) == [9, 3]
    assert cuts(honour(hall, elite(0, 4, flipped=2), 2)) == [5, 3]  # though better than the worst
    assert cuts(honour(hall, elite(1, 4, flipped=3), 3)) == [5, 3, 4]


def test_one_that_is_there_is_not_admitted_twice():
    elites = [elite(0, 5), elite(1, 3), elite(2, 9)]
    assert cuts(admit(elites, elite(2, 9))) == [5, 3, 9]
    assert cuts(admit(elites, elite(2, 9, flipped=SIZE))) == [5, 3, 9]
