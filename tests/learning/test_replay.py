"""Windows cut from the replay, by hand, and the buffer that they are cut from."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ecord_jax.env import State
from ecord_jax.graphs.generators import GraphDistribution
from ecord_jax.learning.config import TrainConfig
from ecord_jax.learning.replay import Transition, cut_window, make_buffer
from ecord_jax.networks.config import EcordConfig
from ecord_jax.search.rollout import Carry
from tests.helpers import pick, stack


def transition(step, mark, graph=0):
    """A step whose every other part carries a mark."""
    mark = np.float32(mark)
    state = State(
        labels=np.full(2, mark, np.int8),
        peeks=np.full(2, mark),
        last_flip=np.full(2, mark, np.int32),
        step=np.int32(step),
        budget=np.int32(mark),
        cut=mark,
        best_cut=mark,
        best_step=np.int32(mark),
    )
    return Transition(np.int32(graph), Carry(state, np.full(3, mark)), np.int32(mark))


def window_of(steps, *, bptt, graphs=None):
    """The window of transitions with these steps and the marks 10, 11, .."""
    graphs = graphs or [0] * len(steps)
    marked = [transition(s, 10 + i, g) for i, (s, g) in enumerate(zip(steps, graphs, strict=True))]
    window = cut_window(stack(*marked), bptt=bptt)
    marks = {float(x) for leaf in jax.tree.leaves(window.start) for x in np.ravel(leaf)}
    marks.discard(float(window.start.state.step))
    assert len(marks) == 1  # the start is one transition's carry
    return marks.pop(), window


def test_inside_an_episode_all_of_bptt_is_replayed():
    mark, window = window_of([4, 5, 6, 7, 8], bptt=3)
    assert (mark, int(window.learned)) == (10, 3)
    assert window.actions[:5].tolist() == [10, 11, 12, 13, 14]
    assert window.actions.shape == (6,)  # and a placeholder
    assert 10 <= int(window.actions[5]) <= 14


@pytest.mark.parametrize(
    ("steps", "mark", "learned"),
    [
        ([7, 8, 9, 0, 1], 13, 0),
        ([8, 9, 0, 1, 2], 12, 1),
        ([9, 0, 1, 2, 3], 11, 2),
        ([0, 1, 2, 3, 4], 10, 3),
        ([6, 7, 8, 9, 0], 10, 3),
        # Episodes no longer than the window, whose steps could be taken for each other's.
        ([2, 0, 1, 2, 0], 11, 2),
        ([1, 2, 0, 1, 2], 12, 1),
        ([2, 0, 1, 0, 1], 13, 0),
    ],
)
def test_steps_of_an_earlier_episode_are_cut_away(steps, mark, learned):
    found, window = window_of(steps, bptt=3)
    assert (found, int(window.learned)) == (mark, learned)
    assert int(window.start.state.step) == steps[3] - learned
    # From the start to the last stored step, the actions are those that were taken.
    taken = [*range(int(mark), 15)]
    assert window.actions[: len(taken)].tolist() == taken
    assert window.actions.shape == (6,)


def test_the_graph_is_that_of_the_step_learned_from():
    _, window = window_of([8, 9, 0, 1, 2], bptt=3, graphs=[4, 4, 7, 7, 7])
    assert int(window.graph) == 7
    _, window = window_of([6, 7, 8, 9, 0], bptt=3, graphs=[4, 4, 4, 4, 7])
    assert int(window.graph) == 4


def test_without_bptt_the_first_step_is_learned_from():
    mark, window = window_of([9, 0, 1], bptt=0)
    assert (mark, int(window.learned)) == (10, 0)
    assert window.actions[:3].tolist() == [10, 11, 12]


CONFIG = TrainConfig(
    network=EcordConfig(hidden=4),
    graphs=GraphDistribution("er", 4),
    num_graphs=3,
    update_every=4,
    batch_size=200,
    buffer_size=40,  # 13 steps of each trajectory, of which 12 fit
    bptt=2,
    n_step=2,
)


def test_buffer_keeps_the_newest_steps_and_samples_all_windows():
    assert CONFIG.steps_kept == 12
    buffer = make_buffer(CONFIG)
    state = buffer.init(jax.tree.map(jnp.asarray, transition(0, 0)))
    assert state.experience.action.shape == (3, 12)
    add, sample = jax.jit(buffer.add), jax.jit(buffer.sample)
    for begin in range(0, 20, 4):  # marks 100 b + t
        rows = [
            stack(*(transition(t, t, graph=b) for t in range(begin, begin + 4))) for b in range(3)
        ]
        state = add(state, stack(*rows))
    windows = [sample(state, key).experience for key in jax.random.split(jax.random.key(0), 3)]
    steps = np.concatenate([w.carry.state.step for w in windows])
    graphs = np.concatenate([w.graph for w in windows])
    assert steps.shape == (600, CONFIG.window) == (600, 4)
    assert (np.diff(steps, axis=1) == 1).all()  # never across the end of the ring
    assert (graphs == graphs[:, :1]).all()
    assert set(steps[:, 0].tolist()) == set(range(8, 17))
    assert set(graphs[:, 0].tolist()) == {0, 1, 2}
    np.testing.assert_array_equal(steps[:200], windows[0].action)


def test_nothing_is_sampled_that_was_not_stored():
    buffer = make_buffer(dataclasses.replace(CONFIG, batch_size=100))
    empty = buffer.init(jax.tree.map(jnp.asarray, transition(-1, -1)))
    rows = stack(*[stack(*(transition(t, t) for t in range(4)))] * 3)
    state = jax.jit(buffer.add)(empty, rows)
    assert buffer.can_sample(state)
    assert not buffer.can_sample(empty)
    found = jax.jit(buffer.sample)(state, jax.random.key(1)).experience
    np.testing.assert_array_equal(found.action, np.tile(np.arange(4), (100, 1)))
    assert pick(found.carry.state.step, 0).tolist() == [0, 1, 2, 3]
