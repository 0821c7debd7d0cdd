// A turn tapped on the live board: only what may be tapped is lit. The referee says what that is, after each tap.
import { onTable } from "./live.js";
import { placeOf, squareButtons, squaresOf } from "./squares.js";
import { word } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
const INSET = 7;

function marked(square, kind, words) {
  const box = square.getBBox();
  const mark = document.createElementNS(SVG, "g");
  mark.setAttribute("class", `tap-mark ${kind}`);
  for (const layer of ["under", "over"]) {
    const ring = document.createElementNS(SVG, "rect");
    const edges = { x: box.x + INSET, y: box.y + INSET, width: box.width - 2 * INSET, height: box.height - 2 * INSET, rx: 12 };
    for (const [name, value] of Object.entries({ ...edges, class: layer })) ring.setAttribute(name, value);
    mark.append(ring);
  }
  if (words) {
    const said = document.createElementNS(SVG, "text");
    said.setAttribute("x", box.x + box.width - 22);
    said.setAttribute("y", box.y + 32);
    said.textContent = words;
    mark.append(said);
  }
  square.ownerSVGElement.append(mark);
}

export function playByTapping() {
  const panel = document.getElementById("tapping");
  if (!panel) return;
  const board = document.getElementById("board");
  const button = document.getElementById("tap");
  const part = (name) => panel.querySelector(`[data-part="${name}"]`);
  // What was answered after each tap, the newest last; empty while nobody taps.
  let answers = [];
  let asked = 0;
  // Each tap waits for the answer to the one before: a quick second one counts from there.
  let before = Promise.resolve();

  const show = () => {
    board.querySelectorAll(".tap-mark").forEach((each) => each.remove());
    const now = answers.at(-1);
    panel.hidden = !now;
    prepare(Boolean(now));
    if (!now) return;
    const isLit = new Set(now.squares);
    const byPlace = new Map(squaresOf(board).map((square) => [placeOf(square), square]));
    for (const [place, square] of byPlace) square.setAttribute("aria-disabled", String(!isLit.has(place)));
    for (const place of now.squares) if (byPlace.has(place)) marked(byPlace.get(place), "may", "");
    // Each square tapped has its number in the turn, or the digit that was chosen for it.
    const signs = new Map();
    let order = 0;
    now.taps.forEach((tap, at) => {
      if (!byPlace.has(tap)) return;
      order += 1;
      const digit = /^\d$/.test(now.taps[at + 1] ?? "") ? now.taps[at + 1] : null;
      signs.set(tap, [...(signs.get(tap) ?? []), digit ?? order]);
    });
    for (const [place, sign] of signs) marked(byPlace.get(place), "tapped", sign.join());
    const isOver = !now.squares.length && !now.choices.length && !now.turn;
    part("told").textContent = now.turn?.words ?? word(isOver ? "tap none" : now.taps.length ? "tap on" : "tap first");
    part("choices").replaceChildren(...now.choices.map(({ tap, words }) => {
      const choice = Object.assign(document.createElement("button"), { type: "button", textContent: words });
      choice.addEventListener("click", () => afterwards(() => {
        const newest = answers.at(-1);
        return newest?.choices.some((each) => each.tap === tap) && ask([...newest.taps, tap]);
      }));
      return choice;
    }));
    const play = part("play");
    play.hidden = !now.turn;
    for (const name of ["text", "player"]) play.elements[name].value = now.turn?.[name] ?? "";
    play.elements.seen.value = now.event_number;
    part("back").hidden = answers.length < 2;
  };
  const ask = async (taps, isRestart = false) => {
    const number = ++asked;
    // Until the answer comes, the turn on offer is that of the tap before.
    part("play").hidden = true;
    const answer = await fetch(`/api/tapped?taps=${encodeURIComponent(taps.join())}`).catch(() => null);
    const now = answer?.ok ? await answer.json().catch(() => null) : null;
    // Without a network; the banner says so.
    if (now === null) return show();
    // Ignore an answer if there was another tap meanwhile.
    if (number !== asked) return;
    answers = isRestart ? [now] : [...answers, now];
    show();
  };
  const afterwards = (deed) => (before = before.then(deed));
  const leave = () => {
    asked++;
    answers = [];
    show();
  };
  const choose = async (square) => {
    const place = placeOf(square);
    if (!answers.length) await ask([], true);
    const now = answers.at(-1);
    if (now?.squares.includes(place)) await ask([...now.taps, place]);
  };
  const prepare = squareButtons(board, (square) => afterwards(() => choose(square)));

  button.hidden = false;
  button.addEventListener("click", async () => {
    await ask([], true);
    board.scrollIntoView({ block: "nearest" });
  });
  part("back").addEventListener("click", () => {
    answers = answers.slice(0, -1);
    show();
  });
  part("leave").addEventListener("click", leave);
  panel.addEventListener("done", leave);
  document.addEventListener("keydown", ({ key }) => key === "Escape" && answers.length && leave());
  onTable((table) => {
    // The table has changed, so tapping starts over.
    if (answers.length && answers.at(-1).event_number !== table.event_number) ask([], true);
    show();
  });
}
