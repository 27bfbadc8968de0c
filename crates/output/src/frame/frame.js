"use strict";
// What all pages share: elements, light and dark, tables that can be sorted, areas that scroll and show it, files to save.
const page = {};

page.byId = (id) => document.getElementById(id);
page.element = (name, text, className) => {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  return element;
};
page.button = (text, label, action) => {
  const button = page.element("button", text);
  button.type = "button";
  if (label) button.setAttribute("aria-label", label);
  button.addEventListener("click", action);
  return button;
};
/** Says that something failed, at the top of the page. */
page.tell = (error) => {
  const box = page.byId("trouble");
  box.hidden = false;
  box.textContent = `A part of this page cannot be shown: ${error.message || error}`;
  console.error(error);
};

// ---- Light and dark: as the system has it, until the switch is used.
const isSystemDark = matchMedia("(prefers-color-scheme: dark)");
const isPrinted = matchMedia("print");
const themeChanged = new EventTarget();
page.isDark = () => !isPrinted.matches && (document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : isSystemDark.matches);
/** Calls `action` whenever colours change. */
page.onColours = (action) => {
  isSystemDark.addEventListener("change", action);
  isPrinted.addEventListener("change", action);
  themeChanged.addEventListener("change", action);
};
page.startTheme = () => {
  const place = document.querySelector("nav.contents");
  if (!place) return;
  const button = page.button("", undefined, () => {
    document.documentElement.dataset.theme = page.isDark() ? "light" : "dark";
    themeChanged.dispatchEvent(new Event("change"));
  });
  button.id = "theme";
  const name = () => {
    button.textContent = page.isDark() ? "light" : "dark";
    button.setAttribute("aria-label", `switch to ${button.textContent} colours`);
  };
  page.onColours(name);
  name();
  place.append(button);
};

// ---- Areas that scroll: a sign at each edge behind which there is more, and a way in for the keyboard.
page.area = (inner) => {
  const area = page.element("div", undefined, "area");
  inner.before(area);
  area.append(inner);
  const edge = (side, text) => {
    const sign = page.element("div", undefined, `edge ${side}`);
    sign.setAttribute("aria-hidden", "true");
    sign.append(page.element("span", text));
    area.append(sign);
  };
  edge("right", "\u2192");
  edge("bottom", "more below \u2193");
  const label = inner.getAttribute("aria-label") || inner.closest("section")?.querySelector("h2")?.textContent || "table";
  const update = () => {
    const wide = inner.scrollWidth > inner.clientWidth + 1 && inner.classList.contains("wide");
    const tall = inner.scrollHeight > inner.clientHeight + 1 && inner.classList.contains("tall");
    area.classList.toggle("more-right", wide && inner.scrollLeft + inner.clientWidth < inner.scrollWidth - 2);
    area.classList.toggle("more-below", tall && inner.scrollTop + inner.clientHeight < inner.scrollHeight - 2);
    if (wide || tall) {
      inner.tabIndex = 0;
      inner.setAttribute("role", "region");
      inner.setAttribute("aria-label", `${label}, scrolls`);
    } else if (inner.getAttribute("role") === "region") {
      for (const name of ["tabindex", "role", "aria-label"]) inner.removeAttribute(name);
    }
  };
  inner.addEventListener("scroll", update, { passive: true });
  const observer = new ResizeObserver(update);
  observer.observe(inner);
  for (const child of inner.children) observer.observe(child);
};

