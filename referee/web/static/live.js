// The table as it changes: one stream of documents. While the referee is away it says since when, and shows the last one.
import { keep, recall } from "./kept.js";
import { word } from "./words.js";

const RETRY_MS = 1000;
const ANSWER_MS = 5000;
// The referee sends something every 15 s, so a longer silence means that the connection is lost.
const SILENCE_MS = 40000;
const channel = new EventTarget();

// Calls `hear(document, before)` with each document; `before` is null for the first one.
export function onTable(hear) {
  channel.addEventListener("table", ({ detail }) => hear(detail.table, detail.before));
}

function timeOf(moment) {
  const isToday = new Date(moment).toDateString() === new Date().toDateString();
  const style = { timeStyle: "short", ...(isToday ? {} : { dateStyle: "medium" }) };
  return new Intl.DateTimeFormat(document.documentElement.lang, style).format(moment);
}

export function follow() {
  const banner = document.getElementById("connection");
  let newest = null;
  let heardAt = null;
  let stream = null;
  let retry;
  let silence;

  const show = (table) => {
    const before = newest;
    newest = table;
    channel.dispatchEvent(new CustomEvent("table", { detail: { table, before } }));
  };
  const keepNewest = () => heardAt !== null && keep("table", { table: newest, heardAt });
  const hearOf = (table) => {
    heardAt = Date.now();
    clearTimeout(silence);
    silence = setTimeout(lose, SILENCE_MS);
    if (!table) return;
    document.documentElement.dataset.live = table.event_number;
    banner.hidden = true;
    show(table);
  };
  const lose = () => {
    stream.close();
    clearTimeout(silence);
    clearTimeout(retry);
    retry = setTimeout(openAgain, RETRY_MS);
    delete document.documentElement.dataset.live;
    keepNewest();
    const kept = recall("table");
    if (newest === null && kept) show(kept.table);
    banner.textContent = kept ? word("away", { time: timeOf(kept.heardAt) }) : word("unreached");
    banner.hidden = false;
  };
  const open = () => {
    clearTimeout(retry);
    stream?.close();
    stream = new EventSource("/api/events");
    stream.addEventListener("table", ({ data }) => hearOf(JSON.parse(data)));
    stream.addEventListener("here", () => hearOf(null));
    stream.addEventListener("error", lose);
  };
  const openAgain = async () => {
    const answer = await fetch("/api/session", { signal: AbortSignal.timeout(ANSWER_MS) }).catch(() => null);
    if (answer === null) lose();
    else if (answer.status !== 401) open();
    else {
      // This device was unpaired; the pairing page says what to do.
      keep("table", null);
      location.assign("/pair");
    }
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
