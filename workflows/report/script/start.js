// Start what the page has.
import { element } from "./elements.js";
import { enhance, mark } from "./tables.js";
import { Visibility, hover } from "./figures.js";
import { explore } from "./explore.js";

const numbers = JSON.parse(document.getElementById("numbers")?.textContent ?? "null");
for (const table of document.querySelectorAll("table")) {
  if (numbers) mark(table, numbers.algorithms);
  enhance(table);
}
if (numbers) {
  const visibility = new Visibility(numbers.algorithms, () => {});
  for (const list of document.querySelectorAll(".legend")) visibility.legend(list);
  hover(visibility);
  explore(numbers, visibility);
}

for (const code of document.querySelectorAll("pre.copy")) {
  const button = element("button", { type: "button", click: async () => {
    getSelection().selectAllChildren(code);
    // A page from another machine by plain HTTP has no clipboard, but its selection can be copied.
    if (navigator.clipboard) await navigator.clipboard.writeText(code.textContent);
    else if (!document.execCommand("copy")) return;
    button.textContent = "Copied";
  } }, "Copy");
  code.before(button);
}

// Paper shows everything: open what is folded, and fold it again afterwards.
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("main details:not([open], .menu, .choice details)")];
  folded.forEach((each) => (each.open = true));
});
addEventListener("afterprint", () => folded.forEach((each) => (each.open = false)));

// Mark the section in view among the contents.
const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
const watch = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue;
    links.forEach((link) => link.removeAttribute("aria-current"));
    const link = links.get(target.id);
    if (!link) continue;
    link.setAttribute("aria-current", "true");
    const contents = link.closest("nav");
    contents.scrollLeft = link.offsetLeft - (contents.clientWidth - link.offsetWidth) / 2;
  }
}, { rootMargin: "-15% 0px -80% 0px" });
document.querySelectorAll("main section").forEach((section) => watch.observe(section));
