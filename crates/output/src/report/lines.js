"use strict";
// The line charts: time of supersteps, intervals of calls, imbalance, scores. uPlot draws them.
(function () {
  /** Draws a chart into a frame, again when colours or width change. `make(colours)` gives its data and options; `rows` what is saved as CSV. */
  function chart(frame, label, make, rows) {
    let plot = null;
    frame.setAttribute("role", "img");
    frame.setAttribute("aria-label", label);
    const draw = (width) => {
      if (width < 50) return;
      const { data, options } = make(report.colours(), width);
      plot?.destroy();
      frame.replaceChildren();
      plot = new uPlot({ width, height: width < 500 ? 240 : 280, ...options }, data, frame);
    };
    report.onChange(frame, draw);
    const svg = () => report.linesSvg(plot, report.onPaper(() => make(report.colours(), frame.clientWidth)).options);
    const csv = rows || (() => [plot.series.map((one) => one.label), ...plot.data[0].map((_, at) => plot.data.map((column) => column[at]))]);
    page.saves(frame, label.replaceAll(/[^a-z]+/g, "-"), { svg, csv });
    return draw;
  }

  /** An axis with its label, in the colours of the page. */
  function axis(colours, label, more = {}) {
    return {
      label, stroke: colours.ink, labelSize: 18, labelFont: report.FONT, font: report.FONT.replace("12px", "11px"),
      grid: { stroke: colours.line, width: 1 }, ticks: { stroke: colours.faint, width: 1, size: 5 }, ...more,
    };
  }

  const numbers = (plot, ticks) => ticks.map((tick) => (tick === null ? "" : report.digits(tick, 6)));

  /** Logarithmic ticks: powers of ten only where many are seen. */
  const powers = (plot, ticks) => ticks.map((tick) => (Math.abs(Math.log10(tick) - Math.round(Math.log10(tick))) < 1e-9 ? report.digits(tick, 3) : null));

  const superstepAxis = (colours) => {
    const { unit } = report.facts;
    return axis(colours, unit === 1 ? "superstep [number]" : `superstep [number], in groups of ${unit}`, { values: numbers, size: 34, incrs: whole });
  };
  /** Supersteps are whole. */
  const whole = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000, 1000000, 10000000];
  /** The number of the first superstep of each unit. */
  const supersteps = () => {
    const { unit, supersteps: count } = report.facts;
    return Float64Array.from({ length: Math.ceil(count / unit) }, (_, at) => at * unit + 1);
  };
  const sameCursor = { key: "supersteps" };
  const shown = (unit, size) => (plot, value) => (value === null || value === undefined ? "" : `${report.digits(value * size, 4)} ${unit}`);

  const line = (width, dash, count) => ({ width, dash, points: { show: count < 40, size: 5 } });
  /** More points than this are drawn as their mean, in a band from the least to the most of those that follow each other. */
  const MOST_POINTS = 200;

  /** The mean, the least and the most of every `size` values; nothing where there is none. */
  function binned(values, size) {
    const bins = Array.from({ length: Math.ceil(values.length / size) }, () => [0, 0, Infinity, -Infinity]);
    values.forEach((value, at) => {
      if (value === null) return;
      const bin = bins[Math.floor(at / size)];
      bin[0] += value;
      bin[1] += 1;
      bin[2] = Math.min(bin[2], value);
      bin[3] = Math.max(bin[3], value);
    });
    return [(bin) => bin[0] / bin[1], (bin) => bin[2], (bin) => bin[3]].map((number) => bins.map((bin) => (bin[1] > 0 ? number(bin) : null)));
  }

  /** A line for each scenario; of many supersteps the mean of some, in a band, and each of them where it is zoomed in. */
  function byScenario(frame, label, unitOf, arrays) {
    const { facts } = report;
    const [unit, size] = unitOf;
    const lines = arrays.map((array) => Array.from(array, (value) => value / size));
    // From a factor of 30 on, small ones can be seen on a logarithmic axis only.
    let least = Infinity;
    let most = 0;
    for (const value of lines.flat()) {
      if (value > 0 && value < least) least = value;
      if (value > most) most = value;
    }
    const isLog = most > 30 * least;
    const values = lines.map((one) => one.map((value) => (Number.isNaN(value) || (isLog && value <= 0) ? null : value)));
    const numbersOf = supersteps();
    const isDense = lines[0].length > MOST_POINTS;
    let bin = 1;
    const columns = () => {
      if (!isDense) return [Array.from(numbersOf), ...values];
      const starts = Array.from(numbersOf).filter((_, at) => at % bin === 0);
      const middle = starts.map((start) => Math.min(start + (facts.unit * (bin - 1)) / 2, facts.supersteps));
      return [middle, ...values.flatMap((one) => binned(one, bin))];
    };
    const binOf = ({ min, max }) => Math.max(1, Math.ceil((max - min) / facts.unit / MOST_POINTS));
    // Zooming in shows more.
    const refine = (plot, key) => {
      if (key !== "x" || binOf(plot.scales.x) === bin) return;
      bin = binOf(plot.scales.x);
      setTimeout(() => {
        const { min, max } = plot.scales.x;
        plot.setData(columns(), false);
        plot.setScale("x", { min, max });
      });
    };
    const numberOf = (plot, value) => {
      if (value === null || value === undefined) return "";
      const half = (facts.unit * bin - 1) / 2;
      return bin * facts.unit === 1 ? String(value) : `${Math.max(1, Math.ceil(value - half))} to ${Math.min(facts.supersteps, Math.floor(value + half))}`;
    };
    const rows = () => [["superstep", ...facts.scenarios.map((scenario) => `${scenario.name} [${unit}]`)], ...Array.from(numbersOf, (superstep, at) => [superstep, ...values.map((one) => one[at])])];
    chart(frame, label, (colours) => {
      bin = isDense ? binOf({ min: 1, max: facts.supersteps }) : 1;
      const series = (scenario, at) => {
        const stroke = colours.scenarios[at % 3];
        const name = { label: `${scenario.name} (${scenario.words})`, stroke, value: shown(unit === "1" ? "" : unit, 1) };
        if (!isDense) return [{ ...name, ...line([3.5, 2, 1.5][at % 3], [undefined, [6, 3], undefined][at % 3], lines[0].length) }];
        const edge = (which) => ({ label: `${scenario.name}, ${which}`, stroke: "transparent", class: "edge-of-band", points: { show: false } });
        return [{ ...name, width: [3, 2, 2][at % 3], dash: [undefined, [6, 3], undefined][at % 3], points: { show: false } }, edge("least"), edge("most")];
      };
      return {
        data: columns(),
        options: {
          scales: { x: { time: false, range: (plot, from, to) => (to > from ? [from, to] : [from - 0.5, to + 0.5]) }, y: isLog ? { distr: 3 } : {} },
          axes: [superstepAxis(colours), axis(colours, `${label} [${unit}]`, { size: 58, values: isLog ? powers : numbers })],
          cursor: { sync: sameCursor },
          bands: isDense ? facts.scenarios.map((_, at) => ({ series: [3 * at + 3, 3 * at + 2], fill: `${colours.scenarios[at % 3]}30` })) : [],
          hooks: isDense ? { setScale: [refine] } : {},
          series: [{ label: "superstep", value: numberOf }, ...facts.scenarios.flatMap(series)],
        },
      };
    }, rows);
    if (isDense) {
      const note = "Where a point stands for many consecutive supersteps, the line is their mean, and the band reaches from the least to the largest value; zoom in to see each superstep.";
      frame.nextSibling.after(report.element("p", note, "note"));
    }
  }

  function times() {
    const { facts, arrays } = report;
    const all = facts.scenarios.map((_, at) => arrays[`time/${at}`]);
    const largest = all.reduce((most, list) => list.reduce((a, b) => Math.max(a, b), most), 0);
    byScenario(report.byId("time-chart"), "time of a superstep", report.timeUnit(largest), all);
  }

  function imbalance() {
    const { facts, arrays } = report;
    const frame = report.byId("imbalance-chart");
    const all = facts.scenarios.map((_, at) => arrays[`imbalance/${at}`]);
    if (!all[0]) {
      report.instead(frame, facts.bars.reason);
      return;
    }
    byScenario(frame, "longest / mean computation", ["1", 1], all);
  }

  /** The interval between calls as steps, and how supersteps were judged as marks on it. */
  function intervals() {
    const { facts } = report;
    const frame = report.byId("interval-chart");
    const known = facts.scenarios.map((scenario, at) => [scenario, at]).filter(([, at]) => facts.intervals[at].length > 0);
    if (known.length === 0) {
      report.instead(frame, `The policy ${facts.policy} recorded no intervals between calls, or there was no call.`);
      return;
    }
    const last = known[known.length - 1];
    const points = new Map();
    const point = (superstep) => {
      if (!points.has(superstep)) points.set(superstep, known.map(() => null).concat([null, null]));
      return points.get(superstep);
    };
    known.forEach(([, at], line) => {
      let before = 0;
      facts.intervals[at].forEach(({ superstep, length: value, next, votes }) => {
        point(Math.max(1, before + 1))[line] = value;
        point(superstep)[line] = value;
        if (superstep < facts.supersteps) point(superstep + 1)[line] = next;
        if (at === last[1]) {
          const first = superstep - value;
          Array.from(votes).forEach((vote, index) => {
            const entry = point(first + index + 1);
            if (vote === "+") entry[known.length] = value;
            if (vote === "-") entry[known.length + 1] = value;
          });
        }
        before = superstep;
      });
      const list = facts.intervals[at];
      point(facts.supersteps)[line] = list[list.length - 1].next;
    });
    const sorted = [...points.entries()].filter(([superstep]) => superstep >= 1 && superstep <= facts.supersteps).sort((a, b) => a[0] - b[0]);
    const columns = known.map((_, line) => line).concat([known.length, known.length + 1]);
    const data = [sorted.map(([superstep]) => superstep), ...columns.map((column) => sorted.map(([, values]) => values[column]))];
    chart(frame, "interval over supersteps", (colours) => ({
      data,
      options: {
        scales: { x: { time: false, distr: 3, range: (plot, from, to) => [Math.max(1, from), Math.min(facts.supersteps + 1, to)] }, y: { distr: 3, log: 2 } },
        axes: [
          axis(colours, "superstep [number], logarithmic", { values: powers, size: 34 }),
          axis(colours, "interval [supersteps]", { size: 58, values: (plot, ticks) => ticks.map((tick) => (tick === null ? "" : report.digits(tick, 6))) }),
        ],
        series: [
          { label: "superstep", value: shown("", 1) },
          ...known.map(([scenario, at]) => ({
            label: `interval of scenario ${scenario.name}`, stroke: colours.scenarios[at % 3], width: 2, spanGaps: true, dash: at === 1 ? [6, 3] : undefined,
            look: "steps", paths: uPlot.paths.stepped({ align: 1 }), points: { show: false }, value: shown("", 1),
          })),
          mark(`stable (${last[0].name})`, colours.stable, 6),
          mark(`unstable (${last[0].name})`, colours.unstable, 9),
        ],
      },
    }));
    const isCut = facts.intervals[last[1]].some((one) => one.votes.length < one.length);
    const note = `The interval is the number of supersteps from call to call. Marks: the result of the stability test for each superstep in scenario ${last[0].name} (green: stable, all times near their mean; large, vermilion: unstable).${isCut ? " Of long intervals only the first 64 supersteps are recorded." : ""}`;
    frame.nextSibling.after(report.element("p", note, "note"));
  }

  const mark = (label, colour, size) => ({
    label, stroke: colour, look: "dots", paths: () => null, value: (plot, value) => (value === null || value === undefined ? "" : "yes"),
    points: { show: true, size, width: 1.5, stroke: colour, fill: size > 7 ? colour : "transparent" },
  });

  /** The score of a process at a cluster, and its terms, call by call. */
  function scores() {
    const { facts, arrays } = report;
    const section = report.byId("scores");
    const frame = report.byId("score-chart");
    const { title, sum, terms, scenarios } = facts.scores;
    const has = (at) => scenarios[at] && scenarios[at].calls.length > 0;
    report.byId("h-scores").textContent = title;
    if (!facts.scenarios.some((_, at) => has(at))) {
      section.querySelectorAll(".controls").forEach((element) => element.remove());
      const isMany = scenarios.some((one) => one && one.too_many);
      report.instead(frame, isMany ? "There are too many scores for a page; the file calls.jsonl has all of them." : `The policy ${facts.policy} recorded no scores.`);
      return;
    }
    report.scenarioOptions("score-scenario", has);
    const select = { scenario: report.byId("score-scenario"), process: report.byId("score-process"), cluster: report.byId("score-cluster") };
    const movers = new Set(facts.scenarios.flatMap((scenario) => scenario.moves.map((move) => move[1])));
    const first = movers.size > 0 ? Math.min(...movers) : 1;
    report.options(select.process, Array.from({ length: facts.processes }, (_, at) => [String(at + 1), `p${at + 1}${movers.has(at + 1) ? " (moved)" : ""}`]), String(first));
    report.options(select.cluster, [["", "the best cluster"], ...facts.clusters.map((name, at) => [String(at), name])], "");
    const read = () => {
      const at = Number(select.scenario.value);
      const { calls, thresholds_s: thresholds } = scenarios[at];
      const lists = terms.map((term, index) => arrays[`score/${at}/${index}`]);
      const count = facts.clusters.length;
      const columns = [...terms, sum].map(() => []);
      const chosen = [];
      calls.forEach((_, call) => {
        const base = (call * facts.processes + Number(select.process.value) - 1) * count;
        const value = (cluster) => lists.reduce((total, list) => total + list[base + cluster], 0);
        const all = select.cluster.value === "" ? facts.clusters.map((name, cluster) => cluster) : [Number(select.cluster.value)];
        const best = all.filter((cluster) => !Number.isNaN(value(cluster))).sort((a, b) => value(b) - value(a))[0];
        chosen.push(best);
        lists.forEach((list, index) => columns[index].push(best === undefined ? null : list[base + best]));
        columns[lists.length].push(best === undefined ? null : value(best));
      });
      return { calls, thresholds, columns, chosen };
    };
    // The terms differ in colour and dash; the sum is bold.
    const look = (colours, at) => {
      if (at === terms.length) return { stroke: colours.terms[3], width: 3 };
      if (at > terms.length) return { stroke: colours.terms[4], width: 1.5, dash: [12, 4] };
      return { stroke: colours.terms[at % 3], width: 1.5, dash: [[2, 3], [6, 3], [8, 3, 2, 3]][at % 3] };
    };
    const draw = chart(frame, "scores by call", (colours) => {
      const { calls, thresholds, columns, chosen } = read();
      const lines = [...columns, thresholds];
      const largest = lines.flat().reduce((most, value) => Math.max(most, Math.abs(value || 0)), 0);
      const [unit, size] = report.timeUnit(largest);
      const names = [...terms, sum, "threshold of candidates"];
      const value = shown(unit, 1);
      report.byId("score-note").textContent = chosen.every((one) => one === undefined)
        ? "The policy recorded no scores of this process."
        : `Cluster by call: ${calls.map((call, at) => (chosen[at] === undefined ? null : `${call}: ${facts.clusters[chosen[at]]}`)).filter(Boolean).slice(0, 40).join(", ")}.`;
      return {
        data: [calls.map((_, at) => at), ...lines.map((line) => line.map((one) => (one === null || one === undefined ? null : one / size)))],
        options: {
          scales: { x: { time: false, range: [-0.3, Math.max(0.3, calls.length - 0.7)] } },
          axes: [
            axis(colours, "call after superstep [number]", {
              size: 34, incrs: whole,
              values: (plot, ticks) => ticks.map((tick) => (Number.isInteger(tick) && calls[tick] !== undefined ? String(calls[tick]) : "")),
            }),
            axis(colours, `score [${unit}]`, { size: 58, values: numbers }),
          ],
          series: [
            { label: "call after superstep", value: (plot, at) => (calls[at] === undefined ? "" : String(calls[at])) },
            ...names.map((label, at) => ({
              ...look(colours, at), label, value, points: { show: at <= terms.length, size: 6 },
            })),
          ],
        },
      };
    });
    Object.values(select).forEach((one) => one.addEventListener("change", () => draw(frame.clientWidth)));
  }

  report.startLines = function () {
    times();
    intervals();
    imbalance();
    scores();
  };
})();
