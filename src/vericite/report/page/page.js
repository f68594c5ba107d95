"use strict";
(() => {
  // Every text from outside gets into the page through textContent alone, here in `el`.
  const el = (tag, attributes, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === true) made.setAttribute(name, "");
      else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
    }
    for (const child of children.flat()) if (child !== null && child !== undefined) made.append(child);
    return made;
  };
  const data = window.REPORT || JSON.parse(document.getElementById("data").textContent);
  const KINDS = {
    supported: ["✓", "supported: the source says it"],
    contradicted: ["✗", "contradicted: the source says otherwise"],
    irrelevant: ["≁", "irrelevant: the source does not say it"],
    dangling: ["∅", "dangling: there is no such source"],
    abstained: ["?", "abstained: too unsure to decide"],
    failed: ["!", "failed: could not be judged"],
    uncited: ["–", "uncited: cites nothing"],
  };
  const HEIGHT = 68;
  const by = (id) => document.getElementById(id);
  const list = by("list"), rows = by("rows"), reader = by("reader");
  const filters = { text: by("f-text"), kind: by("f-kind"), system: by("f-system"), type: by("f-type"), differs: by("f-differs") };
  const cased = data.answers.map((it) => `${it.id}\n${it.question}\n${it.text}`.toLowerCase());
  let shown = [], chosen = -1, open = -1;

  for (const kind of Object.keys(KINDS)) filters.kind.append(el("option", { value: kind }, kind));
  data.systems.forEach((name, index) => filters.system.append(el("option", { value: String(index) }, name)));
  for (const type of [...new Set(data.answers.map((it) => it.type))].filter(Boolean).sort()) filters.type.append(el("option", { value: type }, type));

  const filter = (keep) => {
    const text = filters.text.value.trim().toLowerCase(), kind = filters.kind.value;
    const system = filters.system.value, type = filters.type.value, differs = filters.differs.checked;
    shown = [];
    data.answers.forEach((it, index) => {
      if (text && !cased[index].includes(text)) return;
      if (kind && !it.counts[kind] && !(kind === "failed" && it.failed)) return;
      if (system && String(it.system) !== system) return;
      if (type && it.type !== type) return;
      if (differs && !it.differs) return;
      shown.push(index);
    });
    by("count").textContent = `${shown.length} of ${data.answers.length} answers`;
    rows.style.height = `${shown.length * HEIGHT}px`;
    if (!keep) list.scrollTop = 0;
    draw();
  };

  // Only the rows in sight are drawn: there may be many thousands.
  const draw = () => {
    const first = Math.max(0, Math.floor(list.scrollTop / HEIGHT) - 4);
    const last = Math.min(shown.length, first + Math.ceil(list.clientHeight / HEIGHT) + 9);
    const made = [];
    for (let place = first; place < last; place += 1) {
      const it = data.answers[shown[place]];
      const counts = Object.keys(KINDS).filter((kind) => it.counts[kind]).map((kind) =>
        [el("span", { class: `sign ${kind}` }, KINDS[kind][0]), ` ${it.counts[kind]} `]).flat();
      const row = el("div", { class: "row", role: "option", id: `row-${place}`, "aria-selected": String(shown[place] === chosen), "aria-setsize": shown.length, "aria-posinset": place + 1 },
        el("b", {}, it.question || it.text || it.id),
        el("span", {}, counts, it.failed ? "no answer " : "", it.insufficient ? "refused " : "", "· ", data.systems[it.system], " · ", it.id));
      row.style.top = `${place * HEIGHT}px`;
      row.addEventListener("click", () => choose(place, true));
      made.push(row);
    }
    rows.replaceChildren(...made);
  };

  const choose = (place, link) => {
    if (place < 0 || place >= shown.length) return;
    chosen = shown[place];
    const top = place * HEIGHT;
    if (top < list.scrollTop) list.scrollTop = top;
    else if (top + HEIGHT > list.scrollTop + list.clientHeight) list.scrollTop = top + HEIGHT - list.clientHeight;
    draw();
    list.setAttribute("aria-activedescendant", `row-${place}`);
    read(data.answers[chosen]);
    if (link) history.replaceState(null, "", `#${encodeURIComponent(data.systems[data.answers[chosen].system])}/${encodeURIComponent(data.answers[chosen].id)}`);
  };

  const sign = (kind) => el("span", { class: `sign ${kind}`, title: KINDS[kind][1] }, KINDS[kind][0]);

  const read = (it) => {
    open = -1;
    const parts = [el("h3", {}, it.question || it.id), el("p", { class: "note" }, `${data.systems[it.system]} · ${it.id}${it.type ? ` · ${it.type}` : ""}`)];
    if (it.failed) parts.push(el("p", { class: "verdict failed" }, "No answer: ", it.failed));
    if (it.exact.length) parts.push(el("p", {}, el("b", {}, "Answer: "), it.exact.join("; ")));
    parts.push(prose(it));
    parts.push(el("ul", { class: "legend", "aria-label": "Marks" }, Object.keys(KINDS).filter((kind) => it.counts[kind]).map((kind) => el("li", {}, sign(kind), " ", KINDS[kind][1]))));
    if (it.rationale.length) parts.push(el("details", {}, el("summary", {}, `Rationale, ${it.rationale.length} steps`), el("ol", {}, it.rationale.map((step) => el("li", {}, step.text, " ", el("small", {}, step.category))))));
    if (it.changes.length) parts.push(el("details", { open: true }, el("summary", {}, `Repaired, ${it.changes.length} changes`), it.changes.map((change) => el("p", {}, el("b", {}, change.action), " ", el("small", {}, change.why), el("br"), el("del", {}, change.before), change.after ? [el("br"), el("ins", {}, change.after)] : null))));
    parts.push(el("details", {}, el("summary", {}, `Sources, ${it.sources.length}`), it.sources.map((key, number) => source(key, number + 1, []))));
    reader.replaceChildren(...parts);
  };

  // The answer's own text with its sentences as buttons; where only verdicts are known, the sentences one by one.
  const prose = (it) => {
    const made = el("div", { class: "answer" });
    let at = 0;
    it.claims.forEach((claim, index) => {
      const inText = claim.end <= it.text.length && claim.end > claim.start && it.sources.length + claim.cites.length > 0;
      if (inText && claim.start >= at) made.append(it.text.slice(at, claim.start));
      const words = inText ? it.text.slice(Math.max(at, claim.start), claim.end) : claim.text;
      const button = el("button", { type: "button", class: `claim ${claim.kind}`, "aria-expanded": "false", "aria-label": `${claim.kind}: ${words}` }, sign(claim.kind), " ", words);
      button.addEventListener("click", () => toggle(it, index));
      made.append(button, inText ? "" : " ", el("div", { id: `claim-${index}` }));
      if (inText) at = Math.max(at, claim.end);
    });
    if (it.claims.length === 0 || at) made.append(it.text.slice(at));
    return made;
  };

  const toggle = (it, index) => {
    const buttons = [...reader.querySelectorAll(".claim")];
    if (open >= 0) { by(`claim-${open}`).replaceChildren(); buttons[open].setAttribute("aria-expanded", "false"); }
    if (open === index) { open = -1; return; }
    open = index;
    buttons[index].setAttribute("aria-expanded", "true");
    const claim = it.claims[index];
    const found = claim.verdicts.map((verdict) => verdictBox(verdict));
    by(`claim-${index}`).replaceChildren(...(found.length ? found : [el("p", { class: "verdict uncited" }, claim.cites.length ? "Not judged." : "This sentence cites nothing.")]));
  };

  const verdictBox = (verdict) => {
    const kind = verdict.kind, p = Object.entries(verdict.p || {}).map(([name, value]) => `${name} ${value.toFixed(2)}`).join(", ");
    const box = el("div", { class: `verdict ${kind}` }, el("p", {}, sign(kind), " ", el("b", {}, kind), ` ${(verdict.markers || []).map((it) => `[${it}]`).join("")}`,
      verdict.native && verdict.native !== kind ? ` · ${verdict.native}` : "", p ? el("small", {}, ` · ${p}`) : ""));
    for (const reason of verdict.reasons || []) box.append(el("p", {}, el("small", {}, reason)));
    if (verdict.statements) box.append(el("ul", {}, verdict.statements.map(([text, label, native]) => el("li", {}, sign(KINDS[label] ? label : "failed"), " ", text, " ", el("small", {}, native)))));
    if (verdict.retracted) box.append(el("p", { class: "retracted" }, `Retracted: ${verdict.retracted.join(", ")}`));
    for (const key of verdict.sources || []) {
      const spans = (verdict.evidence || []).filter((it) => it[0] === key).map((it) => [it[1], it[2]]);
      box.append(source(key, 0, spans));
    }
    return box;
  };

  const source = (key, number, spans) => {
    const it = data.documents[key];
    if (!it) return el("p", {}, el("small", {}, `Source ${key}: its text is not in this report.`));
    const text = el("p", {});
    let at = 0;
    for (const [start, end] of spans.slice().sort((a, b) => a[0] - b[0])) {
      if (start < at || end > it.text.length) continue;
      text.append(it.text.slice(at, start), el("mark", {}, it.text.slice(start, end)));
      at = end;
    }
    text.append(it.text.slice(at));
    const where = [it.journal, it.year].filter(Boolean).join(", ");
    const link = it.pmid ? el("a", { href: `https://pubmed.ncbi.nlm.nih.gov/${it.pmid}/`, rel: "noreferrer noopener", target: "_blank" }, `PMID ${it.pmid}`) : el("span", {}, it.id);
    return el("div", { class: "source" }, el("p", {}, number ? `[${number}] ` : "", el("b", {}, it.title), " ", el("small", {}, where, where ? " · " : "", link), it.retracted ? el("span", { class: "retracted" }, " RETRACTED") : null), text);
  };

  const step = (by) => choose(Math.min(shown.length - 1, Math.max(0, shown.indexOf(chosen) + by)), true);
  const sentence = (by) => {
    const buttons = [...reader.querySelectorAll(".claim")];
    if (!buttons.length) return;
    const next = open < 0 ? (by > 0 ? 0 : buttons.length - 1) : (open + by + buttons.length) % buttons.length;
    buttons[next].click();
    buttons[next].focus();
    buttons[next].scrollIntoView({ block: "nearest" });
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
    if (typing) { if (event.key === "Escape") document.activeElement.blur(); return; }
    const inList = document.activeElement === list;
    const act = { j: () => step(1), k: () => step(-1), n: () => sentence(1), p: () => sentence(-1), "/": () => filters.text.focus() }[event.key]
      || (inList && { ArrowDown: () => step(1), ArrowUp: () => step(-1), Enter: () => reader.focus(), Home: () => choose(0, true), End: () => choose(shown.length - 1, true) }[event.key]);
    if (act) { event.preventDefault(); act(); }
  });
  by("filters").addEventListener("submit", (event) => event.preventDefault());
  for (const part of Object.values(filters)) part.addEventListener("input", () => filter(false));
  let waiting = false;
  list.addEventListener("scroll", () => { if (!waiting) { waiting = true; requestAnimationFrame(() => { waiting = false; draw(); }); } });
  window.addEventListener("resize", draw);

  const follow = () => {
    const [system, id] = location.hash.slice(1).split("/").map((part) => { try { return decodeURIComponent(part || ""); } catch { return ""; } });
    const place = shown.findIndex((index) => data.systems[data.answers[index].system] === system && data.answers[index].id === id);
    choose(place < 0 ? 0 : place, false);
  };
  window.addEventListener("hashchange", follow);
  filter(true);
  follow();
})();
