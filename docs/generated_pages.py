"""Make pages of the site from other files: a page for each learner, reports, the changelog and others."""

import csv
import re
import shutil
from pathlib import Path

from singlepass.learners.table import TABLE
from singlepass.workflows.shipped import find_study

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "results" / "reference"

# Files outside of docs that are pages of the site: their path from the repository, and the page.
PAGES = {
    "README.md": "index",
    "CHANGELOG.md": "_generated/changelog",
    "CONTRIBUTING.md": "_generated/contributing",
    "SECURITY.md": "_generated/security",
    "CODE_OF_CONDUCT.md": "_generated/conduct",
    "results/reference/README.md": "_generated/reference",
}

# Folders of a reference run that the gallery has too.
KEPT = ("tables/", "figures/")

# What a row of d features, n of them not 0, costs; by the kind of a learner and its parameters.
COST = {
    "linear": "O(n) time per row, and memory for a few numbers per feature{full}.",
    "kernel": "O(S n) time per row and O(S n) memory for S support vectors{budget}.",
    "features": "O(D n) time per row and O(D d) memory for D random features, however long the stream is.",
    "svm": "O(S n) time and more per row for S stored rows, with steps of a solver; S grows.",
    "baseline": "O(1) time per row; rows are not read.",
    "batch": "It is fitted to all training rows at once, in more than linear time.",
    "strategy": "That of the learner that it wraps; a grid of G points costs G times as much.",
}


def write_pages(docs):
    """Write all generated pages into ``_generated``."""
    folder = docs / "_generated"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "learners").mkdir(parents=True)
    for path, page in PAGES.items():
        if page.startswith("_generated"):
            text = (ROOT / path).read_text("utf-8")
            (docs / f"{page}.md").write_text(_relinked(text, Path(path).parent), "utf-8")
    ranks = _ranks()
    for row in TABLE:
        (folder / "learners" / f"{row.name}.md").write_text(_learner_page(row, ranks), "utf-8")
    names = "\n".join(f"learners/{row.name}" for row in TABLE)
    lines = [
        "# A page for each learner",
        "",
        "[What they share](../learners.md), [which to choose](../which.md).",
        "",
        "| learner | from | kind |",
        "|---|---|---|",
    ]
    lines += [f"| [{row.name}](learners/{row.name}.md) | {row.source} | {row.kind} |" for row in TABLE]
    lines += ["", "```{toctree}", ":hidden:", names, "```", ""]
    (folder / "learners.md").write_text("\n".join(lines), "utf-8")
    _write_gallery(folder)
    _write_index_for_models(docs)


def adapted(name, text):
    """Return the source of a page with links that lead out of docs changed to pages of the site."""
    if name.startswith("_generated/learners/"):
        return text

    def linked(match):
        target, _, anchor = match[1].partition("#")
        for path, page in PAGES.items():
            if target == f"../{path}":
                return f"]({'../' * name.count('/')}{page}.md{'#' + anchor if anchor else ''})"
        return match[0]

    return re.sub(r"\]\((\.\./[^)\s]+)\)", linked, text.replace("```mermaid", "```text"))


def _relinked(text, folder):
    """Return the text of a file of the repository, with links that hold in ``docs/_generated``."""

    def linked(match):
        target, _, anchor = match[2].partition("#")
        if re.match(r"[a-z]+:", target) or not target:
            return match[0]
        path = (ROOT / folder / target).resolve().relative_to(ROOT).as_posix()
        end = f"#{anchor}" if anchor else ""
        if path in PAGES:
            return f"[{match[1]}](../{PAGES[path]}.md{end})"
        if path.startswith("docs/"):
            return f"[{match[1]}](../{path.removeprefix('docs/')}{end})"
        study, _, file = path.removeprefix("results/reference/").partition("/")
        if file.startswith(KEPT) and (ROOT / path).is_file():
            # Sphinx knows no files of the gallery, so this is HTML.
            return f'<a href="../reports/{study}/{file}">{match[1]}</a>'
        return f"[{match[1]}](reports.md{f'#{study}' if (REFERENCE / study).is_dir() else ''})"

    return re.sub(r"\[([^]]*)\]\(([^)\s]+)\)", linked, text)


