"use strict";
// The pixels of the bars. Each row of pixels adds up which part of every pixel each state covers, and mixes their colours accordingly, so
// that a picture is right at any zoom and its cost does not depend on how many bars there are: zoomed out, a coarser level is taken.
(function () {
  // Places in the list of colours; the colours of clusters follow.
  const WAIT = 0;
  const COMPUTE = 1;
  const COMMUNICATE = 2;
  const CALL = 3;
  const MIGRATE = 4;
  const CLUSTERS = 5;

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

  /** Paints bars into rows of pixels. */
  class Painter {
    constructor() {
      this.width = 0;
    }

    prepare(width, colours) {
      this.colours = colours.map(report.rgb);
      if (width !== this.width || this.cover.length !== colours.length) {
        this.width = width;
        this.cover = colours.map(() => new Float32Array(width));
      }
    }

    /** Adds `weight` of a state from x0 to x1, in pixels. */
    add(state, x0, x1, weight) {
      const cover = this.cover[state];
      const from = x0 > 0 ? x0 : 0;
      const to = x1 < this.width ? x1 : this.width;
      if (!(to > from)) return;
      const first = Math.floor(from);
      const last = Math.min(this.width - 1, Math.floor(to));
      if (first === last) {
        cover[first] += weight * (to - from);
        return;
      }
      cover[first] += weight * (first + 1 - from);
      for (let at = first + 1; at < last; at += 1) cover[at] += weight;
      cover[last] += weight * (to - last);
    }

    /** A row of pixels of a process at a level, from date `from` with `scale` pixels per second, into `pixels` at byte `offset`. */
    row(lane, level, process, from, scale, byCluster, pixels, offset) {
      for (const cover of this.cover) cover.fill(0);
      const to = from + this.width / scale;
      const hosts = report.facts.hosts;
      const places = lane.places[process];
      let place = 0;
      const compute = (unit) => {
        if (!byCluster) return COMPUTE;
        while (place + 1 < places.length && places[place + 1][0] <= unit) place += 1;
        return CLUSTERS + hosts[places[place][1]][1];
      };
      const firstUnit = report.find(lane.start, from);
      if (level) {
        const { size, bins } = level;
        const base = process * bins;
        for (let bin = Math.floor(firstUnit / size); bin < bins; bin += 1) {
          const start = lane.start[bin * size];
          if (start > to) break;
          const x0 = (start - from) * scale;
          const x1 = (lane.start[Math.min((bin + 1) * size, lane.units)] - from) * scale;
          const share = level.compute[base + bin];
          const talk = level.communication[base + bin];
          if (share) this.add(compute(bin * size), x0, x1, share / 255);
          if (talk) this.add(COMMUNICATE, x0, x1, talk / 255);
          if (level.calls[bin]) this.add(CALL, x0, x1, level.calls[bin] / 255);
          if (level.migrations[bin]) this.add(MIGRATE, x0, x1, level.migrations[bin] / 255);
        }
      } else {
        // Somebody may still be in the unit before.
        for (let unit = Math.max(0, firstUnit - 1); unit < lane.units; unit += 1) {
          if (lane.start[unit] > to) break;
          const bars = lane.bars(process, unit);
          const x = (date) => (date - from) * scale;
          const computed = bars.start + bars.compute;
          if (bars.compute > 0) this.add(compute(unit), x(bars.start), x(computed), 1);
          if (bars.communication > 0) this.add(COMMUNICATE, x(computed), x(computed + bars.communication), 1);
          if (bars.call > 0) this.add(CALL, x(bars.free), x(bars.paid), 1);
          if (bars.rest > 0 && lane.hasMoves[unit]) this.add(MIGRATE, x(bars.paid), x(bars.next), 1);
        }
      }
      this.mix(pixels, offset, from, scale, lane.makespan);
    }

    /** Mixes the colours of what covers each pixel; the rest of it is waiting, and paper after the end. */
    mix(pixels, offset, from, scale, makespan) {
      const { colours, cover, width } = this;
      const [waitR, waitG, waitB] = colours[WAIT];
      const end = Math.min(width, Math.max(0, (makespan - from) * scale));
      let at = offset;
      for (let x = 0; x < width; x += 1, at += 4) {
        if (x >= end) {
          pixels[at + 3] = 0;
          continue;
        }
        let rest = 1;
        let r = 0;
        let g = 0;
        let b = 0;
        for (let state = 1; state < cover.length; state += 1) {
          const part = cover[state][x];
          if (part === 0) continue;
          const colour = colours[state];
          rest -= part;
          r += part * colour[0];
          g += part * colour[1];
          b += part * colour[2];
        }
        if (rest < 0) {
          r /= 1 - rest;
          g /= 1 - rest;
          b /= 1 - rest;
          rest = 0;
        }
        pixels[at] = r + rest * waitR;
        pixels[at + 1] = g + rest * waitG;
        pixels[at + 2] = b + rest * waitB;
        pixels[at + 3] = 255;
      }
    }
  }

  report.Lane = Lane;
  report.Painter = Painter;
  /** The colours of what a process does; where clusters have the colours, all else is grey. */
  report.states = (colours, byCluster) => (byCluster
    ? [colours.wait, ...colours.greys.slice(0, 1), ...colours.greys]
    : [colours.wait, colours.compute, colours.communicate, colours.call, colours.migrate]);
})();
