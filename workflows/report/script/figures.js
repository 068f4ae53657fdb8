// Hovering and hiding in all figures, and figures that the page draws itself.
import { drawn, element, number } from "./elements.js";
import { refilter } from "./tables.js";

// The points of a figure that hovering finds: algorithm, place in the drawing, text.
const POINTS = new WeakMap();
// How far from a point hovering finds it, in px of the screen.
const NEAR = 40;

const inverse = ([p0, p1, v0, v1, log], p) => {
  const share = (p - p0) / (p1 - p0);
  return log ? v0 * (v1 / v0) ** share : v0 + share * (v1 - v0);
};

// Pixels are rounded to five digits, so values are exact to about this share of their axis.
const ROUNDED = 5e-5;

function valueText(axis, p) {
  const [, , v0, v1, log, , names] = axis, value = inverse(axis, p), near = (at) => Math.abs(at - value) < ROUNDED * Math.abs(v1 - v0);
  return names.find(([at]) => near(at))?.[1] ?? number(!log && near(0) ? 0 : value);
}

// Say what a point shows. A logarithmic axis has 0 at its bottom; an axis without a label only names algorithms.
function pointText(name, [xs, ys], x, y) {
  const bottom = ys[4] && Math.abs(y - ys[0]) < ROUNDED * Math.abs(ys[1] - ys[0]);
  const parts = [[ys, bottom ? "0" : valueText(ys, y)], [xs, valueText(xs, x)]];
  return `${name}: ${parts.filter(([axis]) => axis[5] || !axis[6].length).map(([axis, text]) => `${axis[5]} ${text}`).join(" at ")}`;
}

const within = ([p0, p1], p) => p > Math.min(p0, p1) - 1 && p < Math.max(p0, p1) + 1;

// Read the points of a drawing from its lines, or from its marks if it has no lines.
function pointsOf(svg, names) {
  if (POINTS.has(svg)) return POINTS.get(svg);
  const axes = svg.dataset.axes && JSON.parse(svg.dataset.axes), found = [];
  for (const group of svg.querySelectorAll("[data-a]")) {
    const name = names[group.dataset.a];
    let places = [...group.querySelectorAll(":scope > path")].flatMap((path) => [...path.getAttribute("d").matchAll(/(-?[\d.e-]+) (-?[\d.e-]+)/g)].map((m) => [+m[1], +m[2]]));
    if (!places.length) places = [...group.querySelectorAll("use")].map((use) => [+use.getAttribute("x"), +use.getAttribute("y")]);
    // A shade refers to its shape from a corner of the drawing, outside the axes.
    for (const [x, y] of places)
      if (!axes || (within(axes[0], x) && within(axes[1], y))) found.push({ x, y, text: axes ? pointText(name, axes, x, y) : name, a: group.dataset.a });
  }
  POINTS.set(svg, found);
  return found;
}

// Show what the pointer is near in any figure; hidden algorithms have no tips.
export function hover(visibility) {
  const tip = element("div", { id: "tip", role: "status", hidden: true });
  document.body.append(tip);
  const hide = () => (tip.hidden = true);
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
  document.addEventListener("pointermove", (event) => {
    const svg = event.target.closest?.("figure svg");
    if (!svg) return hide();
    const matrix = svg.getScreenCTM();
    let best = null, least = NEAR;
    for (const point of pointsOf(svg, visibility.names)) {
      const away = Math.hypot(point.x * matrix.a + matrix.e - event.clientX, point.y * matrix.d + matrix.f - event.clientY);
      if (away < least && !visibility.hidden.has(+point.a)) [best, least] = [point, away];
    }
    if (!best) return hide();
    tip.textContent = best.text;
    tip.hidden = false;
    const left = best.x * matrix.a + matrix.e, top = best.y * matrix.d + matrix.f;
    tip.style.left = `${Math.max(4, Math.min(left + 12, innerWidth - tip.offsetWidth - 4))}px`;
    tip.style.top = `${Math.max(4, top - tip.offsetHeight - 10)}px`;
  });
}

// Hide algorithms in every figure and table, and highlight one, by rules of a style sheet of their own.
export class Visibility {
  hidden = new Set();
  #sheet = new CSSStyleSheet();

