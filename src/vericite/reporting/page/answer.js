// The mark of a verdict: its kind, or for some of these what a person has to know as well.
const markOf = (verdict) => (verdict.kind === "supported" && verdict.differs ? "differs" : verdict.kind === "irrelevant" && verdict.degree ? "partial" : verdict.kind);
// The mark of a sentence, from those of its verdicts.
const markOfClaim = (claim) => ["differs", "partial"].find((mark) => claim.verdicts.some((verdict) => verdict.kind === claim.kind && markOf(verdict) === mark)) || claim.kind;
// How many sentences of an answer have each mark.
const countsOf = (it) => { const counts = {}; for (const mark of it.claims.map(markOfClaim)) counts[mark] = (counts[mark] || 0) + 1; return counts; };

// An answer with what was found of each of its sentences, in whatever page it stands.
class AnswerView {
  // `place` is the element that it fills, `documents` are the texts of sources by their keys. The sources go into `below`
  // where a page has something between them and the answer.
  constructor(place, documents, below) {
    this.place = place;
    this.below = below;
    this.documents = documents;
    this.open = -1;
    this.titled = true;
    // Whether the answer begins with how many of its sentences are not in their sources.
    this.summed = false;
    // A served page can do more: with a sentence, and after a refusal.
    this.extra = null;
    this.help = () => [];
    // The answer before repair with its verdicts, where the page has it.
    this.earlier = null;
  }

  show(it, note) {
    this.it = it;
    this.open = -1;
    this.parts = [];
    this.uses = new Map();
    hideCard();
    const parts = [this.titled && (note || (it.question && !it.manuscript)) ? el("h3", { dir: "auto" }, it.question || it.id) : null, note ? el("p", { class: "note" }, note) : null];
    if (it.failed) parts.push(el("p", { class: "verdict failed" }, t("answer.none", { why: said(it.failed) })));
    if (it.stance) parts.push(consensus(it.stance, it.exact.length === 1 ? it.exact[0] : "", it.sources, this.documents, (key) => this.reveal(key)));
    else if (it.exact.length) parts.push(el("p", { class: "short" }, t("answer.short", { answer: el("b", { dir: "auto" }, it.exact.join("; ")) }), it.unlikely ? el("small", {}, " ", t("answer.guess")) : null));
    if (it.unlikely) parts.push(el("p", { class: "notice" }, t("answer.unlikely", { p: likelihood(it.sufficiency) })));
    const repair = it.changes.length ? new RepairView(this, it, this.earlier) : null;
    this.repair = repair && repair.sound ? repair : null;
    this.legend = el("ul", { class: "legend", "aria-label": t("answer.marks") });
    if (it.insufficient && !this.repair) parts.push(refusal(it, it.sources.map((key, place) => this.source(key, place + 1, [])), this.help()));
    else {
      const sum = this.summed && !this.repair && !it.manuscript && it.claims.length ? el("p", { class: "total", dir: "auto" }) : null;
      this.sum = sum;
      const shown = [...(sum ? [el("div", { class: "summary" }, sum, this.legend)] : []), ...(this.repair ? this.repair.parts() : [this.prose(it)]), sum ? null : this.legend];
      this.manuscript = it.manuscript ? new ManuscriptView(this, it) : null;
      if (this.manuscript) parts.push(...this.manuscript.parts(), it.claims.length ? el("details", {}, el("summary", {}, t("answer.text-with-marks")), shown) : null);
      else parts.push(...shown);
      for (const told of [it.cut, it.remark, ...it.notes.filter((told) => !(it.stance && told.startsWith("The sources disagree")))]) if (told) parts.push(el("p", { class: "note" }, said(told)));
      if (it.bracketed) parts.push(el("p", { class: "note" }, t("answer.bracketed")));
    }
    const below = it.rationale.length ? [this.rationale(it)] : [];
    const sources = it.insufficient || !it.sources.length ? [] : this.sources(it);
    if (it.manuscript && sources.length) below.push(el("details", {}, el("summary", {}, t("answer.sources", { count: it.sources.length })), sources));
    else below.push(...sources);
    if (this.below) this.below.replaceChildren(...below.filter(Boolean)); else parts.push(...below);
    this.place.replaceChildren(...parts.filter(Boolean));
    this.count();
  }

