// Ranks, intervals and tests, as pipeline/analysis computes them: Demšar (2006), Holm (1979), Pratt (1959).

// Return ranks from 1 for the smallest value; equal values share their average rank.
export function rankdata(values) {
  const order = values.map((_, i) => i).sort((a, b) => values[a] - values[b]);
  const ranks = new Array(values.length);
  for (let i = 0; i < order.length; ) {
    let j = i + 1;
    while (j < order.length && values[order[j]] === values[order[i]]) j++;
    for (let at = i; at < j; at++) ranks[order[at]] = (i + j + 1) / 2;
    i = j;
  }
  return ranks;
}

export function means(rows) {
  return rows[0].map((_, j) => rows.reduce((sum, row) => sum + row[j], 0) / rows.length);
}

// Return the logarithm of the gamma function (Lanczos).
function lgamma(x) {
  const c = [76.18009172947146, -86.50532032941677, 24.01409824083091, -1.231739572450155,
    0.1208650973866179e-2, -0.5395239384953e-5];
  const sum = c.reduce((s, each, i) => s + each / (x + 1 + i), 1.000000000190015);
  return (x + 0.5) * Math.log(x + 5.5) - x - 5.5 + Math.log((2.5066282746310005 * sum) / x);
}

// Return the regularized incomplete beta function by its continued fraction.
function incompleteBeta(x, a, b) {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const tiny = (value) => (Math.abs(value) < 1e-300 ? 1e-300 : value);
  let c = 1, d = 1 / tiny(1 - ((a + b) * x) / (a + 1)), result = d;
  for (let m = 1; m < 500; m++) {
    let step = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / tiny(1 + step * d);
    c = tiny(1 + step / c);
    result *= d * c;
    step = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / tiny(1 + step * d);
    c = tiny(1 + step / c);
    result *= d * c;
    if (Math.abs(d * c - 1) < 1e-14) break;
  }
  const front = lgamma(a + b) - lgamma(a) - lgamma(b) + a * Math.log(x) + b * Math.log1p(-x);
  return (Math.exp(front) * result) / a;
}

// P(|Z| > z) of a normal variable, to 7 digits (W. H. Press et al., Numerical Recipes, erfcc).
function twoSided(z) {
  const x = z / Math.SQRT2, t = 1 / (1 + x / 2);
  const c = [0.17087277, -0.82215223, 1.48851587, -1.13520398, 0.27886807, -0.18628806, 0.09678418,
    0.37409196, 1.00002368, -1.26551223];
  return t * Math.exp(c.reduce((sum, each) => sum * t + each) - x * x);
}

// P(X > x) of a chi-square variable with k degrees of freedom.
function chi2Tail(x, k) {
  if (k <= 0) return 0;
  if (k === 1) return twoSided(Math.sqrt(x));
  const term = Math.exp((k / 2 - 1) * Math.log(x / 2) - x / 2 - lgamma(k / 2));
  return chi2Tail(x, k - 2) + (x > 0 ? term : k === 2 ? 1 : 0);
}

// Return the p-value of Iman and Davenport's F, or of chi-square if all rows of ranks agree, with the test's name.
export function friedman(ranks) {
  const n = ranks.length, k = ranks[0].length, middle = (k + 1) / 2;
  const between = n * means(ranks).reduce((sum, mean) => sum + (mean - middle) ** 2, 0);
  const within = ranks.flat().reduce((sum, rank) => sum + (rank - middle) ** 2, 0) / (n * (k - 1));
  const chi2 = within ? between / within : 0, room = n * (k - 1) - chi2;
  if (room < 1e-9 * n * (k - 1)) return { p: chi2Tail(chi2, k - 1), test: "Friedman" };
  const f = ((n - 1) * chi2) / room, free = (k - 1) * (n - 1);
  return { p: incompleteBeta(free / (free + (k - 1) * f), free / 2, (k - 1) / 2), test: "Friedman (Iman–Davenport)" };
}

// Up to this many differences the distribution of the rank sum is enumerated.
const EXACT = 200;
const nulls = new Map();

// Return the distribution of the sum of doubled ranks, each of which enters with probability 1/2.
function nullOf(doubled) {
  const key = doubled.sort((a, b) => a - b).join();
  if (!nulls.has(key)) {
    const chance = new Float64Array(doubled.reduce((sum, step) => sum + step, 1));
    chance[0] = 1;
    let reached = 0;
    for (const step of doubled) {
      reached += step;
      for (let s = reached; s >= 0; s--) chance[s] = (chance[s] + (s < step ? 0 : chance[s - step])) / 2;
    }
    nulls.set(key, chance);
  }
  return nulls.get(key);
}

// Return the two-sided p-value of Wilcoxon's signed-rank test; zeros are ranked, then left out.
export function signedRank(differences) {
  const n = differences.length, ranks = rankdata(differences.map(Math.abs));
  const used = ranks.filter((_, i) => differences[i] !== 0);
  if (!used.length) return 1;
  const total = used.reduce((sum, rank) => sum + rank, 0);
  const up = ranks.reduce((sum, rank, i) => sum + (differences[i] > 0 ? rank : 0), 0);
  const least = Math.min(up, total - up);
  if (n <= EXACT) {
    const tail = nullOf(used.map((rank) => 2 * rank)).subarray(0, 2 * least + 1);
    return Math.min(1, 2 * tail.reduce((sum, each) => sum + each, 0));
  }
  const zeros = n - used.length, ties = new Map();
  for (const rank of used) ties.set(rank, (ties.get(rank) ?? 0) + 1);
  let spread = n * (n + 1) * (2 * n + 1) - zeros * (zeros + 1) * (2 * zeros + 1);
  for (const t of ties.values()) spread -= (t ** 3 - t) / 2;
  return twoSided(Math.abs(least - total / 2) / Math.sqrt(spread / 24));
}