  constructor(names, changed) {
    this.names = names;
    this.changed = changed;
    this.bar = element("div", { id: "hidden-bar", role: "status" });
    // On paper the bar comes first.
    document.querySelector("main").prepend(this.bar);
    document.adoptedStyleSheets = [this.#sheet];
  }

  // Make the entries of a legend buttons: pointing at one highlights, a click hides.
  legend(list) {
    for (const entry of list.children) {
      // Before the name comes its mark, which has a title. A name may end with a blank.
      const place = this.names.indexOf(entry.lastChild.textContent);
      if (place < 0) continue;
      entry.replaceChildren(element("button", { type: "button", "aria-pressed": "true", "data-entry": place,
        title: "Click to hide or show its lines, marks, rows and columns", click: () => this.toggle(place),
        pointerenter: () => this.#apply(place), pointerleave: () => this.#apply(),
        focus: () => this.#apply(place), blur: () => this.#apply() }, ...entry.childNodes));
    }
  }

  toggle(place, hide = !this.hidden.has(place)) {
    if (hide) this.hidden.add(place);
    else this.hidden.delete(place);
    this.show();
    this.changed();
  }

  show() {
    this.#apply();
    for (const button of document.querySelectorAll("[data-entry]"))
      button.setAttribute("aria-pressed", !this.hidden.has(+button.dataset.entry));
    refilter();
    const listed = [...this.hidden].map((place) => this.names[place]).join(", ");
    this.bar.replaceChildren(...(listed ? [`Hidden: ${listed} `, element("button", { type: "button", click: () => {
      this.hidden.clear();
      this.show();
      this.changed();
      document.querySelector("[data-entry]")?.focus();
    } }, "Show all")] : []));
  }

  #apply(one) {
    const rules = [...this.hidden].map((place) => `figure [data-a="${place}"], table [data-a~="${place}"] { display: none; }`);
    if (one !== undefined) rules.push(`figure [data-a]:not([data-a="${one}"]) { opacity: 0.12; }`, `td[data-a="${one}"], th[data-a="${one}"], tr[data-a~="${one}"] > * { background: var(--tint); }`);
    const text = rules.join("\n");
    // Each replacement computes the styles of the whole page again.
    if (text !== this.text) this.#sheet.replaceSync((this.text = text));
  }
}

const WIDTH = 400, HEIGHT = 290, LEFT = 58, RIGHT = 12, TOP = 10, BOTTOM = 46;
export const DASHES = { "-": "", "--": "6 3", "-.": "7 3 1.5 3", ":": "1.5 2.5" };

// Steps of a logarithmic axis, as multiples of powers of ten. The last give two ticks from high = 1.56 low on, the least that `axisOf` makes.
const MULTIPLES = [[1], [1, 3], [1, 2, 5], ...[1, 2, 5].map((parts) => Array.from({ length: 9 * parts }, (_, i) => 1 + i / parts))];

function ticks(low, high, log) {
  if (log) {
    const powers = [];
    for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++) powers.push(e);
    const coarsest = powers.length > 4 ? 0 : powers.length > 2 ? 1 : 2;
    return MULTIPLES.slice(coarsest).map((steps) => powers.flatMap((e) => steps.map((m) => m * 10 ** e)).filter((t) => t >= low && t <= high))
      .find((found) => found.length > 1);
  }
  const raw = (high - low) / 5, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw);
  const found = [];
  for (let t = Math.ceil(low / step - 1e-9) * step; t <= high + 1e-9 * step; t += step) found.push(Math.abs(t) < step / 1e6 ? 0 : t);
  return found;
}

function axisOf(values, p0, p1, { label, log, zero }) {
  const known = values.filter((v) => Number.isFinite(v) && (!log || v > 0));
  let low = Math.min(...known), high = Math.max(...known);
  if (!known.length) [low, high] = [log ? 1 : 0, 10];
  if (log) [low, high] = [low / 1.25, high * 1.25];
  else {
    const margin = 0.06 * (high - low || Math.abs(high) || 1);
    [low, high] = [zero ? 0 : low - margin, high + margin];
  }
  return [p0, p1, low, high, Boolean(log), label, []];
}

const place = ([p0, p1, v0, v1, log], value) =>
  p0 + (p1 - p0) * (log ? Math.log(Math.max(value, v0) / v0) / Math.log(v1 / v0) : (value - v0) / (v1 - v0));

const pen = document.createElement("canvas").getContext("2d");

// Shorten a text of a figure that is wider than its room in px.
function fitted(text, room) {
  pen.font = `11px ${getComputedStyle(document.body).fontFamily}`;
  // The unit of an axis is kept: "error, %" becomes "er…, %".
  const unit = /, [^ ,]{1,3}$/.exec(text)?.[0] ?? "";
  let name = text.slice(0, text.length - unit.length);
  while (name.length > 1 && pen.measureText(name + unit).width > room) name = `${[...name].slice(0, -2).join("")}…`;
  return name + unit;
}

// Draw series of points {a, style, points: [[x, y, text]], line, label} as a figure; `marks` are dashed vertical lines.
export function chart({ title, x, y, series, marks = [], diagonal = false, bar = null }) {
  const every = series.flatMap((each) => each.points);
  const xs = axisOf(every.map((p) => p[0]), LEFT, WIDTH - RIGHT, x), ys = axisOf(every.map((p) => p[1]), HEIGHT - BOTTOM, TOP, y);
  if (diagonal) xs[2] = ys[2] = Math.min(xs[2], ys[2]), xs[3] = ys[3] = Math.max(xs[3], ys[3]);
  const svg = drawn("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": title, class: "chart" });
  const line = (x1, y1, x2, y2, kind) => drawn("line", { x1, y1, x2, y2, class: kind });
  const text = (x, y, words, kind, more) => drawn("text", { x, y, class: kind, ...more }, words);
  for (const t of ticks(xs[2], xs[3], xs[4])) svg.append(line(place(xs, t), TOP, place(xs, t), HEIGHT - BOTTOM, "grid"), text(place(xs, t), HEIGHT - BOTTOM + 16, number(t, 3), "middle"));
  for (const t of ticks(ys[2], ys[3], ys[4])) svg.append(line(LEFT, place(ys, t), WIDTH - RIGHT, place(ys, t), "grid"), text(LEFT - 6, place(ys, t) + 4, number(t, 3), "end"));
  svg.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, fitted(x.label, WIDTH - LEFT), "middle"),
    text(0, 0, fitted(y.label, HEIGHT - BOTTOM), "middle", { transform: `translate(13 ${(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)` }));
  if (diagonal) svg.append(line(xs[0], ys[0], xs[1], ys[1], "grid strong"));
  for (const mark of marks) svg.append(line(place(xs, mark), TOP, place(xs, mark), HEIGHT - BOTTOM, "change"));
  if (bar) svg.append(line(LEFT + 6, TOP + 8, LEFT + 6 + place(xs, xs[2] + bar.length) - xs[0], TOP + 8, "bar"), text(LEFT + 6, TOP + 22, bar.label, ""));
  const found = [], named = [];
  for (const each of series) {
    const group = drawn("g", each.a === undefined ? {} : { "data-a": each.a }), [colour, , dash] = each.style;
    const at = each.points.filter((p) => Number.isFinite(p[0]) && Number.isFinite(p[1])).map((p) => [place(xs, p[0]), place(ys, p[1]), p[2]]);
    // A line does not show a single point.
    const joined = each.line && at.length > 1;
    if (joined) {
      const path = drawn("path", { d: `M${at.map((p) => `${p[0].toFixed(1)} ${p[1].toFixed(1)}`).join("L")}`, "stroke-dasharray": DASHES[dash] });
      path.style.stroke = colour;
      group.append(path);
    }
    for (const [px, py, words] of at) {
      found.push({ x: px, y: py, text: words, a: each.a });
      if (joined) continue;
      const dot = drawn("circle", { cx: px, cy: py, r: each.label ? 5 : 4 });
      dot.style.fill = colour;
      group.append(dot);
      const left = px > WIDTH - 120;
      // Of points so near that their names would overlap, only the first has its name; the others have theirs in the tip.
      if (!each.label || named.some(([x, y]) => Math.abs(x - px) < 120 && Math.abs(y - py) < 13)) continue;
      named.push([px, py]);
      group.append(text(px + (left ? -9 : 9), py + 4, fitted(each.label, (left ? px : WIDTH - px) - 9), left ? "end" : ""));
    }
    svg.append(group);
  }
  POINTS.set(svg, found);
  return element("figure", {}, element("figcaption", {}, title), element("div", { class: "scroll", tabindex: "0" }, svg));
}
