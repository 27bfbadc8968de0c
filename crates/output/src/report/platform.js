"use strict";
// Where processes are: puts them into the drawing of the platform, call by call.
(function () {
  /** `p1-p3, p7` for a sorted list. */
  function ranges(processes) {
    const parts = [];
    for (const process of processes) {
      const last = parts[parts.length - 1];
      if (last && last[1] + 1 === process) last[1] = process;
      else parts.push([process, process]);
    }
    return parts.map(([from, to]) => (from === to ? `p${from}` : `p${from}-p${to}`)).join(", ");
  }

  /** The steps of the slider: the start, and each superstep after which there was a call or a move. */
  function steps(scenario) {
    const { facts } = report;
    const supersteps = new Set(facts.decisions.calls[scenario].map((call) => call.superstep));
    for (const move of facts.scenarios[scenario].moves) supersteps.add(move[0]);
    return [0, ...[...supersteps].sort((a, b) => a - b)];
  }

  class Platform {
    constructor() {
      this.select = report.byId("platform-scenario");
      this.slider = report.byId("platform-call");
      report.scenarioOptions("platform-scenario");
      this.select.addEventListener("change", () => this.choose());
      this.slider.addEventListener("input", () => this.show());
      const step = (by) => () => {
        this.slider.value = String(Number(this.slider.value) + by);
        this.show();
      };
      report.byId("call-before").addEventListener("click", step(-1));
      report.byId("call-after").addEventListener("click", step(1));
      this.after = document.querySelector(".platform-drawing");
      if (this.after) {
        this.before = this.after.cloneNode(true);
        document.querySelector("#platform-before .wide").append(this.before);
        for (const when of ["before", "after"]) {
          page.saves(report.byId(`platform-${when}`), `places-${when}`, { svg: () => this.svg(when), csv: () => this.csv() });
        }
      }
      this.choose();
      report.onChange(report.byId("platform"), () => this.show());
    }

    choose() {
      this.scenario = Number(this.select.value);
      this.steps = steps(this.scenario);
      this.slider.max = String(this.steps.length - 1);
      // The first call that moved somebody shows most.
      const first = report.facts.scenarios[this.scenario].moves[0];
      this.slider.value = String(first ? this.steps.indexOf(first[0]) : 0);
      this.show();
    }

    show() {
      const { facts } = report;
      const superstep = this.steps[Number(this.slider.value)];
      const where = [...facts.homes];
      this.from = [...where];
      const came = new Map();
      const flows = new Map();
      for (const [after, process, host] of facts.scenarios[this.scenario].moves) {
        if (after > superstep) continue;
        if (after < superstep) this.from[process - 1] = host;
        if (after === superstep) {
          const words = `${this.cluster(where[process - 1])} to ${this.cluster(host)}`;
          if (!flows.has(words)) flows.set(words, []);
          flows.get(words).push(process);
          came.set(process, host);
        }
        where[process - 1] = host;
      }
      this.where = where;
      this.words(superstep, flows);
      if (!this.after) return;
      const goes = new Map([...came.keys()].map((process) => [process, this.from[process - 1]]));
      this.draw(this.before, this.from, [goes, "go"]);
      this.draw(this.after, where, [came, "come"]);
      // At the start there is no before.
      report.byId("platform-before").hidden = superstep === 0;
      report.byId("platform-before").nextSibling.hidden = superstep === 0;
      report.byId("platform-after").querySelector("figcaption").textContent = superstep === 0 ? "At the start" : "After";
    }

    /** A drawing as a file, with its styles, in the colours of paper. */
    svg(when) {
      try {
        report.onPaper(() => this.show());
        const colours = report.onPaper(() => report.colours());
        const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]).filter((rule) => rule.selectorText?.startsWith(".platform-drawing "));
        const style = rules.map((rule) => rule.cssText.replace(".platform-drawing ", "").replaceAll(/var\(--(\w+)\)/g, (_, name) => colours[name])).join("\n");
        const [text, size] = page.svgOf(this[when]);
        return [text.replace(">", `><style>text { font: 12px system-ui, "DejaVu Sans", sans-serif } ${style}</style>`), size];
      } finally {
        this.show();
      }
    }

    /** The places of all processes. */
    csv() {
      const { facts } = report;
      const place = (host) => [this.cluster(host), facts.hosts[host][0]];
      return [["process", "cluster before", "host before", "cluster after", "host after"], ...this.where.map((host, at) => [at + 1, ...place(this.from[at]), ...place(host)])];
    }

    cluster(host) {
      return report.facts.clusters[report.facts.hosts[host][1]];
    }

    words(superstep, flows) {
      const { facts } = report;
      const at = Number(this.slider.value);
      const call = facts.decisions.calls[this.scenario].find((one) => one.superstep === superstep);
      let text = "At the start.";
      if (superstep > 0) {
        const moved = [...flows].map(([words, processes]) => `${report.counted(processes.length, "process")} moved from ${words} (${ranges(processes.sort((a, b) => a - b))})`);
        const decided = call && !call.applied && call.decided.length > 0 ? ` The policy accepted ${report.counted(call.decided.length, "migration")}, but nothing moves in this scenario.` : "";
        const what = call ? `Call ${at} of ${this.steps.length - 1}, after superstep ${superstep}` : `After superstep ${superstep}`;
        text = `${what}: ${moved.length > 0 ? moved.join("; ") : "nothing moved"}.${decided}`;
      }
      report.byId("platform-words").textContent = text;
      this.slider.setAttribute("aria-valuetext", text);
    }

    draw(drawing, where, [marked, mark]) {
      const { facts } = report;
      const on = new Map();
      const counts = facts.clusters.map(() => 0);
      where.forEach((host, process) => {
        if (!on.has(host)) on.set(host, []);
        on.get(host).push(process + 1);
        counts[facts.hosts[host][1]] += 1;
      });
      for (const group of drawing.querySelectorAll("[data-cluster]")) {
        const cluster = Number(group.dataset.cluster);
        group.querySelector(".swatch").style.fill = report.clusterColour(cluster);
        const count = counts[cluster];
        group.querySelector(".count").textContent = report.counted(count, "process");
      }
      const paper = report.colours().panel;
      for (const cell of drawing.querySelectorAll(".host")) {
        const host = Number(cell.dataset.host);
        const own = on.get(host) || [];
        const [rect, text] = [cell.querySelector("rect"), cell.querySelector("text")];
        const colour = own.length > 0 ? report.clusterColour(facts.hosts[facts.homes[own[0] - 1]][1]) : paper;
        rect.style.fill = colour;
        text.style.fill = own.length > 0 ? report.inkOn(colour) : "";
        text.textContent = own.length > 1 ? `${own[0]}+` : own.length === 1 ? String(own[0]) : "";
        cell.classList.toggle(mark, own.some((process) => marked.get(process) === host));
        const name = facts.hosts[host][0];
        cell.querySelector("title").textContent = own.length > 0 ? `${name}: ${ranges(own)}` : `${name}: no process`;
      }
    }
  }

  report.ranges = ranges;
  report.startPlatform = function () {
    report.platform = new Platform();
  };
})();
