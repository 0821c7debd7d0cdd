// The table as it changes: one stream sends what is new, and the parts of the page to show it. While the referee is away
// the page says since when, and shows the last table.
import { keep, recall } from "./kept.js";
import { morph } from "./morph.js";
import { word } from "./words.js";

const RETRY_MS = 1000;
const ANSWER_MS = 5000;
// The referee sends something every 15 s, so a longer silence means that the connection is lost.
const SILENCE_MS = 40000;
const channel = new EventTarget();

// Calls `hear(table, before)` with each table, once its parts are in the page; `before` is null for the first one.
/** @param {(table: Table, before: Table | null) => void} hear */
export function onTable(hear) {
  channel.addEventListener("table", ({ detail }) => hear(detail.table, detail.before));
}

function timeOf(moment) {
  const isToday = new Date(moment).toDateString() === new Date().toDateString();
  /** @type {Intl.DateTimeFormatOptions} */
  const style = { timeStyle: "short", ...(isToday ? {} : { dateStyle: "medium" }) };
  return new Intl.DateTimeFormat(document.documentElement.lang, style).format(moment);
}

export function follow() {
  const banner = document.getElementById("connection");
  // The names of the parts that this page has, the version of the table in them, and its game.
  const { parts = "", version = 0, game } = document.getElementById("parts")?.dataset ?? {};
  const elements = () =>
    parts
      .split(" ")
      .map((name) => document.getElementById(name))
      .filter(Boolean);
  let newest = null;
  let heardAt = null;
  let stream = null;
  let retry;
  let silence;

  const show = (table, changed) => {
    const before = newest;
    newest = table;
    for (const [name, markup] of Object.entries(changed)) {
      const element = document.getElementById(name);
      if (element) morph(element, markup);
    }
    channel.dispatchEvent(new CustomEvent("table", { detail: { table, before } }));
  };
  const keepNewest = () => {
    if (heardAt === null) return;
    const shown = Object.fromEntries(elements().map((element) => [element.id, element.outerHTML]));
    keep("table", { table: newest, heardAt, parts: { ...recall("table")?.parts, ...shown } });
  };
  const hearOf = (told) => {
    heardAt = Date.now();
    clearTimeout(silence);
    silence = setTimeout(lose, SILENCE_MS);
    if (!told) return;
    if ((newest?.game.name ?? game ?? told.table.game.name) !== told.table.game.name) {
      // A page of another kind of game has other parts. A form that was refused is not sent again.
      heardAt = null;
      keep("table", null);
      location.replace(location.pathname + location.search);
      return;
    }
    show(told.table, told.parts);
    document.documentElement.dataset.live = told.table.event_number;
    banner.hidden = true;
  };
  const lose = () => {
    stream.close();
    clearTimeout(silence);
    clearTimeout(retry);
    retry = setTimeout(openAgain, RETRY_MS);
    delete document.documentElement.dataset.live;
    keepNewest();
    const kept = recall("table");
    if (newest === null && kept?.parts) show(kept.table, kept.parts);
    banner.textContent = kept ? word("away", { time: timeOf(kept.heardAt) }) : word("unreached");
    banner.hidden = false;
  };
  const open = () => {
    clearTimeout(retry);
    stream?.close();
    // The page itself shows this version; after a break it may be that of another game.
    const shown = newest === null ? version : 0;
    stream = new EventSource(`/api/events?${new URLSearchParams({ parts: parts.split(" ").join(), version: shown })}`);
    stream.addEventListener("parts", ({ data }) => hearOf(JSON.parse(data)));
    stream.addEventListener("here", () => hearOf(null));
    stream.addEventListener("error", lose);
  };
  const openAgain = async () => {
    const answer = await fetch("/api/session", { signal: AbortSignal.timeout(ANSWER_MS) }).catch(() => null);
    if (answer === null) lose();
    else if (answer.status !== 401) open();
    // This device was unpaired; the pairing page says what to do.
    else location.assign("/pair");
  };
  open();
  addEventListener("offline", lose);
  addEventListener("online", open);
  addEventListener("pagehide", () => {
    keepNewest();
    clearTimeout(retry);
    clearTimeout(silence);
    stream.close();
  });
  addEventListener("pageshow", ({ persisted }) => persisted && open());
}