// Return the Hodges–Lehmann estimate of a shift; opposite infinities average to 0.
function hodgesLehmann(differences) {
  const walsh = Float64Array.from(differences.flatMap((first, i) => differences.slice(i).map((second) => (first === -second ? 0 : (first + second) / 2)))).sort();
  const middle = walsh.length >> 1;
  return walsh.length % 2 ? walsh[middle] : (walsh[middle - 1] + walsh[middle]) / 2;
}

export function holm(ps) {
  const adjusted = [];
  let running = 0;
  ps.map((_, i) => i).sort((a, b) => ps[a] - ps[b]).forEach((i, place) => {
    running = Math.max(running, (ps.length - place) * ps[i]);
    adjusted[i] = Math.min(1, running);
  });
  return adjusted;
}

// Return the mean of the rows of each group, a list of numbers by row.
function grouped(rows, groups) {
  const found = new Map();
  rows.forEach((row, i) => found.set(groups[i], [...(found.get(groups[i]) ?? []), row]));
  return [...found.values()];
}

// Return the value that Student's t exceeds in absolute value with probability 5%.
function quantile(free) {
  let low = 0, high = 1e3;
  while (high - low > 1e-9 * high) {
    const middle = (low + high) / 2;
    if (incompleteBeta(free / (free + middle * middle), free / 2, 0.5) > 0.05) low = middle;
    else high = middle;
  }
  return low;
}

const FEWEST = 8, DRAWS = 10000;

// Return 95% intervals of mean ranks by a bootstrap of base sets, null for fewer than eight (Hesterberg 2015).
export function intervals(ranks, bases) {
  const sets = grouped(ranks, bases), n = sets.length;
  if (n < FEWEST) return null;
  const sums = sets.map((rows) => means(rows).map((mean) => mean * rows.length));
  // mulberry32: the same choice shows the same intervals.
  let state = 1;
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const samples = ranks[0].map(() => new Float64Array(DRAWS));
  for (let b = 0; b < DRAWS; b++) {
    const sum = samples.map(() => 0);
    let size = 0;
    for (let i = 0; i < n; i++) {
      const pick = Math.floor(random() * n);
      size += sets[pick].length;
      for (let j = 0; j < sum.length; j++) sum[j] += sums[pick][j];
    }
    sum.forEach((each, j) => (samples[j][b] = each / size));
  }
  // Percentiles move outwards as Student's t asks for the effective number of base sets.
  const effective = ranks.length ** 2 / sets.reduce((sum, rows) => sum + rows.length ** 2, 0);
  const outside = twoSided(Math.sqrt(n / (n - 1)) * quantile(Math.max(1, effective - 1))) / 2;
  return samples.map((each) => {
    each.sort();
    return [outside, 1 - outside].map((share) => {
      const at = share * (DRAWS - 1), below = Math.floor(at);
      return each[below] + (at - below) * (each[Math.min(below + 1, DRAWS - 1)] - each[below]);
    });
  });
}

// Return how far each score of a row may be from an equal one, as pipeline.analysis.ranks does.
function tolerancesOf(row) {
  const least = Math.min(1, Math.max(0, ...row.map(Math.abs).filter(Number.isFinite)));
  return row.map((value) => 1e-12 * (Number.isFinite(value) ? Math.max(least, Math.abs(value)) : least));
}

// Number the distinct scores of a row from the smallest; equal scores share their number.
function levelsOf(row) {
  const near = tolerancesOf(row), order = row.map((_, i) => i).sort((a, b) => row[a] - row[b]), levels = [];
  order.forEach((at, place) => {
    const before = order[place - 1];
    levels[at] = !place ? 0 : levels[before] + (row[at] > row[before] + Math.max(near[at], near[before]) ? 1 : 0);
  });
  return levels;
}

// Make differences equal in size that are equal except for rounding errors, as pipeline.analysis.pairwise does.
function tied(differences, tolerances) {
  const sizes = differences.map(Math.abs), found = [...differences];
  let size = 0, near = 0;
  for (const at of differences.map((_, i) => i).sort((a, b) => sizes[a] - sizes[b])) {
    if (size && sizes[at] <= size + Math.max(near, tolerances[at])) found[at] = Math.sign(differences[at]) * size;
    else [size, near] = [sizes[at], tolerances[at]];
  }
  return found;
}

// Compare algorithms by a table of scores, one row a data set; lower is better. Tests take means of base sets.
export function compare(rows, bases) {
  const ranks = rows.map((row) => rankdata(levelsOf(row))), k = rows[0].length, pairs = [];
  const blocks = grouped(rows, bases).map(means), levels = blocks.map(levelsOf), near = blocks.map(tolerancesOf), n = blocks.length;
  for (let i = 0; i < k; i++) for (let j = i + 1; j < k; j++) {
    const gains = tied(blocks.map((row, at) => (levels[at][i] === levels[at][j] ? 0 : row[j] - row[i])), near.map((each) => Math.max(each[i], each[j])));
    // `favored` is computed only if asked for: of 200 base sets the estimate takes 20,100 averages.
    pairs.push({ i, j, wins: gains.filter((gain) => gain > 0).length, losses: gains.filter((gain) => gain < 0).length,
      p: n > 1 ? signedRank(gains) : null, get favored() { return [j, null, i][Math.sign(hodgesLehmann(gains)) + 1]; } });
  }
  if (n > 1) holm(pairs.map((pair) => pair.p)).forEach((p, place) => (pairs[place].holm = p));
  return { n: rows.length, blocks: n, ranks, mean: means(ranks), pairs, intervals: intervals(ranks, bases),
    ...(n > 1 && k > 2 ? friedman(levels.map(rankdata)) : { p: null }) };
}
