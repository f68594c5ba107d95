// Two runs side by side: how often each outcome, the sentences whose outcomes differ, and both answers.
(() => {
  const { answers, documents, runs, differing } = JSON.parse(by("data").textContent).compared;
  const ORDER = [t("compare.first"), t("compare.second")];
  const views = answers.map((it) => { const view = new AnswerView(el("article", { tabindex: -1 }), documents); view.titled = false; view.show(it); return view; });
  const head = (place) => el("div", { class: "system" }, el("h3", {}, `${ORDER[place]}: `, el("a", { href: `/runs/${runs[place].id}`, dir: "auto" }, runs[place].title)),
    el("p", { class: "note" }, runs[place].done, " ", el("time", { datetime: runs[place].time }, moments.format(new Date(runs[place].time)))));
  by("answers").replaceChildren(...views.map((view, place) => el("section", { "aria-label": ORDER[place] }, head(place), view.place)));

  const counts = answers.map(countsOf), kinds = Object.keys(SIGNS).filter((kind) => counts.some((of) => of[kind]));
  const row = (name, values) => el("tr", {}, el("th", { scope: "row" }, name), values.map((value) => el("td", {}, numbers.format(value))));
  by("counts").append(el("table", { class: "outcomes" }, el("caption", {}, t("compare.counts")),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, t("compare.outcome")), ORDER.map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, row(t("compare.sentences"), answers.map((it) => it.claims.length)), kinds.map((kind) => row([sign(kind), ` ${named(kind)}`], counts.map((of) => of[kind] || 0))))));

  // Opens a sentence in both answers.
  const show = (places) => {
    views.forEach((view, number) => { if (view.parts[places[number]] && view.open !== places[number]) view.toggle(places[number]); });
    const first = views[0].parts[places[0]];
    if (first) { first.place.scrollIntoView({ block: "center" }); first.place.querySelector(".chip").focus({ preventScroll: true }); }
  };
  by("h-differing").textContent = differing.length ? t("compare.differing", { n: differing.length }) : t("compare.same");
  by("differing").querySelector("ol").replaceChildren(...differing.map((places) => {
    const claims = places.map((place, number) => answers[number].claims[place]), button = el("button", { type: "button", "aria-label": `${t("compare.show")}: ${claims[0].text}` }, t("compare.show"));
    button.addEventListener("click", () => show(places));
    return el("li", {}, el("article", { class: `finding ${markOfClaim(claims[1])}` }, el("p", { class: "sentence", dir: "auto" }, claims[0].text),
      claims.map((claim, number) => el("p", {}, `${ORDER[number]}: `, sign(markOfClaim(claim)), ` ${named(markOfClaim(claim))}`)), el("p", { class: "foot" }, button)));
  }));
})();
