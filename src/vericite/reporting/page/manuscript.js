// What was found about a manuscript: a summary, the sentences that a person should look at, its references.
const OUTCOMES = {
  contradicted: ["contradicted", "✗"], "not found": ["irrelevant", "≁"], "partly supported": ["partial", "◐"],
  "not judged": ["failed", "!"], "source not at hand": ["absent", "○"], supported: ["supported", "✓"],
};
const TO_REVIEW = ["contradicted", "not found", "partly supported"];

class ManuscriptView {
  // `answers` is the view of the judged sentences, which shows a source with its deciding words.
  constructor(answers, it) {
    this.answers = answers;
    this.it = it;
    this.found = it.manuscript;
    this.cards = [];
  }

  parts() {
    const { sentences, references, notes } = this.found, of = (outcome) => sentences.filter((one) => one.outcome === outcome);
    const review = [...TO_REVIEW.flatMap(of), ...sentences.filter((one) => one.other_figure)], wrong = references.filter((one) => one.problems.length), listed = references.filter((one) => one.text);
    const others = ["not judged", "source not at hand", "supported"].filter((outcome) => of(outcome).length);
    return [
      this.summary(),
      notes.length ? el("ul", { class: "note" }, notes.map((note) => el("li", {}, said(note)))) : null,
      el("h3", { id: "h-review" }, t("manuscript.to-look-at", { count: review.length })),
      review.length ? el("ol", { class: "findings", "aria-labelledby": "h-review" }, review.map((one) => el("li", {}, this.card(one, true)))) : el("p", { class: "note" }, t("manuscript.none")),
      el("h3", { id: "h-references" }, t("manuscript.references-to-look-at", { count: wrong.length })),
      wrong.length ? this.table(wrong, "problems", "h-references") : el("p", { class: "note" }, t("manuscript.none")),
      ...others.map((outcome) => el("details", {}, el("summary", {}, t("manuscript.outcome-with-count", { outcome: t(`manuscript.outcome-${slug(outcome)}`), sentences: t("components.sentences", { n: of(outcome).length }) })), el("ol", { class: "findings" }, of(outcome).map((one) => el("li", {}, this.card(one, false)))))),
      listed.length ? el("details", {}, el("summary", {}, t("manuscript.all-references", { count: listed.length })), this.table(listed, "state")) : null,
    ];
  }

  summary() {
    const { sentences, references } = this.found, chips = [];
    const chip = (kind, mark, count, key) => { if (count) chips.push(el("li", { class: kind }, mark ? [el("span", { class: "sign", "aria-hidden": "true" }, mark), " "] : null, t(key, { n: count, shown: el("b", {}, numbers.format(count)) }))); };
    for (const [outcome, [kind, mark]] of Object.entries(OUTCOMES)) chip(kind, mark, sentences.filter((sentence) => sentence.outcome === outcome).length, `manuscript.count-${slug(outcome)}`);
    const listed = references.filter((one) => one.text), having = (test) => listed.filter((one) => one.problems.some(test)).length;
    chip("contradicted", "", having((problem) => problem.startsWith("retracted")), "manuscript.retracted-references");
    chip("irrelevant", "", having((problem) => problem.startsWith("not found")), "manuscript.lost-references");
    chip("partial", "", having((problem) => !/^(retracted|not found)/.test(problem)), "manuscript.other-references");
    chip("partial", "", references.length - listed.length, "manuscript.unlisted-references");
    return el("div", { class: "summary" }, el("p", { class: "total" }, `${t("manuscript.sentences", { n: sentences.length })}, ${t("manuscript.references", { n: listed.length })}`), el("ul", { "aria-label": t("manuscript.summary") }, chips));
  }

