// The list of runs: times in the reader's zone, two to compare, and deletion.
(() => {
  const { ask, say, attempt } = service;
  for (const time of document.querySelectorAll("time[datetime]")) { time.title = time.textContent; time.textContent = moments.format(new Date(time.dateTime)); }
  for (const place of document.querySelectorAll("[data-counts]")) place.append(...signed(JSON.parse(place.dataset.counts)));
  for (const button of document.querySelectorAll(".forget")) button.addEventListener("click", () => attempt(async () => {
    const row = button.closest("li");
    await ask("DELETE", `/v1/runs/${row.dataset.id}`);
    const next = row.nextElementSibling || row.previousElementSibling;
    row.remove();
    choose();
    say(t("runs.deleted"));
    (next ? next.querySelector("a") : by("main")).focus();
  }));
  // Two are chosen: a third takes the place of none.
  const boxes = () => [...document.querySelectorAll("input[name=run]")], choose = () => {
    const chosen = boxes().filter((box) => box.checked);
    for (const box of boxes()) box.disabled = chosen.length === 2 && !box.checked;
    if (by("compare")) document.querySelector(".compare-bar").hidden = chosen.length !== 2;
  };
  for (const box of boxes()) box.addEventListener("change", choose);
  choose();
})();
