"use strict";
// The chart of processes over time: its frame, axis, labels and marks; zoom, pan and tooltip.
(function () {
  const AXIS = 34;
  const GAP = 5;
  /** Higher groups have their name several times. */
  const HIGH = 400;
  /** So many rows are saved. */
  const MOST_ROWS = 500000;
  const WAYS = { wheel: 1.25, key: 1.5 };

  /** Rows from top to bottom: by the cluster in which a process begins, then by number. */
  function layout(lane, path) {
    const { facts } = report;
    const count = facts.processes;
    const height = count <= 30 ? 18 : count <= 200 ? Math.max(4, Math.min(14, Math.floor(640 / count))) : count <= 800 ? 3 : count <= 3000 ? 2 : 1;
    const home = (process) => facts.hosts[facts.homes[process]][1];
    const order = Array.from({ length: count }, (_, process) => process).sort((a, b) => home(a) - home(b) || a - b);
    const groups = [];
    const top = AXIS + (path ? report.Path.HEIGHT + GAP : 0);
    let y = top;
    order.forEach((process, row) => {
      const cluster = home(process);
      const last = groups[groups.length - 1];
      if (!last || last.cluster !== cluster) {
        if (last) y += GAP;
        groups.push({ cluster, first: row, count: 1, y });
      } else last.count += 1;
      y += height;
    });
    return { order, groups, height, bottom: y + 4, lane };
  }

  class Gantt {
    constructor() {
      this.canvas = report.byId("gantt-canvas");
      this.axis = report.byId("gantt-axis");
      this.painter = new report.Painter();
      this.byCluster = false;
      this.isDue = false;
      this.pointers = new Map();
      this.choose(report.shown);
      this.listen();
      this.legend();
      report.onChange(report.byId("gantt-frame"), () => {
        this.legend();
        this.draw();
      });
    }

    choose(scenario) {
      this.scenario = scenario;
      this.lane = new report.Lane(scenario);
      this.path = report.Path.of(scenario);
      this.piece = null;
      this.layout = layout(this.lane, this.path);
      this.from = 0;
      this.to = this.lane.makespan || 1;
      this.later();
    }

    legend() {
      const colours = report.colours();
      const { facts } = report;
      const cluster = (name, at, className) => report.legendEntry(report.clusterColour(at), name, className);
      const computing = this.byCluster
        ? facts.clusters.map((name, at) => cluster(`computes on ${name}`, at))
        : [report.legendEntry(colours.compute, "computes")];
      const [wait, , communicate, call, migrate] = report.states(colours, this.byCluster);
      const rest = [
        report.legendEntry(communicate, "sends or receives"),
        report.legendEntry(wait, "waits for a message or at the barrier"),
        report.legendEntry(call, "rescheduling call"),
        report.legendEntry(migrate, "migration, or waiting for it"),
      ];
      if (report.facts.path) rest.push(report.legendEntry(colours.ink, "on the critical path (in its row: the barrier)", "strip"));
      const strips = this.byCluster ? [] : facts.clusters.map((name, at) => cluster(`is on ${name}`, at, "strip"));
      report.byId("gantt-legend").replaceChildren(...computing, ...rest, ...strips);
    }

    /** Draws with the next frame. */
    later() {
      if (this.isDue) return;
      this.isDue = true;
      requestAnimationFrame(() => {
        this.isDue = false;
        this.draw();
      });
    }

    draw() {
      const { canvas, layout: { bottom } } = this;
      const width = canvas.parentElement.clientWidth;
      if (width === 0) return;
      this.paint(report.prepare(canvas, width, bottom), width);
      this.paintAxis(report.prepare(this.axis, width, AXIS - 3), width);
      this.tell();
    }

    paint(context, width) {
      const { layout: { bottom } } = this;
      this.left = width < 500 ? 64 : 100;
      this.width = Math.max(50, Math.floor(width - this.left - 10));
      this.scale = this.width / (this.to - this.from);
      const colours = report.colours();
      context.fillStyle = colours.paper;
      context.fillRect(0, 0, width, bottom);
      this.drawBars(context, colours);
      this.drawLabels(context, colours);
      if (this.path) this.path.paintRow(context, this, colours, AXIS);
      this.drawMarks(context, colours);
      this.drawAxis(context, colours);
    }

    /** The axis alone, which stays in sight. */
    paintAxis(context, width) {
      const colours = report.colours();
      context.fillStyle = colours.paper;
      context.fillRect(0, 0, width, AXIS - 3);
      this.drawAxis(context, colours);
    }

    /** What is seen, on paper. */
    svg() {
      return report.onPaper(() => {
        this.legend();
        const entries = report.entriesOf(report.byId("gantt-legend"));
        const { bottom } = this.layout;
        const paper = new report.Paper(1100, bottom + 20 + 18 * Math.ceil(entries.length / 5));
        this.paint(paper, 1100);
        paper.legend(entries, bottom + 6);
        return paper.svg();
      });
    }

    /** What is seen, as numbers: a row for each process and unit. */
    csv() {
      const { lane } = this;
      const { facts } = report;
      const [first, last] = [report.find(lane.start, this.from), Math.min(lane.units - 1, report.find(lane.start, this.to))];
      if ((last - first + 1) * facts.processes > MOST_ROWS) throw new Error(`the table would have more than ${MOST_ROWS} rows; zoom in, or use processes.csv`);
      const rows = [["process", "cluster", "host", "first superstep", "last superstep", "start_s", "compute_s", "communication_s", "wait_s"]];
      for (let process = 0; process < facts.processes; process += 1) {
        for (let unit = first; unit <= last; unit += 1) {
          const bars = lane.bars(process, unit);
          const [host, cluster] = facts.hosts[lane.hostAt(process, unit)];
          const wait = Math.max(0, bars.free - bars.start - bars.compute - bars.communication);
          rows.push([process + 1, facts.clusters[cluster], host, unit * facts.unit + 1, Math.min((unit + 1) * facts.unit, facts.supersteps), bars.start, bars.compute, bars.communication, wait]);
        }
      }
      return rows;
    }

    drawBars(context, colours) {
      const { lane, layout: { order, groups, height } } = this;
      const ratio = Math.min(2, devicePixelRatio || 1);
      const wide = Math.round(this.width * ratio);
      const scale = wide / (this.to - this.from);
      this.painter.prepare(lane, this.from, scale, wide, colours, this.byCluster);
      const picture = new ImageData(wide, order.length);
      order.forEach((process, row) => this.painter.row(process, picture.data, row * wide * 4));
      this.picture = this.picture || document.createElement("canvas");
      this.picture.width = wide;
      this.picture.height = order.length;
      this.picture.getContext("2d").putImageData(picture, 0, 0);
      context.imageSmoothingEnabled = false;
      for (const group of groups) {
        context.drawImage(this.picture, 0, group.first, wide, group.count, this.left, group.y, this.width, group.count * height);
      }
      if (height < 6) return;
      // A line of paper between rows.
      context.fillStyle = colours.paper;
      for (const group of groups) {
        for (let row = 0; row < group.count; row += 1) context.fillRect(this.left, group.y + (row + 1) * height - 1, this.width, 1);
      }
    }

    /** The y of the row of each process. */
    eachRow(visit) {
      const { order, groups, height } = this.layout;
      for (const group of groups) {
        for (let row = 0; row < group.count; row += 1) visit(order[group.first + row], group.y + row * height, height);
      }
    }

    drawLabels(context, colours) {
      const { groups, height } = this.layout;
      context.font = report.FONT;
      context.textBaseline = "middle";
      context.textAlign = "left";
      const hasNumbers = height >= 10 && this.left >= 100;
      for (const group of groups) {
        const tall = group.count * height;
        context.fillStyle = report.clusterColour(group.cluster);
        context.fillRect(this.left - 5, group.y, 4, tall);
        context.fillStyle = colours.ink;
        const name = report.fitted(context, report.facts.clusters[group.cluster], this.left - (hasNumbers ? 38 : 10));
        // A name in every part of a high group, so that one is in sight.
        const part = tall / Math.ceil(tall / HIGH);
        for (let y = part / 2; y < tall; y += part) context.fillText(name, 0, group.y + Math.max(6, y));
      }
      if (!hasNumbers) return;
      context.textAlign = "right";
      context.font = report.FONT.replace("12px", "9px");
      context.fillStyle = colours.faint;
      this.eachRow((process, y, tall) => context.fillText(`p${process + 1}`, this.left - 8, y + tall / 2));
    }

    /** Below each bar the cluster on which the process is; a triangle where it moves. */
    drawMarks(context, colours) {
      const { lane } = this;
      const { facts } = report;
      const x = (date) => this.left + (date - this.from) * this.scale;
      context.save();
      context.beginPath();
      context.rect(this.left, AXIS - 2, this.width, this.layout.bottom);
      context.clip();
      const strip = this.layout.height >= 10 ? 2 : 1;
      // Low rows have a line only where a process is in another cluster than that of its group.
      const isLow = this.layout.height < 8;
      if (!this.byCluster && this.layout.height >= 3) {
        this.eachRow((process, y, tall) => {
          const places = lane.places[process];
          places.forEach(([unit, host], at) => {
            const begin = x(lane.start[Math.min(unit, lane.units)]);
            const end = x(at + 1 < places.length ? lane.start[Math.min(places[at + 1][0], lane.units)] : lane.makespan);
            if (isLow && facts.hosts[host][1] === facts.hosts[places[0][1]][1]) return;
            context.fillStyle = report.clusterColour(facts.hosts[host][1]);
            context.fillRect(begin, y + tall - strip, end - begin, strip);
          });
        });
      }
      const rows = new Map();
      this.eachRow((process, y, tall) => rows.set(process, [y, tall]));
      for (const [, process, host, start, end] of facts.scenarios[this.scenario].moves) {
        const [y, tall] = rows.get(process - 1);
        const size = Math.max(4, Math.min(7, tall * 0.6));
        const middle = x(end);
        if (tall >= 4) {
          // The move itself, if it can be seen.
          context.fillStyle = colours.ink;
          const wide = x(end) - x(start);
          if (wide > 3) context.fillRect(x(start), y + tall / 2 - 1, wide, 2);
        }
        context.beginPath();
        context.moveTo(middle, y + tall / 2);
        context.lineTo(middle - size, y + tall / 2 - size / 2);
        context.lineTo(middle - size, y + tall / 2 + size / 2);
        context.closePath();
        context.fillStyle = report.clusterColour(facts.hosts[host][1]);
        context.fill();
        context.strokeStyle = colours.ink;
        context.lineWidth = 1;
        context.stroke();
      }
      if (this.path) {
        this.path.paintLines(context, this, colours, rows);
        this.path.paintChosen(context, this, colours, rows, AXIS);
      }
      context.restore();
      this.drawSelection(context, colours);
    }

    drawSelection(context, colours) {
      if (!this.selection) return;
      const [a, b] = [Math.min(...this.selection), Math.max(...this.selection)];
      context.fillStyle = `${colours.scenarios[0]}33`;
      context.fillRect(a, AXIS, b - a, this.layout.bottom - AXIS);
      context.strokeStyle = colours.ink;
      context.strokeRect(a + 0.5, AXIS + 0.5, b - a, this.layout.bottom - AXIS - 1);
    }

    drawAxis(context, colours) {
      const ticks = report.ticks(this.from, this.to, this.width / (this.width < 400 ? 80 : 110));
      const step = ticks.length > 1 ? ticks[1] - ticks[0] : this.to - this.from;
      const decimals = Math.max(0, Math.min(12, Math.ceil(-Math.log10(step) - 1e-9)));
      context.strokeStyle = colours.faint;
      context.fillStyle = colours.ink;
      context.font = report.FONT;
      context.textBaseline = "alphabetic";
      context.textAlign = "center";
      context.lineWidth = 1;
      context.beginPath();
      context.moveTo(this.left, AXIS - 4.5);
      context.lineTo(this.left + this.width, AXIS - 4.5);
      for (const tick of ticks) {
        const x = Math.round(this.left + (tick - this.from) * this.scale) + 0.5;
        context.moveTo(x, AXIS - 4.5);
        context.lineTo(x, AXIS - 9);
        const label = tick.toFixed(decimals);
        const half = context.measureText(label).width / 2;
        context.fillText(label, Math.max(this.left + half - 4, Math.min(x, this.left + this.width + 10 - half)), AXIS - 12);
      }
      context.stroke();
      context.textAlign = "left";
      context.fillText("time [s]", 0, AXIS - 12);
    }

    /** What is seen, in words. */
    tell() {
      const { lane } = this;
      const first = report.find(lane.start, this.from);
      const last = Math.min(lane.units - 1, report.find(lane.start, this.to));
      const scenario = report.facts.scenarios[this.scenario];
      const text = `Scenario ${scenario.name}: ${report.duration(this.to - this.from)} from ${report.duration(this.from)} on, ${report.unitName(first)}${last > first ? ` to ${last * report.facts.unit + 1}` : ""}.`;
      report.byId("gantt-range").textContent = text;
      this.canvas.setAttribute("aria-label", `${report.counted(report.facts.processes, "process")} over time, by cluster. ${text}`);
    }

    // ---- Zoom and pan.

    /** Shows from date `from` to date `to`, within the run, and no less than can be told apart. */
    show(from, to) {
      const all = this.lane.makespan || 1;
      const wanted = Math.max(all * 1e-9, to - from);
      // Zooming in and out again must end where it began, whatever is rounded.
      const span = wanted > all * (1 - 1e-9) ? all : wanted;
      this.from = Math.max(0, Math.min(from, all - span));
      this.to = this.from + span;
      this.later();
    }

    /** Zooms in by `factor` about a date. */
    zoom(factor, date = (this.from + this.to) / 2) {
      this.show(date - (date - this.from) / factor, date + (this.to - date) / factor);
    }

    /** Moves by a part of what is seen. */
    pan(part) {
      const by = part * (this.to - this.from);
      this.show(this.from + by, this.to + by);
    }

    dateAt(x) {
      return this.from + (x - this.left) / this.scale;
    }

    listen() {
      const { canvas } = this;
      const on = (id, action) => report.byId(id).addEventListener("click", action);
      on("zoom-in", () => this.zoom(2));
      on("zoom-out", () => this.zoom(0.5));
      on("pan-left", () => this.pan(-0.5));
      on("pan-right", () => this.pan(0.5));
      on("zoom-all", () => this.show(0, Infinity));
      report.scenarioOptions("gantt-scenario");
      report.byId("gantt-scenario").addEventListener("change", (event) => this.choose(Number(event.target.value)));
      report.byId("gantt-colours").addEventListener("change", (event) => {
        this.byCluster = event.target.value === "cluster";
        this.legend();
        this.later();
      });
      canvas.addEventListener("keydown", (event) => this.key(event));
      canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
      canvas.addEventListener("pointerdown", (event) => this.press(event));
      canvas.addEventListener("pointermove", (event) => this.move(event));
      for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => this.release(event));
      canvas.addEventListener("pointerleave", () => report.tooltip(""));
      canvas.addEventListener("dblclick", () => this.show(0, Infinity));
    }

    key(event) {
      const actions = {
        "+": () => this.zoom(WAYS.key), "=": () => this.zoom(WAYS.key), "-": () => this.zoom(1 / WAYS.key),
        ArrowLeft: () => this.pan(-0.1), ArrowRight: () => this.pan(0.1),
        0: () => this.show(0, Infinity), Home: () => this.show(0, Infinity),
        n: () => this.step(1), p: () => this.step(-1),
      };
      const action = actions[event.key];
      if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      action();
    }

    wheel(event) {
      // A page that is being read must not get caught in the chart.
      if (!event.ctrlKey && document.activeElement !== this.canvas) return;
      event.preventDefault();
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        this.pan(Math.sign(event.deltaX || event.deltaY) * 0.1);
        return;
      }
      this.zoom(WAYS.wheel ** -Math.sign(event.deltaY), this.dateAt(event.offsetX));
    }

    press(event) {
      this.canvas.setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, event.offsetX);
      this.selection = null;
      this.grip = [...this.pointers.values()].map((x) => this.dateAt(x));
      if (event.pointerType !== "touch" && event.button === 0 && !event.shiftKey) this.selection = [event.offsetX, event.offsetX];
    }

    move(event) {
      if (!this.pointers.has(event.pointerId)) {
        this.hover(event);
        return;
      }
      report.tooltip("");
      this.pointers.set(event.pointerId, event.offsetX);
      const [a, b] = [...this.pointers.values()];
      if (this.selection) {
        const { left, width } = this;
        this.selection[1] = Math.max(left, Math.min(event.offsetX, left + width));
        this.later();
      } else if (b !== undefined && this.grip.length === 2 && Math.abs(a - b) > 5) {
        // The dates below two fingers stay below them.
        const [first, second] = this.grip;
        const span = ((second - first) * this.width) / (b - a);
        if (span > 0) this.show(first - ((a - this.left) / this.width) * span, first - ((a - this.left) / this.width) * span + span);
      } else {
        const from = this.grip[0] - (a - this.left) / this.scale;
        this.show(from, from + this.to - this.from);
      }
    }

    release(event) {
      this.pointers.delete(event.pointerId);
      this.grip = [...this.pointers.values()].map((x) => this.dateAt(x));
      if (!this.selection) {
        if (event.pointerType === "touch" && event.type === "pointerup") {
          this.hover(event);
          this.chooseAt(event);
        }
        return;
      }
      const [a, b] = this.selection.map((x) => this.dateAt(x));
      this.selection = null;
      if (event.type === "pointerup" && Math.abs(a - b) * this.scale > 4) this.show(Math.min(a, b), Math.max(a, b));
      else this.chooseAt(event);
    }

    // ---- The critical path.

    /** The piece of the critical path at a place of the chart; null if there is none. */
    pieceAt(x, y) {
      const { path, layout: { order, groups, height } } = this;
      const time = this.dateAt(x);
      if (!path || x < this.left || time < 0 || time > this.lane.makespan) return null;
      if (y >= AXIS && y < AXIS + report.Path.HEIGHT) return path.at(time);
      const group = groups.find((one) => y >= one.y && y < one.y + one.count * height);
      return group ? path.atOf(time, order[group.first + Math.floor((y - group.y) / height)]) : null;
    }

    chooseAt(event) {
      this.choosePiece(this.pieceAt(event.offsetX, event.offsetY));
    }

    /** Goes to the next piece, or the one before; without a chosen one to the first in sight. */
    step(by) {
      if (!this.path) return;
      const next = this.piece === null ? this.path.at(this.from) : this.piece + by;
      const piece = Math.max(0, Math.min(this.path.count - 1, next));
      const [begin, end] = [this.path.begin[piece], this.path.begin[piece + 1]];
      if (begin < this.from || end > this.to) {
        const span = this.to - this.from;
        this.show((begin + end - span) / 2, (begin + end + span) / 2);
      }
      this.choosePiece(piece);
    }

    /** Frames a piece and describes it below the chart. */
    choosePiece(piece) {
      this.piece = piece;
      report.byId("gantt-why").textContent = piece === null ? "" : this.path.words(piece);
      this.later();
    }

    hover(event) {
      report.tooltip(this.describe(event.offsetX, event.offsetY), event.clientX, event.clientY);
    }

    /** What is at a place of the chart. */
    describe(x, y) {
      const { lane, layout: { order, groups, height } } = this;
      const { facts } = report;
      const piece = this.pieceAt(x, y);
      if (piece !== null && y < AXIS + report.Path.HEIGHT) return this.path.words(piece);
      const group = groups.find((one) => y >= one.y && y < one.y + one.count * height);
      const date = this.dateAt(x);
      if (!group || date < 0 || date > lane.makespan || x < this.left) return "";
      const process = order[group.first + Math.floor((y - group.y) / height)];
      let unit = Math.min(lane.units - 1, report.find(lane.start, date));
      // A process that begins late is still in the superstep before.
      if (unit > 0 && lane.bars(process, unit).start > date) unit -= 1;
      const bars = lane.bars(process, unit);
      const [host, cluster] = facts.hosts[lane.hostAt(process, unit)];
      const waits = Math.max(0, bars.free - bars.start - bars.compute - bars.communication);
      const lines = [
        `process ${process + 1} on ${host} (${facts.clusters[cluster]})`,
        `${report.unitName(unit)}, from ${report.digits(bars.start, 7)} s on`,
        `computes ${report.duration(bars.compute)}`,
        `sends or receives ${report.duration(bars.communication)}`,
        `waits for messages or at the barrier ${report.duration(waits)}`,
      ];
      if (bars.call > 0) lines.push(`then a rescheduling call: ${report.duration(bars.call)}`);
      if (bars.rest > 0 && lane.hasMoves[unit]) lines.push(`then migrations: ${report.duration(bars.rest)}`);
      for (const [superstep, who, to, start, end] of facts.scenarios[this.scenario].moves) {
        if (who === process + 1 && Math.ceil(superstep / facts.unit) - 1 === unit) {
          const place = facts.hosts[to];
          lines.push(`moves to ${place[0]} (${facts.clusters[place[1]]}) in ${report.duration(end - start)}`);
        }
      }
      if (piece !== null) lines.push(this.path.words(piece));
      return lines.join("\n");
    }
  }

  report.startGantt = function () {
    const { bars } = report.facts;
    if (bars.reason) {
      report.byId("gantt").querySelectorAll(".controls, .note").forEach((element) => element.remove());
      report.instead(report.byId("gantt-frame"), bars.reason);
      return;
    }
    report.gantt = new Gantt();
    if (!report.facts.path) report.byId("gantt-path").remove();
    const redrawn = (make) => () => {
      try {
        return make();
      } finally {
        report.gantt.legend();
        report.gantt.draw();
      }
    };
    page.saves(report.byId("gantt-frame").parentElement, "processes", { svg: redrawn(() => report.gantt.svg()), csv: () => report.gantt.csv() });
  };
})();
