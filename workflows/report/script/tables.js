// Sort, filter and choose columns of every table.
import { element, plural } from "./elements.js";

// Tables with fewer rows need no filter, with fewer columns no choice of columns.
const FILTERED = 8, CHOSEN = 4;
const NUMBER = /^[<≤≥>~]?\s*([-−+]?(?:∞|[\d,]*\.?\d+(?:e[-+]?\d+)?))/i;
// Cells without a value: a dash, or why there is none, such as "2 of 4 stopped at 88".
const MISSING = /^[–-]?( |$)|\b(stopped|failed|not run|not in the text)\b/;

// Return the number that a cell begins with, or null.
export function leading(text) {
  const found = MISSING.test(text) ? null : NUMBER.exec(text.trim());
  return found ? Number(found[1].replaceAll(",", "").replace("−", "-").replace("∞", "Infinity")) : null;
}

// Numbers in texts, such as the value of "C = 1e-05". A minus sign counts only in a setting: dates have dashes too.
const NUMBERS = /((?:(?<== )-)?\d+(?:\.\d+)?(?:e[-+]?\d+)?)/i;

// Compare texts with their numbers by value.
function inOrder(one, other) {
  const [first, second] = [one, other].map((text) => text.split(NUMBERS));
  for (let i = 0; i < Math.min(first.length, second.length); i++) {
    const found = i % 2 ? first[i] - second[i] : first[i].localeCompare(second[i], "en", { sensitivity: "base" });
    if (found) return found;
  }
  return first.length - second.length || one.localeCompare(other, "en");
}

const textOf = (row, column) => row.cells[column]?.textContent.trim() ?? "";

// Return the rows in the order of a column; rows without a value come last in both directions.
function ordered(rows, column, down) {
  const texts = rows.map((row) => textOf(row, column)), numbers = texts.map(leading);
  // Names begin with numbers too, such as "20newsgroups": one text without a number makes the column text.
  const numeric = texts.every((text, i) => numbers[i] !== null || MISSING.test(text));
  const missing = (i) => (numeric ? numbers[i] === null : /^[–-]?$/.test(texts[i]));
  const compared = (i, j) => (numeric && numbers[i] - numbers[j]) || inOrder(texts[i], texts[j]);
  return rows.map((_, i) => i)
    .sort((i, j) => missing(i) - missing(j) || (missing(i) ? 0 : (down ? -1 : 1) * compared(i, j)) || i - j)
    .map((i) => rows[i]);
}

// Sort by a column.
function sortBy(table, head, next) {
  const [body] = table.tBodies, heads = [...table.tHead.rows[0].cells];
  table.own ??= [...body.rows];
  heads.forEach((each) => each.removeAttribute("aria-sort"));
  if (next !== "none") head.setAttribute("aria-sort", next);
  body.append(...(next === "none" ? table.own : ordered(table.own, heads.indexOf(head), next === "descending")));
}

function filterOf(table, title, memory) {
  const told = element("span", { role: "status" });
  const input = element("input", { type: "search", placeholder: "filter rows", "aria-label": `Filter rows: ${title}`,
    input: () => {
      memory.filter = input.value;
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean), rows = [...table.tBodies[0].rows];
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
      }
      // A hidden algorithm's row is not displayed, although it passes the filter.
      told.textContent = words.length ? plural(rows.filter((row) => getComputedStyle(row).display !== "none").length, "row") : "";
    } });
  input.value = memory.filter ?? "";
  return [input, told];
}

// Apply all filters to rows that were drawn again, and count those that hiding leaves.
export function refilter() {
  for (const filter of document.querySelectorAll(".tools [type=search]")) filter.dispatchEvent(new Event("input"));
}

function columnsOf(table, heads, memory) {
  memory.columns ??= new Set();
  const boxes = heads.map((head, i) => {
    const show = (shown) => [...table.rows].forEach((row) => row.cells[i] && (row.cells[i].hidden = !shown));
    const box = element("input", { type: "checkbox", change: () => {
      memory.columns[box.checked ? "delete" : "add"](i);
      show(box.checked);
    } });
    box.checked = !memory.columns.has(i);
    show(box.checked);
    return element("label", {}, box, ` ${head.textContent}`);
  });
  const summary = element("summary", {}, "Columns");
  const close = ({ key }) => key === "Escape" && ((summary.parentElement.open = false), summary.focus());
  return element("details", { class: "menu", keydown: close }, summary, element("div", {}, ...boxes.slice(1)));
}

// Headers of columns that name the algorithms that a row is about.
const ABOUT = ["algorithm", "first", "second", "leader"];

// Mark the rows and columns of a table that are about algorithms. A data set may have the label of one.
export function mark(table, names) {
  const heads = [...(table.rows[0]?.cells ?? [])].map((cell) => cell.textContent), places = heads.map((head) => names.indexOf(head));
  // A matrix of pairs has no first header.
  heads[0] ||= "algorithm";
  // Columns of algorithms are the last ones: other headers, such as "k", may be labels too.
  const first = places.lastIndexOf(-1) + 1;
  for (const row of table.rows) [...row.cells].slice(first).forEach((cell, i) => (cell.dataset.a = places[first + i]));
  // Grids that differ between data sets have rows such as "PA-I on a, b".
  const placeOf = (text) => (names.includes(text) ? names.indexOf(text) : names.findIndex((name) => text.startsWith(`${name} on `)));
  for (const row of table.tBodies[0]?.rows ?? []) {
    // The title of a first cell is its text without its mark.
    const about = [...row.cells].filter((_, i) => ABOUT.includes(heads[i])).map((cell) => placeOf(cell.title || cell.textContent));
    row.dataset.a = about.filter((place) => place >= 0).join(" ");
  }
}

// Give a table its tools; one that is drawn again keeps what its memory has: filter, order and columns left out.
export function enhance(table, memory = {}) {
  const heads = [...(table.tHead?.rows[0].cells ?? [])], rows = table.tBodies[0]?.rows.length ?? 0;
  const title = table.caption?.textContent ?? "", tools = [];
  if (rows >= FILTERED) tools.push(...filterOf(table, title, memory));
  if (heads.length >= CHOSEN) tools.push(columnsOf(table, heads, memory));
  if (rows > 1) {
    const sort = (column, next) => sortBy(table, heads[column], (memory.order = [column, next])[1]);
    // Rising, falling, then the table's own order.
    const after = (head) => ({ ascending: "descending", descending: "none" })[head.getAttribute("aria-sort")] ?? "ascending";
    heads.forEach((head, column) => {
      const text = head.textContent.trim();
      if (text) head.replaceChildren(element("button", { type: "button", class: "sort", click: () => sort(column, after(head)) }, text));
    });
    if (heads[memory.order?.[0]]) sort(...memory.order);
  }
  if (tools.length) table.closest(".scroll").before(element("div", { class: "tools" }, ...tools));
}