  // The sources in two groups: cited, and found but not cited.
  sources(it) {
    const used = new Set(it.claims.flatMap((claim) => claim.cites.map((cite) => cite[1])));
    const cards = (cited) => it.sources.filter((key) => used.has(key) === cited).map((key) => {
      const use = cited ? el("p", { class: "use" }) : null;
      if (use) this.uses.set(key, use);
      const card = this.source(key, this.numberOf(key), this.passagesOf(key), use);
      const side = it.stance && sideOf(it.stance, key);
      if (side === "yes" || side === "no") card.querySelector(".badges").prepend(badge(t(`answer.says-${side}`), side));
      card.dataset.key = key;
      return card;
    });
    const cited = cards(true), rest = cards(false);
    return [cited.length ? el("h4", {}, t("answer.cited", { count: cited.length })) : null, el("div", { class: "cards" }, cited),
      rest.length ? el("details", { class: "rest" }, el("summary", {}, t("answer.uncited", { count: rest.length })), el("div", { class: "cards" }, rest)) : null];
  }

  // The number that the text cites a source by. In manuscripts and rebuilt answers it may be higher than the place.
  numberOf(key) {
    const cite = this.it.claims.flatMap((claim) => claim.cites).find((made) => made[1] === key);
    return cite ? cite[0] : this.it.sources.indexOf(key) + 1;
  }

  // All passages of a source that decided a verdict.
  passagesOf(key) {
    return this.it.claims.flatMap((claim) => claim.verdicts.flatMap((verdict) => verdict.evidence || [])).filter((passage) => passage[0] === key);
  }

  // What depends on verdicts that may still come.
  count() {
    const it = this.it, counts = this.repair ? this.repair.marks : countsOf(it);
    if (this.repair) this.repair.update();
    this.legend.replaceChildren(...legend(counts));
    if (this.sum) this.sum.textContent = this.told(counts);
    for (const [key, use] of this.uses) {
      const citing = it.claims.map((claim, index) => [claim, index + 1]).filter(([claim]) => claim.cites.some((cite) => cite[1] === key));
      use.replaceChildren(...t("answer.cited-in", { n: citing.length, sentences: el("span", {}, citing.map(([claim, number], place) => [place ? ", " : "", `${number} `, sign(markOfClaim(claim))])) }));
    }
  }

  // How many sentences are not in their sources: those that a person has to look at.
  told(counts) {
    const of = (...kinds) => kinds.reduce((sum, kind) => sum + (counts[kind] || 0), 0), all = this.it.claims.length, bad = of("contradicted", "partial", "irrelevant", "dangling"), good = of("supported", "quoted"), other = of("differs");
    if (of("pending")) return t("answer.checked-so-far", { done: all - of("pending"), n: all });
    if (other && !bad) return t("answer.differs", { n: other, all });
    if (other) return `${t("answer.bad", { n: bad, all })}. ${t("answer.differs", { n: other, all })}`;
    if (bad) return all === 1 ? t("answer.bad-alone") : t("answer.bad", { n: bad, all });
    if (all === 1 && good) return t("answer.good-alone");
    return good === all ? t("answer.good-all", { all }) : t("answer.good", { n: good, all });
  }

  // Scrolls to the card of a source, and marks it for a moment.
  reveal(key) {
    const card = [this.place, this.below].filter(Boolean).flatMap((held) => [...held.querySelectorAll(".card.source")]).find((made) => made.dataset.key === key);
    if (!card) return;
    const folded = card.closest("details.rest");
    if (folded) folded.open = true;
    card.tabIndex = -1;
    card.focus({ preventScroll: true });
    card.scrollIntoView({ block: "nearest" });
  }

