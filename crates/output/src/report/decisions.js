"use strict";
// The table of decisions: a line for each call, below it its candidates; a filter by text, verdict and scenario.
(function () {
  const PAGE = 100;
  const COLUMNS = [["process"], ["from"], ["to"], ["score", "number"], ["t1", "number"], ["t2", "number"], ["verdict"], ["reason"]];

  /** All calls with their candidates, as texts. */
  function entries() {
    const { facts } = report;
    const { calls, texts } = facts.decisions;
    const all = [];
    facts.scenarios.forEach((scenario, at) => {
      for (const call of calls[at]) {
        const parts = [
          `Scenario ${scenario.name}, call after superstep ${call.superstep}, at ${report.digits(call.start_s, 6)} s`,
          `cost ${report.duration(call.cost_s)}`,
        ];
        if (call.applied && call.decided.length > 0) parts.push(`migrations ${report.duration(call.migration_s)}`);
        parts.push(`${report.counted(call.candidates.length, "candidate")}, ${call.decided.length} accepted`);
        if (call.t1_minus_t2_sum_s !== null) parts.push(`the predicted savings t1 - t2 of the accepted candidates add up to ${report.duration(call.t1_minus_t2_sum_s)}`);
        const gain = call.gain_on_i_until_next_call_s;
        if (gain !== null && call.applied) parts.push(`the supersteps until the next call took ${report.duration(Math.abs(gain))} ${gain < 0 ? "longer" : "less"} than in scenario i (all moves so far have their part in it)`);
        const heading = parts.join("; ");
        const key = `${at}/${call.superstep}`;
        const candidates = call.candidates.map((one) => candidate(one, call, texts, key));
        // What is decided without candidates, by a list, is a line, too.
        const judged = new Set(call.candidates.map((one) => one[0]));
        const forced = call.decided.filter((process) => !judged.has(process));
        for (const process of forced) {
          candidates.push({ cells: [`p${process}`, "", "", "", "", "", verdictOf(true, call), "decided without candidates"], verdict: verdictOf(true, call), key: `${key}/${process}`, row: [`p${process}`] });
        }
        for (const one of candidates) one.text = `${one.cells.join(" ")} scenario ${scenario.name} superstep ${call.superstep}`.toLowerCase();
        all.push({ scenario: at, superstep: call.superstep, heading, candidates, key, text: heading.toLowerCase() });
      }
    });
    return all;
  }

  const verdictOf = (accepted, call) => (accepted ? (call.applied ? "moved" : "decided") : "stayed");
  const seconds = (value) => (value === null ? "" : report.duration(value));
  /** Scores that are times have the unit that suits them. */
  const score = (value) => (report.facts.scores.column.endsWith(" [s]") ? report.duration(value) : report.digits(value, 5));
  const words = { moved: "moved", decided: "accepted, not moved", stayed: "stayed" };

  function candidate([process, fromCluster, fromHost, toCluster, toHost, rank, stay, go, accepted, reason], call, texts, key) {
    const verdict = verdictOf(accepted, call);
    const to = toHost === null ? texts[toCluster] : `${texts[toCluster]}, ${texts[toHost]}`;
    return {
      cells: [`p${process}`, `${texts[fromCluster]}, ${texts[fromHost]}`, to, score(rank), seconds(stay), seconds(go), words[verdict], texts[reason]],
      verdict,
      key: `${key}/${process}`,
      row: [`p${process}`, texts[fromCluster], texts[fromHost], texts[toCluster], toHost === null ? "" : texts[toHost], rank, stay, go, verdict, texts[reason]],
    };
  }

  class Decisions {
    constructor() {
      this.entries = entries();
      this.table = report.byId("decision-table");
      const heads = COLUMNS.map(([name, kind]) => {
        const head = report.element("th", name === "score" ? report.facts.scores.column.replace(/ \[s\]$/, "") : name, kind);
        head.scope = "col";
        return head;
      });
      this.table.tHead.rows[0].replaceChildren(...heads);
      // The scenario in which processes move comes first.
      const last = report.facts.decisions.calls.findLastIndex((calls) => calls.length > 0);
      const names = report.facts.scenarios.map((scenario, at) => [String(at), scenario.name]);
      report.options(report.byId("decision-scenario"), [["", "all"], ...names.filter(([at]) => report.facts.decisions.calls[at].length > 0)], last < 0 ? "" : String(last));
      this.words = JSON.parse(new TextDecoder().decode(report.arrays.words));
      page.saves(this.table.closest(".wide"), "decisions", { csv: () => this.rows() });
      for (const id of ["decision-text", "decision-verdict", "decision-scenario"]) {
        report.byId(id).addEventListener("input", () => this.filter());
      }
      report.byId("decision-more").addEventListener("click", () => this.more());
      this.filter();
    }

    filter() {
      const wanted = report.byId("decision-text").value.trim().toLowerCase().split(/\s+/).filter(Boolean);
      const verdict = report.byId("decision-verdict").value;
      const scenario = report.byId("decision-scenario").value;
      // A name of a process means all of it: p3 is not p37.
      const has = (text) => wanted.every((word) => (/^p\d+$/.test(word) ? new RegExp(`\\b${word}\\b`).test(text) : text.includes(word)));
      const lines = [];
      let calls = 0;
      let candidates = 0;
      for (const entry of this.entries) {
        if (scenario !== "" && entry.scenario !== Number(scenario)) continue;
        const shown = entry.candidates.filter((one) => (verdict === "" || one.verdict === verdict) && (has(one.text) || has(`${entry.text} ${one.text}`)));
        const isEmpty = entry.candidates.length === 0;
        if (shown.length === 0 && !(isEmpty && (verdict === "" || verdict === "none") && has(entry.text))) continue;
        calls += 1;
        candidates += shown.length;
        lines.push(entry, ...shown);
      }
      this.lines = lines;
      this.count = 0;
      this.table.tBodies[0].replaceChildren();
      const all = this.entries.reduce((sum, entry) => sum + entry.candidates.length, 0);
      report.byId("decision-count").textContent = this.entries.length === 0
        ? "There was no call."
        : `${calls} of ${report.counted(this.entries.length, "call")}, ${candidates} of ${report.counted(all, "candidate")}.`;
      this.more();
    }

    more() {
      const next = this.lines.slice(this.count, this.count + PAGE);
      this.table.tBodies[0].append(...next.map((line) => (line.heading ? this.heading(line) : this.row(line))));
      this.count += next.length;
      report.byId("decision-more").hidden = this.count >= this.lines.length;
    }

    heading(entry) {
      const row = report.element("tr", undefined, "call");
      const cell = report.element("td", `${entry.heading} `);
      cell.colSpan = COLUMNS.length;
      row.append(cell);
      this.why(row, cell, entry.key, `this call, after superstep ${entry.superstep}`);
      return row;
    }

    /** A button that opens the explanation below a row. */
    why(row, cell, key, name) {
      const parts = this.words[key];
      if (!parts) return;
      const button = page.button("why", `why: ${name}`, () => {
        const isOpen = row.nextSibling?.dataset?.of === key;
        button.setAttribute("aria-expanded", String(!isOpen));
        if (isOpen) row.nextSibling.remove();
        else row.after(this.told(parts, key));
      });
      button.className = "why";
      button.setAttribute("aria-expanded", "false");
      cell.append(" ", button);
    }

    /** The explanation of a decision in words. */
    told(parts, key) {
      const row = report.element("tr", undefined, "told");
      row.dataset.of = key;
      const cell = document.createElement("td");
      cell.colSpan = COLUMNS.length;
      for (const [title, sentences] of parts) {
        const list = report.element("ul", undefined, "told");
        list.append(...sentences.map((sentence) => report.element("li", sentence.trim(), sentence.startsWith(" ") ? "deeper" : undefined)));
        cell.append(report.element("h4", title), list);
      }
      row.append(cell);
      return row;
    }

    /** What is shown, as numbers. */
    rows() {
      const all = [["scenario", "superstep", "process", "from cluster", "from host", "to cluster", "to host", report.facts.scores.column, "t1_s", "t2_s", "verdict", "reason"]];
      let entry = null;
      for (const line of this.lines) {
        if (line.heading) entry = line;
        else all.push([report.facts.scenarios[entry.scenario].name, entry.superstep, ...line.row]);
      }
      return all;
    }

    row(candidate) {
      const row = document.createElement("tr");
      candidate.cells.forEach((text, at) => {
        const cell = report.element("td", text, COLUMNS[at][1]);
        if (COLUMNS[at][0] === "verdict") cell.classList.add(`verdict-${candidate.verdict}`);
        if (COLUMNS[at][0] === "reason") cell.classList.add("reason");
        row.append(cell);
      });
      this.why(row, row.lastChild, candidate.key, candidate.cells[0]);
      return row;
    }
  }

  report.startDecisions = function () {
    report.decisions = new Decisions();
  };
})();