  // A sentence with its place, the sentence of the source that decided, and why.
  card(one, isStep) {
    const [kind, mark] = OUTCOMES[one.outcome], name = t(`manuscript.outcome-${slug(one.outcome)}`), keys = (list) => list.map((key) => `[${key}]`).join(""), claim = this.it.claims[one.claim];
    const where = [one.place, one.cites.length ? t("manuscript.cites", { keys: keys(one.cites) }) : ""].filter(Boolean).join(" · ");
    const sure = one.probability === null ? "" : ` · ${t("manuscript.probability", { p: decimals(Number(one.probability.toFixed(3)), 2) })}`;
    const words = claim ? this.answers.worded(claim, this.it.text.slice(claim.start, claim.end) || one.text, claim.start) : [one.text];
    const retracted = this.found.references.filter((cited) => one.cites.includes(cited.key) && cited.problems.some((problem) => problem.startsWith("retracted"))).map((cited) => cited.key);
    const card = el("article", { class: `finding ${kind}`, tabindex: isStep ? -1 : null },
      el("p", { class: "head" }, el("span", { class: "sign", "aria-hidden": "true" }, mark), " ", el("b", {}, one.other_figure ? t("manuscript.outcome-differs") : name), el("small", {}, `${where ? ` · ${where}` : ""}${sure}`)),
      el("p", { class: "sentence", dir: "auto" }, one.outcome === "supported" && !one.other_figure ? one.text : words),
      one.source_sentence && !one.decided ? nearestLead() : null,
      one.source_sentence ? el("blockquote", { dir: "auto" }, el("mark", {}, one.source_sentence), " ", el("small", {}, [one.source, one.source_page ? t("components.page", { pages: String(one.source_page) }) : ""].filter(Boolean).join(", "))) : one.source ? el("p", {}, el("small", {}, t("manuscript.read", { source: one.source }))) : null,
      retracted.length ? el("p", { class: "retracted" }, t("manuscript.cites-retracted", { keys: keys(retracted) })) : null,
      one.reasons.map((reason) => el("p", { class: "why" }, said(reason))),
      one.missing.length && one.source ? el("p", {}, el("small", {}, t("manuscript.missing", { keys: keys(one.missing) }))) : null);
    if (claim && claim.verdicts.length) {
      const held = el("div", {}), more = el("details", {}, el("summary", {}, t("manuscript.source-and-figures")), held);
      more.addEventListener("toggle", () => { if (more.open && !held.firstChild) { held.append(...claim.verdicts.map((verdict) => this.answers.verdict(verdict))); if (this.answers.extra) held.append(this.answers.extra(claim)); } });
      card.append(more);
    }
    if (isStep) this.cards.push(card);
    return card;
  }

  table(references, column, labelled) {
    const problems = (one) => one.problems.map((problem) => el("li", { class: /^(retracted|not found|wrong)/.test(problem) ? "retracted" : null }, said(problem)));
    const state = (one) => el("li", {}, one.not_at_hand ? said(one.not_at_hand) : one.source ? t("manuscript.at-hand-from", { source: one.source }) : t("manuscript.at-hand"));
    const row = (one) => el("tr", {}, el("th", { scope: "row" }, `[${one.key}]`), el("td", { dir: "auto" }, one.text || "–"),
      el("td", { "data-head": t(`manuscript.${column}`) }, el("ul", { class: "plain" }, problems(one), column === "state" ? state(one) : null)), el("td", { "data-head": t("manuscript.cited-in") }, one.cited_in ? t("manuscript.in-sentences", { n: one.cited_in }) : t("manuscript.uncited")));
    return el("div", { class: "scroll" }, el("table", { class: "references", "aria-labelledby": labelled }, el("thead", {}, el("tr", {}, ["", "reference", column, "cited-in"].map((name) => name ? el("th", { scope: "col" }, t(`manuscript.${name}`)) : el("td", {})))), el("tbody", {}, references.map(row))));
  }

  // Moves the focus to the next or previous sentence to look at.
  step(by) {
    const at = this.cards.findIndex((card) => card.contains(document.activeElement));
    const next = this.cards[at < 0 ? (by > 0 ? 0 : this.cards.length - 1) : (at + by + this.cards.length) % this.cards.length];
    if (!next) return;
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  }
}
