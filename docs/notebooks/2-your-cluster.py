# %% [markdown]
# # Your cluster
#
# A platform is a dict, a file in JSON, or a platform file of SimGrid. Every quantity has its unit.

# %%
import migsim

platform = {
    "schema": "migsim-platform-1",
    "name": "lab",
    "clusters": [
        {
            "name": "old",
            "hosts": 16,
            "speed": "1.5 GHz",
            "router": "r",
            "link": {"bandwidth": "100 Mbps", "latency": "50 us"},
        },
        {
            "name": "new",
            "hosts": 16,
            "speed": "3 GHz",
            "router": "r",
            "link": {"bandwidth": "1 Gbps", "latency": "20 us"},
        },
    ],
}
run = migsim.run(app="lu", n=1000, procs=16, platform=platform, mapping="contiguous")
run

# %% [markdown]
# The mapping `contiguous` takes the hosts in their order, the slow ones first. A better start, from which nothing migrates, takes:

# %%
run.best_static_start

# %% [markdown]
# The processes began on `old`. Where did they go?

# %%
run.migrations

# %% [markdown]
# With others on the machine: the load of each host is a random walk.

# %%
migsim.run(app="lu", n=1000, procs=16, platform=platform, load="walk", seed=2)
