# %% [markdown]
# # Your policy
#
# A policy is a class with two methods. This policy sends the slowest process to the fastest free host, every few supersteps.

# %%
import migsim


@migsim.policy("fastest", "the slowest process to the fastest free host")
class Fastest(migsim.Policy):
    uses_seed = False

    def __init__(self, every: int = 10) -> None:
        self.every = every

    def is_call_due(self, view: migsim.View) -> bool:
        # Supersteps, processes and hosts count from 0 here.
        return (view.superstep + 1) % self.every == 0

    def decide(self, view: migsim.View) -> migsim.Answer:
        speed = view.platform["speed"] * (1 - view.external_load)
        speed[view.placement] = 0.0
        slowest, fastest = int(view.compute_s.argmax()), int(speed.argmax())
        here = view.placement[slowest]
        if speed[fastest] <= view.platform["speed"][here]:
            view.explain("no free host is faster than that of the slowest process")
            return None
        view.explain(f"it computed for {1e3 * view.compute_s[slowest]:.3f} ms, the mean is {1e3 * view.compute_s.mean():.3f} ms", slowest)
        return {slowest: fastest}


run = migsim.run(app="lu", n=1000, procs=25, policy="fastest", **{"policy.fastest.every": 50})
run

# %% [markdown]
# Why did the call after superstep 50 (counted from 1) decide as it did? The reasons come from `view.explain` in the policy.

# %%
print(run.explain(50))

# %% [markdown]
# Here the policy is compared with MigBSP and two other policies, for three seeds of a changing load:

# %%
result = migsim.compare(
    app="lu", n=500, procs=25, load="walk", policies=["fastest", "migbsp", "greedy-refine/every=50", "never"], seeds=3
)
result

# %%
result.ranking
