// The components of all pages: marks, chips, badges, cards of sources, the bar of yes and no, a refusal, the list of keys.
// Their styles are in components.css. Each returns an element and knows nothing of the page around it.
const SIGNS = { supported: "✓", differs: "≠", quoted: "“", contradicted: "✗", partial: "◐", irrelevant: "≁", dangling: "∅", abstained: "?", failed: "!", uncited: "–" };
const signOf = (kind) => SIGNS[kind] || "…";
const named = (kind) => t(`components.mark-${SIGNS[kind] ? kind : "pending"}`);
const meaning = (kind) => t(`components.means-${SIGNS[kind] ? kind : "pending"}`);
const phrased = (kind, sources) => t(`components.found-${SIGNS[kind] ? kind : "pending"}`, { sources }).trim();

// A mark has a colour and a shape of its own.
const sign = (kind) => el("span", { class: `sign ${kind}`, title: `${named(kind)}: ${meaning(kind)}` }, signOf(kind));
const signed = (counts) => Object.keys(SIGNS).filter((kind) => counts[kind]).map((kind) => [sign(kind), ` ${counts[kind]} `]).flat();
const legend = (counts) => Object.keys(SIGNS).filter((kind) => counts[kind]).map((kind) => el("li", {}, sign(kind), ` ${counts[kind]} `, el("b", {}, named(kind)), `: ${meaning(kind)}`));

// A probability in words, by the scale of the IPCC, with the figure.
const LIKELIHOODS = [[0.99, "certain"], [0.9, "very-likely"], [0.66, "likely"], [0.33, "even"], [0.1, "unlikely"], [0.01, "very-unlikely"], [0, "exceptionally-unlikely"]];
const figure = (p) => (p < 0.005 ? t("components.under", { p: decimals(0.01, 2) }) : p > 0.995 ? t("components.over", { p: decimals(0.99, 2) }) : decimals(p, 2));
const inWords = (p) => t(`components.probability-${LIKELIHOODS.find(([least]) => p >= least)[1]}`);
const likelihood = (p) => el("span", { class: "likelihood" }, inWords(p), " ", el("small", {}, figure(p)));

const badge = (words, kind) => el("span", { class: `badge ${kind || ""}` }, words);
const badgesOf = (doc) => [
  doc.retraction ? badge(known("retraction", doc.retraction).toUpperCase(), "retracted") : null,
  doc.design ? badge(known("design", doc.design), "design") : null,
  doc.n ? badge(`n = ${numbers.format(doc.n)}`) : null,
  doc.depth === "title" ? badge(t("components.title-only")) : doc.depth === "full text" ? badge(t("components.full-text")) : null,
].filter(Boolean);
const placeOf = (doc) => [doc.journal, doc.year].filter(Boolean).join(" · ");

// A citation: the number of its source, and the mark of what was found. `label` is read by a screen reader.
const chip = (kind, words, label) => el("button", { type: "button", class: `chip ${kind}`, "aria-label": label, "aria-expanded": "false" }, words, el("span", { class: "sign", "aria-hidden": "true" }, signOf(kind)));

// The text of a source with its deciding passages marked.
const marked = (text, passages) => {
  const made = [];
  let at = 0;
  for (const [, start, end] of passages.slice().sort((a, b) => a[1] - b[1])) {
    if (start < at || end > text.length) continue;
    made.push(text.slice(at, start), el("mark", {}, text.slice(start, end)));
    at = end;
  }
  return [...made, text.slice(at)];
};
// Of a long text only the beginning is here; passages beyond it have their own words.
const passageWords = (doc, passage) => (passage[2] <= doc.text.length ? doc.text.slice(passage[1], passage[2]) : passage[4] || "");

// Maximum passages that are shown of a verdict, as in Word and Markdown.
const PASSAGES = 3;
// What stands before a passage that decided nothing.
const nearestLead = () => el("p", {}, el("small", {}, t("components.nearest-passage")));

