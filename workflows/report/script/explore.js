// Choose algorithms, data sets, noise and metric; the ranks, tests and figures of the choice are computed here.
import { drawn, element, fixed, number, plural } from "./elements.js";
import { compare } from "./statistics.js";
import { enhance, mark, refilter } from "./tables.js";
import { DASHES, chart } from "./figures.js";

// "0-3,7" and back, for the address.
export function written(indices) {
  const runs = [];
  for (const i of indices) {
    if (runs.length && runs.at(-1)[1] === i - 1) runs.at(-1)[1] = i;
    else runs.push([i, i]);
  }
  return runs.map(([a, b]) => (a === b ? `${a}` : `${a}-${b}`)).join(",");
}

export function parsed(text, count) {
  const found = text.split(",").filter(Boolean).flatMap((run) => {
    const [first, last = first] = run.split("-").map(Number);
    return Array.from({ length: Math.max(0, Math.min(last, count - 1) - first + 1) }, (_, i) => first + i);
  });
  return once(found);
}

const once = (places) => [...new Set(places)].sort((x, y) => x - y);
const all = (list) => list.map((_, i) => i);
const average = (values) => (values.length ? values.reduce((sum, v) => sum + v, 0) / values.length : null);
const shownP = (p) => (p === null || p === undefined ? "–" : p < 0.0005 ? "<0.001" : fixed(p, 3));
const equation = (p) => (p < 0.0005 ? "p < 0.001" : `p = ${shownP(p)}`);

// Compare the chosen algorithms on the chosen data sets, as pipeline.analysis.comparison.compare does.
export function compared(D, { a, d, n, m }) {
  const { values, higher, measured } = D.metrics[m], runs = (i) => d.every((j) => !D.bound[i] || D.bound[i].includes(j));
  const everywhere = a.filter(runs), names = (everywhere.length > 1 ? everywhere : a).filter((i) => measured[i]);
  const data = names.length ? d.filter((j) => names.every((i) => values[n][j]?.[i] != null)) : [];
  const rows = data.map((j) => names.map((i) => (higher ? -1 : 1) * values[n][j][i]));
  return { names, data, ...(rows.length ? compare(rows, data.map((j) => D.bases[j])) : { n: 0, blocks: 0, mean: [], pairs: [] }) };
}

