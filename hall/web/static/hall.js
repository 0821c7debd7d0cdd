// The hall's pages as they change: one stream says that the page has something new, which is then fetched and morphed in.
// Without this file the floor is loaded again every 15 s, and forms load the next page.
import { face } from "./clocks.js";
import { morph } from "./morph.js";
import { placeOf, squareButtons, squaresOf } from "./squares.js";
import { word } from "./words.js";

const RETRY_MS = 2000;
const TICK_MS = 200;
const WALL_PAGE_MS = 12000;
const HTML = { Accept: "text/html" };
const main = document.getElementById("main");
const mark = () => document.getElementById("mark");
let shownAt = performance.now();
let fetching = null;
let isStale = false;
let newest = "";

// What a person typed stays until its form is answered, and so does why it was refused.
const TYPED = "#refused, [data-kept], [data-touched] :is(input:not([type=hidden]), select, textarea)";
const isTyped = (node) => node instanceof Element && node.matches(TYPED);

function show(text) {
  const next = new DOMParser().parseFromString(text, "text/html").getElementById("main");
  morph(main, next.outerHTML, isTyped);
  shownAt = performance.now();
  tick();
  prepare();
}

async function refresh() {
  if (fetching) {
    isStale = true;
    return;
  }
  fetching = fetch(location.href, { headers: HTML }).catch(() => null);
  const answer = await fetching;
  // This device was unpaired; the pairing page says what to do.
  if (answer?.redirected && new URL(answer.url).pathname === "/pair") location.assign("/pair");
  else if (answer?.ok) show(await answer.text());
  fetching = null;
  const isBehind = isStale && newest !== mark().dataset.mark;
  isStale = false;
  if (isBehind) await refresh();
}

function follow() {
  const banner = document.getElementById("connection");
  const asked = new URLSearchParams({ page: mark().dataset.page, after: mark().dataset.mark });
  const stream = new EventSource(`/changes?${asked}`);
  const heard = () => {
    banner.hidden = true;
    document.documentElement.dataset.live = "yes";
  };
  stream.addEventListener("here", heard);
  stream.addEventListener("mark", ({ data }) => {
    heard();
    newest = data;
    if (data !== mark().dataset.mark) refresh();
  });
  stream.addEventListener("error", async () => {
    stream.close();
    [banner.textContent, banner.hidden] = [mark().dataset.away, false];
    const answer = await fetch("/", { method: "HEAD" }).catch(() => null);
    if (answer?.redirected || answer?.status === 401) location.assign("/pair");
    else setTimeout(follow, RETRY_MS);
  });
}

function tick() {
  for (const clock of document.querySelectorAll("[data-rate]")) {
    const elapsed = Math.max(0, (performance.now() - shownAt) / 1000 - clock.dataset.delay);
    clock.textContent = face(Number(clock.dataset.left) + clock.dataset.rate * elapsed);
  }
}

// What a form says, as a browser itself would send it.
function fieldsOf(form, submitter = null) {
  return new URLSearchParams(/** @type {any} */ (new FormData(form, submitter)));
}

// A form is sent without leaving the page: a refusal keeps everything as it is.
async function send(form, submitter) {
  const answer = await fetch(form.action, { method: "POST", headers: HTML, body: fieldsOf(form, submitter) }).catch(
    () => null,
  );
  if (answer === null) {
    const banner = document.getElementById("connection");
    [banner.textContent, banner.hidden] = [mark().dataset.away, false];
    return;
  }
  delete form.dataset.touched;
  document.getElementById("refused")?.remove();
  if (answer.redirected && new URL(answer.url).pathname !== mark().dataset.page) location.assign(answer.url);
  else if (answer.redirected) await refresh();
  else {
    show(await answer.text());
    document.getElementById("refused")?.scrollIntoView({ block: "center" });
  }
}

// Squares of the drawn board that are to be put right: tapped, then what stands there.
function putRight(board, form) {
  const [looks, changes] = [form.querySelector(".looks"), form.querySelector(".changes")];
  let chosen = "";
  const light = () => {
    for (const square of squaresOf(board)) {
      square.classList.toggle("chosen", placeOf(square) === chosen);
      square.classList.toggle("changed", Boolean(form.elements[`looks.${placeOf(square)}`]));
    }
    looks.hidden = !chosen;
    if (chosen) looks.querySelector("legend").textContent = word("chosen", { place: chosen });
  };
  const fold = form.closest("details");
  const buttons = squareButtons(board, (square) => {
    if (!fold.open) return;
    chosen = placeOf(square);
    for (const each of form.elements.chosen) each.checked = false;
    light();
    form.elements.chosen[0].focus();
  });
  const leave = (line) => {
    line.remove();
    light();
  };
  looks.addEventListener("change", ({ target }) => {
    form.elements[`looks.${chosen}`]?.closest("li").remove();
    const line = document.createElement("li");
    const kept = Object.assign(document.createElement("input"), {
      type: "hidden",
      name: `looks.${chosen}`,
      value: target.value,
    });
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: "×" });
    button.setAttribute("aria-label", word("leave out", { place: chosen }));
    button.addEventListener("click", () => leave(line));
    line.append(`${chosen}: ${target.parentNode.lastChild.textContent.trim()} `, kept, button);
    changes.append(line);
    target.checked = false;
    board.querySelector(`#${CSS.escape(`place-${chosen}`)}`).focus();
    chosen = "";
    light();
  });
  form.querySelector(".tap").hidden = false;
  form.querySelector(".plain").remove();
  form.querySelector(".squares").dataset.kept = "";
  fold.addEventListener("toggle", () => buttons(fold.open));
  return () => {
    buttons(fold.open);
    light();
  };
}

let showBoard = null;
function prepare() {
  const [board, form] = [document.getElementById("board"), document.querySelector("#correcting form")];
  if (board && form && !showBoard) {
    form.dataset.touched = "";
    showBoard = putRight(board, form);
  }
  showBoard?.();
}

function turnPages(wall) {
  const gap = () => parseFloat(getComputedStyle(wall).columnGap);
  setInterval(() => {
    const isLast = wall.scrollLeft + wall.clientWidth >= wall.scrollWidth - 2;
    wall.scrollTo({ left: isLast ? 0 : wall.scrollLeft + wall.clientWidth + gap() });
  }, WALL_PAGE_MS);
  // Only over HTTPS, or on the hall's own machine, may a page keep the screen on.
  const stayOn = () =>
    document.visibilityState === "visible" && navigator.wakeLock?.request("screen").catch(() => null);
  document.addEventListener("visibilitychange", stayOn);
  stayOn();
}

if (mark()) {
  const { page } = mark().dataset;
  // A form's refusal is no page that can be loaded again.
  if (location.pathname !== page) history.replaceState(null, "", page + location.search);
  prepare();
  setInterval(tick, TICK_MS);
  follow();
}
const wall = document.getElementById("wall");
if (wall) turnPages(wall);
main.addEventListener("input", ({ target }) => {
  if (target.form) target.form.dataset.touched = "";
});
main.addEventListener("submit", (event) => {
  if (event.target.method !== "post" || event.target.action.endsWith("/api/pair")) return;
  event.preventDefault();
  send(event.target, event.submitter);
});
