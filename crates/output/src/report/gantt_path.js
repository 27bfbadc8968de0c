"use strict";
// The critical path on the chart of processes over time: a row of its own, a line on the row of each process, and the words of a piece.
(function () {
  const HEIGHT = 14;
  /** With more pieces in sight there are no lines on the rows of processes. */
  const MOST_LINES = 20000;

  class Path {
    /** The path of a scenario; null if none was recorded. */
    static of(scenario) {
      return report.facts.path && report.arrays[`path/${scenario}/begin`] ? new Path(scenario) : null;
    }

    constructor(scenario) {
      const array = (name) => report.arrays[`path/${scenario}/${name}`];
      // One more than there are pieces: the last is the end.
      this.begin = array("begin");
      this.superstep = array("superstep");
      this.process = array("process");
      this.kind = array("kind");
      this.text = array("text");
      this.count = this.process.length;
    }

    kindOf(piece) {
      return report.facts.path.kinds[this.kind[piece]];
    }

    /** The piece at a time. */
    at(time) {
      return Math.max(0, Math.min(this.count - 1, report.find(this.begin, time)));
    }

    /** The piece at a time, if it belongs to the process, counted from 0. */
    atOf(time, process) {
      const piece = this.at(time);
      return this.process[piece] === process + 1 ? piece : null;
    }

    /** A piece in words: its kind, time, superstep and reason. */
    words(piece) {
      const seconds = this.begin[piece + 1] - this.begin[piece];
      const share = (100 * seconds) / this.begin[this.count];
      const kind = this.kindOf(piece);
      return [
        `critical path, piece ${piece + 1} of ${this.count}: ${kind}, ${report.duration(seconds)} (${report.digits(share, 3)} %)`,
        `superstep ${this.superstep[piece]}, from ${report.digits(this.begin[piece], 7)} s on`,
        report.facts.path.texts[this.text[piece]],
      ].join("\n");
    }

    /** The row of the path at a height of the chart: each pixel has the mean colour of the pieces in it. */
    paintRow(context, chart, colours, y) {
      const { from, to, left, width, scale } = chart;
      const paint = {
        compute: colours.compute, barrier: colours.ink, call: colours.call, move: colours.migrate,
      };
      const colour = report.facts.path.kinds.map((kind) => report.rgb(paint[kind] || colours.communicate));
      const paper = report.rgb(colours.paper);
      const cover = colour.map(() => new Float32Array(width));
      for (let piece = this.at(from); piece < this.count && this.begin[piece] < to; piece += 1) {
        report.cover(cover[this.kind[piece]], (this.begin[piece] - from) * scale, (this.begin[piece + 1] - from) * scale, 1);
      }
      let start = 0;
      let last = "";
      for (let x = 0; x <= width; x += 1) {
        let now = "";
        if (x < width) {
          const rest = Math.max(0, 1 - cover.reduce((sum, one) => sum + one[x], 0));
          const part = (at) => Math.round(Math.min(255, cover.reduce((sum, one, kind) => sum + one[x] * colour[kind][at], rest * paper[at])));
          now = `rgb(${part(0)}, ${part(1)}, ${part(2)})`;
        }
        if (now === last) continue;
        if (last) {
          context.fillStyle = last;
          context.fillRect(left + start, y, x - start, HEIGHT);
        }
        [start, last] = [x, now];
      }
      context.fillStyle = colours.ink;
      context.font = report.FONT;
      context.textBaseline = "middle";
      context.textAlign = "left";
      context.fillText(left < 100 ? "path" : "critical path", 0, y + HEIGHT / 2);
    }

    /** A line along the upper edge of the row of the process of each piece. */
    paintLines(context, chart, colours, rows) {
      const { from, to, left, scale } = chart;
      const [first, last] = [this.at(from), this.at(to)];
      context.fillStyle = colours.ink;
      if (last - first <= MOST_LINES) {
        for (let piece = first; piece <= last; piece += 1) {
          const row = rows.get(this.process[piece] - 1);
          if (!row || row[1] < 3) continue;
          const x = left + (this.begin[piece] - from) * scale;
          const wide = (this.begin[piece + 1] - this.begin[piece]) * scale;
          context.fillRect(x, row[0], Math.max(wide, 0.5), row[1] < 8 ? 1 : 2);
        }
      }
    }

    /** A frame about a piece on the row of the path, and on that of its process. */
    paintChosen(context, chart, colours, rows, y) {
      const piece = chart.piece;
      if (piece === null) return;
      const x = chart.left + (this.begin[piece] - chart.from) * chart.scale;
      const wide = Math.max(2, (this.begin[piece + 1] - this.begin[piece]) * chart.scale);
      context.strokeStyle = colours.migrate;
      context.lineWidth = 2;
      context.strokeRect(x, y, wide, HEIGHT);
      const row = rows.get(this.process[piece] - 1);
      if (row) context.strokeRect(x, row[0], wide, row[1]);
    }
  }

  Path.HEIGHT = HEIGHT;
  report.Path = Path;
})();
