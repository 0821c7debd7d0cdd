// The players' clocks, counted on from what the newest document says until the next one comes.
import { onTable } from "./live.js";
import { word } from "./words.js";

const EVERY_MS = 200;
const LAST_S = 20;
const tenths = new Intl.NumberFormat(document.documentElement.lang, {
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});

export function face(seconds) {
  const shown = Math.max(0, seconds);
  if (shown < LAST_S) return tenths.format(shown);
  const whole = Math.ceil(shown);
  const parts = [Math.floor(whole / 60) % 60, whole % 60];
  if (whole >= 3600) parts.unshift(Math.floor(whole / 3600));
  return parts.map((part, place) => (place ? String(part).padStart(2, "0") : part)).join(":");
}

// What is left to a player `elapsed` seconds after the document came.
export function left(clock, player, elapsed) {
  const now = clock.remaining_s[player];
  if (clock.paused) return now;
  const lost = clock.running.includes(player) ? Math.max(0, elapsed - (clock.delay_s[player] ?? 0)) : 0;
  return Math.max(0, now - lost);
}

export function runClocks() {
  let clock = null;
  let since = 0;
  const show = () => {
    if (!clock) return;
    const elapsed = (performance.now() - since) / 1000;
    for (const line of document.querySelectorAll("#players [data-player]")) {
      const part = line.querySelector("[data-part=clock]");
      const has = line.dataset.player in clock.remaining_s;
      const fell = clock.fallen.includes(line.dataset.player);
      part.classList.toggle("fallen", fell);
      part.textContent = fell ? word("fallen") : has ? face(left(clock, line.dataset.player, elapsed)) : "";
    }
  };
  onTable((table) => {
    clock = table.clock;
    since = performance.now();
    show();
  });
  setInterval(show, EVERY_MS);
}
