(() => {
  const data = JSON.parse(by("data").textContent), page = data.page, store = `vericite/${page}`;
  const STAGES = { read: "Reading the documents.", rewrite: "Rewriting the question.", search: "Searching.", retrieve: "Searching.", rerank: "Reranking the results.", generate: "Writing the answer.", verify: "Checking each citation.", repair: "Repairing.", rationale: "Judging the steps of the rationale." };
  const form = by("form"), view = by("reader") && new AnswerView(by("reader"), {});
  let source = null, stream = null, run = null, begun = 0, own = [];

  const say = (text) => { by("status").textContent = text; };
  const complain = (text) => { by("problem").textContent = text; by("problem").hidden = !text; };
  const plural = (count, one, many) => `${count} ${count === 1 ? one : many}`;

  // Calls the service. Its error replies contain the reason.
  const ask = async (path, body, headers = {}, method = "POST") => {
    const reply = await fetch(path, { method, body, headers });
    if (reply.status === 401) { location.reload(); throw new Error("Sign in again."); }
    if (reply.status === 204) return null;
    const found = await reply.json().catch(() => ({ error: { message: `the service answered with status ${reply.status}` } }));
    if (found.error) throw new Error(found.error.message + (reply.headers.get("retry-after") ? ` (in ${reply.headers.get("retry-after")} s)` : ""));
    return found;
  };
  const attempt = async (act) => { try { return await act(); } catch (error) { say(""); complain(error instanceof TypeError ? "The service does not answer. Is it still running?" : error.message); busy(false); return undefined; } };

  // Seconds next to the stage show that work goes on. Hidden from screen readers, which hear the stages.
  let clock = 0;
  const time = (is) => {
    clearInterval(clock);
    by("clock").hidden = !is;
    if (!is) return;
    const from = performance.now(), tick = () => { by("clock").textContent = `Working for ${Math.round((performance.now() - from) / 1000)} s.`; };
    tick();
    clock = setInterval(tick, 1000);
  };
  // Moves the focus from the status to the answer without scrolling, so that keys do not type into a question already sent.
  const follow = () => { if ([by("status"), document.body].includes(document.activeElement)) by("reader").focus({ preventScroll: true }); };

  const busy = (is) => {
    if (by("clock")) time(is);
    if (by("go")) { by("go").disabled = is; by("stop").hidden = !is; }
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
    on("stage", (event) => { if (event.seconds === null && STAGES[event.stage]) say(STAGES[event.stage]); });
    on("evidence", (event) => {
      by("found").hidden = !event.documents.length;
      by("found").querySelector("ol").replaceChildren(...event.documents.map((doc) => el("li", {}, doc.title || doc.id, doc.retracted ? el("b", { class: "retracted" }, " RETRACTED") : null, el("small", {}, [doc.journal, doc.year].filter(Boolean).map((part) => ` · ${part}`).join("")))));
    });
    on("sentence", (sentence) => { if (sentence.draft) draft(sentence.text); });
    on("view", (shown) => { by("found").hidden = true; show(shown); progress(); });
    on("judged", (claim) => { view.judged(claim.start, claim.end, claim.kind, claim.verdict); progress(); });
    on("done", async ({ run: made }) => { stop(); await attempt(async () => finish(made, await ask(`/v1/runs/${made}/view`, undefined, {}, "GET"))); });
    source.addEventListener("error", (event) => {
      if (event.data !== undefined) { stop(); say(""); complain(`No answer: ${JSON.parse(event.data).message}`); history.replaceState(null, "", location.pathname); } else if (source && source.readyState === EventSource.CLOSED) {
        stop(); say(""); complain("This answer is no longer available. Ask again."); history.replaceState(null, "", location.pathname);
      } else say("The connection was lost. Trying again.");
    });
  };
  const stop = () => { if (source) source.close(); source = null; stream = null; busy(false); by("found").hidden = true; };

  // Shows a sentence while the answer is being written.
  const draft = (text) => {
    by("result").hidden = false;
    by("found").hidden = true;
    if (!by("draft")) by("reader").replaceChildren(el("p", { id: "draft", class: "answer" }));
    by("draft").append(text, " ");
    follow();
  };

  const progress = () => {
    const cited = view.it.claims.filter((claim) => claim.cites.length), left = cited.filter((claim) => claim.kind === "pending").length;
    if (left) say(`Checking: ${cited.length - left} of ${plural(cited.length, "sentence", "sentences")} with citations.`);
  };

  const show = (shown) => {
    by("result").hidden = false;
    view.documents = shown.documents;
    if (document.querySelector(".examples")) document.querySelector(".examples").hidden = true;
    const open = view.open, before = view.it;
    view.show(shown.answer);
    by("hint").hidden = !shown.answer.claims.length;
    if (source) follow();
    if (before && open >= 0 && before.text === shown.answer.text && view.parts[open]) view.toggle(open);
  };

  const finish = (id, { views: [last, earlier] }) => {
    run = id;
    show(last);
    by("before").hidden = !earlier;
    if (earlier) new AnswerView(by("earlier"), earlier.documents).show(earlier.answer);
    const counts = last.answer.counts, bad = ["contradicted", "irrelevant", "dangling", "uncited"].some((kind) => counts[kind]);
    by("acts").hidden = false;
    by("repair").hidden = !bad || Boolean(earlier);
    by("report").href = `/v1/runs/${id}/report`;
    by("json").href = `/v1/runs/${id}`;
    by("json").download = `vericite-${id.slice(0, 8)}.json`;
    const time = begun ? ` in ${((performance.now() - begun) / 1000).toFixed(1)} s` : "";
    const told = Object.keys(KINDS).filter((kind) => counts[kind]).map((kind) => `${counts[kind]} ${kind}`).join(", ");
    const gone = earlier ? last.answer.changes.filter((change) => !change.after).length : 0;
    const deleted = gone ? ` ${plural(gone, "sentence was", "sentences were")} deleted and ${gone > 1 ? "are" : "is"} not counted.` : "";
    say(earlier && !last.answer.changes.length ? `Nothing could be repaired. ${told}.` : last.answer.insufficient ? `Done${time}: the sources do not answer the question.` : `Done${time}: ${plural(last.answer.claims.length, "sentence", "sentences")}${told ? `, ${told}` : ""}.${deleted}`);
    history.replaceState(null, "", page === "run" ? `/runs/${id}` : `?run=${id}`);
    if (earlier) by("reader").focus();
  };

  const begin = async (said, path, body) => {
    complain("");
    say(said);
    busy(true);
    if (by("status").tabIndex < 0) by("status").focus();
    by("result").hidden = true;
    by("acts").hidden = by("before").hidden = true;
    view.it = null;
    listen((await ask(path, body, { prefer: "respond-async" })).stream);
  };

  // The service reads files; their text is sent with the question.
  const read = async (file) => {
    const found = await ask(`/v1/documents?name=${encodeURIComponent(file.name)}`, file);
    if (found.problems.length) complain(`${file.name}: ${found.problems[0]}`);
    return found.documents.map((doc) => ({ name: file.name, id: doc.id, title: doc.title || doc.id, pmid: doc.pmid, pages: doc.pages, text: doc.sections.map((section) => section.text).join("\n") }));
  };
  const take = async (event) => {
    const files = [...event.target.files];
    for (const file of files) {
      say(`Reading ${file.name}.`);
      await attempt(async () => { own.push(...await read(file)); say(`${file.name} was read.`); });
      updateList();
    }
    event.target.value = "";
    keep();
  };
  const sent = () => {
    const seen = new Map();
    return own.filter((source) => source.text.trim()).map(({ id, title, text, pmid, pages }, index) => {
      const name = id || `source ${index + 1}`, times = (seen.get(name) || 0) + 1;
      seen.set(name, times);
      return { id: times > 1 ? `${name} (${times})` : name, title: title || "", text, pmid: pmid || null, pages: pages || [] };
    });
  };
  const size = (doc) => `${doc.text.length.toLocaleString("en")} characters${doc.pages && doc.pages.length ? `, ${plural(doc.pages.length, "page", "pages")}` : ""}`;
  const removeButton = (doc, name) => {
    const button = el("button", { type: "button", "aria-label": `Remove ${name}` }, "Remove");
    button.addEventListener("click", () => { own = own.filter((other) => other !== doc); updateList(); keep(); (by("add") || by("file")).focus(); });
    return button;
  };
  const updateList = () => {
    if (page === "ask") { by("own").replaceChildren(...own.map((doc) => el("li", {}, el("b", {}, doc.title), el("small", {}, size(doc)), removeButton(doc, doc.title)))); }
    if (page === "check") by("sources").replaceChildren(...own.map(field));
  };
  const field = (doc, index) => {
    const label = `Source ${index + 1}`;
    const title = el("input", { "aria-label": `${label}: title`, placeholder: "title (optional)", autocomplete: "off" });
    title.value = doc.title;
    title.addEventListener("input", () => { doc.title = title.value; keep(); });
    const row = el("li", {}, el("b", {}, `[${index + 1}]`), title, removeButton(doc, label));
    if (doc.name) row.append(el("span", {}), el("small", {}, `${doc.name}, ${size(doc)}`));
    else {
      const text = el("textarea", { rows: 3, "aria-label": `${label}: text`, placeholder: "text of the source", autocomplete: "off" });
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

  const asks = {
    ask: () => {
      const own_ = by("corpus").value === "", model = by("model").value;
      if (own_ && !sent().length) throw new Error("Add a file to answer from, or choose a corpus.");
      const answer = by("rationale") && by("rationale").checked && model ? { answer: { rationale: true } } : {};
      const check = by("protocol").value ? { check: { protocol: by("protocol").value } } : {};
      const body = { question: by("question").value, model: model || null, plan: { search: { k: Number(by("k").value) || 5 }, ...check, ...answer } };
      return ["Asking.", "/v1/ask?view=true", own_ ? { ...body, documents: sent() } : { ...body, corpus: by("corpus").value }];
    },
    check: () => {
      const pmids = by("pmids") ? by("pmids").value.split(/[^0-9]+/).filter(Boolean) : [];
      if (!pmids.length && !sent().length) throw new Error("Enter the text of a source.");
      // An empty source would shift the numbers of the markers after it.
      const empty = own.findIndex((doc, place) => !doc.text.trim() && own.slice(place + 1).some((later) => later.text.trim()));
      if (!pmids.length && empty >= 0) throw new Error(`Source ${empty + 1} has no text. Enter it, or remove the source.`);
      return ["Reading the answer and its sources.", "/v1/check?view=true", { answer: by("answer").value, question: by("question").value.trim() || null, ...(pmids.length ? { pmids } : { documents: sent() }) }];
    },
  };

  if (form) {
    restore();
    updateList();
    if (page === "ask") {
      const choose = () => { by("files").hidden = by("corpus").value !== ""; };
      by("corpus").addEventListener("change", choose);
      choose();
      for (const button of document.querySelectorAll(".example")) button.addEventListener("click", () => { by("question").value = button.textContent; by("corpus").selectedIndex = [...by("corpus").options].findIndex((option) => option.text.startsWith("demo")); choose(); form.requestSubmit(); });
    } else by("add").addEventListener("click", () => { own.push({ title: "", text: "" }); updateList(); by("sources").lastChild.querySelector("textarea").focus(); });
    by("file").addEventListener("change", take);
    form.addEventListener("input", keep);
    form.addEventListener("submit", (event) => { event.preventDefault(); if (!by("go").disabled) { keep(); attempt(async () => { const [said, path, body] = asks[page](); await begin(said, path, JSON.stringify(body)); }); } });
    form.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey || event.target.id === "question") && !event.shiftKey && event.target.tagName === "TEXTAREA") { event.preventDefault(); form.requestSubmit(); } });
    by("stop").addEventListener("click", () => attempt(async () => { const id = stream; stop(); history.replaceState(null, "", location.pathname); say("Stopped."); by("go").focus(); if (id) await ask(`/v1/streams/${id}`, undefined, {}, "DELETE"); }));
  }
  if (view) {
    by("link").hidden = !navigator.clipboard;
    by("repair").addEventListener("click", () => attempt(() => begin("Repairing the citations.", `/v1/runs/${run}/repair?view=true`)));
    by("link").addEventListener("click", () => attempt(async () => { await navigator.clipboard.writeText(`${location.origin}/runs/${run}`); say("Copied."); }));
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping()) return;
      const act = { n: () => view.step(1), p: () => view.step(-1), "/": () => (by("question") || by("reader")).focus() }[event.key];
      if (act) { event.preventDefault(); act(); }
    });
    const left = new URLSearchParams(location.search).get("stream");
    if (data.run) finish(data.run.id, data.run);
    if (left) listen(left);
  }
  if (data.problem) complain(data.problem);
  if (page === "runs") {
    for (const place of document.querySelectorAll("[data-counts]")) place.append(...signed(JSON.parse(place.dataset.counts)));
    for (const button of document.querySelectorAll(".forget")) button.addEventListener("click", () => attempt(async () => {
      const row = button.closest("li");
      await ask(`/v1/runs/${row.dataset.id}`, undefined, {}, "DELETE");
      const next = row.nextElementSibling || row.previousElementSibling;
      row.remove();
      say("Deleted.");
      (next ? next.querySelector("a") : by("main")).focus();
    }));
  }
})();
