# %% [markdown]
# # Your cluster
#
# A platform is a dict, a JSON file, or a platform file of SimGrid. Every quantity has a unit.

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
# The mapping `contiguous` uses the hosts in the order of the platform, so the slow hosts come first. The best start without migration takes:

# %%
run.best_static_start

# %% [markdown]
# The processes started on `old`. Where did they move?

# %%
run.migrations

# %% [markdown]
# Now other programs use the hosts, too: the load of each host is a random walk.

# %%
migsim.run(app="lu", n=1000, procs=16, platform=platform, load="walk", seed=2)
