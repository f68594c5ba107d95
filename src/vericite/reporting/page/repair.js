// What repair did, sentence by sentence, before and after side by side. A person accepts or refuses each change by itself;
// the text that results is below. Sentences that were deleted stay in sight and are counted.
const ACTIONS = { "dropped citation": "repair.cited-less", "re-cited": "repair.re-cited", rewritten: "repair.rewritten", dropped: "repair.mark-deleted" };

// The words of a text, those that another text lacks struck out.
const struck = (text, other) => {
  const left = text.split(/(\s+)/), right = other.split(/\s+/), held = right.map(() => false), made = [];
  let from = 0;
  for (const word of left) {
    const at = right.indexOf(word, from);
    if (!word.trim() || (at >= 0 && at - from < 8)) { made.push(word); if (word.trim()) { held[at] = true; from = at + 1; } } else made.push(el("del", {}, word));
  }
  // Of words that have little in common nothing is struck out: everything would be.
  return held.filter(Boolean).length * 2 < right.length ? [text] : made;
};

class RepairView {
  // `answers` is the view of the repaired answer. `earlier` is the answer before, with its verdicts, or null if the page has only the changes.
  constructor(answers, it, earlier) {
    const last = new Map(), first = new Map();
    for (const change of it.changes) { last.set(change.sentence, change); if (!first.has(change.sentence)) first.set(change.sentence, change); }
    const gone = [...last.values()].filter((change) => !change.after).length, total = it.claims.length + gone;
    this.answers = answers;
    this.it = it;
    this.earlier = earlier && earlier.claims.length === total ? earlier : null;
    this.sound = [...last.keys()].every((sentence) => sentence < total);
    let now = 0;
    this.rows = Array.from({ length: this.sound ? total : 0 }, (_, place) => {
      const change = last.get(place), was = this.earlier && this.earlier.claims[place], is = change && !change.after ? -1 : now++;
      const whys = change ? it.changes.filter((one) => one.sentence === place).map((one) => one.why) : [];
      return { place, change, now: is, whys: [...new Set(whys)], accepted: true, kind: was ? was.kind : change ? "" : it.claims[is].kind, before: change ? first.get(place).before : "" };
    });
    this.changed = this.rows.filter((row) => row.change);
  }

  // How the sentences of the answer before fared, by the choices made; sentences that were deleted are among them.
  told() {
    const { rows } = this, taken = rows.filter((row) => row.change && row.accepted), gone = taken.filter((row) => row.now < 0).length;
    const stay = taken.filter((row) => row.now >= 0), quoted = stay.filter((row) => row.change.by === "quotation").length, worded = stay.filter((row) => row.change.action === "rewritten").length - quoted;
    const parts = [[rows.length - taken.length, "repair.same-count"], [quoted, "repair.quoted-count"], [worded, "repair.worded-count"], [stay.length - quoted - worded, "repair.cited-count"], [gone, "repair.deleted-count"]];
    return t("repair.of", { n: rows.length, parts: parts.filter(([n]) => n).map(([n, key]) => t(key, { n })).join(", ") });
  }

  // Supported sentences, as a share of those of the answer before; a sentence that quotes its source supports itself.
  support() {
    const of = (kinds, name) => kinds.filter((kind) => kind === name).length, now = this.kinds, all = this.rows.length;
    const quoted = of(now, "quoted"), gone = of(now, "deleted"), known = this.rows.every((row) => row.kind);
    let says = t(known ? "repair.supported-both" : "repair.supported-now", { before: of(this.rows.map((row) => row.kind), "supported"), now: of(now, "supported"), all });
    if (quoted) says = t("repair.and-quoted", { says, quoted });
    if (gone) says = t("repair.and-deleted", { says, gone, all });
    return `${says}.`;
  }

  kindOf(row) { return row.change && !row.accepted ? row.kind : row.now < 0 ? "deleted" : this.it.claims[row.now].kind; }

  // The kinds of the sentences, by the choices made.
  get kinds() { return this.rows.map((row) => this.kindOf(row)); }

  // How many sentences have each mark, by the choices made.
  get marks() {
    const { claims } = this.it, counts = {};
    for (const row of this.rows) { const kind = this.kindOf(row), mark = row.now >= 0 && kind === claims[row.now].kind ? markOfClaim(claims[row.now]) : kind; counts[mark] = (counts[mark] || 0) + 1; }
    return counts;
  }

  // The text with the changes that were accepted.
  text() {
    const { it, earlier, rows } = this, gap = (claims, text, place) => text.slice(place ? claims[place - 1].end : 0, place < claims.length ? claims[place].start : undefined);
    let made = "", before = false;
    for (const row of rows) {
      const isGone = row.now < 0, isIn = !isGone || !row.accepted, restored = isGone || before;
      if (isIn) made += restored && earlier ? gap(earlier.claims, earlier.text, row.place) : isGone ? (made ? " " : "") : gap(it.claims, it.text, row.now);
      if (isIn) made += row.accepted && !isGone ? it.text.slice(it.claims[row.now].start, it.claims[row.now].end) : row.before;
      before = isGone && !row.accepted;
    }
    return rows.some((row) => row.now >= 0 || !row.accepted) ? made + (before && earlier ? gap(earlier.claims, earlier.text, rows.length) : gap(it.claims, it.text, it.claims.length)) : it.text;
  }