// ---- Tables.
const valueOf = (row, column) => {
  const cell = row.cells[column];
  const value = cell?.dataset.value;
  return value === undefined ? cell?.textContent.trim() || "" : Number(value);
};
/** Numbers before texts, nothing at the end. */
const compare = (a, b) => {
  if (a === "" || b === "") return (a === "") - (b === "");
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return a.localeCompare(b, "en", { numeric: true });
};
page.sortable = (table) => {
  const body = table.tBodies[0];
  if (!body || body.rows.length < 2) return;
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = page.button(head.textContent, undefined, () => {
      const isUp = head.getAttribute("aria-sort") !== "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", isUp ? "ascending" : "descending");
      const rows = [...body.rows].map((row) => [valueOf(row, column), row]);
      rows.sort(([a], [b]) => (isUp || a === "" || b === "" ? compare(a, b) : compare(b, a)));
      body.append(...rows.map(([, row]) => row));
      page.shorten(table);
    });
    button.className = "sort";
    head.replaceChildren(button);
  });
};
/** Shows the first rows of a long table, and a button for the others. */
page.shorten = (table) => {
  const most = Number(table.dataset.shown);
  const rows = [...table.tBodies[0].rows];
  if (!most || rows.length <= most) return;
  rows.forEach((row, at) => {
    row.hidden = at >= most;
  });
  if (table.shorter) return;
  table.shorter = page.button(`show all ${rows.length} rows`, undefined, () => {
    delete table.dataset.shown;
    table.shorter.remove();
    for (const row of rows) row.hidden = false;
  });
  (table.closest(".area") || table).after(table.shorter);
};
/** The rows of a table as they stand, numbers as they are. */
page.rowsOf = (table) => [...table.rows].map((row) => [...row.cells].map((cell) => cell.dataset.value ?? cell.textContent.replace(/ [\u2191\u2193\u2195]$/, "").trim()));

// ---- Files to save.
const quoted = (value) => {
  const text = value === null || value === undefined || Number.isNaN(value) ? "" : String(value);
  // A text that a spreadsheet would take for a formula is none.
  const plain = typeof value === "string" && /^[=+\-@\t\r]/.test(text) && !Number.isFinite(Number(text)) ? `'${text}` : text;
  return /[",\n\r]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
};
page.csv = (rows) => rows.map((row) => `${row.map(quoted).join(",")}\r\n`).join("");
page.save = (name, parts, type) => {
  const address = URL.createObjectURL(new Blob(parts, { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
};
/** A drawing as a picture of twice its size. */
page.png = async (svg, [width, height]) => {
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [2 * width, 2 * height].map(Math.round);
  const context = canvas.getContext("2d");
  context.fillStyle = "#ffffff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
};
/** Buttons that save a chart: `svg()` gives `[text, [width, height]]`, `csv()` rows; either may be missing. */
page.saves = (after, name, { svg, csv }) => {
  const line = page.element("div", undefined, "save");
  line.append("Save as");
  const add = (text, action) => line.append(page.button(text, `save ${name} as ${text}`, () => Promise.resolve().then(action).catch(page.tell)));
  if (svg) {
    add("SVG", () => page.save(`${name}.svg`, [svg()[0]], "image/svg+xml"));
    add("PNG", async () => page.save(`${name}.png`, [await page.png(...svg())], "image/png"));
  }
  if (csv) add("CSV", () => page.save(`${name}.csv`, [page.csv(csv())], "text/csv"));
  after.after(line);
  return line;
};
/** An SVG element of the page as a file: as it stands, with its own size. */
page.svgOf = (element) => {
  const copy = element.cloneNode(true);
  const box = element.viewBox.baseVal;
  const size = box && box.width > 0 ? [box.width, box.height] : [element.width.baseVal.value, element.height.baseVal.value];
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", size[0]);
  copy.setAttribute("height", size[1]);
  return [new XMLSerializer().serializeToString(copy), size];
};

/** Starts what is not the business of one page alone. */
page.start = () => {
  page.startTheme();
  for (const inner of document.querySelectorAll(".wide, .tall")) page.area(inner);
  for (const table of document.querySelectorAll("table.sortable")) {
    page.sortable(table);
    page.shorten(table);
  }
  for (const table of document.querySelectorAll("table[data-name]")) {
    const { name } = table.dataset;
    page.saves(table.shorter || table.closest(".area") || table, name, { csv: () => page.rowsOf(table) });
  }
  for (const figure of document.querySelectorAll("figure.picture")) {
    page.saves(figure, figure.dataset.name, { svg: () => page.svgOf(figure.querySelector("svg")) });
  }
};
