// The tables as they change, and clocks that run on. Without this file the page is loaded again every 15 s.
const RETRY_MS = 2000;
const tables = document.getElementById("tables");

function place(markup) {
  const holder = document.createElement("template");
  holder.innerHTML = markup.trim();
  const card = holder.content.firstElementChild;
  const before = document.getElementById(card.id);
  if (before) before.replaceWith(card);
  else tables.append(card);
  document.getElementById("none").hidden = true;
  note(card);
}

// Notes when each clock was shown; it runs on from there.
function note(within) {
  for (const clock of within.querySelectorAll("[data-rate]")) clock.shownAt = performance.now();
}

function tick() {
  for (const clock of document.querySelectorAll("[data-rate]")) {
    const elapsed = Math.max(0, (performance.now() - clock.shownAt) / 1000 - clock.dataset.delay);
    const left = Math.ceil(Math.max(0, Number(clock.dataset.left) + clock.dataset.rate * elapsed));
    const two = (part) => String(part).padStart(2, "0");
    const hours = Math.floor(left / 3600);
    const minutes = Math.floor(left / 60) % 60;
    clock.textContent = hours ? `${hours}:${two(minutes)}:${two(left % 60)}` : `${minutes}:${two(left % 60)}`;
  }
}

// Keeps the keyboard focus on a table although its card is replaced.
function withFocus(change) {
  const card = document.activeElement?.closest("#tables > li");
  change();
  if (card && !document.activeElement?.closest("#tables > li")) document.getElementById(card.id)?.querySelector("a").focus();
}

function sort(ids) {
  const cards = ids.map((id) => document.getElementById(`table-${id}`));
  if (cards.some((card, at) => tables.children[at] !== card)) tables.append(...cards);
}

function follow() {
  const stream = new EventSource(`/changes?after=${tables.dataset.version}`);
  stream.addEventListener("tables", ({ data }) => {
    const told = JSON.parse(data);
    document.getElementById("hall").hidden = true;
    document.getElementById("broker").hidden = told.connected;
    withFocus(() => {
      Object.values(told.cards).forEach(place);
      if (told.order) sort(told.order.split(" "));
    });
    document.documentElement.dataset.live = "yes";
  });
  stream.addEventListener("error", async () => {
    stream.close();
    tables.dataset.version = 0;
    document.getElementById("hall").hidden = false;
    const answer = await fetch("/", { method: "HEAD" }).catch(() => null);
    // This device was unpaired; the pairing page says what to do.
    if (answer?.status === 401) location.assign("/pair");
    else setTimeout(follow, RETRY_MS);
  });
}

note(document);
setInterval(tick, 250);
if (tables) follow();
