// The figures of a checked answer, as the command line prints them: shares with their intervals.
const figuresTable = (rows) => el("details", { class: "of-figures" }, el("summary", {}, t("figures.title")),
  el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": t("figures.title") }, el("table", { class: "outcomes" }, el("caption", {}, t("figures.about")),
    el("thead", {}, el("tr", {}, [t("figures.outcome"), t("figures.share"), t("figures.interval"), t("figures.counted")].map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, rows.map((row) => el("tr", {}, el("th", { scope: "row" }, row.name), el("td", {}, el("b", {}, decimals(row.value, 2))),
      el("td", {}, row.low === null ? "" : t("components.range", { low: decimals(row.low, 2), high: decimals(row.high, 2) })),
      el("td", {}, row.count === null ? t("figures.n", { n: row.n, of: row.of }) : t("figures.count", { count: row.count, all: row.n, of: row.of }))))))));
