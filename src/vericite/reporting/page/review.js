// The sentences of many answers that need a person, the worst first: what is wrong, the sentence, and what its source says.
const NEEDS = ["contradicted", "dangling", "retracted", "irrelevant", "partial", "differs", "disputed", "failed", "abstained", "uncited"];
const MARKS = { retracted: ["!", "contradicted"], disputed: ["!", "partial"] };
const CARDS = 10;

// What a sentence needs a person for, or an empty text; CheckedAnswer.needing counts by the same rule.
const needOf = (claim, it, index) => {
  const mark = markOfClaim(claim);
  if (["contradicted", "dangling", "irrelevant", "partial"].includes(mark)) return mark;
  if (claim.verdicts.some((verdict) => verdict.retracted)) return "retracted";
  if (mark === "differs") return mark;
  const chosen = it.chosen[index], isSplit = it.stance && it.stance.yes.length && it.stance.no.length;
  if (isSplit || (chosen && chosen.against.length) || claim.verdicts.some((verdict) => verdict.against)) return "disputed";
  return NEEDS.includes(mark) ? mark : "";
};

class Review {
  // `open` shows a sentence of an answer; it gets the numbers of both.
  constructor(place, data, open) {
    this.place = place;
    this.data = data;
    this.open = open;
    this.kind = "";
    this.most = CARDS;
    this.found = data.answers.flatMap((it, answer) => it.claims.map((claim, index) => ({ it, answer, claim, index, need: needOf(claim, it, index) }))).filter((one) => one.need);
    this.found.sort((a, b) => NEEDS.indexOf(a.need) - NEEDS.indexOf(b.need));
    const total = data.answers.reduce((sum, it) => sum + it.claims.length, 0);
    this.list = el("ol", { class: "findings" });
    this.more = el("button", { type: "button" });
    this.more.addEventListener("click", () => { const at = this.most; this.most += 5 * CARDS; this.draw(); this.list.children[at].querySelector("button").focus(); });
    this.filters = el("ul", { class: "needs", "aria-label": t("review.kinds") });
    // A quotation is in its source, but nothing was asked of it: it has no verdict that could say that it needs no person.
    const of = (...kinds) => data.answers.reduce((sum, it) => sum + it.claims.filter((claim) => kinds.includes(claim.kind)).length, 0);
    const quoted = of("quoted"), judged = total - quoted - of("uncited", "pending");
    const says = [this.found.length ? t("review.need", { count: this.found.length, n: total }) : judged ? t("review.none-needs", { n: total - quoted }) : quoted ? "" : t("review.none-judged", { n: total })];
    if (quoted) says.push(quoted === total ? t("review.quoted", { n: quoted }) : t("review.quoted-of", { n: quoted, all: total }));
    place.append(el("div", { class: "summary" }, says.filter(Boolean).map((words) => el("p", { class: "total" }, words)), this.filters), this.list, this.more);
    place.hidden = false;
    this.draw();
  }

  draw() {
    const counts = {};
    for (const one of this.found) counts[one.need] = (counts[one.need] || 0) + 1;
    this.filters.replaceChildren(...NEEDS.filter((kind) => counts[kind]).map((kind) => {
      const made = el("button", { type: "button", class: this.lookOf(kind)[1], "aria-pressed": String(this.kind === kind) }, this.sign(kind), " ", t("review.kind-count", { count: el("b", {}, numbers.format(counts[kind])), kind: t(`review.${kind}`) }));
      made.addEventListener("click", () => { this.kind = this.kind === kind ? "" : kind; this.most = CARDS; this.draw(); [...this.filters.querySelectorAll("button")].find((button) => button.textContent === made.textContent).focus(); });
      return el("li", {}, made);
    }));
    this.filters.hidden = !this.found.length;
    const shown = this.together(this.kind ? this.found.filter((one) => one.need === this.kind) : this.found);
    this.list.replaceChildren(...shown.slice(0, this.most).map((one) => el("li", {}, this.card(one))));
    const left = Math.max(0, shown.length - this.most);
    this.more.hidden = !left;
    this.more.textContent = t(left > 5 * CARDS ? "review.more-of" : "review.more", { count: Math.min(left, 5 * CARDS), left });
  }

  // Sentences that several systems have in answers to the same question are one card.
  together(found) {
    const made = new Map();
    for (const one of found) {
      const key = `${one.need}\n${one.it.id}\n${one.it.question}\n${one.claim.text}`, system = this.data.systems[one.it.system];
      if (!made.has(key)) made.set(key, { ...one, systems: [] });
      if (!made.get(key).systems.includes(system)) made.get(key).systems.push(system);
    }
    return [...made.values()];
  }

  lookOf(kind) { return MARKS[kind] || [signOf(kind), kind]; }

  sign(kind) { const [mark, colour] = this.lookOf(kind); return el("span", { class: `sign ${colour}`, "aria-hidden": "true" }, mark); }

  card({ it, answer, claim, index, need, systems }) {
    const { documents } = this.data, reader = new AnswerView(null, documents), words = t(`review.${need}`);
    reader.it = it;
    const verdict = claim.verdicts.find((one) => markOf(one) === need) || claim.verdicts.find((one) => one.retracted || one.against) || claim.verdicts[0] || {};
    const passages = (verdict.evidence || verdict.nearest || []).slice(0, PASSAGES).map((passage) => [documents[passage[0]], passage]).filter(([doc, passage]) => doc && passageWords(doc, passage));
    const p = (verdict.p || {})[verdict.kind];
    const cited = [...new Set(claim.cites.map((cite) => cite[0]))].map((number) => `[${number}]`).join("");
    const inText = claim.end <= it.text.length && claim.end > claim.start;
    const show = el("button", { type: "button" }, t("review.show"), el("span", { class: "heard" }, t("review.show-which", { number: String(index + 1), title: it.question || it.id })));
    show.addEventListener("click", () => this.open(answer, index));
    return el("article", { class: `finding ${this.lookOf(need)[1]}` },
      el("p", { class: "head" }, this.sign(need), " ", el("b", {}, `${words[0].toUpperCase()}${words.slice(1)}`), cited ? el("small", {}, ` · ${t("manuscript.cites", { keys: cited })}`) : null, p ? el("small", {}, " · ", likelihood(p)) : null),
      el("p", { class: "sentence", dir: "auto" }, inText ? reader.worded(claim, it.text.slice(claim.start, claim.end), claim.start) : claim.text),
      passages.length && !verdict.evidence ? nearestLead() : null,
      passages.map(([doc, passage]) => el("blockquote", { dir: "auto" }, el("mark", {}, passageWords(doc, passage)), " ", el("small", {}, [doc.title || doc.id, doc.year].filter(Boolean).join(", ")))),
      verdict.because ? el("p", { class: "why" }, said(verdict.because)) : null,
      verdict.against ? el("p", { class: "why" }, said(verdict.against)) : null,
      verdict.elsewhere ? el("p", {}, said(verdict.elsewhere)) : null,
      need === "failed" || need === "abstained" ? (verdict.reasons || []).map((reason) => el("p", {}, el("small", {}, said(reason)))) : null,
      verdict.retracted ? el("p", { class: "retracted" }, t("answer.retracted", { titles: verdict.retracted.join(", ") })) : null,
      el("p", { class: "foot" }, el("small", { dir: "auto" }, [this.data.systems.length > 1 ? systems.join(", ") : "", this.data.answers.length > 1 ? it.question || it.id : ""].filter(Boolean).join(" · ")), " ", show));
  }
}
