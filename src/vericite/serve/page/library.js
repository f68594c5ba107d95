// The library: shelves of documents, made of files that are sent one by one.
(() => {
  const { ask, say, complain, told, attempt, takeDrops } = service;
  const limit = JSON.parse(by("data").textContent).upload;
  let shelves = [], chosen = [], sending = null, target = null;
  // Why files were refused, by the id of their shelf and their name: they are still to come.
  const refused = {};

  // Files are sent to one shelf at a time.
  const mark = (what) => { sending = what; for (const made of document.querySelectorAll("#make, .add")) made.disabled = Boolean(what); };
  const alone = (act) => attempt(async () => {
    if (sending) return;
    const mine = {};
    mark(mine);
    try { complain(""); await act(); } finally { if (sending === mine) mark(null); }
  });
  // A service that is busy says when to ask again: waits that long, once.
  const patiently = async (act) => {
    try { return await act(); } catch (error) {
      if (!error.wait || error.wait > 120) throw error;
      say(told(error));
      await new Promise((done) => { setTimeout(done, 1000 * error.wait); });
      return act();
    }
  };

  const day = (seconds) => { const when = new Date(seconds * 1000); return el("time", { datetime: when.toISOString() }, new Intl.DateTimeFormat(LANGUAGE, { dateStyle: "medium" }).format(when)); };
  const button = (words, act, label, kind) => {
    const made = el("button", { type: "button", "aria-label": label, class: kind }, words);
    made.addEventListener("click", act);
    return made;
  };

  // What is known of a shelf: documents, years, when it was built.
  const facts = (shelf) => {
    const parts = [
      shelf.documents === null ? null : t("library.documents", { n: shelf.documents }),
      shelf.years ? (shelf.years[0] === shelf.years[1] ? String(shelf.years[0]) : t("library.years", { from: String(shelf.years[0]), to: String(shelf.years[1]) })) : null,
      shelf.id ? t("library.changed", { day: day(shelf.built) }) : t("library.of-service"),
    ].filter(Boolean);
    return el("p", { class: "meta" }, parts.flatMap((part, place) => [place ? " · " : null, part]).flat());
  };

  // One file of a shelf: what was read of it, or why nothing was.
  const fileRow = (file) => el("li", { class: file.failed ? "bad" : null }, el("b", { dir: "auto" }, file.name), " ", file.failed ? el("span", {}, said(file.failed)) : el("span", { class: "note" }, t("library.documents", { n: file.documents })),
    file.problems.length ? el("ul", {}, file.problems.map((problem) => el("li", {}, said(problem)))) : null);

  const documentsOf = (shelf) => {
    const list = el("ul", { class: "rows" }), more = button("", () => load(), null, "more-rows");
    let from = 0;
    more.hidden = true;
    const load = () => attempt(async () => {
      const { documents, total } = await ask("GET", `/v1/shelves/${shelf.id}/documents?offset=${from}`);
      list.append(...documents.map(row));
      from += documents.length;
      more.hidden = from >= total;
      more.textContent = t("library.more", { n: Math.max(0, total - from) });
    });
    const row = (doc) => {
      const made = el("li", {}, el("span", { dir: "auto" }, doc.title || doc.id, el("small", {}, ` ${[placeOf(doc), doc.pmid ? `PMID ${doc.pmid}` : doc.id, doc.retracted ? known("retraction", "retracted").toUpperCase() : null].filter(Boolean).join(" · ")}`)),
        button(t("components.remove"), () => attempt(async () => {
          await ask("DELETE", `/v1/shelves/${shelf.id}/documents?document=${encodeURIComponent(doc.id)}`);
          const next = made.nextElementSibling || made.previousElementSibling;
          made.remove();
          from -= 1;
          say(t("library.removed", { name: doc.title || doc.id }));
          await update(shelf.id, true);
          (next ? next.querySelector("button") : by("status")).focus();
        }), t("components.remove-name", { name: doc.title || doc.id })));
      return made;
    };
    const place = el("details", {}, el("summary", {}, t("library.document-list")), list, more);
    place.addEventListener("toggle", () => { if (place.open && !from) load(); });
    return place;
  };

  // The files that are still to come, those that were refused first.
  const waitingOf = (shelf) => shelf.waiting.map((name) => [name, (refused[shelf.id] || {})[name]]).sort(([, one], [, other]) => Boolean(other) - Boolean(one));

  // Whether it can be searched and asked.
  const isUsable = (shelf) => !shelf.waiting.length && !shelf.problem && shelf.documents !== 0;

  const card = (shelf) => {
    const waits = shelf.waiting.length > 0, busy = sending === shelf.id;
    const made = el("li", { class: `card shelf${waits ? " waiting" : ""}`, "data-name": shelf.name }, el("h3", { dir: "auto" }, shelf.name, " ", shelf.id ? badge(t("library.own"), "design") : null), facts(shelf));
    if (shelf.problem) made.append(el("p", { class: "verdict failed" }, said(shelf.problem)));
    if (waits) {
      made.append(el("p", { class: "notice" }, t(busy ? "library.building" : "library.incomplete", { read: shelf.files.length, all: shelf.files.length + shelf.waiting.length })),
        el("ul", { class: "files" }, waitingOf(shelf).slice(0, 20).map(([name, why]) => (why ? el("li", { class: "bad" }, el("b", { dir: "auto" }, name), " ", el("span", {}, why.cloneNode(true))) : el("li", { class: "left" }, el("span", { dir: "auto" }, name))))));
    }
    const acts = [];
    if (isUsable(shelf)) acts.push(el("a", { class: "button", href: `/?corpus=${encodeURIComponent(shelf.name)}`, "aria-label": t("library.ask-named", { name: shelf.name }) }, t("library.ask")));
    if (shelf.id && !busy) {
      const add = button(t("components.add-files"), () => { target = shelf.id; by("more-files").click(); }, t("library.add-named", { name: shelf.name }), "add");
      add.disabled = Boolean(sending);
      acts.push(add);
      if (waits) acts.push(button(t("library.leave"), () => attempt(async () => { await ask("PUT", `/v1/shelves/${shelf.id}/waiting`, JSON.stringify({ files: [] })); say(t("library.complete", { name: shelf.name })); await update(shelf.id); focusOn(shelf.name); }), t("library.leave-named", { name: shelf.name })));
      acts.push(button(t("components.remove"), () => confirmRemoval(shelf), t("components.remove-name", { name: shelf.name })));
    }
    if (acts.length) made.append(el("p", { class: "buttons" }, acts));
    if (shelf.files.length) {
      const bad = shelf.files.filter((file) => file.failed || file.problems.length).length;
      made.append(el("details", { open: bad > 0 && busy }, el("summary", {}, t("library.file-list", { n: shelf.files.length }), bad ? t("library.file-problems", { n: bad }) : null), el("ul", { class: "files" }, shelf.files.map(fileRow))));
    }
    if (shelf.id && shelf.documents) made.append(documentsOf(shelf));
    return made;
  };

  // Asks before a shelf is removed: this cannot be undone.
  const confirmRemoval = (shelf) => {
    const yes = button(t("library.remove-shelf"), () => { asked.close(); attempt(async () => {
      await ask("DELETE", `/v1/shelves/${shelf.id}`);
      const place = shelves.findIndex((other) => other.id === shelf.id);
      say(t("library.removed", { name: shelf.name }));
      await load();
      const next = by("shelves").children[Math.max(0, place - 1)];
      (next ? next.querySelector("a, button") || by("name") : by("name")).focus();
    }); }, null, "primary"), no = button(t("library.keep"), () => asked.close());
    const asked = el("dialog", { "aria-labelledby": "h-remove" }, el("h2", { id: "h-remove", dir: "auto" }, t("library.remove-question", { name: shelf.name })), el("p", {}, t("library.remove-about")), el("p", { class: "buttons" }, yes, no));
    asked.addEventListener("close", () => asked.remove());
    document.body.append(asked);
    asked.showModal();
    no.focus();
  };

  const at = (name) => [...by("shelves").children].find((made) => made.dataset.name === name);
  const focusOn = (name) => { const place = at(name); if (place) (place.querySelector("a, button") || by("status")).focus(); };
  const show = () => {
    by("shelves").replaceChildren(...shelves.map(card));
    offer();
  };
  // The shelves that can be searched.
  const offer = () => {
    const chosen = by("within").value, usable = shelves.filter(isUsable);
    by("within").replaceChildren(...usable.map((shelf) => el("option", { value: shelf.name }, shelf.name)));
    if (usable.some((shelf) => shelf.name === chosen)) by("within").value = chosen;
  };
  const load = async () => { shelves = (await ask("GET", "/v1/shelves")).shelves; show(); };
  // Shows one shelf again and leaves the others as they are, with what is open in them.
  const update = async (id, removed = false) => {
    const found = await ask("GET", `/v1/shelves/${id}`), place = shelves.findIndex((shelf) => shelf.id === id);
    shelves[place] = found;
    const open = [...by("shelves").children[place].querySelectorAll("details")].map((part) => part.open);
    const held = by("shelves").children[place].querySelector("ul.rows");
    const made = card(found);
    // After a document was removed, the list of documents stays, with its place. Otherwise an open list is read again.
    if (removed && held && held.children.length && made.querySelector("ul.rows")) made.querySelector("ul.rows").closest("details").replaceWith(held.closest("details"));
    [...made.querySelectorAll("details")].forEach((part, index) => { if (open[index] && !part.open) part.open = true; });
    by("shelves").children[place].replaceWith(made);
    offer();
  };

  // Sends files one by one, and shows how far it is.
  const send = async (id, files) => {
    mark(id);
    const bar = el("progress", { max: files.length, value: 0, "aria-label": t("library.progress") }), name = shelves.find((shelf) => shelf.id === id).name;
    let failed = 0;
    try {
      for (const [place, file] of files.entries()) {
        say(t("library.reading", { name: file.name, place: place + 1, all: files.length }));
        await patiently(() => update(id));
        at(name).querySelector(".meta").after(el("p", { class: "sending" }, bar));
        bar.value = place;
        refused[id] = { ...refused[id], [file.name]: null };
        try {
          const { file: read } = await patiently(() => ask("POST", `/v1/shelves/${id}/files?name=${encodeURIComponent(file.name)}`, file));
          if (read.failed) failed += 1;
        } catch (error) {
          refused[id][file.name] = el("span", {}, told(error));
          failed += 1;
        }
      }
    } finally {
      mark(null);
      await patiently(() => update(id));
    }
    const shelf = shelves.find((other) => other.id === id);
    say(failed ? t("library.done-failed", { name: shelf.name, n: failed }) : t("library.done", { name: shelf.name, n: shelf.documents || 0 }));
    focusOn(shelf.name);
  };
  const fits = (files) => {
    const big = files.find((file) => file.size > limit);
    if (big) throw new Error(t("library.too-big", { name: big.name, size: Math.ceil(big.size / 1e6), most: Math.floor(limit / 1e6) }));
    return files;
  };

  const showChosen = () => by("chosen").replaceChildren(...chosen.map((file) => el("li", {}, el("span", { dir: "auto" }, file.name), " ", button(t("components.remove"), () => { chosen = chosen.filter((other) => other !== file); showChosen(); by("files").focus(); }, t("components.remove-name", { name: file.name })))));
  const choose = (files) => attempt(() => {
    complain("");
    chosen.push(...fits([...files]));
    showChosen();
    if (!by("name").value && chosen.length) by("name").value = chosen[0].name.replace(/\.[^.]*$/, "").replace(/[^\p{L}\p{N} .,()+&'_-]/gu, " ").trim().slice(0, 60);
  });

  by("files").addEventListener("change", () => { choose(by("files").files); by("files").value = ""; });
  by("new").addEventListener("submit", (event) => {
    event.preventDefault();
    alone(async () => {
      if (!chosen.length) throw new Error(t("library.no-files"));
      const files = chosen, made = await ask("POST", "/v1/shelves", JSON.stringify({ name: by("name").value, files: files.map((file) => file.name) }));
      chosen = [];
      by("name").value = "";
      showChosen();
      await load();
      by("status").focus();
      at(made.name).scrollIntoView({ block: "nearest" });
      await send(made.id, files);
    });
  });
  const moreFiles = el("input", { type: "file", id: "more-files", multiple: true, hidden: true, accept: by("files").accept, "aria-label": t("components.add-files"), tabindex: -1 });
  document.body.append(moreFiles);
  moreFiles.addEventListener("change", () => alone(async () => {
    const files = fits([...moreFiles.files]), id = target, shelf = shelves.find((other) => other.id === id);
    moreFiles.value = "";
    const left = [...shelf.waiting];
    for (const file of files) if (!left.includes(file.name)) left.push(file.name);
    await ask("PUT", `/v1/shelves/${id}/waiting`, JSON.stringify({ files: left }));
    await send(id, files);
  }));

  // A search, narrowed by what is chosen of years, designs and journals.
  const narrowed = { from: null, to: null, designs: [], journals: [] };
  const clear = () => Object.assign(narrowed, { from: null, to: null, designs: [], journals: [] });
  const MOST = 100, FIRST = 10;
  let found = null, shown = 0, asked = 0;
  const search = async () => {
    const within = shelves.find((shelf) => shelf.name === by("within").value), mine = asked += 1;
    complain("");
    say(t("library.searching"));
    const filters = { ...(narrowed.from && { year_from: narrowed.from }), ...(narrowed.to && { year_to: narrowed.to }), ...(narrowed.designs.length && { designs: narrowed.designs }), ...(narrowed.journals.length && { journals: narrowed.journals }) };
    // By words alone: a search by meaning would rank every document.
    const ranking = within && within.kind === "pubmed" ? {} : { by: "bm25" };
    const made = await ask("POST", "/v1/search", JSON.stringify({ query: by("query").value, k: MOST, corpus: by("within").value, plan: { search: { ...ranking, ...filters } } }));
    if (mine !== asked) return;
    found = made;
    shown = 0;
    const { length } = found.documents;
    say(!length ? t("library.none-found") : length < MOST ? t("library.found", { n: length }) : t("library.found-most", { n: length }));
    by("found").hidden = false;
    by("results").replaceChildren();
    by("making").replaceChildren(howMade(found));
    facets(within);
    more();
  };
  const scoresOf = ({ scores, retriever }) => [...Object.entries(scores).map(([name, score]) => `${name} ${decimals(score, 3)}`), retriever].join(", ");
  const more = () => {
    const next = found.documents.slice(shown, shown + FIRST), from = shown;
    by("results").append(...next.map((doc, place) => sourceCard({ ...doc, text: found.evidence[from + place].document.sections.map((section) => section.text).join("\n"), retraction: doc.retracted ? "retracted" : null }, from + place + 1, [], el("details", { class: "scores" }, el("summary", {}, t("library.scores")), el("p", { class: "use" }, scoresOf(found.evidence[from + place]))))));
    shown += next.length;
    by("more-results").hidden = shown >= found.documents.length;
  };
  const again = (label) => attempt(async () => {
    await search();
    ([...by("facets").querySelectorAll("button, input")].find((made) => made.dataset.of === label) || by("status")).focus();
  });
  const facetOf = (kind, { value, count }) => {
    const is = narrowed[kind].includes(value);
    const made = button([kind === "designs" ? known("design", value) : value, " ", el("small", {}, count === null ? "" : numbers.format(count))], () => { narrowed[kind] = is ? narrowed[kind].filter((other) => other !== value) : [...narrowed[kind], value]; again(`${kind} ${value}`); }, null, "facet");
    made.setAttribute("aria-pressed", String(is));
    made.dataset.of = `${kind} ${value}`;
    return made;
  };
  const group = (name, made) => el("div", { class: "facet-group", role: "group", "aria-label": name }, el("h3", {}, name), made);
  const facets = (within) => {
    const parts = [], { years, designs, journals } = found.facets, narrows = narrowed.from || narrowed.to || narrowed.designs.length || narrowed.journals.length;
    const list = (kind, counts) => {
      const chosen = narrowed[kind].filter((value) => !counts.some((one) => one.value === value)).map((value) => ({ value, count: 0 })), all = [...chosen, ...counts];
      return [el("div", { class: "facet-list" }, all.slice(0, 8).map((one) => facetOf(kind, one))), all.length > 8 ? el("details", {}, el("summary", {}, t("library.more", { n: all.length - 8 })), el("div", { class: "facet-list" }, all.slice(8).map((one) => facetOf(kind, one)))) : null].filter(Boolean);
    };
    // PubMed is narrowed by words of its own.
    if (!within || within.kind !== "pubmed") {
      if (years.length || narrowed.from || narrowed.to) parts.push(group(t("library.year"), yearsOf(years)));
      if (designs.length || narrowed.designs.length) parts.push(group(t("components.design"), list("designs", designs)));
      if (journals.length || narrowed.journals.length) parts.push(group(t("library.journal"), list("journals", journals)));
    }
    if (narrows) parts.push(button(t("library.clear"), () => { clear(); attempt(async () => { await search(); by("results").focus(); }); }, null, "clear"));
    by("facets").replaceChildren(...parts);
    by("facets").hidden = !parts.length;
  };
  // The years as bars, and a range that narrows to them. A click at a bar narrows to its year.
  const yearsOf = (years) => {
    const first = years.length ? Number(years[0].value) : narrowed.from, last = years.length ? Number(years[years.length - 1].value) : narrowed.to, most = Math.max(1, ...years.map((one) => one.count));
    const field = (which, label, value, empty) => { const made = el("input", { type: "number", min: 1500, max: 2100, "aria-label": label, placeholder: empty || "" }); made.value = value || ""; made.dataset.of = which; return made; };
    const from = field("from", t("library.year-from"), narrowed.from, first), to = field("to", t("library.year-to"), narrowed.to, last);
    const range = el("form", { class: "range" }, from, "–", to, el("button", { type: "submit" }, t("library.narrow")));
    range.addEventListener("submit", (event) => { event.preventDefault(); narrowed.from = Number(from.value) || null; narrowed.to = Number(to.value) || null; again("from"); });
    const bars = el("div", { class: "years", "aria-hidden": "true" }, years.map((one) => { const bar = el("i", { title: t("library.facet", { value: one.value, count: one.count }) }); bar.style.height = `${Math.round(100 * one.count / most)}%`; bar.style.left = `${last > first ? 100 * (Number(one.value) - first) / (last - first + 1) : 0}%`; bar.style.width = `${100 / (last - first + 1)}%`; bar.addEventListener("click", () => { narrowed.from = narrowed.to = Number(one.value); again("from"); }); return bar; }));
    return [years.length > 1 ? bars : null, range].filter(Boolean);
  };
  by("search").addEventListener("submit", (event) => { event.preventDefault(); clear(); attempt(async () => { await search(); by("status").focus({ preventScroll: true }); }); });
  by("more-results").addEventListener("click", () => { const at = shown; more(); const next = by("results").children[at]; next.tabIndex = -1; next.focus(); });

  takeDrops(choose);
  // Leaving while files are sent would leave the shelf incomplete.
  addEventListener("beforeunload", (event) => { if (sending) event.preventDefault(); });
  attempt(load);
})();
