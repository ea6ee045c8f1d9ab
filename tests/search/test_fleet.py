"""The flips that there is time for on a device, as an agent that sees them is told."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ecord_jax.graphs import models
from ecord_jax.graphs.arrays import to_arrays
from ecord_jax.networks.config import EcordConfig
from ecord_jax.search import prepare as prepare_module
from ecord_jax.search.chunk import Search
from ecord_jax.search.fleet import Fleet
from ecord_jax.search.prepare import prepare
from tests.helpers import random_agent

GRAPH = models.torus((5, 6), seed=1)
SMALL = {"embedding": 4, "layers": 2, "hidden": 12, "message": 6, "value_width": 8}


def fleet(left, seen):
    def chunk(search, budget):
        seen.append(budget)
        return search._replace(step=search.step + 8), None

    return Fleet(chunk, 8, 1, 100, lambda: left)


@pytest.mark.parametrize(("left", "least"), [(math.inf, 100), (0.0, 8), (1e6, 100)])
def test_budgets(left, least):
    """All steps where only they count; at least those of the next chunk; never more than all."""
    seen = []
    one = fleet(left, seen)
    search = Search(None, jnp.int32(0), None)
    one.measure(search)
    one.run((0, search))
    assert seen == [100, least]


@pytest.mark.parametrize("scaling", ["budget", "scale_free"])
def test_an_agent_is_told_if_it_looks(scaling, monkeypatch):
    told = []
    real = prepare_module.search_chunk

    def chunk(agent, arrays, embeddings, search, last_step, budget, **options):
        jax.debug.callback(lambda value: told.append(int(value)), budget)
        return real(agent, arrays, embeddings, search, last_step, budget, **options)

    monkeypatch.setattr(prepare_module, "search_chunk", chunk)
    agent = random_agent(EcordConfig(**SMALL, scaling=scaling), to_arrays(GRAPH))
    starts, temperatures = np.zeros((2, 30), np.int8), np.ones(2, np.float32)
    made = prepare(GRAPH, agent, starts, temperatures, 10**6, 1, jax.random.key(0), lambda: 0.1)
    (_, search), _ = made.run(made.searches[0])
    jax.effects_barrier()
    if scaling == "budget":  # one chunk to learn the pace
        assert len(told) == 2
        assert told[1] < told[0] == 10**6
    else:
        assert told == [10**6]
    assert int(search.step) == made.num_steps
