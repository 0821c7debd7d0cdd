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
    const edges = {
      x: box.x + INSET,
      y: box.y + INSET,
      width: box.width - 2 * INSET,
      height: box.height - 2 * INSET,
      rx: 12,
    };
    for (const [name, value] of Object.entries({ ...edges, class: layer })) ring.setAttribute(name, String(value));
    mark.append(ring);
  }
  if (words) {
    const said = document.createElementNS(SVG, "text");
    said.setAttribute("x", String(box.x + box.width - 22));
    said.setAttribute("y", String(box.y + 32));
    said.textContent = words;
    mark.append(said);
  }
  square.ownerSVGElement.append(mark);
}

export function playByTapping() {
  const panel = document.getElementById("tapping");
  if (!panel) return;
  const board = document.getElementById("board");
  const part = (name) => panel.querySelector(`[data-part="${name}"]`);
  // The newest answer, and the taps before each tap, by which it is undone; null while nobody taps.
  let now = null;
  let undone = [];
  // What was tapped and no longer fits, in a sentence; until the next tap.
  let lost = "";
  let newest = null;
  let asked = 0;
  // Each tap waits for the answer to the one before: a quick second one counts from there.
  /** @type {Promise<any>} */
  let before = Promise.resolve();

  // Choices that stay are not replaced, so that none is lost under the finger.
  const offer = (choices) => {
    const offered = JSON.stringify(choices);
    if (part("choices").dataset.offered === offered) return;
    part("choices").dataset.offered = offered;
    part("choices").replaceChildren(
      ...choices.map(({ tap, words }) => {
        const choice = Object.assign(document.createElement("button"), { type: "button", textContent: words });
        choice.addEventListener("click", () =>
          afterwards(() => now?.choices.some((each) => each.tap === tap) && add(tap)),
        );
        return choice;
      }),
    );
  };
  const show = () => {
    board.querySelectorAll(".tap-mark").forEach((each) => each.remove());
    panel.hidden = !now;
    const isLit = new Set(now?.squares);
    const byPlace = new Map(squaresOf(board).map((square) => [placeOf(square), square]));
    if (now) for (const [place, square] of byPlace) square.setAttribute("aria-disabled", String(!isLit.has(place)));
    prepare(Boolean(now));
    if (!now) return;
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
    const next = !now.choices.length ? "tap on" : now.squares.length ? "tap either" : "tap what";
    const told = now.turn?.words ?? word(isOver ? "tap none" : now.taps.length ? next : "tap first");
    part("told").textContent = [lost, told].filter(Boolean).join(" ");
    offer(now.choices);
    const play = part("play");
    // After an event the turn on offer is that of the table before, until the referee has seen the taps again.
    play.hidden = !now.turn || now.event_number !== newest.event_number;
    for (const name of ["text", "player"]) play.elements[name].value = now.turn?.[name] ?? "";
    play.elements.seen.value = now.event_number;
    part("back").hidden = !undone.length;
  };
  // Asks what may follow these taps: true if they are still part of a turn, null if there is no answer.
  const ask = async (taps) => {
    const number = ++asked;
    // Until the answer comes, the turn on offer is that of the tap before.
    part("play").hidden = true;
    const answer = await fetch(`/api/tapped?taps=${encodeURIComponent(taps.join())}`).catch(() => null);
    const told = answer?.ok ? await answer.json().catch(() => null) : null;
    // Ignore an answer after tapping was left meanwhile.
    if (number !== asked) return null;
    if (told) now = told;
    const isRefused = answer?.status === 422;
    // Without a network the banner says so.
    if (!isRefused) show();
    return told ? true : isRefused ? false : null;
  };
  const begin = async (first) => {
    [undone, lost] = [[], ""];
    const fits = await ask([]);
    if (fits && first && now.squares.includes(first)) await add(first);
    return fits;
  };
  const add = async (tap) => {
    const taps = now.taps;
    lost = "";
    const fits = await ask([...taps, tap]);
    if (fits) undone.push(taps);
    if (fits === false) await askAgain();
    else show();
  };
  // The table may have changed: the taps stay as far as they still fit.
  const askAgain = async () => {
    if (!now) return;
    let [taps, kept, misfit] = [now.taps, undone.length, ""];
    let fits = await ask(taps);
    while (fits === false && kept) {
      misfit = taps.at(-1);
      taps = undone[--kept];
      fits = await ask(taps);
    }
    if (!fits) return;
    undone.length = kept;
    if (misfit) lost = word("tap lost", { tap: misfit, news: newest.words });
    show();
  };
  // One that fails is reported, and holds up none of those after it.
  const afterwards = (deed) => {
    const done = before.then(deed);
    before = done.catch(() => undefined);
    return done;
  };
  const leave = () => {
    asked++;
    now = null;
    show();
  };
  const choose = async (square) => {
    const place = placeOf(square);
    if (!now) await begin();
    if (now?.squares.includes(place)) await add(place);
  };
  const prepare = squareButtons(board, (square) => afterwards(() => choose(square)));

  document.addEventListener("click", async ({ target }) => {
    const deed = target.closest("[data-deed=tap]");
    if (!deed) return;
    await afterwards(() => begin(deed.dataset.tap));
    board.scrollIntoView({ block: "nearest" });
    squaresOf(board)
      .find((square) => square.tabIndex === 0)
      ?.focus({ preventScroll: true });
  });
  part("back").addEventListener("click", () =>
    afterwards(async () => {
      lost = "";
      if (now && undone.length && (await ask(undone.at(-1)))) undone.pop();
      show();
    }),
  );
  part("leave").addEventListener("click", leave);
  panel.addEventListener("done", leave);
  document.addEventListener("keydown", ({ key }) => key === "Escape" && now && leave());
  onTable((table) => {
    newest = table;
    show();
    if (now && now.event_number !== table.event_number) afterwards(askAgain);
  });
}
