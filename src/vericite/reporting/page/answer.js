// An answer with what was found of each of its sentences, in whatever page it stands.
const KINDS = {
  supported: ["✓", "supported: the source says it"],
  quoted: ["“", "quoted: stands word for word in its source; no judge was asked"],
  contradicted: ["✗", "contradicted: the source says otherwise"],
  irrelevant: ["≁", "irrelevant: the source does not say it"],
  dangling: ["∅", "dangling: there is no such source"],
  abstained: ["?", "abstained: too unsure to decide"],
  failed: ["!", "failed: could not be judged"],
  uncited: ["–", "uncited: cites nothing"],
};
const PENDING = ["…", "still being judged"];
const sign = (kind) => el("span", { class: `sign ${kind}`, title: (KINDS[kind] || PENDING)[1] }, (KINDS[kind] || PENDING)[0]);
const signed = (counts) => Object.keys(KINDS).filter((kind) => counts[kind]).map((kind) => [sign(kind), ` ${counts[kind]} `]).flat();

class AnswerView {
  // `place` is the element that it fills, `documents` are the texts of sources by their keys.
  constructor(place, documents) {
    this.place = place;
    this.documents = documents;
    this.open = -1;
  }

  show(it, note) {
    this.it = it;
    this.open = -1;
    this.parts = [];
    const parts = [it.question || note ? el("h3", {}, it.question || it.id) : null, note ? el("p", { class: "note" }, note) : null];
    if (it.failed) parts.push(el("p", { class: "verdict failed" }, "No answer: ", it.failed));
    if (it.exact.length) parts.push(el("p", {}, el("b", {}, "Answer: "), it.exact.join("; ")));
    if (it.cut) parts.push(el("p", { class: "note" }, it.cut));
    if (it.remark) parts.push(el("p", { class: "note" }, it.remark));
    parts.push(this.prose(it), this.legend = el("ul", { class: "legend", "aria-label": "Marks" }));
    if (it.chosen.length) parts.push(el("details", { open: true }, el("summary", {}, "Quoted word for word"), el("ol", {}, it.chosen.map((one) => el("li", {}, el("b", {}, `${one.markers} ${one.kind}`), ` ${one.about}`, one.against ? el("b", { class: "retracted" }, ` contradicted by ${one.against}`) : null)))));
    if (it.rationale.length) parts.push(this.rationale(it));
    if (it.changes.length) parts.push(el("details", { open: true }, el("summary", {}, `Repaired, ${it.changes.length} ${it.changes.length > 1 ? "changes" : "change"}`), it.changes.map((change) => el("p", {}, el("b", {}, change.action), " ", el("small", {}, change.why), el("br"), el("del", {}, change.before), change.after ? [el("br"), el("ins", {}, change.after)] : null))));
    parts.push(this.uses = el("details", {}));
    this.place.replaceChildren(...parts.filter(Boolean));
    this.count();
  }

  // What depends on verdicts that may still come.
  count() {
    const it = this.it, counts = {};
    for (const claim of it.claims) counts[claim.kind] = (counts[claim.kind] || 0) + 1;
    this.legend.replaceChildren(...Object.keys(KINDS).filter((kind) => counts[kind]).map((kind) => el("li", {}, sign(kind), ` ${counts[kind]} `, KINDS[kind][1])));
    const isOpen = this.uses.open;
    this.uses.replaceChildren(el("summary", {}, `Sources, ${it.sources.length}`), ...it.sources.map((key, number) => this.source(key, number + 1, [], this.use(key))));
    this.uses.open = isOpen;
  }

  // How a source was used: which sentences cite it, and how they fare.
  use(key) {
    const citing = this.it.claims.map((claim, index) => [claim, index + 1]).filter(([claim]) => claim.cites.some((cite) => cite[1] === key));
    return el("p", {}, el("small", {}, citing.length ? ["Cited in sentence ", citing.map(([claim, number], place) => [place ? ", " : "", `${number} `, sign(claim.kind)]).flat()].flat() : "Not cited."));
  }

  rationale(it) {
    const steps = it.rationale.map((step) => el("li", {}, step.question ? el("small", {}, `${step.question} `) : null, step.text, " ", el("b", { class: "category" }, step.category),
      step.documents.length ? el("small", {}, ` · from ${step.documents.map((key) => (this.documents[key] || {}).title || key).join("; ")}`) : null,
      step.passages.map((words) => el("blockquote", {}, el("mark", {}, words)))));
    return el("details", { open: true }, el("summary", {}, `Rationale, ${it.rationale.length} ${it.rationale.length > 1 ? "steps" : "step"}`), el("ol", {}, steps));
  }

  // The answer's own text with its sentences as buttons; where only verdicts are known, the sentences one by one.
  prose(it) {
    const made = el("div", { class: "answer" });
    let at = 0;
    it.claims.forEach((claim, index) => {
      const inText = claim.end <= it.text.length && claim.end > claim.start && it.sources.length + claim.cites.length > 0;
      if (inText && claim.start >= at) made.append(it.text.slice(at, claim.start));
      const words = inText ? it.text.slice(Math.max(at, claim.start), claim.end) : claim.text;
      const button = el("button", { type: "button", "aria-expanded": "false" }), held = el("div", {});
      button.addEventListener("click", () => this.toggle(index));
      this.parts.push({ button, held, words });
      this.mark(index);
      made.append(button, inText ? "" : " ", held);
      if (inText) at = Math.max(at, claim.end);
    });
    if (it.claims.length === 0 || at) made.append(it.text.slice(at));
    return made;
  }

