# %% [markdown]
# # Train a trigger
#
# A trigger decides *when* a strategy is called: each call costs time, and so do its moves. Here a small trigger is trained in runs that stop at
# each barrier. Then it is compared with the built-in ones on seeds that it has not seen.

# %%
import random
from types import SimpleNamespace
from typing import Any

import numpy as np

import migsim

case: dict[str, Any] = {
    "app": "synthetic",
    "procs": 16,
    "load": "walk",
    "workload.supersteps": 60,
    "workload.spread": 0.5,
    "workload.drift": 0.8,
    "workload.memory": "20 MB",
    "costs.call.model": "additive",
    "costs.call.fixed": "1 s",
}

# %% [markdown]
# An `Environment` is a run that stops at each barrier. `reset` simulates the first superstep. `step(False)` simulates the next superstep without a
# call, and `step(True)` after a call of the strategy. The reward is the negative time in seconds from barrier to barrier, including call and moves.

# %%
env = migsim.Environment(policy="refine", **case)
view, info = env.reset(seed=1)
view, reward, is_over, _, info = env.step(True)
reward, info

# %% [markdown]
# The trigger has three weights. It adds up the time that supersteps lose to imbalance, beyond the loss right after the last call. It
# compares the sum with the cost of that call. It uses only what every trigger sees, so that it can be registered.


# %%
@migsim.trigger("learnt", "weights that were trained in an environment")
class Learnt(migsim.Trigger):
    def __init__(self, bias: float = -1.0, of_sum: float = 1.0, of_loss: float = 0.0) -> None:
        self.weights = bias, of_sum, of_loss
        self.sum = self.floor = 0.0

    def is_due(self, observed: migsim.Observed) -> bool:
        loss = observed.max_s - observed.mean_s
        if observed.is_first:
            # Before the first call nothing was balanced yet.
            self.sum, self.floor = 0.0, loss if observed.price_s else 0.0
        self.sum += loss - min(self.floor, loss)
        price = observed.price_s or observed.max_s
        bias, of_sum, of_loss = self.weights
        return bias + of_sum * self.sum / price + of_loss * (loss - self.floor) / observed.max_s > 0


# %% [markdown]
# An episode begins with a copy of a run at its first barrier. A copy takes microseconds, while a new run from settings takes longer.


# %%
def observed(view: migsim.View, price: float, is_first: bool) -> Any:
    times = np.zeros(len(view.external_load))
    np.maximum.at(times, view.placement, view.compute_s)
    usable = min(len(times), len(view.placement))
    return SimpleNamespace(max_s=times.max(), mean_s=times.sum() / usable, price_s=price, is_first=is_first)


def makespan(start: migsim.Environment, weights: list[float]) -> float:
    env, trigger = start.clone(), Learnt(*weights)
    price, is_first, is_over = 0.0, True, False
    while not is_over:
        is_first = trigger.is_due(observed(env.view, price, is_first))
        _, _, is_over, _, info = env.step(is_first)
        if is_first:
            price = info["call_s"] + info["moves_s"]
    return info["makespan_s"]


starts = []
for seed in range(1, 5):
    env.reset(seed=seed)
    starts.append(env.clone())

# %% [markdown]
# The training uses the cross-entropy method: draw random weights, keep the best, draw new weights around them.

# %%
draw = random.Random(1)
mean, spread = [-1.0, 1.0, 0.0], [1.0, 1.0, 1.0]
for generation in range(5):
    candidates = [[draw.gauss(m, s) for m, s in zip(mean, spread)] for _ in range(8)] + [mean]
    candidates.sort(key=lambda weights: sum(makespan(start, weights) for start in starts))
    best = candidates[:3]
    mean = [sum(values) / len(best) for values in zip(*best)]
    spread = [max(0.1, (sum((v - m) ** 2 for v in values) / len(best)) ** 0.5) for m, values in zip(mean, zip(*best))]
    print(f"generation {generation + 1}: {sum(makespan(start, best[0]) for start in starts) / len(starts):.2f} s")
weights = dict(zip(["bias", "of_sum", "of_loss"], best[0]))
weights

# %% [markdown]
# Now the trigger is compared with built-in triggers for the same strategy, on seeds that the training did not use:

# %%
options: dict[str, Any] = {f"policy.trigger.learnt.{name}": value for name, value in weights.items()}
result = migsim.compare(
    policies=["refine/learnt", "refine/menon", "refine/boulmier", "refine/every=10"], seeds="101..110", **case, **options
)
result

# %% [markdown]
# Ten seeds of one case say little about other cases. The suite `lb-1` has many cases. Here the trained weights become the defaults of a new
# trigger, and the benchmark compares it with the default set of policies. Two cases take seconds. `cases=100` and the five seeds of the suite take
# minutes, and give a row that can be cited. `out="bench/trained"` keeps the runs.

# %%
Learnt.__init__.__defaults__ = tuple(weights.values())
migsim.trigger("trained", "learnt, with the trained weights")(Learnt)
rows = migsim.bench(suite="lb-1", draw=1, cases=2, seeds=1, policies="refine/trained")
for row in rows.rows():
    if row["policy"] in ["refine/trained", "refine", "refine/menon", "never"]:
        print(f"{row['policy']:15} {row['mean_ratio']:.3f}, {row['calls']:.1f} calls")
