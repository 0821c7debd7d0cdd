// The table as it changes: one stream of documents, and a plain word while the referee is away.
import { word } from "./words.js";

const RETRY_MS = 2000;
const channel = new EventTarget();

// Calls `hear(document, before)` with each document; `before` is null for the first one.
export function onTable(hear) {
  channel.addEventListener("table", ({ detail }) => hear(detail.table, detail.before));
}

export function follow() {
  const banner = document.getElementById("connection");
  let newest = null;
  let stream;

  const open = () => {
    stream = new EventSource("/api/events");
    stream.addEventListener("table", ({ data }) => {
      const table = JSON.parse(data);
      document.documentElement.dataset.live = table.event_number;
      banner.hidden = true;
      const before = newest;
      newest = table;
      channel.dispatchEvent(new CustomEvent("table", { detail: { table, before } }));
    });
    stream.addEventListener("error", () => {
      delete document.documentElement.dataset.live;
      banner.textContent = word("away");
      banner.hidden = false;
      // A browser gives up for good on a refused connection; we don't.
      if (stream.readyState === EventSource.CLOSED) setTimeout(openAgain, RETRY_MS);
    });
  };
  const openAgain = async () => {
    // A device that was unpaired is told how to be paired again.
    const answer = await fetch("/api/session").catch(() => null);
    if (answer?.status === 401) location.assign("/pair");
    else open();
  };
  open();
  addEventListener("pagehide", () => stream.close());
  addEventListener("pageshow", ({ persisted }) => persisted && open());
}