def _ranks():
    """Return the mean ranks of each learner in the reference: (study, label, noise, rank, of how many)."""
    found = {row.name: [] for row in TABLE}
    for path in sorted(REFERENCE.glob("*/tables/mean-ranks-clean-error.csv")):
        study = path.parts[-3]
        names = {each.label: each.name for each in find_study(study)[0].algorithms}
        with path.open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        for each in rows:
            label = each["algorithm"]
            for noise, rank in each.items():
                # Plain rates of label noise; the report has the other models.
                if re.fullmatch(r"noise [0-9.]+", noise) and rank and names.get(label) in found:
                    found[names[label]].append((study, label, noise, float(rank), len(rows)))
    return found


def _learner_page(row, ranks):
    """Return the page of a learner: from the table, its class and the reference runs."""
    parameters = row.parameters
    cost = COST[row.kind].format(
        full=', or O(d²) of both with `covariance="full"`' if "`covariance`" in parameters else "",
        budget=", at most `budget` of them" if "`budget`" in parameters else "; S grows with the mistakes",
    )
    many = "two or more classes" if row.classes == "many" else "two classes"
    module = "singlepass.learners" if row.is_public else row.module
    lines = [
        f"# {row.name}",
        "",
        f"{row.source or 'A baseline'}. For {many}; {row.kind}. `from {module} import {row.name}`",
        "",
        f"**Cost.** {cost}",
        "",
        f"**Parameters.** {parameters}.",
        "",
    ]
    if row.is_public:
        lines += ["```{eval-rst}", f".. autoclass:: singlepass.learners.{row.name}", "```", ""]
    if ranks[row.name]:
        lines += [
            "## Ranks in the reference runs",
            "",
            "Mean rank by clean errors along the stream; 1 is best.",
            "The [reference runs](../reference.md) say on which data, what was tuned, what is significant.",
            "",
            "| study | algorithm | noise | mean rank | of |",
            "|---|---|---|--:|--:|",
        ]
        for study, label, noise, rank, n in ranks[row.name]:
            link, rate = f"[{study}](../reports.md#{study})", noise.removeprefix("noise ")
            lines.append(f"| {link} | {label} | {rate} | {rank:.2f} | {n} |")
        lines.append("")
    return "\n".join(lines)


def _write_gallery(folder):
    """Copy the reports of the reference runs, and write a page that links and describes them."""
    lines = [
        "# Gallery of reports",
        "",
        "Each report is one HTML file as singlepass wrote it, without links to tables that are not kept.",
        "[How to read one](../reading.md).",
        "",
    ]
    for study in sorted(path.name for path in REFERENCE.iterdir() if path.is_dir()):
        report, target = REFERENCE / study / "report.html", folder / "extra" / "reports" / study
        lines += [f"## {study}", ""]
        for kept in KEPT:
            if (report.parent / kept).is_dir():
                shutil.copytree(report.parent / kept, target / kept)
        if not report.is_file():
            files = sorted(path.relative_to(target).as_posix() for path in target.glob("*/*"))
            links = [f'<a href="../reports/{study}/{file}">{Path(file).name}</a>' for file in files]
            lines += [f"No report, only {', '.join(links)}; see the [reference runs](reference.md).", ""]
            continue
        page = report.read_text("utf-8")
        for link, file in re.findall(r'(<a href="(tables/[^"]+)">(?:CSV|LaTeX)</a>)', page):
            if not (target / file).is_file():
                page = page.replace(link, "")
        (target / "index.html").write_text(page, "utf-8")
        title = re.search(r"<title>(.*?)</title>", page, re.DOTALL)
        lines += [f'<a href="../reports/{study}/index.html">{title[1].strip()}</a>', ""]
    (folder / "reports.md").write_text("\n".join(lines), "utf-8")


def _write_index_for_models(docs):
    """Write llms.txt: the title and the address of every page, for programs that read the site."""
    about = "> Benchmarks of online (single-pass) classifiers in Python: learners, studies, reports."
    lines = ["# singlepass", "", about, "", "## Pages", ""]
    for path in [*sorted(docs.glob("*.md")), *sorted((docs / "_generated").rglob("*.md"))]:
        title = re.search(r"^# (.*)", path.read_text("utf-8"), re.MULTILINE)
        lines.append(f"- [{title[1]}]({path.relative_to(docs).with_suffix('.html').as_posix()})")
    extra = docs / "_generated" / "extra"
    (extra / "llms.txt").write_text("\n".join([*lines, ""]), "utf-8")