// A source: title, journal, year, design, participants, retraction; `use` says how the answer used it; the text is folded.
// `quotes` shows the passages as well: "decided", or "nearest" if they did not decide the verdict.
const sourceCard = (doc, number, passages, use, quotes) => {
  const pages = [...new Set(passages.map((passage) => passage[3]).filter(Boolean))].sort((a, b) => a - b);
  const link = doc.pmid ? el("a", { href: `https://pubmed.ncbi.nlm.nih.gov/${doc.pmid}/`, rel: "noreferrer noopener", target: "_blank" }, `PMID ${doc.pmid}`) : doc.doi ? el("a", { href: `https://doi.org/${encodeURI(doc.doi)}`, rel: "noreferrer noopener", target: "_blank" }, `doi:${doc.doi}`) : el("span", {}, doc.id);
  const long = doc.text.length > 600;
  return el("div", { class: `card source${doc.retraction ? " withdrawn" : ""}` },
    number ? el("span", { class: "number", "aria-hidden": "true" }, number) : null,
    el("div", {},
      el("p", { class: "title", dir: "auto" }, number ? el("span", { class: "heard" }, `${t("components.source", { number: String(number) })}: `) : null, doc.title || doc.id),
      el("p", { class: "meta" }, [placeOf(doc), doc.pmid || doc.doi || (doc.title && doc.title !== doc.id) ? link : null, pages.length ? t("components.page", { pages: pages.join(", ") }) : null, doc.stage ? t(`components.stage-${doc.stage}`) : null].filter(Boolean).flatMap((part, place) => [place ? " · " : null, part])),
      el("p", { class: "badges" }, badgesOf(doc)),
      use,
      quotes === "nearest" && passages.length ? nearestLead() : null,
      quotes ? passages.slice(0, PASSAGES).map((passage) => passageWords(doc, passage)).filter(Boolean).map((words) => el("blockquote", { dir: "auto" }, el("mark", {}, words))) : null,
      doc.text ? el("details", {}, el("summary", {}, t({ abstract: "components.text-abstract", "full text": "components.text-full", passages: "components.text-passages" }[doc.depth] || "components.text")), el("p", { class: "text", dir: "auto", tabindex: long ? 0 : null, role: long ? "region" : null, "aria-label": long ? t("components.text-of", { title: doc.title || doc.id }) : null }, marked(doc.text, passages))) : null));
};

// Which sources say yes and which no, by design. Each source is a block of the bar; all designs are rows of the table below it.
const SIDES = { yes: "components.yes", no: "components.no", neither: "components.neither" };
const sideOf = (stance, key) => (stance.yes.includes(key) ? "yes" : stance.no.includes(key) ? "no" : "neither");
const consensus = (stance, short, sources, documents, open) => {
  const side = (key) => sideOf(stance, key);
  const sides = Object.keys(SIDES), of = Object.fromEntries(sides.map((name) => [name, sources.filter((key) => side(key) === name)]));
  const says = short ? (SIDES[short.toLowerCase()] ? t(SIDES[short.toLowerCase()]) : `${short[0].toUpperCase()}${short.slice(1)}`) : stance.yes.length && stance.no.length ? t("components.disagree") : t("components.unclear");
  const counts = t("components.sides", { yes: of.yes.length, no: of.no.length, neither: of.neither.length });
  const designs = [...new Set(sources.map((key) => (documents[key] || {}).design || ""))].sort((a, b) => !a - !b);
  const number = (key) => {
    const doc = documents[key] || {}, place = sources.indexOf(key) + 1;
    const made = el("button", { type: "button", class: `pip ${side(key)}${doc.retraction ? " withdrawn" : ""}`, title: `${doc.title || key}${doc.year ? `, ${doc.year}` : ""}${doc.retraction ? `, ${known("retraction", doc.retraction)}` : ""}`, "aria-label": t("components.source-title", { number: String(place), title: doc.title || key }) }, place);
    made.addEventListener("click", () => open(key));
    return made;
  };
  return el("figure", { class: "consensus", "aria-label": `${says}: ${counts}` },
    el("figcaption", {}, el("b", {}, says), el("span", { class: "meta" }, t("components.yes-probability", { p: likelihood(stance.probability) }))),
    el("div", { class: "bar", "aria-hidden": "true" }, sides.filter((name) => of[name].length).map((name) => { const part = el("div", { class: name }, t(`components.bar-${name}`, { n: el("b", {}, of[name].length) })); part.style.flexGrow = of[name].length; return part; })),
    el("table", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, t("components.design")), sides.map((name) => el("th", { scope: "col" }, t(SIDES[name]))))),
      el("tbody", {}, designs.map((design) => el("tr", {}, el("th", { scope: "row" }, design ? known("design", design) : t("components.design-unknown")), sides.map((name) => el("td", {}, of[name].filter((key) => ((documents[key] || {}).design || "") === design).map(number))))))));
};