  rationale(it) {
    const steps = it.rationale.map((step) => el("li", {}, step.question ? el("small", {}, `${step.question} `) : null, step.text, " ", el("b", { class: "category" }, said(step.category)),
      step.documents.length ? el("small", {}, " · ", t("answer.from-sources", { titles: step.documents.map((key) => (this.documents[key] || {}).title || key).join("; ") })) : null,
      step.passages.map((words) => el("blockquote", {}, el("mark", {}, words))), step.unfound.map((words) => el("p", {}, el("small", {}, t("answer.unfound", { words }))))));
    return el("details", { open: true }, el("summary", {}, t("answer.rationale", { n: it.rationale.length })), el("ol", {}, steps));
  }

  // The answer's own text in paragraphs, its citations as chips; where only verdicts are known, the sentences one by one.
  prose(it) {
    const made = el("div", { class: "answer" });
    let at = 0, block = null, held = null;
    const paragraph = () => { block = el("p", { dir: "auto" }); held = el("div", { class: "held" }); made.append(block, held); };
    const between = (text) => text.split("\n").forEach((piece, place) => { if (place && block.hasChildNodes()) paragraph(); block.append(piece); });
    paragraph();
    it.claims.forEach((claim, index) => {
      const inText = this.isInText(claim);
      if (inText && claim.start >= at) between(it.text.slice(at, claim.start));
      block.append(this.sentence(index, at, held), inText ? "" : " ");
      if (inText) at = Math.max(at, claim.end);
    });
    if (it.claims.length === 0 || at) between(it.text.slice(at));
    return made;
  }

  isInText(claim) { return claim.end <= this.it.text.length && claim.end > claim.start && this.it.sources.length + claim.cites.length > 0; }

  // A sentence that opens its verdicts in `held`; the text before `at` is shown already.
  sentence(index, at, held) {
    const claim = this.it.claims[index], inText = this.isInText(claim), from = inText ? Math.max(at, claim.start) : -1, place = el("span", { class: "claim" });
    place.addEventListener("click", (event) => { if (!event.target.closest("button") && !String(getSelection())) this.toggle(index); });
    this.parts.push({ place, held, from, words: inText ? this.it.text.slice(from, claim.end) : claim.text });
    this.mark(index);
    return place;
  }

