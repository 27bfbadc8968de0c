"""An environment of Gymnasium (`pip install gymnasium`): at each barrier, a call of a policy or none.

>>> from migsim.gymnasium import Env
>>> env = Env(app="synthetic", procs=16, policy="refine", **{"workload.supersteps": 50, "workload.spread": 0.8})
>>> seen, info = env.reset(seed=1)
>>> env.action_space.n, seen.shape
(np.int64(2), (4,))
"""

from __future__ import annotations

from typing import Any, Unpack

import gymnasium
import numpy as np
from numpy.typing import NDArray

from ._environment import Environment
from ._experiment import Settings
from ._keywords import RunKeywords, lists
from ._policy import View


@lists(RunKeywords)
class Env(gymnasium.Env[NDArray[np.float64], Any]):
    """`migsim.Environment` with spaces: action 1 is a call of `policy`, action 0 none.

    An observation has four numbers: the imbalance of the computing times (maximum / mean - 1), the price of the last call in mean computing
    times, the supersteps since the last call, and the share of the supersteps that is left. A subclass may replace `observe` and
    `observation_space`.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}

    def __init__(self, settings: Settings = None, /, *, render_mode: Any = None, **keywords: Unpack[RunKeywords]) -> None:
        self.inner = Environment(settings, **keywords)
        self.render_mode = render_mode
        self.action_space = gymnasium.spaces.Discrete(2)
        self.observation_space = gymnasium.spaces.Box(0.0, 1e6, (4,), np.float64)
        self._since_call = 0

    def observe(self, view: View) -> NDArray[np.float64]:
        """Returns the observation at a barrier."""
        mean = max(float(view.compute_s.mean()), 1e-12)
        left = 1 - (view.superstep + 1) / view.supersteps
        seen = [view.compute_s.max() / mean - 1, view.last_price_s / mean, self._since_call, left]
        clipped: NDArray[np.float64] = np.clip(np.array(seen), 0.0, 1e6)
        return clipped

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[NDArray[np.float64], dict[str, Any]]:
        """Begins an episode; without a seed, with a new one that the generator of the last seed draws."""
        super().reset(seed=seed)
        drawn = int(self.np_random.integers(2**31)) if seed is None else seed
        view, info = self.inner.reset(seed=drawn, options=options)
        self._since_call = 0
        return self.observe(view), info

    def step(self, action: Any) -> tuple[NDArray[np.float64], float, bool, bool, dict[str, Any]]:
        """Advances to the next barrier, with a call if the action is 1."""
        if not self.action_space.contains(action):
            raise ValueError(f"the action is {action!r}: 0 (no call) or 1 (a call) is expected")
        view, reward, is_over, is_cut, info = self.inner.step(bool(action))
        self._since_call = 0 if action else self._since_call + 1
        return self.observe(view), reward, is_over, is_cut, info

    def render(self) -> Any:
        """Returns the time and the state as text."""
        return repr(self.inner) if self.render_mode == "ansi" else None


gymnasium.register("migsim/Env-v0", entry_point="migsim.gymnasium:Env")
