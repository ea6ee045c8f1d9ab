"""Tests of what plays `swift` against tabu search, and of the file that it is kept in."""

import numpy as np
import pytest

from ecord_jax.agents import load_agent
from ecord_jax.baselines.equal_flips import best_cuts, draw_held_out
from ecord_jax.baselines.table import RowFile
from ecord_jax.errors import OptionError
from ecord_jax.graphs import Graph
from ecord_jax.graphs.exact import largest_cut
from ecord_jax.learning.instances import KINDS, Instance
from ecord_jax.search.tenure import FIXED, SHRINKING

SOLVERS = (load_agent("swift"), SHRINKING, FIXED)


def test_held_out_graphs():
    for kind in KINDS:
        one, long = (draw_held_out(kind, (100, 200), factor, 0, 0) for factor in (2.0, 5.0))
        assert one.graph == long.graph
        assert one.seed == long.seed
        assert (one.budget, long.budget) == tuple(
            round(factor * one.graph.num_vertices) for factor in (2.0, 5.0)
        )
        assert one.graph != draw_held_out(kind, (100, 200), 2.0, 0, 1).graph
        assert one.graph != draw_held_out(kind, (100, 200), 2.0, 1, 0).graph


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", ["square", "power_law"])
def test_long_runs_find_the_largest_cut(solver, kind):
    graph = draw_held_out(kind, (60, 60), 1.0, 0, 0).graph
    cuts = best_cuts(solver, Instance(kind, graph, 6000, 1), 3)
    assert cuts.shape == (3,)
    assert cuts.max() == largest_cut(graph)


@pytest.mark.parametrize("solver", SOLVERS)
def test_cuts_are_reproducible_and_grow_with_the_budget(solver):
    short = draw_held_out("ba", (300, 300), 0.5, 0, 0)
    long = short._replace(budget=10 * short.graph.num_vertices)
    first, again = (best_cuts(solver, short, 4) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert (first == first.astype(int)).all()  # weights are 1
    assert best_cuts(solver, long, 4).min() > first.max()


def test_nothing_to_flip():
    empty = Graph.from_edges([], num_vertices=0)
    for solver in SOLVERS:
        assert best_cuts(solver, Instance("reduced", empty, 0, 1), 2).tolist() == [0, 0]


def test_rows_are_found_again(tmp_path):
    path = tmp_path / "new" / "rows.csv"
    file = RowFile(path, ("name", "value"))
    file.add("a", 1.5)
    file.add_all([("b", 2), ("c, d", 3)])
    assert file.rows == RowFile(path, ("name", "value")).rows
    with path.open("a") as end:
        end.write("half")
    again = RowFile(path, ("name", "value"))
    again.add("e", 4)
    assert [row["name"] for row in again.rows] == ["a", "b", "c, d", "e"]
    assert path.read_text() == 'name,value\na,1.5\nb,2\n"c, d",3\ne,4\n'
    with pytest.raises(OptionError, match="not a table of this program"):
        RowFile(path, ("name", "other"))
