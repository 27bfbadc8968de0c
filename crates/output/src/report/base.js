"use strict";
// What all parts of the page share: facts and arrays, colours, numbers with units, elements. Texts are put in as texts, never as HTML.
const report = Object.create(page);

/** Inflates the block of arrays and looks at each array in place. */
report.load = async function () {
  const facts = JSON.parse(document.getElementById("facts").textContent);
  const text = atob(document.getElementById("arrays").textContent);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const buffer = await new Response(stream).arrayBuffer();
  const kinds = { f64: Float64Array, f32: Float32Array, u32: Uint32Array, u8: Uint8Array };
  const arrays = {};
  for (const [name, [kind, start, count]] of Object.entries(facts.arrays)) {
    arrays[name] = new kinds[kind](buffer, start, count);
  }
  report.facts = facts;
  report.arrays = arrays;
  // The scenario in which processes move, if it was run.
  report.shown = facts.scenarios.length - 1;
};

// ---- Colours. States and scenarios: Okabe and Ito (2008). Clusters: Tol's "muted" scheme, and his "light" one on dark paper.
const palettes = {
  light: {
    paper: "#ffffff", ink: "#1d1f23", faint: "#5b616b", line: "#d5d9df", panel: "#f5f6f8",
    compute: "#0072b2", communicate: "#e69f00", wait: "#e3e5e9", call: "#cc79a7", migrate: "#d55e00",
    scenarios: ["#0072b2", "#e69f00", "#009e73"],
    terms: ["#0072b2", "#e69f00", "#cc79a7", "#1d1f23", "#5b616b"],
    stable: "#009e73", unstable: "#d55e00", greys: ["#9aa0a8", "#1d1f23", "#646a74"],
    clusters: ["#332288", "#ddaa33", "#117733", "#cc6677", "#66bbdd", "#882255", "#44aa99", "#aa4499", "#999933"],
  },
  dark: {
    paper: "#16181c", ink: "#e7e9ec", faint: "#a4abb6", line: "#3a3f47", panel: "#202329",
    compute: "#2f93d6", communicate: "#e69f00", wait: "#363b43", call: "#d58bb4", migrate: "#f0702a",
    scenarios: ["#56b4e9", "#e69f00", "#2bc79a"],
    terms: ["#56b4e9", "#e69f00", "#d58bb4", "#e7e9ec", "#a4abb6"],
    stable: "#2bc79a", unstable: "#f0702a", greys: ["#767d88", "#ffffff", "#a9afb9"],
    clusters: ["#8f9ff0", "#eedd88", "#44bb99", "#ee8866", "#99ddff", "#ffaabb", "#bbcc33", "#d39be0", "#dddddd"],
  },
};
/** Files that are saved are for paper. */
let isForPaper = false;
report.colours = () => (page.isDark() && !isForPaper ? palettes.dark : palettes.light);
/** Draws in the colours of paper. */
report.onPaper = (draw) => {
  isForPaper = true;
  try {
    return draw();
  } finally {
    isForPaper = false;
  }
};
report.clusterColour = (cluster) => {
  const all = report.colours().clusters;
  return all[cluster % all.length];
};
/** Calls `draw` now and whenever colours or the width of the page change. */
report.onChange = function (element, draw) {
  let width = -1;
  const again = () => {
    width = element.clientWidth;
    draw(width);
  };
  again();
  page.onColours(again);
  new ResizeObserver(() => {
    if (element.clientWidth !== width) requestAnimationFrame(again);
  }).observe(element);
};
/** `#rrggbb` as three numbers. */
report.rgb = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
/** Black or white, whichever is read better on a colour. */
report.inkOn = (colour) => {
  const [r, g, b] = report.rgb(colour);
  return 0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#000000" : "#ffffff";
};