  parts() {
    this.counts = el("p", { class: "total" });
    this.supports = el("p", {});
    this.strip = el("div", { class: "strip", role: "group", "aria-label": t("repair.strip") });
    this.kept = el("p", { class: "kept", dir: "auto" });
    const rows = this.rows.map((row) => this.row(row)), several = this.changed.length > 1;
    const all = (name, accepted) => { const made = el("button", { type: "button" }, name); made.addEventListener("click", () => this.choose(this.changed, accepted)); return made; };
    const copy = el("button", { type: "button", hidden: !navigator.clipboard }, t("repair.copy")), save = el("button", { type: "button" }, t("repair.save")), status = el("span", { role: "status", class: "note" });
    copy.addEventListener("click", () => navigator.clipboard.writeText(this.text()).then(() => { status.textContent = t("repair.copied"); }, () => { status.textContent = t("repair.not-copied"); }));
    save.addEventListener("click", () => { const link = el("a", { href: URL.createObjectURL(new Blob([`${this.text()}\n`], { type: "text/plain" })), download: `${t("repair.file")}.txt` }); link.click(); setTimeout(() => URL.revokeObjectURL(link.href), 1000); });
    this.update();
    return [
      el("div", { class: "summary repair-summary" }, this.counts, this.supports, this.strip),
      el("div", { class: "repair", role: "group", "aria-label": t("repair.changes") },
        el("div", { class: "heads" }, el("h4", {}, t("repair.before")), el("h4", {}, t("repair.after")), several ? el("p", { class: "buttons" }, all(t("repair.accept-all"), true), all(t("repair.refuse-all"), false)) : null), rows),
      el("section", { class: "result", "aria-label": t("repair.result") }, el("h4", {}, t("repair.result")), this.kept, el("p", { class: "buttons" }, copy, save, status)),
    ];
  }

  row(row) {
    const { change } = row, claim = row.now < 0 ? null : this.it.claims[row.now], held = el("div", { class: "held" });
    const place = claim ? this.answers.sentence(row.now, claim.start, held) : el("span", { class: "deleted" }, el("span", { class: "sign", "aria-hidden": "true" }, "×"), " ", t("repair.deleted"));
    const was = el("div", { class: `was ${row.kind}` }, el("small", { class: "of" }, `${t("repair.before")} `), row.kind ? [sign(row.kind), " "] : null, el("span", { dir: "auto" }, change ? struck(row.before, change.after || "") : this.it.text.slice(claim.start, claim.end) || claim.text),
      row.whys.map((why) => el("p", { class: "note" }, said(why))));
    row.shown = el("div", { class: "shown" }, place);
    const now = el("div", { class: "now" }, el("small", { class: "of" }, `${t("repair.after")} `), row.shown);
    if (change) {
      const button = (name, accepted) => { const made = el("button", { type: "button", "aria-pressed": String(accepted), "aria-label": t(`repair.${name}-label`, { number: String(row.place + 1) }) }, t(`repair.${name}`)); made.addEventListener("click", () => this.choose([row], accepted)); return made; };
      row.after = place;
      row.buttons = [button("accept", true), button("refuse", false)];
      const by = change.by === "quotation" ? t("repair.quoted") : change.by === "restoration" ? t("repair.restored") : t(ACTIONS[change.action]);
      row.does = row.now < 0 ? t("repair.gone") : by;
      row.note = el("p", { class: "note" }, row.does);
      now.append(row.note, el("div", { class: "choice", role: "group", "aria-label": t("repair.sentence", { number: String(row.place + 1) }) }, row.buttons));
    }
    row.element = el("div", { class: `change${change ? "" : " same"}`, tabindex: -1 }, was, now, held);
    return row.element;
  }

  choose(rows, accepted) {
    for (const row of rows) {
      row.accepted = accepted;
      row.buttons.forEach((button, place) => button.setAttribute("aria-pressed", String(place === (accepted ? 0 : 1))));
      row.shown.replaceChildren(...(accepted ? [row.after] : [row.kind ? sign(row.kind) : "", " ", el("span", { dir: "auto" }, row.before)]));
      row.note.textContent = accepted ? row.does : t("repair.refused");
      row.element.classList.toggle("refused", !accepted);
    }
    this.answers.count();
  }

  // Everything that depends on the choices, and on verdicts that may still come.
  update() {
    const kindOf = (row) => this.kindOf(row), cell = (kind) => (kind === "deleted" ? el("span", { class: "sign deleted", title: t("repair.mark-deleted") }, "×") : kind ? sign(kind) : el("span", { class: "sign", title: t("repair.mark-before") }, "·"));
    this.counts.textContent = this.told();
    this.supports.textContent = this.support();
    this.strip.replaceChildren(el("span", { class: "sides", "aria-hidden": "true" }, el("small", {}, t("repair.mark-before")), el("small", {}, t("repair.mark-after"))), ...this.rows.map((row) => {
      const is = kindOf(row), nameOf = (kind) => (kind === "deleted" ? t("repair.mark-deleted") : kind ? named(kind) : t("repair.mark-same"));
      const step = t(row.kind ? "repair.step" : "repair.step-now", { number: String(row.place + 1), before: row.kind ? named(row.kind) : "", after: nameOf(is) });
      const made = el("button", { type: "button", class: row.change ? "changed" : null, "aria-label": row.change && !row.accepted ? t("repair.step-refused", { step }) : step }, cell(row.kind), cell(is));
      made.addEventListener("click", () => { row.element.focus({ preventScroll: true }); row.element.scrollIntoView({ block: "center" }); });
      return made;
    }));
    this.kept.textContent = this.text();
  }
}
