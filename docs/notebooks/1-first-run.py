# %% [markdown]
# # A first run
#
# An LU decomposition with 50 processes on the platform of the papers. Scenario i is the application alone, ii adds calls, and iii adds calls and moves.

# %%
import migsim

run = migsim.run(app="lu", n=2000, procs=50)
run

# %%
print(run)

# %% [markdown]
# Why did processes move? Without an argument, `explain` lists all calls. With a superstep, it explains the call after this superstep.

# %%
print(run.explain())

# %%
first = run.records[0]["superstep"]
print(run.explain(first))

# %% [markdown]
# The ledger splits the difference to scenario i into terms, in seconds:

# %%
run.ledger
