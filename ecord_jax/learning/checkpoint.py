"""Whole training states on disk, written atomically by orbax, to go on from bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import orbax.checkpoint as ocp

from ecord_jax.errors import AgentError

__all__ = ["Checkpoints"]


def _is_key(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array) and jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _to_plain(tree: Any) -> dict[str, Any]:
    """Leaves by position; typed keys become their words, empty arrays (which orbax refuses) go."""
    leaves = enumerate(jax.tree.leaves(tree))
    plain = {f"{i:04d}": jax.random.key_data(x) if _is_key(x) else x for i, x in leaves}
    return {name: leaf for name, leaf in plain.items() if leaf.size}


def _from_plain(plain: dict[str, Any], like: Any) -> Any:
    """The inverse of `_to_plain`, in the structure of `like`."""
    leaves, structure = jax.tree.flatten(like)
    found = [plain.get(f"{i:04d}", leaf) for i, leaf in enumerate(leaves)]
    pairs = zip(leaves, found, strict=True)
    restored = [jax.random.wrap_key_data(new) if _is_key(old) else new for old, new in pairs]
    return jax.tree.unflatten(structure, restored)


class Checkpoints:
    """The checkpoints of one run: the newest one is kept, an unfinished one never counts.

    Args:
        folder: of the run.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        options = ocp.CheckpointManagerOptions(max_to_keep=1, enable_async_checkpointing=False)
        self._manager = ocp.CheckpointManager(folder.resolve(), options=options)

    def save(self, update: int, tree: Any, progress: dict[str, Any]) -> None:
        """Writes a pytree of arrays, and what JSON can hold, as the state after `update`."""
        self._manager.save(
            update,
            args=ocp.args.Composite(
                tree=ocp.args.StandardSave(_to_plain(tree)), progress=ocp.args.JsonSave(progress)
            ),
        )

    def restore(self, like: Any) -> tuple[Any, dict[str, Any]] | None:
        """Reads the newest checkpoint.

        Args:
            like: a pytree of the same structure and shapes.

        Returns:
            The pytree and what was saved beside it, or None if there is none.

        Raises:
            AgentError: if what is there belongs to another configuration.
        """
        latest = self._manager.latest_step()
        if latest is None:
            return None
        template = jax.tree.map(ocp.utils.to_shape_dtype_struct, _to_plain(like))
        try:
            found = self._manager.restore(
                latest,
                args=ocp.args.Composite(
                    tree=ocp.args.StandardRestore(template), progress=ocp.args.JsonRestore()
                ),
            )
        except (ValueError, KeyError, FileNotFoundError) as error:
            cause = str(error).splitlines()[0]
            raise AgentError(f"{self._manager.directory}: unusable checkpoint: {cause}") from error
        return _from_plain(found.tree, like), found.progress

    def close(self) -> None:
        """Waits for writes and frees what orbax holds."""
        self._manager.close()
