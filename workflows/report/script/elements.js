// Make elements of the page.
const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

// Return an HTML element; functions among the attributes listen to the event of their name.
export function element(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function drawn(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

// Losses of learners that diverge have 300 digits: from this size on a value has a power of ten.
const HUGE = 1e15;

export function number(value, digits = 4) {
  if (value === null || isNaN(value)) return "–";
  if (Math.abs(value) >= HUGE) return value.toExponential(3).replace("Infinity", "∞");
  if (value !== 0 && Math.abs(value) < 1e-3) return value.toExponential(digits - 2);
  return value.toLocaleString("en", { maximumSignificantDigits: digits });
}

export function fixed(value, digits) {
  if (value === null || isNaN(value)) return "–";
  if (Math.abs(value) >= HUGE) return value.toExponential(3).replace("Infinity", "∞");
  // As Python, round the exact value, and halves to even; toLocaleString rounds the shortest decimal of the value, such as 2.675.
  const half = (Math.abs(value) * 2 ** (digits + 1)) % 2 === 1;
  const rounded = Number((half ? 2 * Math.round(value * 10 ** digits / 2) / 10 ** digits : value).toFixed(digits));
  // No minus sign for what rounds to 0.
  return (rounded || 0).toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

export const plural = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;
