"""Generated platforms and settings for `versus-simgrid`: links that change, saturated links between clusters, routes of many links.

Each shape is run at three sizes or more. The results are the growth of the time over the last three sizes, and the ratio to SimGrid if it
ends in reasonable time.
"""

import json
import random
from pathlib import Path


def hosts(name, count, bandwidth="1 Gbps", latency="100 us", speed="1 GHz", **more):
    return {"name": name, "hosts": count, "speed": speed, "link": {"bandwidth": bandwidth, "latency": latency}, **more}


def link(name, source, target, bandwidth, latency, **more):
    return {"name": name, "from": source, "to": target, "bandwidth": bandwidth, "latency": latency, **more}


def steps(period, high, low, every):
    return {"steps": [["0 s", high], [period, low]], "period": every}


def machine(name, clusters, links=(), profiles=None):
    platform = {"schema": "migsim-platform-1", "name": name, "clusters": clusters, "links": list(links)}
    return platform | ({"profiles": profiles} if profiles else {})


def profiles_of_hosts():
    """One cluster whose hosts and links change every few milliseconds."""
    cluster = hosts("p", 100, speed_profile="s")
    cluster["link"]["bandwidth_profile"] = "b"
    changes = {"s": steps("5 ms", 1.0, 0.5, "10 ms"), "b": steps("1 ms", "1 Gbps", "500 Mbps", "2 ms")}
    return machine("changing-hosts", [cluster], profiles=changes)


def profiles_of_uplinks():
    """Twenty clusters whose uplinks change."""
    clusters = [hosts(f"p{n}", 50, speed_profile="s", router=f"r{n}") for n in range(20)]
    links = [link(f"u{n}", f"r{n}", "core", "2 Gbps", "100 us", bandwidth_profile="b") for n in range(20)]
    changes = {"s": steps("50 ms", 1.0, 0.5, "100 ms"), "b": steps("10 ms", "2 Gbps", "500 Mbps", "20 ms")}
    return machine("changing-uplinks", clusters, links, changes)


def uplinks():
    """Thirty-two clusters with saturated uplinks to one router."""
    clusters = [hosts(f"o{n}", 32, router=f"r{n}") for n in range(32)]
    return machine("full-uplinks", clusters, [link(f"u{n}", f"r{n}", "core", "1 Gbps", "50 us") for n in range(32)])


def tree():
    """Fifty different clusters on a random tree of routers."""
    draw = random.Random(1)
    some = lambda low, high, unit: f"{draw.uniform(low, high):.2f} {unit}"
    cluster = lambda n: hosts(f"c{n}", 10, some(100, 1000, "Mbps"), some(10, 200, "us"), some(1, 3, "GHz"), router=f"r{n}")
    clusters = [cluster(n) for n in range(50)]
    links = [link(f"t{n}", f"r{n}", f"r{draw.randrange(n)}", some(200, 2000, "Mbps"), some(50, 500, "us")) for n in range(1, 50)]
    return machine("tree", clusters, links)


def chain(routers):
    """Routers in a line, ten hosts at each."""
    clusters = [hosts(f"c{n}", 10, router=f"r{n}") for n in range(routers)]
    links = [link(f"b{n}", f"r{n}", f"r{n + 1}", "10 Gbps", "50 us") for n in range(routers - 1)]
    return machine(f"chain-{routers}", clusters, links)


def one():
    """A thousand hosts on one switch."""
    return machine("one", [hosts("c", 1000, router="r")])


def two():
    """Two clusters with one link between them."""
    return machine("two", [hosts("a", 1000, router="ra"), hosts("b", 1000, router="rb")], [link("bb", "ra", "rb", "1 Gbps", "1 ms")])


def ufrgs():
    """The five clusters of the papers."""
    return json.loads((Path(__file__).resolve().parent.parent / "platforms/ufrgs.json").read_text())


RANDOM = {"pattern": "none", "supersteps": 3, "random_messages": 3, "instructions": "1e8 instr", "bytes": "1 MB", "bytes_spread": 0.9, "draw": "each-superstep"}
PAIRS = {**RANDOM, "random_messages": 2}
BESIDE = {**RANDOM, "pattern": "ring", "random_messages": 1, "supersteps": 5}
ALL = {"pattern": "all-to-all", "supersteps": 3, "instructions": "1e8 instr", "bytes": "10 kB"}
DRAWN = {**ALL, "bytes": "1 MB", "bytes_spread": 0.9}
RING = {"pattern": "ring", "supersteps": 10, "instructions": "1e8 instr", "bytes": "1 MB"}


# If links change, work with a round number would end exactly at the time of a change. SimGrid sums the times of changes, and rounding then makes
# its sum slightly early or late: it may use the bandwidth before the change for the message, and times differ by 1e-4.
UNROUND = {"instructions": "1.00137e8 instr"}


def shape(name, label, platform, keys, sizes, sends="concurrent"):
    return {"name": name, "label": label, "platform": platform, "keys": keys, "sizes": sizes, "sends": sends}


SHAPES = [
    shape("all-changing", "all-to-all, equal, changing links of hosts", profiles_of_hosts(), ALL | UNROUND, (25, 50, 100)),
    shape("all-changing-short", "all-to-all, equal, changing links of hosts, a tenth of the work", profiles_of_hosts(), ALL | {"instructions": "1.00137e7 instr"}, (25, 50, 100)),
    shape("random-changing", "3 random messages, changing links of hosts", profiles_of_hosts(), RANDOM | UNROUND, (250, 500, 1000)),
    shape("ring-changing", "ring, changing links of hosts", profiles_of_hosts(), RING | UNROUND, (250, 500, 1000)),
    shape("all-changing-uplinks", "all-to-all, equal, changing uplinks", profiles_of_uplinks(), ALL | UNROUND, (25, 50, 100)),
    shape("random-changing-uplinks", "3 random messages, changing uplinks", profiles_of_uplinks(), RANDOM | UNROUND, (250, 500, 1000)),
    shape("chain-40", "3 random messages, 40 routers in a line", chain(40), RANDOM, (100, 200, 400)),
    shape("chain-100", "3 random messages, 100 routers in a line", chain(100), RANDOM, (125, 250, 500)),
    shape("all-tree", "all-to-all, equal, tree of unlike clusters", tree(), ALL, (25, 50, 100)),
    shape("random-tree", "3 random messages, tree of unlike clusters", tree(), RANDOM, (250, 500, 1000)),
    shape("beside-tree", "ring and 1 random message, tree of unlike clusters", tree(), BESIDE, (500, 1000, 2000)),
    shape("all-uplinks", "all-to-all, drawn, full uplinks", uplinks(), DRAWN, (25, 50, 100)),
    shape("random-uplinks", "3 random messages, full uplinks", uplinks(), RANDOM, (1000, 2000, 4000)),
    shape("beside-uplinks", "ring and 1 random message, full uplinks", uplinks(), BESIDE, (1000, 2000, 4000)),
    shape("all-two", "all-to-all, drawn, one link between two clusters", two(), DRAWN, (25, 50, 100)),
    shape("pairs-ufrgs", "2 random messages, one after another, clusters of the papers", ufrgs(), PAIRS, (2000, 8000, 16000, 32000), "sequential"),
    shape("pairs-one", "2 random messages, one switch", one(), PAIRS, (1000, 2000, 4000, 8000)),
    shape("sequential-changing", "3 random messages, one after another, changing links of hosts", profiles_of_hosts(), RANDOM | UNROUND, (250, 500, 1000), "sequential"),
]
