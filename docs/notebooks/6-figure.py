# %% [markdown]
# # A figure for an article
#
# Execution times of LU with 25 processes in the three scenarios, as in the paper on LU, drawn with matplotlib.

# %%
import matplotlib.pyplot as plt

import migsim

orders = [500, 1000, 2000]
runs = {n: migsim.run(app="lu", n=n, procs=25) for n in orders}
fig, axes = plt.subplots(figsize=(5, 3), layout="constrained")
for shift, scenario in enumerate(["i", "ii", "iii"]):
    times = [runs[n].scenarios[scenario].makespan for n in orders]
    axes.bar([at + 0.27 * (shift - 1) for at in range(len(orders))], times, width=0.25, label=f"scenario {scenario}")
axes.set_xticks(range(len(orders)), [f"n = {n}" for n in orders])
axes.set_ylabel("execution time [s]")
axes.legend(frameon=False)
plt.show()