// A refusal: why, what may help, and the nearest sources. `help` are elements that a served page adds.
const refusal = (it, nearest, help) => {
  const why = it.sufficiency === 0 ? t("components.nothing-to-quote") : it.sufficiency === null ? null : el("span", {}, t("components.answers-it", { p: likelihood(it.sufficiency) }));
  const paths = [it.notes.length ? t("components.other-words") : t("components.broader"), t("components.other-sources")];
  // Of a question in another language no source is read: its refusal says so, and there is nothing else to tell.
  if (it.text && it.sufficiency === null && !it.sources.length) return el("section", { class: "refusal", "aria-label": t("components.refusal") }, el("p", { class: "says" }, said(it.text)));
  return el("section", { class: "refusal", "aria-label": t("components.refusal") },
    el("p", { class: "says" }, it.text && LANGUAGE === "en" ? it.text : t("components.refusal-says")),
    el("div", { class: "columns" },
      el("div", {}, el("h4", {}, t("components.why")), el("ul", {}, why ? el("li", {}, why) : null, it.notes.map((note) => el("li", {}, said(note))), why || it.notes.length ? null : el("li", {}, t("components.no-answer-in-them")))),
      el("div", {}, el("h4", {}, t("components.may-help")), el("ul", {}, paths.map((part) => el("li", {}, part))), help.length ? el("p", { class: "buttons" }, help) : null)),
    el("h4", {}, t("components.nearest")), el("div", { class: "cards" }, nearest.slice(0, 3)),
    nearest.length > 3 ? el("details", {}, el("summary", {}, t("components.more-sources", { n: nearest.length - 3 })), el("div", { class: "cards" }, nearest.slice(3))) : null);
};

// All keys of a page, in a window that closes with Escape.
const showKeys = (keys) => {
  const close = el("button", { type: "button" }, t("components.close"));
  const shown = el("dialog", { class: "keys-shown", "aria-label": t("components.keys") }, el("h2", {}, t("components.keys")), el("dl", {}, keys.map(([names, does]) => [el("dt", {}, names.map((name) => [el("kbd", {}, name), " "]).flat()), el("dd", {}, does)]).flat()), close);
  close.addEventListener("click", () => shown.close());
  shown.addEventListener("close", () => shown.remove());
  document.body.append(shown);
  shown.showModal();
};

// A card that appears at a chip while the pointer or the focus is on it. One for the whole page; Escape hides it.
const hover = { card: null, wait: 0 };
const hideCard = () => { clearTimeout(hover.wait); if (hover.card) hover.card.remove(); hover.card = null; };
const showCard = (at, made) => {
  hideCard();
  hover.card = el("div", { class: "card hovering", role: "tooltip" }, made);
  document.body.append(hover.card);
  const place = at.getBoundingClientRect(), own = hover.card.getBoundingClientRect();
  hover.card.style.left = `${Math.max(8, Math.min(place.left, document.documentElement.clientWidth - own.width - 8)) + scrollX}px`;
  hover.card.style.top = `${(place.bottom + own.height + 12 > innerHeight && place.top > own.height + 12 ? place.top - own.height - 6 : place.bottom + 6) + scrollY}px`;
  hover.card.addEventListener("mouseenter", () => clearTimeout(hover.wait));
  hover.card.addEventListener("mouseleave", hideCard);
};
const withCard = (made, card) => {
  const soon = (wait) => { clearTimeout(hover.wait); hover.wait = setTimeout(() => { if (made.isConnected) showCard(made, card()); }, wait); };
  made.addEventListener("mouseenter", () => soon(120));
  made.addEventListener("focus", () => { if (made.matches(":focus-visible") && made.getAttribute("aria-expanded") !== "true") soon(0); });
  made.addEventListener("mouseleave", () => { clearTimeout(hover.wait); hover.wait = setTimeout(hideCard, 200); });
  made.addEventListener("blur", hideCard);
  made.addEventListener("click", hideCard);
  return made;
};
document.addEventListener("keydown", (event) => { if (event.key === "Escape") hideCard(); });

// On paper nothing can be unfolded: the texts of sources are open while the page is printed.
addEventListener("beforeprint", () => { hideCard(); for (const part of document.querySelectorAll(".source details:not([open]), details.rest:not([open])")) { part.open = true; part.classList.add("for-print"); } });
addEventListener("afterprint", () => { for (const part of document.querySelectorAll("details.for-print")) { part.open = false; part.classList.remove("for-print"); } });