// ---- Numbers.
/** A number with some digits, without exponent where that is short. */
report.digits = (value, digits = 4) => {
  if (value === 0) return "0";
  const text = value.toPrecision(digits);
  if (text.includes("e+") && Math.abs(value) < 1e15) return String(Number(text));
  return text.includes(".") ? text.replace(/\.?0+(e|$)/, "$1") : text;
};
const timeUnits = [["s", 1], ["ms", 1e-3], ["us", 1e-6], ["ns", 1e-9]];
/** The unit in which a duration has something before the point. */
report.timeUnit = (seconds) => timeUnits.find(([, size]) => Math.abs(seconds) >= size) || (seconds === 0 ? timeUnits[0] : timeUnits[3]);
/** A duration in the unit that suits it. */
report.duration = (seconds, digits = 4) => {
  if (seconds === null || Number.isNaN(seconds)) return "-";
  const [unit, size] = report.timeUnit(seconds);
  return `${report.digits(seconds / size, digits)} ${unit}`;
};
report.percent = (share, digits = 3) => `${report.digits(100 * share, digits)} %`;
report.bytes = (count) => {
  const found = [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]].find(([, size]) => count >= size) || ["B", 1];
  return `${report.digits(count / found[1], 4)} ${found[0]}`;
};
/** Round numbers between two others, about `count` of them. */
report.ticks = (from, to, count) => {
  const rough = (to - from) / Math.max(1, count);
  if (!(rough > 0)) return [from];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) || 10);
  const ticks = [];
  for (let at = Math.ceil(from / step); at * step <= to * (1 + 1e-12); at += 1) ticks.push(at * step);
  return ticks;
};
/** `1 superstep`, `2 supersteps`. */
report.counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : noun.endsWith("s") ? "es" : "s"}`;
/** The name of unit `at` of a chart: a superstep, or some of them. */
report.unitName = (at) => {
  const { unit, supersteps } = report.facts;
  if (unit === 1) return `superstep ${at + 1}`;
  return `supersteps ${at * unit + 1} to ${Math.min((at + 1) * unit, supersteps)}`;
};
/** The last index of a sorted array whose value is not above `value`; 0 at least. */
report.find = (sorted, value) => {
  let low = 0;
  let high = sorted.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (sorted[middle] <= value) low = middle;
    else high = middle - 1;
  }
  return low;
};

// ---- Elements.
/** Fills a select with `[value, text]`. */
report.options = (select, entries, chosen) => {
  select.replaceChildren(...entries.map(([value, text]) => {
    const option = report.element("option", text);
    option.value = value;
    option.selected = value === chosen;
    return option;
  }));
};
/** The scenarios in a select; those for which `has` holds. */
report.scenarioOptions = (id, has = () => true) => {
  const all = report.facts.scenarios.map((scenario, at) => [String(at), `${scenario.name} (${scenario.words})`, at]).filter(([, , at]) => has(at));
  const last = all.length > 0 ? all[all.length - 1][0] : undefined;
  report.options(report.byId(id), all, last);
  report.byId(id).disabled = all.length < 2;
};
/** An entry of a legend: a coloured field and its meaning. */
report.legendEntry = (colour, text, className) => {
  const entry = report.element("span");
  const field = report.element("i", undefined, className);
  field.style.background = colour;
  entry.append(field, text);
  return entry;
};
/** A sentence where a chart cannot be. */
report.instead = (element, text) => element.replaceChildren(report.element("p", text, "note"));

/** Shows a text beside the pointer. */
report.tooltip = (text, x, y) => {
  const box = report.byId("tooltip");
  box.hidden = !text;
  if (!text) return;
  box.textContent = text;
  const { offsetWidth: width, offsetHeight: height } = box;
  box.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - width - 6))}px`;
  box.style.top = `${y + 16 + height > innerHeight ? Math.max(4, y - height - 10) : y + 16}px`;
};

/** A canvas as wide as the page has room, sharp on any screen; returns what to draw on, in CSS pixels. */
report.prepare = (canvas, width, height) => {
  const ratio = Math.min(2, devicePixelRatio || 1);
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
};
report.FONT = '12px system-ui, "Segoe UI", "DejaVu Sans", sans-serif';
/** A text that is cut where it is too wide. */
report.fitted = (context, text, width) => {
  if (context.measureText(text).width <= width) return text;
  let length = text.length - 1;
  while (length > 1 && context.measureText(`${text.slice(0, length)}\u2026`).width > width) length -= 1;
  return `${text.slice(0, length)}\u2026`;
};
