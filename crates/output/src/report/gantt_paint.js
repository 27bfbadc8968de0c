"use strict";
// The pixels of the bars. Each row of pixels adds up which part of every pixel each state covers, and mixes their colours accordingly, so
// that a picture is right at any zoom and its cost does not depend on how many bars there are: zoomed out, a coarser level is taken.
(function () {
  /** A scenario as the painter needs it. */
  class Lane {
    constructor(scenario) {
      const { facts, arrays } = report;
      this.start = arrays[`start/${scenario}`];
      this.end = arrays[`end/${scenario}`];
      this.rows = arrays[`rows/${scenario}`];
      this.units = this.end.length;
      this.processes = facts.processes;
      this.makespan = facts.scenarios[scenario].makespan_s;
      this.levels = facts.bars.levels.map((size) => ({
        size,
        bins: Math.ceil(this.units / size),
        compute: arrays[`level/${scenario}/${size}/compute`],
        communication: arrays[`level/${scenario}/${size}/communication`],
        calls: arrays[`level/${scenario}/${size}/calls`],
        migrations: arrays[`level/${scenario}/${size}/migrations`],
      }));
      // When each unit's call ends, if it has one: between that and the next unit processes migrate.
      this.callEnd = new Float64Array(this.units);
      for (let at = 0; at < this.units; at += 1) this.callEnd[at] = this.end[at];
      const applied = new Set(facts.scenarios[scenario].moves.map((move) => move[0]));
      this.hasMoves = new Uint8Array(this.units);
      for (const call of facts.decisions.calls[scenario]) {
        const at = Math.ceil(call.superstep / facts.unit) - 1;
        this.callEnd[at] = call.start_s + call.cost_s;
      }
      for (const superstep of applied) this.hasMoves[Math.ceil(superstep / facts.unit) - 1] = 1;
      // Where each process is: [from unit, host] in order.
      this.places = Array.from({ length: this.processes }, (_, process) => [[0, facts.homes[process]]]);
      for (const [superstep, process, host] of facts.scenarios[scenario].moves) {
        this.places[process - 1].push([Math.ceil(superstep / facts.unit), host]);
      }
    }

    /** The place of a process in a unit. */
    hostAt(process, unit) {
      const places = this.places[process];
      let found = places[0][1];
      for (const [from, host] of places) if (from <= unit) found = host;
      return found;
    }

    /** What a process does in a unit, in seconds. */
    bars(process, unit) {
      const { arrays } = report;
      const at = this.rows[unit] * this.processes + process;
      const start = this.start[unit] + (arrays.delay ? arrays.delay[at] : 0);
      const compute = arrays.compute[at];
      const communication = arrays.communication[at];
      let next = this.start[unit + 1];
      if (arrays.delay && unit + 1 < this.units) next += arrays.delay[this.rows[unit + 1] * this.processes + process];
      // Somebody who leaves the barrier early begins before the last one has left it.
      const free = Math.min(this.end[unit], next);
      const paid = Math.min(Math.max(this.callEnd[unit], free), next);
      const call = Math.max(0, paid - free);
      const rest = Math.max(0, next - paid);
      return { start, compute, communication, free, paid, next, call, rest };
    }

    /** The coarsest level whose bins are at most `width` seconds wide between two dates: none if single units are wider. */
    levelFor(from, to, width) {
      const units = report.find(this.start, to) - report.find(this.start, from) + 1;
      const mean = (Math.min(to, this.makespan) - Math.max(from, 0)) / units;
      let found = null;
      for (const level of this.levels) if (level.size * mean <= width) found = level;
      return found;
    }
  }

  /** Adds `weight` times what is covered from x0 to x1, in pixels. */
  function add(cover, x0, x1, weight) {
    const from = x0 > 0 ? x0 : 0;
    const to = x1 < cover.length ? x1 : cover.length;
    if (!(to > from)) return;
    const first = from | 0;
    const last = to | 0;
    if (first === last) {
      cover[first] += weight * (to - from);
      return;
    }
    cover[first] += weight * (first + 1 - from);
    for (let at = first + 1; at < last; at += 1) cover[at] += weight;
    if (last < cover.length) cover[last] += weight * (to - last);
  }

  /** Paints bars into rows of pixels: first `prepare` what all rows share, then `row` after row. */
  class Painter {
    /** What is seen: from date `from` on, `scale` pixels per second, `width` pixels. */
    prepare(lane, from, scale, width, colours, byCluster) {
      const states = report.states(colours, byCluster).map(report.rgb);
      Object.assign(this, { lane, from, scale, width, byCluster, states });
      const to = from + width / scale;
      this.level = lane.levelFor(from, to, 2 / scale);
      this.compute = new Float32Array(width);
      this.talk = new Float32Array(width);
      this.calls = new Float32Array(width);
      this.migrations = new Float32Array(width);
      this.end = Math.min(width, Math.max(0, (lane.makespan - from) * scale));
      const first = report.find(lane.start, from);
      if (this.level) this.prepareBins(first, to);
      else this.prepareUnits(first, to);
    }

    /** The pixels of each bin of the level, and the calls and migrations in them. */
    prepareBins(firstUnit, to) {
      const { lane, level: { size, bins, calls, migrations } } = this;
      const x = (unit) => (lane.start[Math.min(unit, lane.units)] - this.from) * this.scale;
      this.first = Math.floor(firstUnit / size);
      let last = this.first;
      while (last < bins && lane.start[last * size] <= to) last += 1;
      this.edges = new Float64Array(last - this.first + 1);
      for (let bin = this.first; bin <= last; bin += 1) this.edges[bin - this.first] = x(bin * size);
      for (let bin = this.first; bin < last; bin += 1) {
        const [x0, x1] = [this.edges[bin - this.first], this.edges[bin - this.first + 1]];
        if (calls[bin]) add(this.calls, x0, x1, calls[bin] / 255);
        if (migrations[bin]) add(this.migrations, x0, x1, migrations[bin] / 255);
      }
    }

    /** The units that are seen; if all processes begin and end them together, the calls and migrations after them. */
    prepareUnits(firstUnit, to) {
      const { lane } = this;
      // Somebody may still be in the unit before.
      this.first = Math.max(0, firstUnit - 1);
      this.last = this.first;
      while (this.last < lane.units && lane.start[this.last] <= to) this.last += 1;
      if (report.arrays.delay) return;
      for (let unit = this.first; unit < this.last; unit += 1) this.between(lane.bars(0, unit), unit);
    }

    /** What follows the barrier of a unit. */
    between(bars, unit) {
      const x = (date) => (date - this.from) * this.scale;
      if (bars.call > 0) add(this.calls, x(bars.free), x(bars.paid), 1);
      if (bars.rest > 0 && this.lane.hasMoves[unit]) add(this.migrations, x(bars.paid), x(bars.next), 1);
    }

    /** A row of pixels, of a process, into `pixels` at byte `offset`. */
    row(process, pixels, offset) {
      this.compute.fill(0);
      this.talk.fill(0);
      if (this.level) this.addBins(process);
      else if (report.arrays.delay) this.addLateUnits(process);
      else this.addUnits(process);
      this.mix(process, pixels, offset);
    }

    addBins(process) {
      const { level: { bins, compute, communication }, edges, first } = this;
      const base = process * bins + first;
      for (let at = 0; at + 1 < edges.length; at += 1) {
        const share = compute[base + at];
        const talk = communication[base + at];
        if (share) add(this.compute, edges[at], edges[at + 1], share / 255);
        if (talk) add(this.talk, edges[at], edges[at + 1], talk / 255);
      }
    }

    addUnits(process) {
      const { lane: { start, rows, processes }, from, scale } = this;
      const { compute, communication } = report.arrays;
      for (let unit = this.first; unit < this.last; unit += 1) {
        const at = rows[unit] * processes + process;
        const x0 = (start[unit] - from) * scale;
        const x1 = x0 + compute[at] * scale;
        add(this.compute, x0, x1, 1);
        add(this.talk, x1, x1 + communication[at] * scale, 1);
      }
    }

    /** The same where each process begins and ends for itself. */
    addLateUnits(process) {
      this.calls.fill(0);
      this.migrations.fill(0);
      for (let unit = this.first; unit < this.last; unit += 1) {
        const bars = this.lane.bars(process, unit);
        const x0 = (bars.start - this.from) * this.scale;
        const x1 = x0 + bars.compute * this.scale;
        add(this.compute, x0, x1, 1);
        add(this.talk, x1, x1 + bars.communication * this.scale, 1);
        this.between(bars, unit);
      }
    }

    /** Mixes the colours of what covers each pixel; the rest of it is waiting, and paper after the end. */
    mix(process, pixels, offset) {
      if (!this.byCluster) {
        this.mixRange(0, this.width, this.states[1], pixels, offset);
        return;
      }
      const { lane } = this;
      const places = lane.places[process];
      let x = 0;
      places.forEach(([, host], at) => {
        const next = at + 1 < places.length ? (lane.start[Math.min(places[at + 1][0], lane.units)] - this.from) * this.scale : this.width;
        const to = Math.max(x, Math.min(this.width, Math.round(next)));
        this.mixRange(x, to, report.rgb(report.clusterColour(report.facts.hosts[host][1])), pixels, offset);
        x = to;
      });
    }

    mixRange(from, to, computing, pixels, offset) {
      const { compute, talk, calls, migrations, end } = this;
      const [[waitR, waitG, waitB], , [talkR, talkG, talkB], [callR, callG, callB], [moveR, moveG, moveB]] = this.states;
      const [r, g, b] = computing;
      let at = offset + 4 * from;
      for (let x = from; x < to; x += 1, at += 4) {
        if (x >= end) {
          pixels[at + 3] = 0;
          continue;
        }
        let c = compute[x];
        let t = talk[x];
        let k = calls[x];
        let m = migrations[x];
        let w = 1 - c - t - k - m;
        if (w < 0) {
          // Shares are rounded: together they may be a little more than everything.
          const by = 1 / (1 - w);
          c *= by;
          t *= by;
          k *= by;
          m *= by;
          w = 0;
        }
        pixels[at] = c * r + t * talkR + k * callR + m * moveR + w * waitR;
        pixels[at + 1] = c * g + t * talkG + k * callG + m * moveG + w * waitG;
        pixels[at + 2] = c * b + t * talkB + k * callB + m * moveB + w * waitB;
        pixels[at + 3] = 255;
      }
    }
  }

  report.Lane = Lane;
  report.cover = add;
  report.Painter = Painter;
  /** The colours of what a process does; where clusters have the colours, all else is grey. */
  report.states = (colours, byCluster) => (byCluster
    ? [colours.wait, ...colours.greys.slice(0, 1), ...colours.greys]
    : [colours.wait, colours.compute, colours.communicate, colours.call, colours.migrate]);
})();