  // A sentence: its words, with those that no source carries, and a chip in the place of each citation.
  mark(index) {
    const { place, words, from } = this.parts[index], claim = this.it.claims[index];
    const inText = (start) => from >= 0 && start >= from && start < from + words.length;
    const spans = new Map();
    for (const cite of claim.cites) if (inText(cite[2])) spans.set(cite[2], [...(spans.get(cite[2]) || []), cite]);
    const changes = [...spans.values()].map((cites) => [cites[0][2], cites[0][3], cites.map((cite) => this.chip(index, cite[0], cite[1]))]);
    changes.push(...this.lacking(claim, from));
    const against = (this.it.chosen[index] || { against: [] }).against.map((key) => this.chip(index, this.numberOf(key), key, "contradicted"));
    const made = [];
    let at = 0;
    changes.sort((a, b) => a[0] - b[0]).forEach(([start, end, shown], order) => {
      if (start - from < at || end - from > words.length) return;
      const before = words.slice(at, start - from);
      at = end - from;
      if (!Array.isArray(shown)) { made.push(before, shown); return; }
      // A chip stays on the line of the word before it and of the full stop after it.
      const last = before.match(/\S*\s*$/)[0], stop = words.slice(at).match(/^[.,;:!?)]*/)[0];
      const ends = against.length && order === changes.length - 1;
      made.push(before.slice(0, before.length - last.length), el("span", { class: "cites" }, last.trimEnd(), " ", shown, ends ? null : stop), ends ? el("span", { class: "cites" }, against, stop) : null);
      at += stop.length;
    });
    made.push(words.slice(at));
    if (!spans.size) made.push(" ", ...(claim.cites.length ? claim.cites.map((cite) => this.chip(index, cite[0], cite[1])) : this.bare(claim, index)), ...against);
    place.className = `claim ${markOfClaim(claim)}${this.open === index ? " open" : ""}`;
    place.replaceChildren(...made.filter((part) => part !== null));
  }

  // The words of a sentence that no source carries, with their places.
  lacking(claim, from) {
    return from < 0 ? [] : claim.verdicts.flatMap((verdict) => verdict.words || []).map(([start, end, about]) => [start, end, el("span", { class: "lacking", title: t("answer.not-in-source", { about: known("about", about) }) }, this.it.text.slice(start, end))]);
  }

  // A sentence with such words marked and without chips; `from` is its place in the answer.
  worded(claim, words, from) {
    const made = [];
    let at = 0;
    for (const [start, end, shown] of this.lacking(claim, from).sort((a, b) => a[0] - b[0])) {
      if (start - from < at || end - from > words.length) continue;
      made.push(words.slice(at, start - from), shown);
      at = end - from;
    }
    return [...made, words.slice(at)];
  }

  // Chips of a sentence without citations: the numbers of its verdicts, or that it cites nothing.
  bare(claim, index) {
    const numbers = [...new Set(claim.verdicts.flatMap((verdict) => verdict.markers || []))];
    return numbers.length ? numbers.map((number) => this.chip(index, number, this.it.sources[number - 1] || "")) : [this.chip(index, "", "")];
  }

  chip(index, number, key, against) {
    const claim = this.it.claims[index], verdict = claim.verdicts.find((made) => (made.markers || []).includes(number));
    const kind = against || (number === "" ? claim.kind : verdict ? markOf(verdict) : claim.kind === "pending" || !claim.verdicts.length ? claim.kind : key ? "pending" : "dangling");
    const text = number === "" ? named(kind) : against ? t("answer.but", { number: String(number) }) : String(number);
    const label = t(number === "" ? "answer.chip-bare" : against ? "answer.chip-against" : "answer.chip", { number: text, mark: named(kind), sentence: String(index + 1) });
    const made = chip(kind, text, label);
    made.setAttribute("aria-expanded", String(this.open === index));
    made.addEventListener("click", () => this.toggle(index));
    return number === "" ? made : withCard(made, () => this.card(kind, number, key, against ? null : verdict));
  }

  // What is seen of a source while the pointer is on its chip.
  card(kind, number, key, verdict) {
    const doc = this.documents[key], passage = (verdict ? verdict.evidence || verdict.nearest || [] : this.passagesOf(key)).find((held) => held[0] === key), p = verdict && (verdict.p || {})[verdict.kind];
    return [el("p", { class: "says" }, sign(kind), " ", el("b", {}, named(kind)), p ? [", ", likelihood(p)] : null, SIGNS[kind] ? el("small", {}, ` · ${meaning(kind)}`) : null),
      doc ? [el("p", { class: "title", dir: "auto" }, doc.title || doc.id), el("p", { class: "meta" }, placeOf(doc)), el("p", { class: "badges" }, badgesOf(doc)), passage ? [verdict && !verdict.evidence ? nearestLead() : null, el("blockquote", { dir: "auto" }, el("mark", {}, passageWords(doc, passage)))] : null].flat() : el("p", {}, t("answer.no-source", { number: String(number) }))].flat();
  }

  toggle(index) {
    hideCard();
    const before = this.parts[this.open], closes = this.open === index;
    this.open = closes ? -1 : index;
    if (before) { before.held.replaceChildren(); this.unfold(before, false); }
    if (closes) return;
    this.unfold(this.parts[index], true);
    this.tell(index);
    this.parts[index].held.scrollIntoView({ block: "nearest" });
    this.parts[index].place.scrollIntoView({ block: "nearest" });
  }

  unfold(part, is) {
    part.place.classList.toggle("open", is);
    for (const made of part.place.querySelectorAll(".chip")) made.setAttribute("aria-expanded", String(is));
  }

  tell(index) {
    const claim = this.it.claims[index], chosen = this.it.chosen[index], held = this.parts[index].held;
    const found = claim.verdicts.map((verdict) => this.verdict(verdict, chosen));
    const none = claim.kind === "pending" ? t("answer.pending") : claim.cites.length ? t("answer.not-judged") : t("answer.cites-nothing");
    held.replaceChildren(...(found.length ? found : [el("p", { class: "verdict uncited" }, none)]));
    for (const key of chosen ? chosen.against : []) held.append(el("div", { class: "verdict contradicted" }, el("p", {}, sign("contradicted"), " ", el("b", {}, t("answer.otherwise", { number: String(this.numberOf(key)) }))), this.source(key, this.numberOf(key), this.passagesOf(key), null, "decided")));
    if (this.extra) held.append(this.extra(claim));
  }

  // What was found of a citation while the page is read.
  judged(start, end, kind, verdict) {
    const index = this.it.claims.findIndex((claim) => claim.start === start && claim.end === end);
    if (index < 0) return;
    this.it.claims[index].verdicts.push(verdict);
    this.it.claims[index].kind = kind;
    const focused = this.parts[index].place.contains(document.activeElement);
    this.mark(index);
    if (focused) this.parts[index].place.querySelector(".chip").focus();
    if (this.open === index) this.tell(index);
    this.count();
  }

  step(by) {
    if (this.manuscript) { this.manuscript.step(by); return; }
    if (!this.parts || !this.parts.length) return;
    const next = this.open < 0 ? (by > 0 ? 0 : this.parts.length - 1) : (this.open + by + this.parts.length) % this.parts.length;
    if (next !== this.open) this.toggle(next);
    this.parts[next].place.querySelector(".chip").focus({ preventScroll: true });
  }

  verdict(it, chosen) {
    const numbers = (it.markers || []).map((number) => `[${number}]`).join(" "), p = (it.p || {})[it.kind], mark = markOf(it);
    const box = el("div", { class: `verdict ${mark}` }, el("p", {}, sign(mark), " ", el("b", {}, phrased(mark, numbers)), p ? [" · ", likelihood(p)] : null));
    if (chosen && it.kind === "quoted") box.append(el("p", {}, el("small", {}, t("answer.chosen", { about: said(chosen.about), p: likelihood(chosen.answers) }))));
    if (it.against) box.append(el("p", {}, el("b", {}, said(it.against))));
    for (const reason of it.reasons || []) box.append(el("p", {}, el("small", {}, said(reason))));
    if (it.because) box.append(el("p", {}, said(it.because)));
    if (it.elsewhere) box.append(el("p", {}, el("b", {}, said(it.elsewhere))));
    if (it.statements) box.append(el("ul", {}, it.statements.map(([text, label, native]) => el("li", {}, sign(SIGNS[label] ? label : "failed"), " ", text, " ", native === label ? null : el("small", {}, said(native))))));
    if (it.redundant) box.append(el("p", {}, el("small", {}, t("answer.redundant", { numbers: it.redundant.map((key) => `[${this.numberOf(key)}]`).join("") }))));
    if (it.retracted) box.append(el("p", { class: "withdrawn" }, t("answer.retracted", { titles: it.retracted.join(", ") })));
    for (const key of it.sources || []) {
      const of = (passages) => (passages || []).filter((passage) => passage[0] === key), decided = of(it.evidence);
      box.append(this.source(key, this.numberOf(key), decided.length ? decided : of(it.nearest), null, it.evidence ? "decided" : "nearest"));
    }
    for (const key of it.others || []) box.append(el("p", {}, el("small", {}, t("answer.supports-it"))), this.source(key, this.numberOf(key), []));
    const others = Object.entries(it.p || {}).filter(([name]) => name !== it.kind), own = it.native && it.native !== it.kind && it.native !== "abstained" ? t("answer.own-word", { word: said(it.native) }) : "";
    if (others.length || own) box.append(el("details", {}, el("summary", {}, t("answer.details")), el("p", {}, el("small", {}, own, own && others.length ? " " : "", others.length ? t("answer.other-probabilities", { verdicts: others.map(([name, value]) => `${SIGNS[name] ? named(name) : name} ${figure(value)}`).join(", ") }) : ""))));
    return box;
  }

  source(key, number, passages, use, quotes) {
    const doc = this.documents[key];
    return doc ? sourceCard(doc, number, passages, use, quotes) : el("p", {}, el("small", {}, t("answer.text-elsewhere", { key })));
  }
}

const isTyping = () => /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
