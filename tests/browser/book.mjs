// Opens the pages of the book from the disk in headless Chromium, wide and light, narrow and dark: no script may fail, no element may
// extend beyond the page, and axe-core must find no problem. A few pages are opened in all four combinations, and pictures are taken.
//
//   node book.mjs BOOK PICTURES CHROMIUM PLAYWRIGHT AXE
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { mkdirSync, readFileSync, readdirSync } from "node:fs";

const [book, pictures, chromium, library, judge] = process.argv.slice(2);
const playwright = createRequire(import.meta.url)(library);
const axe = judge === "-" ? null : readFileSync(judge, "utf8");
mkdirSync(pictures, { recursive: true });
const shown = ["index.html", "docs/start.html", "docs/guide/mistakes.html", "docs/reference/settings.html"];
const others = readdirSync(book, { recursive: true }).filter((file) => file.endsWith(".html") && !/^(404|print|toc|index)\.html$/.test(file) && !shown.includes(file)).sort();
const browser = await playwright.chromium.launch({ executablePath: chromium, args: ["--no-sandbox", "--disable-gpu"] });
const wrong = [];
for (const width of [1440, 390]) {
  for (const colorScheme of ["light", "dark"]) {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
    const isForAll = (width === 1440) === (colorScheme === "light");
    for (const page of isForAll ? [...shown, ...others] : shown) {
      const tab = await context.newPage();
      const found = [];
      tab.on("pageerror", (error) => found.push(String(error)));
      await tab.goto(pathToFileURL(`${book}/${page}`).href);
      const whole = await tab.evaluate(() => document.documentElement.scrollWidth);
      if (whole > width + 1) found.push(`the page is ${whole} px wide`);
      if (axe) {
        await tab.evaluate(axe);
        const { violations } = await tab.evaluate(() => globalThis.axe.run(document, { runOnly: ["wcag2a", "wcag2aa"] }));
        found.push(...violations.map((one) => `${one.id}: ${one.nodes[0].html.slice(0, 120)}`));
      }
      if (shown.includes(page)) await tab.screenshot({ path: `${pictures}/book-${page.replaceAll("/", "-").replace(".html", "")}-${width}-${colorScheme}.png` });
      for (const what of found) wrong.push(`${page}, ${width} px, ${colorScheme}: ${what}`);
      await tab.close();
    }
    await context.close();
  }
}
await browser.close();
for (const line of wrong) console.log(`WRONG ${line}`);
console.log(`the book: ${shown.length + others.length} pages, wide and narrow, light and dark: ${wrong.length} findings`);
process.exitCode = wrong.length ? 1 : 0;