export function explore(D, visibility) {
  const { algorithms, datasets, metrics } = D, section = document.getElementById("explore");
  const ranking = all(metrics).filter((m) => !metrics[m].cost);
  const whole = { a: all(algorithms), d: all(datasets), n: 0, m: 0, pair: [0, Math.min(1, algorithms.length - 1)], s: 0, q: 0 };
  const state = { ...whole };

  const valueOf = (m, j, i, n = state.n) => metrics[m].values[n][j]?.[i] == null ? null : Number(metrics[m].values[n][j][i]);
  const unit = (m) => (metrics[m].percent ? 100 : 1);
  const labelOf = (m) => `${metrics[m].label}${metrics[m].percent ? ", %" : ""}`;
  // Small values of a metric without decimals, such as kB, need more digits than large ones.
  const precise = (m, value) => metrics[m].cost || metrics[m].scientific || (metrics[m].decimals === 0 && Math.abs(value) < 10);
  const shown = (m, value) => (precise(m, value) ? number(value, 3) : fixed(value === null ? null : unit(m) * value, metrics[m].decimals + 1));
  // Costs differ by orders of magnitude, so a column has the digits that its smallest value needs.
  const costsOf = (m, values) => {
    const least = Math.min(...values.filter((value) => value > 0)), digits = Math.min(6, Math.max(0, 1 - Math.floor(Math.log10(least))));
    return values.map((value) => fixed(value, Number.isFinite(digits) ? digits : 0));
  };
  const meanOf = (m, i, data) => average(data.map((j) => valueOf(m, j, i)).filter((v) => v !== null));

  // What each recomputed table keeps when it is drawn again.
  const kept = { ranks: {}, tests: {}, pair: {}, one: {} };

  function table(memory, title, header, rows, note = "") {
    const made = element("table", {}, element("caption", {}, element("span", {}, title)),
      element("thead", {}, element("tr", {}, ...header.map((head, i) => element("th", { scope: "col", class: i ? "" : "text" }, head)))),
      element("tbody", {}, ...rows.map(([first, ...rest]) => element("tr", {},
        element("th", { scope: "row", class: "text", title: first }, first), ...rest.map((text) => element("td", {}, text))))));
    const box = element("div", {}, element("div", { class: "scroll fit", role: "region", tabindex: "0", "aria-label": title }, made), element("p", { class: "note" }, note));
    mark(made, algorithms);
    enhance(made, memory);
    return box;
  }

  function option(name, texts, get, set, other) {
    const list = element("select", { "aria-label": name, change: () => (set(Number(list.value)), update()) }, ...texts.map((text, i) => element("option", { value: i }, text)),
      ...(other ? [element("option", { value: -1, disabled: true }, other)] : []));
    sync.push(() => (list.value = get()));
    return element("label", { class: "option" }, `${name} `, list);
  }

  function boxes(names, key) {
    return names.map((name, i) => {
      const box = element("input", { type: "checkbox", change: () => {
        state[key] = box.checked ? [...state[key], i].sort((x, y) => x - y) : state[key].filter((each) => each !== i);
        update();
      } });
      sync.push(() => (box.checked = state[key].includes(i)));
      return element("label", {}, box, ` ${name}`);
    });
  }

  const sync = [], told = element("p", { role: "status", class: "lead" }), ranks = element("div"), tests = element("details"), costs = element("div", { class: "panels" });
  const pair = element("div", { class: "row" }), one = element("div", { class: "row" });
  const groups = [...new Set(D.groups)], dataBoxes = boxes(datasets, "d");
  const groupBoxes = groups.map((group) => {
    const own = all(datasets).filter((j) => D.groups[j] === group);
    const box = element("input", { type: "checkbox", change: () => {
      state.d = all(datasets).filter((j) => (own.includes(j) ? box.checked : state.d.includes(j)));
      update();
    } });
    sync.push(() => {
      const there = own.filter((j) => state.d.includes(j)).length;
      box.checked = there === own.length;
      box.indeterminate = there > 0 && there < own.length;
    });
    return element("label", {}, box, ` ${group} (${own.length})`);
  });
  const summary = element("summary"), presets = [{ title: "the whole study", a: whole.a, d: whole.d }, ...D.rankings];
  sync.push(() => (summary.textContent = `Data sets: ${state.d.length} of ${datasets.length}`));

  function showRanks(c) {
    const order = all(c.names).sort((x, y) => c.mean[x] - c.mean[y]), best = order[0], names = order.map((x) => algorithms[c.names[x]]);
    const against = (x) => c.pairs.find(({ i, j }) => (i === x && j === best) || (j === x && i === best));
    const test = (x) => `${equation(against(x).holm)}${against(x).favored === x ? ` for ${algorithms[c.names[x]]}` : ""}`;
    const part = `${plural(c.names.length, "algorithm")} of ${algorithms.length} on ${plural(c.n, "data set")} of ${datasets.length}, ${D.noise[state.n]}, by ${metrics[state.m].label}`;
    const first = names.filter((_, at) => c.mean[order[at]] === c.mean[best]), rank = fixed(c.mean[best], 2);
    const next = names.length > 1 ? `, followed by ${names[1]} (${fixed(c.mean[order[1]], 2)}${c.blocks > 1 ? `; ${test(order[1])}` : ""})` : "";
    const lead = first.length > 1 ? `${first.slice(0, -1).join(", ")} and ${first.at(-1)} share the best mean rank, ${rank}.` : `${names[0]} leads with mean rank ${rank}${next}.`;
    told.textContent = !state.a.length || !state.d.length ? "Choose at least one algorithm and one data set."
      : !c.names.length ? `None of the algorithms to rank has a value of ${metrics[state.m].label}: choose others.`
      : c.n === 0 ? "No chosen data set has a complete value of all chosen algorithms (means are over seeds that all algorithms of the study have run): choose others."
      : `Recomputed in this page for ${part}: ${lead}` +
        (c.p === null || c.p === undefined ? "" : ` ${c.test}: ${equation(c.p)}.`);
    const costs = costMetrics.map((m) => costsOf(m, order.map((x) => meanOf(m, c.names[x], c.data))));
    const rows = c.n ? order.map((x, at) => {
      const i = c.names[x], span = c.intervals?.[x];
      return [algorithms[i], fixed(c.mean[x], 2), span ? `${fixed(span[0], 2)} to ${fixed(span[1], 2)}` : "–",
        shown(state.m, meanOf(state.m, i, c.data)), x === best ? "–" : `${shownP(against(x).holm)}${against(x).favored === x ? " ▲" : ""}`, ...costs.map((column) => column[at])];
    }) : [];
    ranks.replaceChildren(table(kept.ranks, `Mean ranks of the choice`, ["algorithm", "mean rank", "95% interval", `mean ${labelOf(state.m)}`, "p against the first", ...costMetrics.map((m) => metrics[m].label)], rows,
      `1 is best. Tests and intervals count base sets, here ${c.blocks}. Intervals: bootstrap, from eight base sets on. p: signed-rank tests of every pair, Holm-adjusted; ▲: the base sets favor this one, although its mean rank over all data sets is worse. Other values are means over seeds and data sets; milliseconds are those of whole runs, all epochs included.`));
    tests.replaceChildren(element("summary", {}, `Every pair (${c.pairs.length})`),
      table(kept.tests, "Wilcoxon signed-rank tests of the choice", ["first", "second", "wins", "losses", "p (Holm)"], c.pairs.map((p) => [algorithms[c.names[p.i]], algorithms[c.names[p.j]], `${p.wins}`, `${p.losses}`, shownP(p.holm)])));
    if (c.pairs.length > 1) ranks.append(tests);
  }

  function legend() {
    const list = element("ul", { class: "legend" }, ...algorithms.map((name, i) => {
      const line = drawn("line", { x1: 1, x2: 33, y1: 6, y2: 6, "stroke-width": 2, "stroke-dasharray": DASHES[D.styles[i][2]] });
      line.style.stroke = D.styles[i][0];
      return element("li", {}, drawn("svg", { viewBox: "0 0 34 12", "aria-hidden": "true" }, line), name);
    }));
    visibility.legend(list);
    return list;
  }

  const costMetrics = all(metrics).filter((m) => metrics[m].cost);
  function showCosts(c) {
    costs.replaceChildren(...costMetrics.map((m) => chart({ title: `${metrics[state.m].label} against ${metrics[m].label}`, x: { label: metrics[m].label, log: true }, y: { label: `mean ${labelOf(state.m)}` },
      series: c.names.map((i) => ({ a: i, style: D.styles[i], i, at: [meanOf(m, i, c.data), meanOf(state.m, i, c.data)] })).filter(({ at }) => at[0] > 0 && at.every(Number.isFinite))
        .map(({ i, at, ...rest }) => ({ ...rest, label: algorithms[i], points: [[at[0], unit(state.m) * at[1], `${algorithms[i]}: ${labelOf(state.m)} ${shown(state.m, at[1])}, ${metrics[m].label} ${shown(m, at[0])}`]] })) })));
  }

  function showPair() {
    const [i, j] = state.pair, sign = metrics[state.m].higher ? 1 : -1, [first, second] = [algorithms[i], algorithms[j]];
    // Two infinite values are equal, and infinite differences too: subtracting them would give NaN.
    const rows = state.d.map((k) => [k, valueOf(state.m, k, i), valueOf(state.m, k, j)]).filter(([, x, y]) => x !== null && y !== null)
      .map(([k, x, y]) => [k, x, y, x === y ? 0 : x - y]).sort((p, q) => sign * (p[3] - q[3]) || 0);
    pair.replaceChildren(
      chart({ title: `${first} against ${second}, ${D.noise[state.n]}: ${labelOf(state.m)}`, diagonal: true, x: { label: second }, y: { label: first },
        series: [{ style: D.styles[i], points: rows.map(([k, x, y]) => [unit(state.m) * y, unit(state.m) * x, `${datasets[k]}: ${first} ${shown(state.m, x)}, ${second} ${shown(state.m, y)}`]) }] }),
      table(kept.pair, `${first} minus ${second}`, ["data set", first, second, "difference"],
        rows.map(([k, ...values]) => [datasets[k], ...values.map((value) => shown(state.m, value))]),
        `At first the data sets come first on which ${first} loses most to ${second} at this noise level.`));
  }

  function showOne() {
    const k = state.s, { curves } = D, parts = [];
    const facts = D.facts.header.map((head, i) => [head, D.facts.rows[k]?.[i] ?? "–"]).filter(([, value]) => value !== "–");
    parts.push(element("dl", { class: "facts" }, ...facts.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", { class: "long" }, value)))));
    if (curves.quantities.length) {
      const q = curves.quantities[state.q], t = curves.t[k] ?? [], rows = q.values[state.n]?.[k] ?? [];
      parts.push(chart({ title: `${q.label}, ${datasets[k]}, ${D.noise[state.n]}`, x: { label: "examples seen" }, y: { label: q.label, zero: q.zero }, marks: curves.changes[k] ?? [],
        bar: q.window ? { length: q.window, label: `window: ${q.window} examples` } : null,
        series: all(algorithms).filter((i) => state.a.includes(i) && rows[i]).map((i) => ({ a: i, style: D.styles[i], line: true,
          points: rows[i].flatMap((v, at) => (v === null ? [] : [[t[at], v / q.scale, `${algorithms[i]}: ${q.label} ${number(v / q.scale)} at ${number(t[at])} examples`]])) })) }));
    }
    const levels = all(D.noise).filter((n) => metrics[state.m].values[n][k]);
    // The columns depend on the data set.
    const memory = (kept.one[`${levels}|${Boolean(D.winners[k])}`] ??= {});
    parts.push(table(memory, `${labelOf(state.m)}, ${datasets[k]}`, ["algorithm", ...levels.map((n) => D.noise[n]), ...(D.winners[k] ? [`winner of the grid, ${D.noise[state.n]}`] : [])],
      state.a.map((i) => [algorithms[i], ...levels.map((n) => shown(state.m, valueOf(state.m, k, i, n))), ...(D.winners[k] ? [D.settings[D.winners[k][state.n]?.[i]] ?? "–"] : [])])));
    one.replaceChildren(...parts);
  }

  // Draw a part of the section again only if what it shows has changed.
  const drawnFor = {};
  function when(part, key, draw) {
    if (drawnFor[part] === (drawnFor[part] = JSON.stringify(key))) return;
    draw();
  }

  function update() {
    sync.forEach((each) => each());
    const { a, d, n, m, pair: two, s, q } = state;
    when("ranks", [a, d, n, m], () => {
      const c = compared(D, state);
      showRanks(c);
      showCosts(c);
    });
    when("pair", [d, n, m, two], showPair);
    when("one", [a, n, m, s, q], showOne);
    refilter();
    address();
  }

  function address(id = location.hash.slice(1).split("?")[0]) {
    const query = new URLSearchParams(), put = (key, value, usual) => `${value}` !== `${usual}` && query.set(key, value);
    // An empty choice is written as an empty name.
    if (!state.a.length) query.set("a", "");
    if (state.a.length !== algorithms.length) state.a.forEach((i) => query.append("a", algorithms[i]));
    if (state.d.length !== datasets.length) query.set("d", written(state.d));
    for (const key of ["n", "m", "s", "q"]) put(key, state[key], whole[key]);
    put("pair", state.pair.join(), whole.pair.join());
    [...visibility.hidden].forEach((i) => query.append("hide", algorithms[i]));
    const text = query.toString();
    history.replaceState(null, "", text ? `#${id || "explore"}?${text}` : id ? `#${id}` : location.pathname);
  }

  function read() {
    const [id, text] = location.hash.slice(1).split(/\?(.*)/s), query = new URLSearchParams(text), place = (name) => algorithms.indexOf(name);
    Object.assign(state, whole);
    if (query.has("a")) state.a = once(query.getAll("a").map(place).filter((i) => i >= 0));
    if (query.has("d")) state.d = parsed(query.get("d"), datasets.length);
    const limits = { n: D.noise.length, m: ranking.length, s: datasets.length, q: D.curves.quantities.length };
    for (const [key, limit] of Object.entries(limits)) if (all(Array(limit).fill()).includes(Number(query.get(key)))) state[key] = Number(query.get(key));
    const two = (query.get("pair") ?? "").split(",").map(Number);
    if (two.length === 2 && two.every((i) => i in algorithms)) state.pair = two;
    visibility.hidden = new Set(query.getAll("hide").map(place).filter((i) => i >= 0));
    if (text) document.getElementById(id)?.scrollIntoView();
  }

  section.append(
    element("form", { class: "choice", submit: (event) => event.preventDefault() },
      element("div", { class: "options" },
        option("Noise", D.noise, () => state.n, (v) => (state.n = v)),
        option("Metric", ranking.map((m) => metrics[m].label), () => state.m, (v) => (state.m = v)),
        option("Ranking", presets.map((each) => each.title), () => presets.findIndex(({ a, d }) => a.join() === state.a.join() && d.join() === state.d.join()), (v) => Object.assign(state, { a: presets[v].a, d: presets[v].d }), "your own choice")),
      element("fieldset", {}, element("legend", {}, "Algorithms"), ...boxes(algorithms, "a")),
      element("details", {}, summary, element("fieldset", {}, element("legend", {}, "Groups"), ...groupBoxes),
        element("fieldset", { class: "long" }, element("legend", {}, "Data sets"), ...dataBoxes))),
    told, ranks, costs,
    element("h3", {}, "Two algorithms, data set by data set"),
    element("div", { class: "options" }, option("First", algorithms, () => state.pair[0], (v) => (state.pair = [v, state.pair[1]])), option("Second", algorithms, () => state.pair[1], (v) => (state.pair = [state.pair[0], v]))), pair,
    element("h3", {}, "One data set"),
    element("div", { class: "options" }, option("Data set", datasets, () => state.s, (v) => (state.s = v)),
      ...(D.curves.quantities.length > 1 ? [option("Curve", D.curves.quantities.map((q) => q.label), () => state.q, (v) => (state.q = v))] : [])), legend(), one);
  section.hidden = false;
  document.querySelector('nav a[href="#explore"]').parentElement.hidden = false;
  visibility.changed = address;
  addEventListener("hashchange", () => location.hash.includes("?") ? (read(), update(), visibility.show()) : address());
  read();
  update();
  visibility.show();
}
