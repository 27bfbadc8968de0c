"use strict";
// Charts as files: what is drawn on a canvas is drawn again on a paper that writes SVG, always in light colours.
(function () {
  const escape = (text) => String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
  const round = (value) => String(Math.round(value * 100) / 100);
  const FONT = 'system-ui, "Segoe UI", "DejaVu Sans", sans-serif';
  const anchors = { left: "start", center: "middle", right: "end" };
  const STATE = ["fillStyle", "strokeStyle", "lineWidth", "font", "textAlign", "textBaseline", "clipped"];

  /** A drawing context whose marks become SVG: as much of one as the charts use. */
  class Paper {
    constructor(width, height) {
      this.size = [width, height];
      this.parts = [];
      this.stack = [];
      this.clips = 0;
      this.points = "";
      this.ruler = document.createElement("canvas").getContext("2d");
      Object.assign(this, { fillStyle: "#000000", strokeStyle: "#000000", lineWidth: 1, font: report.FONT, textAlign: "left", textBaseline: "alphabetic", clipped: "" });
      this.fillStyle = "#ffffff";
      this.fillRect(0, 0, width, height);
    }

    save() { this.stack.push(STATE.map((name) => this[name])); }
    restore() { this.stack.pop().forEach((value, at) => { this[STATE[at]] = value; }); }
    put(element) { this.parts.push(`<${element}${this.clipped}/>`); }
    box(x, y, width, height) { return `x="${round(x)}" y="${round(y)}" width="${round(Math.max(0, width))}" height="${round(Math.max(0, height))}"`; }
    fillRect(x, y, width, height) { this.put(`rect ${this.box(x, y, width, height)} fill="${this.fillStyle}"`); }
    strokeRect(x, y, width, height) { this.put(`rect ${this.box(x, y, width, height)} fill="none" stroke="${this.strokeStyle}" stroke-width="${this.lineWidth}"`); }
    beginPath() { this.points = ""; }
    moveTo(x, y) { this.points += `M${round(x)} ${round(y)}`; }
    lineTo(x, y) { this.points += `L${round(x)} ${round(y)}`; }
    closePath() { this.points += "Z"; }
    rect(x, y, width, height) { this.points += `M${round(x)} ${round(y)}h${round(width)}v${round(height)}h${round(-width)}Z`; }
    fill() { this.put(`path d="${this.points}" fill="${this.fillStyle}"`); }
    stroke(dash) { this.put(`path d="${this.points}" fill="none" stroke="${this.strokeStyle}" stroke-width="${this.lineWidth}"${dash ? ` stroke-dasharray="${dash.join(" ")}"` : ""}`); }
    dot(x, y, radius) { this.put(`circle cx="${round(x)}" cy="${round(y)}" r="${round(radius)}" fill="${this.fillStyle}"`); }
    clip() {
      this.clips += 1;
      this.parts.push(`<clipPath id="c${this.clips}"><path d="${this.points}"/></clipPath>`);
      this.clipped = ` clip-path="url(#c${this.clips})"`;
    }
    measureText(text) {
      this.ruler.font = this.font;
      return this.ruler.measureText(text);
    }
    fillText(text, x, y, turned) {
      const size = parseFloat(this.font.match(/[\d.]+px/)[0]);
      const down = this.textBaseline === "middle" ? 0.35 * size : 0;
      const turn = turned ? ` transform="rotate(-90 ${round(x)} ${round(y)})"` : "";
      this.parts.push(`<text x="${round(x)}" y="${round(y + down)}" font-size="${size}" text-anchor="${anchors[this.textAlign] || "start"}" fill="${this.fillStyle}"${turn}${this.clipped}>${escape(text)}</text>`);
    }
    drawImage(canvas, sx, sy, wide, tall, x, y, width, height) {
      const cut = document.createElement("canvas");
      [cut.width, cut.height] = [wide, tall];
      cut.getContext("2d").drawImage(canvas, sx, sy, wide, tall, 0, 0, wide, tall);
      this.put(`image ${this.box(x, y, width, height)} preserveAspectRatio="none" style="image-rendering:pixelated" href="${cut.toDataURL()}"`);
    }
    /** Coloured fields with texts, from `y` on; returns where they end. */
    legend(entries, y) {
      this.font = report.FONT;
      this.textAlign = "left";
      this.textBaseline = "middle";
      let x = 8;
      let line = y + 10;
      for (const [colour, text] of entries) {
        const wide = 26 + this.measureText(text).width;
        if (x + wide > this.size[0] && x > 8) {
          x = 8;
          line += 18;
        }
        this.fillStyle = colour;
        this.fillRect(x, line - 6, 12, 12);
        this.fillStyle = "#1d1f23";
        this.fillText(text, x + 17, line);
        x += wide + 8;
      }
      return line + 12;
    }
    svg() {
      const [width, height] = this.size;
      const text = `<svg xmlns="http://www.w3.org/2000/svg" width="${round(width)}" height="${round(height)}" viewBox="0 0 ${round(width)} ${round(height)}" font-family="${escape(FONT)}">${this.parts.join("\n")}</svg>\n`;
      return [text, this.size];
    }
  }

  /** The entries of a legend of the page. */
  report.entriesOf = (legend) => [...legend.querySelectorAll("span")].filter((entry) => entry.querySelector("i")).map((entry) => [entry.querySelector("i").style.background, entry.textContent]);

  /** A line chart as it is zoomed, as SVG; `options` are those for paper. */
  report.linesSvg = (plot, options) => {
    const [width, height, left, top, right, bottom] = [900, 420, 74, 16, 16, 84];
    const paper = new Paper(width, height);
    const [wide, tall] = [width - left - right, height - top - bottom];
    const ratio = devicePixelRatio || 1;
    const x = (value) => left + (plot.valToPos(value, "x") * ratio / plot.bbox.width) * wide;
    const y = (value) => top + (plot.valToPos(value, "y") * ratio / plot.bbox.height) * tall;
    const [across, up] = plot.axes;
    paper.strokeStyle = "#d5d9df";
    paper.fillStyle = "#1d1f23";
    paper.textAlign = "center";
    across._splits.forEach((value, at) => {
      if (across._values[at] === null || across._values[at] === "") return;
      paper.beginPath();
      paper.moveTo(x(value), top);
      paper.lineTo(x(value), top + tall + 4);
      paper.stroke();
      paper.fillText(across._values[at], x(value), top + tall + 17);
    });
    paper.fillText(options.axes[0].label, left + wide / 2, top + tall + 36);
    paper.textAlign = "right";
    paper.textBaseline = "middle";
    up._splits.forEach((value, at) => {
      if (up._values[at] === null || up._values[at] === "") return;
      paper.beginPath();
      paper.moveTo(left - 4, y(value));
      paper.lineTo(left + wide, y(value));
      paper.stroke();
      paper.fillText(up._values[at], left - 7, y(value));
    });
    paper.textAlign = "center";
    paper.fillText(options.axes[1].label, 14, top + tall / 2, true);
    paper.save();
    paper.beginPath();
    paper.rect(left, top, wide, tall);
    paper.clip();
    for (const { series: [high, low], fill } of options.bands || []) band(paper, plot.data, [x, y], [high, low], fill);
    const shown = plot.series.map((one) => one.show);
    options.series.forEach((one, at) => at > 0 && shown[at] && one.stroke !== "transparent" && line(paper, plot.data, [x, y], one, at));
    paper.restore();
    const entries = options.series.map((one, at) => [one.stroke, one.label, at]).filter(([stroke, , at]) => at > 0 && shown[at] && stroke !== "transparent");
    paper.legend(entries, height - 40);
    return paper.svg();
  };

  function band(paper, [xs, ...data], [x, y], [high, low], fill) {
    const edge = (at) => xs.map((value, index) => [value, data[at - 1][index]]).filter(([, value]) => value !== null);
    paper.beginPath();
    [...edge(high), ...edge(low).reverse()].forEach(([a, b], index) => (index === 0 ? paper.moveTo(x(a), y(b)) : paper.lineTo(x(a), y(b))));
    paper.closePath();
    paper.fillStyle = fill;
    paper.fill();
  }

  function line(paper, [xs, ...data], [x, y], series, at) {
    const points = xs.map((value, index) => [value, data[at - 1][index]]).filter(([, value]) => value !== null && value !== undefined);
    paper.strokeStyle = series.stroke;
    paper.fillStyle = series.stroke;
    paper.lineWidth = series.width || 1.5;
    if (series.look !== "dots") {
      paper.beginPath();
      points.forEach(([a, b], index) => {
        if (index === 0) paper.moveTo(x(a), y(b));
        else {
          if (series.look === "steps") paper.lineTo(x(a), y(points[index - 1][1]));
          paper.lineTo(x(a), y(b));
        }
      });
      paper.stroke(series.dash);
    }
    if (series.points?.show) points.forEach(([a, b]) => paper.dot(x(a), y(b), (series.points.size || 4) / 2));
  }

  report.Paper = Paper;
})();
