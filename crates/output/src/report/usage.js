"use strict";
// How busy hosts and links are: a row each, time from left to right, the busier the darker (on dark paper the brighter).
(function () {
  const AXIS = 34;
  /** More rows than this are too low for their names. */
  const MOST_NAMES = 80;

  /** Colours from nothing to everything: parts of the cividis scheme (Nunez and others 2018), which everybody can tell apart. */
  const ramps = {
    light: ["#f7f4e6", "#e6d37a", "#b3a468", "#7f7d74", "#4a5a6e", "#123570", "#001f4d"],
    dark: ["#20242c", "#123570", "#4a5a6e", "#7f7d74", "#b3a468", "#dfc94f", "#ffea46"],
  };
  function ramp() {
    const stops = ramps[report.colours().paper === "#ffffff" ? "light" : "dark"].map(report.rgb);
    return Array.from({ length: 256 }, (_, at) => {
      const place = (at / 255) * (stops.length - 1);
      const low = Math.min(stops.length - 2, Math.floor(place));
      return stops[low].map((value, channel) => value + (place - low) * (stops[low + 1][channel] - value));
    });
  }

  /** So many rows are shown if not all are wanted. */
  const BUSIEST = 40;
  /** Of many rows the busiest, in their order. */
  function busiest(data, isWhole) {
    const { rows, shares, edges } = data;
    if (isWhole || rows.length <= MOST_NAMES) return data;
    const kept = rows.map((row, at) => [row.total, at]).sort((a, b) => b[0] - a[0] || a[1] - b[1]).slice(0, BUSIEST).map(([, at]) => at).sort((a, b) => a - b);
    const columns = edges.length - 1;
    const own = new Uint8Array(kept.length * columns);
    kept.forEach((at, place) => own.set(shares.subarray(at * columns, (at + 1) * columns), place * columns));
    return { ...data, rows: kept.map((at) => rows[at]), shares: own, note: `The busiest ${BUSIEST} of ${rows.length}. ${data.note}` };
  }

  const css = (colour) => `rgb(${colour.map(Math.round).join(",")})`;

  /** A chart in a frame. `read()` gives rows `{ name, group, total, words }`, `shares` (bytes, row by row) and the dates between columns. */
  class Heat {
    constructor(frame, read) {
      this.frame = frame;
      this.read = read;
      this.legend = report.element("div", undefined, "legend");
      this.canvas = document.createElement("canvas");
      this.canvas.setAttribute("role", "img");
      this.note = report.element("p", undefined, "note");
      frame.replaceChildren(this.legend, this.canvas, this.note);
      this.canvas.addEventListener("pointermove", (event) => report.tooltip(this.describe(event.offsetX, event.offsetY), event.clientX, event.clientY));
      this.canvas.addEventListener("pointerleave", () => report.tooltip(""));
      report.onChange(frame, () => this.draw());
    }

    draw() {
      const width = this.frame.clientWidth;
      if (width < 50) return;
      this.data = this.read();
      const { rows, words, note } = this.data;
      this.note.textContent = `${note || ""}${rows.length > MOST_NAMES ? " Point at a row to see its name." : ""}`;
      this.canvas.hidden = rows.length === 0;
      this.legend.hidden = rows.length === 0;
      if (rows.length === 0) return;
      this.arrange(width);
      this.paint(report.prepare(this.canvas, width, this.bottom), width);
      this.canvas.setAttribute("aria-label", `${words}, ${report.counted(rows.length, "row")}; the busiest: ${this.busiest(rows)}`);
    }

    /** Where everything stands. */
    arrange(width) {
      const { rows } = this.data;
      this.colours = ramp();
      this.scaled(this.colours, css);
      this.height = rows.length <= 24 ? 14 : rows.length <= MOST_NAMES ? 11 : rows.length <= 150 ? 6 : 3;
      this.left = width < 500 ? 92 : 150;
      this.right = width < 500 ? 54 : 60;
      this.width = Math.max(40, width - this.left - this.right);
      this.parts = this.groups(rows);
    }

    paint(context, width) {
      const { rows, shares, edges } = this.data;
      const colours = report.colours();
      const all = this.colours;
      const groups = this.parts;
      context.fillStyle = colours.paper;
      context.fillRect(0, 0, width, this.bottom);
      context.font = this.height >= 10 ? report.FONT.replace("12px", "10px") : report.FONT;
      context.textBaseline = "middle";
      const columns = edges.length - 1;
      const end = edges[columns] || 1;
      rows.forEach((row, at) => {
        const y = this.tops[at];
        const shareOf = (column) => Math.min(255, Math.round(shares[at * columns + column] * this.factor));
        for (let column = 0, next = 0; column < columns; column = next) {
          const share = shareOf(column);
          next = column + 1;
          while (next < columns && shareOf(next) === share) next += 1;
          const x0 = this.left + (edges[column] / end) * this.width;
          const x1 = this.left + (edges[next] / end) * this.width;
          context.fillStyle = css(all[share]);
          context.fillRect(x0, y, x1 - x0 + 0.6, this.height - (this.height > 5 ? 1 : 0));
        }
        if (this.height >= 10) {
          context.fillStyle = colours.ink;
          context.textAlign = "right";
          context.fillText(report.fitted(context, row.name, this.left - 12), this.left - 8, y + this.height / 2);
          context.textAlign = "left";
          context.fillText(report.percent(row.total, 2), this.left + this.width + 5, y + this.height / 2);
        }
      });
      for (const group of groups) {
        if (group.colour) {
          context.fillStyle = group.colour;
          context.fillRect(this.left - 5, group.y, 4, group.tall - 1);
        }
        if (this.height < 10) {
          context.fillStyle = colours.ink;
          context.textAlign = "right";
          context.fillText(report.fitted(context, group.name, this.left - 12), this.left - 8, group.y + Math.max(6, group.tall / 2));
        }
      }
      this.axis(context, colours, end);
    }

    svg() {
      return report.onPaper(() => {
        this.arrange(1100);
        const paper = new report.Paper(1100, this.bottom + 26);
        this.paint(paper, 1100);
        paper.legend([0, 51, 102, 153, 204, 255].map((at) => [css(this.colours[at]), report.percent(at / 255 / this.factor, 2)]), this.bottom + 2);
        return paper.svg();
      });
    }

    csv() {
      const { rows, shares, edges } = this.data;
      const columns = edges.length - 1;
      const lines = [["name", "from_s", "to_s", "share"]];
      rows.forEach((row, at) => {
        for (let column = 0; column < columns; column += 1) lines.push([row.name, edges[column], edges[column + 1], Number((shares[at * columns + column] / 255).toFixed(4))]);
      });
      return lines;
    }

    /** Where nothing comes near everything, the ramp ends at what there is. */
    scaled(all, css) {
      const most = this.data.shares.reduce((a, b) => Math.max(a, b), 0);
      const top = [0.01, 0.05, 0.1, 0.25, 0.5, 1].find((share) => most / 255 <= share);
      this.factor = 1 / top;
      const stops = [0, 51, 102, 153, 204, 255].map((at) => css(all[at]));
      const field = report.legendEntry("", ` ${report.percent(top)}`, "ramp");
      field.firstChild.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
      this.legend.replaceChildren(report.element("span", "0 %"), field);
    }

    groups(rows) {
      const groups = [];
      this.tops = [];
      let y = AXIS;
      rows.forEach((row) => {
        const last = groups[groups.length - 1];
        if (!last || last.name !== row.group) {
          if (last) y += 4;
          groups.push({ name: row.group, colour: row.colour, y, tall: 0 });
        }
        this.tops.push(y);
        groups[groups.length - 1].tall += this.height;
        y += this.height;
      });
      this.bottom = y + 4;
      return groups;
    }

    axis(context, colours, end) {
      const ticks = report.ticks(0, end, this.width / (this.width < 400 ? 50 : 90));
      const step = ticks.length > 1 ? ticks[1] : end;
      const decimals = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step) - 1e-9)));
      context.font = report.FONT;
      context.strokeStyle = colours.faint;
      context.fillStyle = colours.ink;
      context.textBaseline = "alphabetic";
      context.beginPath();
      for (const tick of ticks) {
        const x = Math.round(this.left + (tick / end) * this.width) + 0.5;
        context.moveTo(x, AXIS - 4);
        context.lineTo(x, AXIS - 9);
        context.textAlign = "center";
        context.fillText(tick.toFixed(decimals), x, AXIS - 12);
      }
      context.stroke();
      context.textAlign = "left";
      context.fillText("time [s]", 0, AXIS - 12);
      if (this.height < 10) return;
      context.textAlign = "right";
      context.fillText("mean", this.left + this.width + this.right - 2, AXIS - 12);
    }

    busiest(rows) {
      const best = rows.reduce((a, b) => (b.total > a.total ? b : a));
      return `${best.name}, ${report.percent(best.total)} on average`;
    }

    describe(x, y) {
      const { rows, shares, edges } = this.data;
      const at = this.tops.findIndex((top) => y >= top && y < top + this.height);
      const columns = edges.length - 1;
      const date = ((x - this.left) / this.width) * edges[columns];
      if (at < 0 || date < 0 || date >= edges[columns]) return "";
      const column = Math.min(columns - 1, report.find(edges, date));
      const share = shares[at * columns + column] / 255;
      return `${rows[at].words}\n${report.digits(edges[column], 5)} s to ${report.digits(edges[column + 1], 5)} s: ${report.percent(share)}\nwhole run: ${report.percent(rows[at].total)}`;
    }
  }

  const leftOut = (count, noun) => (count > 0 ? `${count} less busy ${noun} are left out.` : "");

  function hosts(scenario) {
    const { facts, arrays } = report;
    const { rows, left_out: count } = facts.host_usage.scenarios[scenario];
    const intervals = facts.host_usage.intervals;
    const makespan = facts.scenarios[scenario].makespan_s;
    return {
      words: "share of the cores of each host that compute",
      rows: rows.map(([name, cluster, total]) => ({ name, group: facts.clusters[cluster], colour: report.clusterColour(cluster), total, words: `${name} (${facts.clusters[cluster]})` })),
      shares: arrays[`hosts/${scenario}`],
      edges: Float64Array.from({ length: intervals + 1 }, (_, at) => (at / intervals) * makespan),
      note: `Right: the mean over the whole run. ${leftOut(count, "hosts")}`,
    };
  }

  function links(scenario) {
    const { facts, arrays } = report;
    const { rows, left_out: count, weightless } = facts.link_usage.scenarios[scenario];
    const empty = weightless[0] > 0 ? ` ${report.counted(weightless[0], "link")} carried ${report.counted(weightless[1], "message")} of 0 B, which use no bandwidth.` : "";
    return {
      words: "share of bandwidth that is used",
      rows: rows.map(([name, share, bytes, crossed]) => ({ name, group: "", total: share, words: `${name}: ${report.bytes(bytes)} in ${report.counted(crossed, "flow")}` })),
      shares: arrays[`links/${scenario}`],
      edges: arrays[`link_edges/${scenario}`],
      note: rows.length > 0
        ? `Right: the mean over the whole run; both directions together, against the nominal bandwidth. ${leftOut(count, "links")}${empty}`
        : `Nothing used any bandwidth.${empty}`,
    };
  }

  report.startUsage = function () {
    const { facts } = report;
    report.scenarioOptions("usage-scenario");
    const select = report.byId("usage-scenario");
    const scenario = () => Number(select.value);
    const heats = [];
    const rows = report.byId("usage-rows");
    const start = (id, usage, read) => {
      if (usage) {
        const heat = new Heat(report.byId(id), () => busiest(read(scenario()), rows.value === "all"));
        const svg = () => {
          try {
            return heat.svg();
          } finally {
            heat.draw();
          }
        };
        page.saves(report.byId(id), id, { svg, csv: () => heat.csv() });
        heats.push(heat);
      } else report.instead(report.byId(id), facts.bars.reason || "The run was written without these data.");
    };
    start("host-usage", facts.host_usage, hosts);
    start("link-usage", facts.link_usage, links);
    for (const one of [select, rows]) one.addEventListener("change", () => heats.forEach((heat) => heat.draw()));
    const counts = [facts.host_usage, facts.link_usage].flatMap((usage) => (usage ? usage.scenarios.map((one) => one.rows.length) : []));
    rows.parentElement.hidden = Math.max(0, ...counts) <= MOST_NAMES;
  };
})();
