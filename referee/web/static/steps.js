// Steps through a game's history in place: by the buttons, by arrow keys, or by itself at a chosen speed.
import { draw, showEvidence } from "./table.js";
import { word } from "./words.js";

export function stepThrough() {
  const steps = document.getElementById("steps");
  const part = (name) => steps.querySelector(`[data-part="${name}"]`);
  const links = { before: steps.querySelector('[data-step="before"]'), after: steps.querySelector('[data-step="after"]') };
  const replay = steps.querySelector("button[data-replay]");
  const pace = steps.querySelector("input");
  const words = { go: replay.textContent, stop: replay.dataset.stop };
  let timer = null;
  let isBusy = false;

  const show = async (number, keep) => {
    if (isBusy) return;
    isBusy = true;
    try {
      const answer = await fetch(`/api/history/${number}`);
      if (answer.ok) showPosition(await answer.json(), number, keep);
      else stop();
    } catch (error) {
      // Without a network; the banner says so.
      if (!(error instanceof TypeError)) throw error;
      stop();
    } finally {
      isBusy = false;
    }
  };
  const showPosition = (position, number, keep) => {
    draw(document.getElementById("board"), position.table.board);
    part("sentence").textContent = position.event.sentence;
    showEvidence(part("evidence"), position.event.evidence.map((name) => {
      const [when, place] = name.split(/-(.*)/s);
      return [`/api/evidence/${number}/${name}`, place && word(when, { place }) || name];
    }));
    part("scores").replaceChildren(
      ...position.table.scores.map((line) => Object.assign(document.createElement("li"), { textContent: line })),
    );
    for (const way of ["before", "after"]) {
      if (position[way] === null) links[way].removeAttribute("href");
      else links[way].href = `/history/${position[way]}`;
    }
    steps.dataset.number = number;
    if (keep) history.pushState(number, "", `/history/${number}`);
    if (timer !== null) timer = links.after.hasAttribute("href") ? setTimeout(() => step("after"), pace.value * 1000) : stop();
  };
  // From the newest event the replay goes back to the first.
  const replayOn = () => step("after") || show(Number(steps.dataset.first), true);
  const step = (way) => links[way].hasAttribute("href") && show(Number(links[way].pathname.split("/").pop()), true);
  const stop = () => {
    clearTimeout(timer);
    timer = null;
    replay.textContent = words.go;
    return null;
  };

  for (const way of ["before", "after"]) {
    links[way].addEventListener("click", (event) => {
      event.preventDefault();
      stop();
      step(way);
    });
  }
  document.addEventListener("keydown", (event) => {
    if (event.target.matches("input, select, textarea") || event.ctrlKey || event.altKey || event.metaKey) return;
    const way = { ArrowLeft: "before", ArrowRight: "after" }[event.key];
    if (!way) return;
    event.preventDefault();
    stop();
    step(way);
  });
  addEventListener("popstate", ({ state }) => show(state ?? Number(location.pathname.split("/").pop()), false));
  steps.querySelectorAll("[data-replay]").forEach((each) => (each.hidden = false));
  replay.addEventListener("click", () => {
    if (timer !== null) return stop();
    replay.textContent = words.stop;
    timer = setTimeout(replayOn, 0);
  });
}
