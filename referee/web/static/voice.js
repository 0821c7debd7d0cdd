// Says verdicts and turns aloud, where that is switched on and the hour is not quiet.
import { onTable } from "./live.js";
import { isQuiet, setting } from "./settings.js";

export function speak() {
  if (!("speechSynthesis" in window)) return;
  let last = null;
  onTable((table, before) => {
    const words = table.outcome ?? table.words;
    const isNews = before !== null && words && words !== last;
    last = words;
    if (!isNews || !setting("voice") || isQuiet()) return;
    const saying = new SpeechSynthesisUtterance(words);
    saying.lang = document.documentElement.lang;
    speechSynthesis.cancel();
    speechSynthesis.speak(saying);
  });
}
