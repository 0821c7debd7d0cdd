// The turns that begin with what is typed, in words to tap; and what may be rolled or announced now.
import { onTable } from "./live.js";
import { word } from "./words.js";

export function offerTurns() {
  const typed = document.querySelector("[list=turns]");
  const listed = document.createElement("div");
  const more = document.getElementById("more");
  const announcing = document.getElementById("announcing");
  const rolled = document.getElementById("rolled");
  let asked = 0;

  const rowOf = ({ text, words }) => {
    const row = Object.assign(document.createElement("button"), { type: "button", value: text });
    row.append(words, Object.assign(document.createElement("small"), { textContent: text }));
    return row;
  };
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
    listed.replaceChildren(...offered.turns.map(rowOf));
    if (!typed.value) typed.placeholder = offered.turns[0]?.text ?? "";
    more.textContent =
      offered.more === 1 ? word("one more turn", { count: 1 }) : word("more turns", { count: offered.more });
    more.hidden = !offered.more;
    offerAnnouncements(offered.announcements);
  };

  const given = document.getElementById("turns");
  listed.replaceChildren(...[...given.options].map(({ value, text }) => rowOf({ text: value, words: text })));
  listed.id = given.id;
  given.replaceWith(listed);
  typed.removeAttribute("list");
  typed.addEventListener("input", offer);
  listed.addEventListener("click", ({ target }) => {
    const row = target.closest("button");
    if (!row) return;
    typed.value = row.value;
    typed.form.querySelector(".strong").focus();
    offer();
  });
  onTable((table, before) => {
    // The page already has the turns of the first document.
    if (before === null) return;
    if (rolled) rolled.parentNode.open = !table.awaits_turn;
    offer();
  });
}
