"""Platforms: files, dicts, or built step by step."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from ._arguments import as_file
from ._command_line import call


class Platform:
    """A platform: a built-in name, a file in JSON or SimGrid XML, or a dict.

    >>> import migsim
    >>> platform = migsim.Platform("ufrgs")
    >>> [cluster["cluster"] for cluster in platform.clusters]
    ['Labtec', 'Corisco', 'Frontal', 'ICE', 'Aquario']

    Raises
    ------
    migsim.Error
        There is no such platform, or it has errors; all problems are reported.
    """

    def __init__(self, source: str | PathLike[str] | Mapping[str, Any]) -> None:
        self._source = source
        self._file = as_file(source, "platform") if isinstance(source, Mapping) else fspath(source)
        self._shown: dict[str, Any] = json.loads(call(["platform", "show", self._file, "--json", "--rows", "1000000"]).text)

    def __fspath__(self) -> str:
        return self._file

    def __reduce__(self) -> tuple[Any, ...]:
        return (Platform, (self._source,))

    @property
    def clusters(self) -> list[dict[str, Any]]:
        """The clusters: names, hosts, cores, speed [instr/s], the route between two of their hosts [s, B/s]."""
        return list(self._shown["clusters"])

    @property
    def routes(self) -> list[dict[str, Any]]:
        """The routes between clusters, from first host to first host: latency [s], bandwidth [B/s], links."""
        return list(self._shown.get("routes", []))

    def svg(self) -> str:
        """The clusters and their routes as a picture."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "platform.svg"
            call(["platform", "show", self._file, "--svg", fspath(file)])
            return file.read_text(encoding="utf-8")

    def _repr_svg_(self) -> str:
        return self.svg()

    def to_networkx(self) -> Any:
        """Returns a graph of NetworkX: clusters with their properties, routes with latency [s], bandwidth [B/s] and links."""
        import networkx

        graph = networkx.DiGraph()
        for cluster in self.clusters:
            graph.add_node(cluster["cluster"], **{key: value for key, value in cluster.items() if key != "cluster"})
        for route in self.routes:
            ends = [(route["from"], route["to"])]
            ends += [(route["to"], route["from"])] if route["direction"] == "both" else []
            links = route["links"].split()
            for (start, end), ordered in zip(ends, [links, links[::-1]]):
                properties = {"latency_s": route["latency_s"], "links": ordered}
                graph.add_edge(start, end, bandwidth_bytes_per_s=route["bandwidth_bytes_per_s"], **properties)
        return graph

    def __repr__(self) -> str:
        return f"<migsim.Platform {self._shown['sizes'][0]['platform']}>"


class PlatformBuilder:
    """Builds a platform step by step; no link lies between clusters at one router.

    >>> import migsim
    >>> platform = (
    ...     migsim.PlatformBuilder("lab")
    ...     .cluster("old", hosts=8, speed="1.5 GHz", bandwidth="100 Mbps", latency="50 us", router="east")
    ...     .cluster("new", hosts=8, speed="3 GHz", bandwidth="1 Gbps", latency="20 us", router="west")
    ...     .link("wan", "east", "west", bandwidth="100 Mbps", latency="5 ms")
    ...     .build()
    ... )
    >>> migsim.run(app="sw", n=8, platform=platform).makespan > 0
    True
    """

    def __init__(self, name: str) -> None:
        #: The platform so far, in the JSON format of platform files.
        self.document: dict[str, Any] = {"schema": "migsim-platform-1", "name": name, "clusters": [], "links": []}

    def cluster(
        self, name: str, *, hosts: int, speed: str, bandwidth: str, latency: str, router: str | None = None, **more: Any
    ) -> PlatformBuilder:
        """Adds a cluster of equal hosts, each with its own link; quantities are texts with units.

        Parameters
        ----------
        more
            Other keys of a cluster: `cores`, `memory`, `network`, `groups`.
        """
        link = {"bandwidth": bandwidth, "latency": latency}
        entry = {"name": name, "hosts": hosts, "speed": speed, "link": link, **more}
        self.document["clusters"].append(entry if router is None else {**entry, "router": router})
        return self

    def link(self, name: str, start: str, end: str, *, bandwidth: str, latency: str, **more: Any) -> PlatformBuilder:
        """Adds a link between two routers."""
        link = {"name": name, "from": start, "to": end, "bandwidth": bandwidth, "latency": latency, **more}
        self.document["links"].append(link)
        return self

    def __repr__(self) -> str:
        parts = ", ".join(f"{len(self.document[part])} {part}" for part in ("clusters", "links"))
        return f"<migsim.PlatformBuilder {self.document['name']} with {parts}>"

    def build(self) -> Platform:
        """Checks and returns the platform."""
        return Platform(self.document)
