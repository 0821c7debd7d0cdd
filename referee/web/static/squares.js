// The squares of a board as buttons: tapped, or reached by Tab and arrows and chosen by Enter.
import { word } from "./words.js";

const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export const placeOf = (square) => square.id.replace("place-", "");
export const squaresOf = (board) => [...board.querySelectorAll(".places [id]")];

function beside(square, key) {
  const { x, y, width, height } = square.getBBox();
  const [right, down] = STEPS[key];
  return [...square.parentNode.querySelectorAll("[id]")].find((each) => {
    const box = each.getBBox();
    return Math.abs(box.x - x - right * width) < 1 && Math.abs(box.y - y - down * height) < 1;
  });
}

// Calls `choose(square)` for each that is tapped. Returns a function that turns a new drawing's squares into buttons,
// or back.
export function squareButtons(board, choose) {
  let held = "";
  const reach = (square) => {
    for (const each of squaresOf(board)) each.setAttribute("tabindex", each === square ? "0" : "-1");
  };
  board.addEventListener("click", ({ target }) => target.matches(".places [id]") && choose(target));
  board.addEventListener("focusin", ({ target }) => (held = target.id));
  board.addEventListener("focusout", ({ relatedTarget }) => relatedTarget && (held = ""));
  board.addEventListener("keydown", (event) => {
    const square = event.target;
    if (!square.matches(".places [id][role=button]")) return;
    if (event.key === "Enter" || event.key === " ") choose(square);
    else if (event.key in STEPS) {
      const next = beside(square, event.key) ?? square;
      reach(next);
      next.focus();
    } else return;
    event.preventDefault();
  });
  return (areButtons = true) => {
    for (const drawing of board.querySelectorAll("svg")) drawing.setAttribute("role", areButtons ? "group" : "img");
    for (const square of squaresOf(board)) {
      if (areButtons) {
        square.setAttribute("role", "button");
        square.setAttribute("aria-label", word("square", { place: placeOf(square) }));
      } else for (const name of ["role", "aria-label", "tabindex"]) square.removeAttribute(name);
    }
    if (!areButtons) return;
    // A drawing that was replaced takes the focus with it.
    const kept = squaresOf(board).find((each) => each.id === held);
    reach(kept ?? squaresOf(board)[0]);
    if (kept && document.activeElement === document.body) kept.focus({ preventScroll: true });
  };
}
