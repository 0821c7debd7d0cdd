// Shows a game as a film: each step is the page of its position, of which the table and its words are taken over.
import { morph } from "./morph.js";
import { animateMoves } from "./moving.js";

const KEPT = ["board", "then", "evidence"];
const MOST_LOOKS = 300;
const parser = new DOMParser();

async function pageOf(address) {
  const answer = await fetch(address).catch(() => null);
  return answer?.ok ? parser.parseFromString(await answer.text(), "text/html") : null;
}

// Changes these elements into those of another page.
function takeOver(page, ids) {
  for (const id of ids) morph(document.getElementById(id), page.getElementById(id).outerHTML);
}

export function stepThrough() {
  const steps = document.getElementById("steps");
  const film = steps.dataset.film.split(" ").filter(Boolean).map(Number);
  const range = steps.querySelector("[type=range]");
  const speed = steps.querySelector("select");
  const ways = document.getElementById("ways");
  const play = ways.querySelector("[data-play]");
  const words = { play: play.textContent, stop: play.dataset.stop };
  const pages = new Map();
  let at = Number(steps.dataset.at);
  let isPlaying = false;
  let timer;

  // A page is fetched once while it is near.
  const fetched = (index) => {
    if (!pages.has(index)) pages.set(index, pageOf(`/history/${film[index]}`));
    for (const kept of pages.keys()) if (Math.abs(kept - index) > 3) pages.delete(kept);
    return pages.get(index);
  };
  const tell = () => {
    play.textContent = isPlaying ? words.stop : words.play;
    range.value = at;
  };
  const stop = () => {
    clearTimeout(timer);
    isPlaying = false;
    tell();
  };
  const show = async (index) => {
    clearTimeout(timer);
    const isOn = index > at;
    at = Math.min(Math.max(index, 0), film.length - 1);
    const wanted = at;
    tell();
    const page = await fetched(wanted);
    // Another step was chosen meanwhile.
    if (wanted !== at) return;
    // Without a network; the banner says so.
    if (!page) {
      pages.delete(wanted);
      return stop();
    }
    takeOver(page, KEPT);
    // Backwards nothing moves as it did on the table.
    if (isOn) animateMoves(document.getElementById("board"));
    for (const way of ["prev", "next"]) {
      const href = page.querySelector(`#ways [rel=${way}]`).getAttribute("href");
      const link = ways.querySelector(`[rel=${way}]`);
      if (href) link.setAttribute("href", href);
      else link.removeAttribute("href");
    }
    steps.dataset.at = at;
    // The film is one place in the browser's history.
    history.replaceState(null, "", `/history/${film[at]}`);
    if (!isPlaying) return;
    if (at === film.length - 1) return stop();
    fetched(at + 1);
    timer = setTimeout(() => show(at + 1), speed.value * 1000);
  };
  const begin = () => {
    isPlaying = true;
    // From the end it begins again.
    show(at === film.length - 1 ? 0 : at);
  };
  const move = (by) => {
    stop();
    show(at + by);
  };

  if (!film.length) return;
  ways.addEventListener("click", (event) => {
    const link = event.target.closest("a[rel]");
    if (!link) return;
    event.preventDefault();
    if (link.hasAttribute("href")) move(link.rel === "next" ? 1 : -1);
  });
  range.addEventListener("input", () => move(range.value - at));
  play.addEventListener("click", () => (isPlaying ? stop() : begin()));
  document.addEventListener("keydown", (event) => {
    if (
      /** @type {any} */ (event.target).matches("input, select, textarea") ||
      event.ctrlKey ||
      event.altKey ||
      event.metaKey
    )
      return;
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    move(by);
  });
  for (const part of [play, ...steps.querySelectorAll(".scrub")]) part.hidden = false;
  tell();
  if (location.hash === "#film") begin();
}

// While something is worked out, the page is looked at again every second, for as long as it may take at most.
export function awaitWork(left = MOST_LOOKS) {
  const work = document.querySelector("[data-working]");
  if (!work || !left) return;
  setTimeout(async () => {
    const page = await pageOf(location.href);
    const fresh = page?.getElementById(work.id);
    if (fresh) work.replaceWith(document.adoptNode(fresh));
    awaitWork(left - 1);
  }, 1000);
}