  mark(index) {
    const { button, words } = this.parts[index], kind = this.it.claims[index].kind;
    button.className = `claim ${kind}`;
    button.setAttribute("aria-label", `${kind}: ${words}`);
    button.replaceChildren(sign(kind), " ", words);
  }

  toggle(index) {
    const before = this.parts[this.open];
    if (before) { before.held.replaceChildren(); before.button.setAttribute("aria-expanded", "false"); }
    if (this.open === index) { this.open = -1; return; }
    this.open = index;
    this.parts[index].button.setAttribute("aria-expanded", "true");
    this.tell(index);
  }

  tell(index) {
    const claim = this.it.claims[index], held = this.parts[index].held;
    const found = claim.verdicts.map((verdict) => this.verdict(verdict));
    const none = claim.kind === "pending" ? "Still being judged." : claim.cites.length ? "Not judged." : "This sentence cites nothing.";
    held.replaceChildren(...(found.length ? found : [el("p", { class: "verdict uncited" }, none)]));
    for (const text of held.querySelectorAll(".text")) {
      const mark = text.querySelector("mark");
      if (mark && text.scrollHeight > text.clientHeight) text.scrollTop = mark.offsetTop - 24;
    }
  }

  // What was found of a citation while the page is read.
  judged(start, end, kind, verdict) {
    const index = this.it.claims.findIndex((claim) => claim.start === start && claim.end === end);
    if (index < 0) return;
    this.it.claims[index].verdicts.push(verdict);
    this.it.claims[index].kind = kind;
    this.mark(index);
    if (this.open === index) this.tell(index);
    this.count();
  }

  step(by) {
    if (!this.parts || !this.parts.length) return;
    const next = this.open < 0 ? (by > 0 ? 0 : this.parts.length - 1) : (this.open + by + this.parts.length) % this.parts.length;
    const { button } = this.parts[next];
    button.click();
    button.focus();
    button.scrollIntoView({ block: "nearest" });
  }

  verdict(it) {
    const p = Object.entries(it.p || {}).map(([name, value]) => `${name} ${value.toFixed(2)}`).join(", ");
    const box = el("div", { class: `verdict ${it.kind}` }, el("p", {}, sign(it.kind), " ", el("b", {}, it.kind), ` ${(it.markers || []).map((one) => `[${one}]`).join("")}`,
      it.native && it.native !== it.kind ? ` · ${it.native}` : "", p ? el("small", {}, ` · ${p}`) : ""));
    for (const reason of it.reasons || []) box.append(el("p", {}, el("small", {}, reason)));
    if (it.statements) box.append(el("ul", {}, it.statements.map(([text, label, native]) => el("li", {}, sign(KINDS[label] ? label : "failed"), " ", text, " ", el("small", {}, native)))));
    if (it.retracted) box.append(el("p", { class: "retracted" }, `Retracted: ${it.retracted.join(", ")}`));
    for (const key of it.sources || []) box.append(this.source(key, 0, (it.evidence || []).filter((one) => one[0] === key)));
    return box;
  }

  source(key, number, evidence, use) {
    const it = this.documents[key];
    if (!it) return el("p", {}, el("small", {}, `Source ${key}: its text is not in this page.`));
    const text = el("p", { class: "text", tabindex: it.text.length > 600 ? 0 : null, role: it.text.length > 600 ? "region" : null, "aria-label": it.text.length > 600 ? `Text of ${it.title || it.id}` : null });
    let at = 0;
    for (const [, start, end] of evidence.slice().sort((a, b) => a[1] - b[1])) {
      if (start < at || end > it.text.length) continue;
      text.append(it.text.slice(at, start), el("mark", {}, it.text.slice(start, end)));
      at = end;
    }
    text.append(it.text.slice(at));
    // Of a long text only the beginning is here.
    const beyond = evidence.filter((one) => one[2] > it.text.length && one[4]).map((one) => el("blockquote", {}, el("mark", {}, one[4])));
    const pages = [...new Set(evidence.map((one) => one[3]).filter(Boolean))].sort((a, b) => a - b);
    const where = [it.journal, it.year, it.design, pages.length ? `page ${pages.join(", ")}` : null].filter(Boolean).join(", ");
    const link = it.pmid ? el("a", { href: `https://pubmed.ncbi.nlm.nih.gov/${it.pmid}/`, rel: "noreferrer noopener", target: "_blank" }, `PMID ${it.pmid}`) : el("span", {}, it.id);
    return el("div", { class: "source" }, el("p", {}, number ? `[${number}] ` : "", el("b", {}, it.title), " ", el("small", {}, where, where ? " · " : "", link), it.retracted ? el("span", { class: "retracted" }, " RETRACTED") : null), use, beyond, text);
  }
}

const isTyping = () => /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
