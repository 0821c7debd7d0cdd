// Says verdicts and turns aloud, where that is switched on and the hour is not quiet; a hint only where it was asked for.
import { onTable } from "./live.js";
import { isQuiet, setting } from "./settings.js";

function say(words) {
  if (!setting("voice") || isQuiet()) return;
  const saying = new SpeechSynthesisUtterance(words);
  saying.lang = document.documentElement.lang;
  speechSynthesis.cancel();
  speechSynthesis.speak(saying);
}

export function speak() {
  if (!("speechSynthesis" in window)) return;
  let last = null;
  onTable((table, before) => {
    // Whose turn has come is told so by name.
    const isYours = before !== null && table.your_turn && !before.your_turn;
    const words = isYours ? `${table.verdict?.sentence ?? ""} ${table.your_turn}` : (table.outcome ?? table.words);
    // What is said without a sound or any change is for whoever pressed something.
    const isNew = (name) => JSON.stringify(table[name]) !== JSON.stringify(before[name]);
    const isNews =
      before !== null && (table.sound !== "silence" || ["event_number", "verdict", "next", "trouble"].some(isNew));
    if (isNews && words && words !== last && words !== table.hint) say(words);
    last = words;
  });
  document.addEventListener("hint", ({ detail }) => say(detail));
}
