// The table beside the form while somebody types, and the turns that are offered, as the game goes on.
import { onTable } from "./live.js";
import { draw } from "./table.js";

const parser = new DOMParser();

export function offerTurns() {
  const board = document.getElementById("board");
  onTable(async (table, before) => {
    draw(board, table.board);
    // What the page came with holds until the first change.
    if (before === null) return;
    const answer = await fetch("/enter").catch(() => null);
    if (!answer?.ok) return;
    const offered = parser.parseFromString(await answer.text(), "text/html");
    document.getElementById("turns").replaceWith(offered.getElementById("turns"));
    document.querySelector("[list=turns]").placeholder = offered.querySelector("[list=turns]").placeholder;
  });
}
