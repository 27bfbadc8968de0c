# %% [markdown]
# # A first run
#
# An LU decomposition on the machine of the papers: 50 processes, scenarios i (application only), ii (calls without moves) and iii (moves).

# %%
import migsim

run = migsim.run(app="lu", n=2000, procs=50)
run

# %%
print(run)

# %% [markdown]
# Why did processes move? The overview names the calls; each can be asked about.

# %%
print(run.explain())

# %%
first = run.records[0]["superstep"]
print(run.explain(first))

# %% [markdown]
# Where the difference to scenario i comes from, in seconds:

# %%
run.ledger
