// The table beside the form while somebody types, the turns that begin with what was typed, and what may be announced.
import { onTable } from "./live.js";
import { word } from "./words.js";

export function offerTurns() {
  const typed = document.querySelector("[list=turns]");
  const more = document.getElementById("more");
  const announcing = document.getElementById("announcing");
  let asked = 0;

  const offerAnnouncements = (announcements) => {
    const choice = announcing.elements.text;
    const chosen = choice.value;
    choice.replaceChildren(...announcements.map(({ text, words }) => new Option(words, text, false, text === chosen)));
    announcing.hidden = !announcements.length;
  };

  const offer = async () => {
    const number = ++asked;
    const answer = await fetch(`/api/turns?begins=${encodeURIComponent(typed.value)}`).catch(() => null);
    if (!answer?.ok || number !== asked) return;
    const offered = await answer.json();
    const options = offered.turns.map(({ text, words }) => Object.assign(new Option(words), { value: text }));
    document.getElementById("turns").replaceChildren(...options);
    if (!typed.value) typed.placeholder = offered.turns[0]?.text ?? "";
    more.textContent = offered.more === 1 ? word("one more turn", { count: 1 }) : word("more turns", { count: offered.more });
    more.hidden = !offered.more;
    if (announcing) offerAnnouncements(offered.announcements);
  };
  typed.addEventListener("input", offer);
  onTable((table, before) => {
    // The page already has the turns of the first document.
    if (before !== null) offer();
  });
}
