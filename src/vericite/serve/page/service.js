(() => {
  const data = JSON.parse(by("data").textContent), page = data.page, store = `vericite/${page}`;
  const STAGES = { read: page === "check" ? "read-manuscript" : "read", references: "references", rewrite: "rewrite", search: "search", retrieve: "search", rerank: "rerank", generate: "generate", verify: "verify", repair: "repair", rationale: "rationale" };
  const form = by("form"), view = by("reader") && new AnswerView(by("prose"), {}, by("below"));
  // A request that was stopped before its stream has a name is no longer the current one.
  let source = null, stream = null, run = null, begun = 0, own = [], current = 0;

  if (view) { view.extra = (claim) => challenge(claim); view.titled = false; view.summed = page !== "ask"; view.help = () => help(); }

  // `heard` is for screen readers: others see it in the summary.
  const say = (text, heard) => {
    by("status").parentElement.classList.toggle("quiet", !text);
    by("status").replaceChildren(text, ...(heard ? [el("span", { class: "heard" }, " ", heard)] : []));
  };
  const complain = (text) => { by("problem").replaceChildren(text); by("problem").hidden = !text; };

  // Takes files that are dropped on the page. The browser itself puts text into fields, and files into fields for files.
  const takeDrops = (take) => {
    const over = (is) => by("drop").classList.toggle("over", is);
    const isTaken = (event) => event.dataTransfer.types.includes("Files") && event.target.type !== "file";
    document.addEventListener("dragover", (event) => { over(isTaken(event)); if (isTaken(event)) event.preventDefault(); });
    document.addEventListener("dragleave", () => over(false));
    document.addEventListener("drop", (event) => {
      over(false);
      if (!isTaken(event)) return;
      event.preventDefault();
      take(event.dataTransfer.files);
    });
  };

  // Calls the service. Its error replies contain the reason.
  const ask = async (method, path, body, headers = {}) => {
    const reply = await fetch(path, { method, body, headers });
    if (reply.status === 401) { location.reload(); throw new Error(t("service.sign-in")); }
    if (reply.status === 204) return null;
    const found = await reply.json().catch(() => ({ error: {} }));
    const wait = reply.headers.get("retry-after");
    if (found.error && !found.error.message) throw Object.assign(new Error(t("service.status", { status: String(reply.status) })), { wait: Number(wait) });
    if (found.error) throw Object.assign(new Error(found.error.message + (wait ? ` (${t("service.again-in", { seconds: wait })})` : "")), { ofCore: true, wait: Number(wait) });
    return found;
  };
  // What went wrong, in words; those of the service are in English.
  const told = (error) => (error instanceof TypeError ? t("service.no-reply") : error.ofCore ? said(error.message) : error.message);
  const attempt = async (act) => { try { return await act(); } catch (error) { say(""); complain(told(error)); busy(false); return undefined; } };

  // Seconds and tokens next to the stage show that work goes on. Hidden from screen readers, which hear the stages.
  let clock = 0, tokens = 0;
  const time = (is) => {
    clearInterval(clock);
    by("clock").hidden = !is;
    if (!is) return;
    const from = performance.now(), tick = () => { by("clock").textContent = t(tokens ? "service.clock-tokens" : "service.clock", { seconds: Math.round((performance.now() - from) / 1000), tokens }); };
    tick();
    clock = setInterval(tick, 1000);
  };
  // Moves the focus from the status to the answer without scrolling, so that keys do not type into a question already sent.
  const follow = () => { if ([by("status"), document.body].includes(document.activeElement)) by("reader").focus({ preventScroll: true }); };

  const busy = (is) => {
    if (by("clock")) time(is);
    if (by("go")) { by("go").disabled = is; by("stop").hidden = !is; }
    if (is) tokens = 0;
    if (by("repair")) by("repair").disabled = is;
    if (by("reader")) by("reader").setAttribute("aria-busy", String(is));
  };

  // The address names the stream of a running request, so that a reload continues with it.
  const listen = (id) => {
    stream = id;
    history.replaceState(null, "", `?stream=${id}`);
    begun = performance.now();
    busy(true);
    source = new EventSource(`/v1/streams/${id}`);
    const on = (name, act) => source.addEventListener(name, (event) => act(JSON.parse(event.data)));
    on("stage", (event) => { if (event.seconds === null && STAGES[event.stage]) say(t(`service.stage-${STAGES[event.stage]}`)); });
    on("evidence", (event) => {
      by("found").hidden = !event.documents.length;
      by("found").querySelector(".cards").replaceChildren(...event.documents.map((doc, place) => sourceCard({ ...doc, text: "", retraction: doc.retracted ? "retracted" : null }, place + 1, [])));
    });
    on("progress", ({ what, done, total }) => say(what === "references" ? t("service.looking-up", { done, total }) : t("service.checking", { done, n: total })));
    on("written", (event) => { tokens = event.tokens; });
    on("sentence", (sentence) => { if (sentence.draft) draft(sentence.text); });
    on("view", (shown) => { by("found").hidden = true; show(shown); progress(); });
    on("judged", (claim) => { view.judged(claim.start, claim.end, claim.kind, claim.verdict); progress(); });
    on("done", async ({ run: made }) => { stop(); await attempt(async () => finish(made, await ask("GET", `/v1/runs/${made}/view`))); });
    source.addEventListener("error", (event) => {
      if (event.data !== undefined) { stop(); say(""); complain(el("span", {}, t("answer.none", { why: said(JSON.parse(event.data).message) }))); history.replaceState(null, "", location.pathname); } else if (source && source.readyState === EventSource.CLOSED) {
        stop(); say(""); complain(t("service.gone")); history.replaceState(null, "", location.pathname);
      } else say(t("service.lost"));
    });
  };
  const stop = () => { if (source) source.close(); current += 1; source = null; stream = null; busy(false); by("found").hidden = true; };

  // Shows a sentence while the answer is being written.
  const draft = (text) => {
    by("result").hidden = false;
    by("found").hidden = true;
    if (!by("draft")) { by("prose").replaceChildren(el("p", { id: "draft", class: "answer" })); by("below").replaceChildren(); }
    by("draft").append(text, " ");
    follow();
  };

  // The form folds into one line as soon as it is sent: what was asked or checked, and of what.
  const fold = (heading, about) => {
    if (!by("asked")) return;
    const is = Boolean(heading);
    by("asked").hidden = !is;
    form.hidden = by("intro").hidden = is;
    if (!is) return;
    by("asked-heading").textContent = heading;
    by("asked-about").textContent = about || "";
  };
  const edit = () => { fold(""); (page === "ask" ? by("question") : paper ? by("paper-remove") : by("answer")).focus(); };
  // Empties the form. What was chosen in lists stays.
  const empty = () => {
    for (const field of form.querySelectorAll("textarea, input[type=text], input:not([type])")) field.value = "";
    if (page === "check") { own = [{ title: "", text: "" }]; by("pasted").hidden = true; choosePaper(null); }
    updateList();
    keep();
    complain("");
    say("");
    edit();
  };

  // What a person can do after a refusal.
  const help = () => {
    if (page !== "ask") return [];
    const words = el("button", { type: "button", class: "help" }, t("service.other-words")), anyway = el("button", { type: "button", class: "help" }, t("service.anyway"));
    words.addEventListener("click", () => edit());
    anyway.addEventListener("click", () => attempt(async () => { const [, path, body] = asks.ask(); await begin(t("service.asking"), path, JSON.stringify({ ...body, plan: { ...body.plan, answer: { ...body.plan.answer, min_answer_probability: 0 } } })); }));
    return view.it.sufficiency ? [words, anyway] : [words];
  };

  // Asks the service's corpus for articles for and against a sentence.
  const challenge = (claim) => {
    const place = el("div", { role: "status" }), button = el("button", { type: "button" }, t("service.challenge"));
    const articles = (kind, word, found) => found.map((item) => el("div", { class: `verdict ${kind}` }, el("p", {}, sign(kind), " ", el("b", {}, word), " · ", likelihood(item.probability)),
      sourceCard({ ...item, text: "" }, 0, [], null), item.passages.slice(0, 1).map((passage) => el("blockquote", { dir: "auto" }, el("mark", {}, passage.text || "")))));
    button.addEventListener("click", async () => {
      button.disabled = true;
      place.replaceChildren(el("p", {}, t("service.challenging")));
      try {
        const { sentences } = await ask("POST", "/v1/evidence", JSON.stringify({ answer: claim.text, ...(by("corpus") && by("corpus").value ? { corpus: by("corpus").value } : {}) }));
        const shown = sentences.flatMap((one) => [...articles("contradicted", t("service.speaks-against"), one.contradicting), ...articles("supported", t("service.speaks-for"), one.supporting), ...(one.failed ? [el("p", { class: "verdict failed" }, said(one.failed))] : [])]);
        place.replaceChildren(...(shown.length ? shown : [el("p", {}, t("service.nothing-found"))]));
      } catch (error) { place.replaceChildren(el("p", { class: "verdict failed" }, told(error))); }
      button.disabled = false;
    });
    return el("div", {}, button, place);
  };

  const progress = () => {
    const cited = view.it.claims.filter((claim) => claim.cites.length), left = cited.filter((claim) => claim.kind === "pending").length;
    if (left) say(t("service.checking", { done: cited.length - left, n: cited.length }));
  };

  const show = (shown) => {
    by("result").hidden = false;
    view.documents = shown.documents;
    const open = view.open, before = view.it;
    view.show(shown.answer);
    const { question, manuscript: paper, sources, changes } = shown.answer, sent = by("asked") && !by("asked").hidden && by("asked-about").textContent;
    if (page === "check") fold(paper ? paper.title || paper.name : question || (changes.length ? t("service.repaired-answer") : t("service.checked-answer")), paper ? paper.name : `${changes.length && question ? `${t("service.repaired")} ` : ""}${t("components.sentences", { n: shown.answer.claims.length })}, ${t("service.sources", { n: sources.length })}`);
    else fold(question, sent);
    if (source) follow();
    if (before && open >= 0 && before.text === shown.answer.text && view.parts[open]) view.toggle(open);
  };

  const finish = (id, { views: [last, earlier], copy, figures, made }) => {
    run = id;
    view.earlier = earlier ? earlier.answer : null;
    show(last);
    const paper = last.answer.manuscript;
    by("before").hidden = !earlier;
    if (earlier) new AnswerView(by("earlier"), earlier.documents).show(earlier.answer);
    const counts = countsOf(last.answer), bad = ["contradicted", "partial", "irrelevant", "dangling", "uncited"].some((kind) => counts[kind]);
    by("below").append(figures.length ? figuresTable(figures) : "", howMade(made));
    by("acts").hidden = false;
    by("repair").hidden = !bad || Boolean(earlier) || Boolean(paper);
    by("copy-answer").hidden = !navigator.clipboard || Boolean(view.repair);
    by("copy").hidden = !copy;
    by("copy").href = `/v1/runs/${id}/copy`;
    by("copy").textContent = t("service.save-copy", { kind: { ".docx": "Word", ".pdf": "PDF" }[copy] || "Markdown" });
    by("table").href = `/v1/runs/${id}/table`;
    by("h-result").textContent = paper ? paper.title || paper.name : view.repair ? t("service.repaired-answer") : t("service.answer");
    by("choose").hidden = Boolean(paper);
    by("hint").hidden = paper ? !view.manuscript.cards.length : !last.answer.claims.length;
    for (const part of document.querySelectorAll(".of-text")) part.hidden = Boolean(paper);
    by("word").href = `/v1/runs/${id}/document?form=docx`;
    by("markdown").href = `/v1/runs/${id}/document?form=md`;
    by("report").href = `/v1/runs/${id}/report`;
    by("json").href = `/v1/runs/${id}`;
    by("json").download = `vericite-${id.slice(0, 8)}.json`;
    const time = begun ? t("service.done-in", { seconds: decimals((performance.now() - begun) / 1000, 1) }) : "";
    const found = Object.keys(SIGNS).filter((kind) => counts[kind]).map((kind) => `${counts[kind]} ${named(kind)}`).join(", ");
    if (paper) say(time, said(paper.summary));
    else if (view.repair) say(t("service.changes", { n: view.repair.changed.length }));
    else if (earlier && !last.answer.changes.length) say(t("service.unrepaired"), found);
    else say(time, last.answer.insufficient ? t("service.unanswered") : `${t("components.sentences", { n: last.answer.claims.length })}${found ? `: ${found}` : ""}.`);
    history.replaceState(null, "", page === "run" ? `/runs/${id}` : `?run=${id}`);
    if (earlier) { by("reader").focus({ preventScroll: true }); scrollTo(0, 0); }
  };

  const begin = async (doing, path, body) => {
    complain("");
    say(doing);
    busy(true);
    if (by("status").tabIndex < 0) by("status").focus();
    by("result").hidden = true;
    by("acts").hidden = by("before").hidden = true;
    view.it = view.earlier = null;
    by("hint").hidden = true;
    if (path.startsWith("/v1/ask")) fold(by("question").value.trim(), ["corpus", "model"].map((id) => by(id).selectedOptions[0].textContent).join(" · "));
    else if (page === "check" && !path.includes("/repair")) fold(paper ? paper.name : by("question").value.trim() || t("service.checked-answer"), paper ? "" : by("answer").value.trim().slice(0, 160));
    const mine = current += 1, { stream: id } = await ask("POST", path, body, { prefer: "respond-async" });
    if (mine === current) listen(id); else await ask("DELETE", `/v1/streams/${id}`);
  };

  // The service reads files; their text is sent with the question.
  const read = async (file) => {
    const found = await ask("POST", `/v1/documents?name=${encodeURIComponent(file.name)}`, file);
    if (found.problems.length) complain(el("span", {}, `${file.name}: `, said(found.problems[0])));
    return found.documents.map((doc) => ({ name: file.name, id: doc.id, title: doc.title || doc.id, pmid: doc.pmid, pages: doc.pages, text: doc.sections.map((section) => section.text).join("\n") }));
  };
  const take = async (event) => {
    const files = [...event.target.files];
    for (const file of files) {
      say(t("service.reading", { name: file.name }));
      await attempt(async () => { own.push(...await read(file)); say(t("service.was-read", { name: file.name })); });
      updateList();
    }
    event.target.value = "";
    keep();
  };
  const sent = () => {
    const seen = new Map();
    // An empty source keeps its number: what cites it stays undecided. Those at the end are left out.
    const last = own.findLastIndex((source) => source.text.trim() || source.cited);
    return own.slice(0, last + 1).filter((source) => page === "check" || source.text.trim()).map(({ id, title, text, pmid, pages }, index) => {
      const name = id || t("components.source", { number: String(index + 1) }), times = (seen.get(name) || 0) + 1;
      seen.set(name, times);
      return { id: times > 1 ? `${name} (${times})` : name, title: title || "", text, pmid: pmid || null, pages: pages || [] };
    });
  };
  const size = (doc) => [t("service.characters", { n: doc.text.length }), doc.pages && doc.pages.length ? t("service.pages", { n: doc.pages.length }) : ""].filter(Boolean).join(", ");
  const removeButton = (name, remove) => {
    const button = el("button", { type: "button", "aria-label": t("components.remove-name", { name }) }, t("components.remove"));
    button.addEventListener("click", remove);
    return button;
  };
  const removeSource = (doc) => { own = own.filter((other) => other !== doc); updateList(); keep(); (by("add") || by("file")).focus(); };
  const updateList = () => {
    if (page === "ask") { by("own").replaceChildren(...own.map((doc) => el("li", {}, el("b", {}, doc.title), el("small", {}, size(doc)), removeButton(doc.title, () => removeSource(doc))))); }
    if (page === "check") by("sources").replaceChildren(...own.map(field));
  };
  const field = (doc, index) => {
    const label = t("components.source", { number: String(index + 1) });
    const title = el("input", { "aria-label": t("service.title-of", { source: label }), placeholder: t("service.title"), autocomplete: "off", dir: "auto" });
    title.value = doc.title;
    title.addEventListener("input", () => { doc.title = title.value; keep(); });
    const row = el("li", {}, el("b", {}, `[${index + 1}]`), title, removeButton(label, () => removeSource(doc)));
    if (doc.cited) row.append(el("span", {}), el("small", {}, /^https?:/.test(doc.cited) ? el("a", { href: doc.cited, rel: "noreferrer noopener", target: "_blank" }, doc.cited) : doc.cited, doc.found ? [" · ", t("service.found-in", { place: doc.found }), ", ", size(doc)] : null));
    if (doc.found) return row;
    if (doc.name) row.append(el("span", {}), el("small", {}, `${doc.name}, ${size(doc)}`));
    else {
      const text = el("textarea", { rows: 3, "aria-label": t("service.text-of", { source: label }), placeholder: t("service.text"), autocomplete: "off", dir: "auto" });
      text.value = doc.text;
      text.addEventListener("input", () => { doc.text = text.value; keep(); });
      row.append(text);
    }
    return row;
  };

  // Keeps what was typed across reloads, in this tab only.
  const FIELDS = ["question", "answer", "corpus", "model", "k", "protocol", "pmids"];
  const keep = () => {
    const typed = Object.fromEntries(FIELDS.filter(by).map((id) => [id, by(id).value]));
    try { sessionStorage.setItem(store, JSON.stringify({ typed, own })); } catch { try { sessionStorage.setItem(store, JSON.stringify({ typed, own: [] })); } catch { /* storage is unavailable */ } }
  };
  const restore = () => {
    let kept = {};
    try { kept = JSON.parse(sessionStorage.getItem(store) || "{}"); } catch { /* nothing stored */ }
    for (const [id, value] of Object.entries(kept.typed || {})) if (FIELDS.includes(id) && by(id) && (by(id).tagName !== "SELECT" || [...by(id).options].some((option) => option.value === value))) by(id).value = value;
    own = Array.isArray(kept.own) ? kept.own : [];
    if (page === "check" && !own.length) own.push({ title: "", text: "" });
  };

  // A manuscript, with files of articles and references. Files stay in this page, so a reload loses them.
  let paper = null;
  const lists = { articles: [], bibliography: [], parts: [] };
  const manuscriptForm = () => {
    const made = new FormData();
    made.append("file", paper);
    for (const file of lists.articles) made.append("documents", file);
    for (const name of ["bibliography", "parts"]) for (const file of lists[name]) made.append(name, file);
    for (const box of document.querySelectorAll(".works:checked")) made.append("sources", box.value);
    made.append("plan", JSON.stringify({ check: { explain: by("explain").checked } }));
    return made;
  };
  const choosePaper = (file) => {
    paper = file || null;
    for (const part of document.querySelectorAll(".of-answer")) part.hidden = Boolean(paper);
    for (const part of document.querySelectorAll(".of-paper")) part.hidden = !paper;
    by("answer").required = !paper;
    by("paper").parentElement.hidden = by("paper-hint").hidden = Boolean(paper);
    by("paper-name").hidden = !paper;
    by("paper-name").querySelector("b").textContent = paper ? paper.name : "";
    by("paper").value = "";
    by("of-latex").hidden = !paper || !/\.tex$/i.test(paper.name);
    if (by("of-latex").hidden) { lists.parts = []; updateFiles("parts"); }
    if (paper) { say(t("service.chosen", { name: paper.name })); by("go").focus({ preventScroll: true }); }
  };
  const updateFiles = (name) => by(`${name}-list`).replaceChildren(...lists[name].map((file) => el("li", {}, file.name, " ", removeButton(file.name, () => { lists[name] = lists[name].filter((other) => other !== file); updateFiles(name); by(name).focus(); }))));
  const setUpPaper = () => {
    by("paper").addEventListener("change", () => { if (by("paper").files[0]) choosePaper(by("paper").files[0]); });
    by("paper-remove").addEventListener("click", () => { choosePaper(null); by("paper").focus(); });
    for (const name of Object.keys(lists)) by(name).addEventListener("change", () => { lists[name].push(...by(name).files); by(name).value = ""; updateFiles(name); });
    takeDrops(([file]) => { if (file && !by("go").disabled) choosePaper(file); });
  };

  // An answer of a chat assistant: its links, footnotes and PMIDs become numbers, and their sources fields to fill.
  const CITING = /https?:\/\/|\bPMID\b|\[\^|\b10\.\d{4,9}\//i;
  const readPasted = async (text) => {
    const places = [...document.querySelectorAll(".texts:checked")].map((box) => box.value);
    const held = by("answer").value;
    say(t("service.reading-pasted"));
    const found = await ask("POST", "/v1/pasted", JSON.stringify({ answer: text, sources: places }));
    say("");
    // What was edited in the meantime stays.
    if (!found.sources.length || by("answer").value !== held) return;
    const before = own, undo = el("button", { type: "button", class: "help" }, t("service.as-pasted")), missing = found.sources.filter((source) => !source.text).length;
    own = found.sources.map((source) => ({ title: source.title, text: source.text, pmid: source.pmid, cited: source.name || (source.title ? t("service.named") : t("service.only-numbered")), found: source.found_in }));
    by("answer").value = found.answer;
    by("pasted").hidden = false;
    by("pasted").replaceChildren(t("service.pasted", { n: found.sources.length }), " ", missing ? t("service.texts-missing", { n: missing }) : t("service.texts-complete"), " ", undo);
    undo.addEventListener("click", () => { own = before; by("answer").value = text; by("pasted").hidden = true; updateList(); keep(); by("answer").focus(); });
    updateList();
    keep();
  };

  const asks = {
    ask: () => {
      const isOwn = by("corpus").value === "", model = by("model").value;
      if (isOwn && !sent().length) throw new Error(t("service.add-file"));
      const answer = by("rationale") && by("rationale").checked && model ? { answer: { rationale: true } } : {};
      const check = by("protocol").value ? { check: { protocol: by("protocol").value } } : {};
      const body = { question: by("question").value, model: model || null, plan: { search: { k: Number(by("k").value) || 5 }, ...check, ...answer } };
      return [t("service.asking"), "/v1/ask?view=true", isOwn ? { ...body, documents: sent() } : { ...body, corpus: by("corpus").value }];
    },
    check: () => {
      if (paper) { by("places").open = false; return [t("service.sending"), "/v1/manuscripts?view=true", manuscriptForm()]; }
      const pmids = by("pmids") ? by("pmids").value.split(/[^0-9]+/).filter(Boolean) : [];
      if (!pmids.length && !sent().some((doc) => doc.text.trim())) throw new Error(t("service.enter-source"));
      const plan = { check: { explain: by("explain").checked } };
      return [t("service.reading-answer"), "/v1/check?view=true", { answer: by("answer").value, question: by("question").value.trim() || null, plan, ...(pmids.length ? { pmids } : { documents: sent() }) }];
    },
  };

  if (form) {
    restore();
    updateList();
    if (page === "ask") {
      const choose = () => { by("files").hidden = by("corpus").value !== ""; };
      by("corpus").addEventListener("change", choose);
      const wanted = new URLSearchParams(location.search).get("corpus");
      if (wanted && [...by("corpus").options].some((option) => option.value === wanted)) by("corpus").value = wanted;
      choose();
      for (const button of document.querySelectorAll(".example")) button.addEventListener("click", () => { by("question").value = button.textContent; by("corpus").selectedIndex = [...by("corpus").options].findIndex((option) => "demo" in option.dataset); choose(); form.requestSubmit(); });
    } else {
      setUpPaper();
      by("answer").addEventListener("paste", (event) => {
        const text = event.clipboardData.getData("text/plain");
        if (by("answer").value.trim() || !CITING.test(text)) return;
        event.preventDefault();
        by("answer").value = text;
        keep();
        attempt(() => readPasted(text));
      });
    }
    if (page === "check") by("add").addEventListener("click", () => { own.push({ title: "", text: "" }); updateList(); by("sources").lastChild.querySelector("textarea").focus(); });
    by("file").addEventListener("change", take);
    form.addEventListener("input", keep);
    form.addEventListener("submit", (event) => { event.preventDefault(); if (!by("go").disabled) { keep(); attempt(async () => { const [doing, path, body] = asks[page](); try { await begin(doing, path, body instanceof FormData ? body : JSON.stringify(body)); } catch (error) { fold(""); throw error; } }); } });
    form.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey || event.target.id === "question") && !event.shiftKey && event.target.tagName === "TEXTAREA") { event.preventDefault(); form.requestSubmit(); } });
    by("stop").addEventListener("click", () => attempt(async () => { const id = stream; stop(); history.replaceState(null, "", location.pathname); say(t("service.stopped")); fold(""); by("go").focus(); if (id) await ask("DELETE", `/v1/streams/${id}`); }));
  }
  if (by("asked")) {
    by("edit").addEventListener("click", () => edit());
    by("another").addEventListener("click", empty);
  }
  const KEYS = [[["?"], t("components.key-keys")], ...(form ? [[["Ctrl", "Enter"], page === "ask" ? t("service.key-ask") : t("service.key-check")], [["/"], page === "ask" ? t("service.key-question") : t("service.key-answer")]] : []), ...(view ? [[["n"], t("components.key-next")], [["p"], t("components.key-before")], [["Enter"], t("service.key-open")], [["Esc"], t("service.key-hide")]] : [])];
  if (by("keys")) by("keys").addEventListener("click", () => showKeys(KEYS));
  document.addEventListener("keydown", (event) => { if (event.key === "?" && !isTyping() && !document.querySelector("dialog[open]")) { event.preventDefault(); showKeys(KEYS); } });
  if (view) {
    by("copy-answer").hidden = !navigator.clipboard;
    by("copy-answer").addEventListener("click", () => attempt(async () => {
      const { sources, question } = view.it, text = view.repair ? view.repair.text() : view.it.text, listed = sources.map((key, place) => [view.documents[key], place + 1]).filter(([, number]) => text.includes(`[${number}]`) || /\[\d+\s*[,;–-]/.test(text));
      await navigator.clipboard.writeText([question, text, listed.map(([doc, number]) => `[${number}] ${[doc.title, placeOf(doc), doc.pmid ? `PMID ${doc.pmid}` : doc.id, doc.retraction].filter(Boolean).join(". ")}`).join("\n")].filter(Boolean).join("\n\n"));
      say(t("service.copied-sources"));
    }));
    const saves = by("saves"), close = (event) => { if (saves.open && !(event && saves.contains(event.target))) saves.open = false; };
    document.addEventListener("click", close);
    saves.addEventListener("click", (event) => { if (event.target.closest("a")) saves.open = false; });
    saves.addEventListener("keydown", (event) => { if (event.key === "Escape" && saves.open) { close(); saves.querySelector("summary").focus(); } });
    by("link").hidden = !navigator.clipboard;
    by("repair").addEventListener("click", () => attempt(() => begin(t("service.repairing"), `/v1/runs/${run}/repair?view=true`)));
    by("link").addEventListener("click", () => attempt(async () => { await navigator.clipboard.writeText(`${location.origin}/runs/${run}`); say(t("repair.copied")); }));
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping() || document.querySelector("dialog[open]")) return;
      const act = { n: () => view.step(1), p: () => view.step(-1), "/": () => (form ? edit() : by("reader").focus()) }[event.key];
      if (act) { event.preventDefault(); act(); }
    });
    const left = new URLSearchParams(location.search).get("stream");
    if (data.run) finish(data.run.id, data.run);
    if (left) listen(left);
  }
  if (data.problem) complain(data.problem);
  // Kept in this browser; the service renders pages in the language.
  by("language").addEventListener("change", (event) => { document.cookie = `vericite-language=${event.target.value}; path=/; max-age=31536000; samesite=strict`; location.reload(); });
  // For the scripts of other pages.
  window.service = { ask, say, complain, told, attempt, takeDrops };
})();
