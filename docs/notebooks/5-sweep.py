# %% [markdown]
# # A sweep with honest statistics
#
# This sweep has three values of α under a changing load, with ten seeds each. The summary has means and 95 % confidence intervals.

# %%
import migsim

result = migsim.sweep(app="sw", n=25, load="walk", alpha=[2, 4, 8], seeds=10)
result

# %%
summary = result.summary.to_pandas()
summary[["alpha", "gain_mean_percent", "gain_ci95_percent"]]

# %% [markdown]
# The result also has a row for each run. Any run can be repeated from its row.

# %%
row = next(result.rows.rows())
run = migsim.run(app="sw", n=25, load="walk", alpha=row["alpha"], seed=row["seed"])
run.makespan == row["makespan_iii_s"]
