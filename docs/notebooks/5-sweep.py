# %% [markdown]
# # A sweep with honest statistics
#
# Three values of α under a load that changes, with ten seeds each: means, and 95 % confidence intervals.

# %%
import migsim

result = migsim.sweep(app="sw", n=25, load="walk", alpha=[2, 4, 8], seeds=10)
result

# %%
summary = result.summary.to_pandas()
summary[["alpha", "gain_mean_percent", "gain_ci95_percent"]]

# %% [markdown]
# The rows of all runs are there as well; each is a run that can be repeated.

# %%
row = next(result.rows.rows())
run = migsim.run(app="sw", n=25, load="walk", alpha=row["alpha"], seed=row["seed"])
run.makespan == row["makespan_iii_s"]
