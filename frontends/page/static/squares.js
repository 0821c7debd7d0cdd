// The squares of a board as buttons: tapped, or reached by Tab and arrows and chosen by Enter.

const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export const placeOf = (square) => square.id.replace("place-", "");
export const squaresOf = (board) => [...board.querySelectorAll(".places [id]")];

const isOff = (square) => square.getAttribute("aria-disabled") === "true";

// The next square that way that may be chosen; of several the nearest, and of those that in the same row or column.
function beside(square, key) {
  const middle = (each) => {
    const { x, y, width, height } = each.getBoundingClientRect();
    return [x + width / 2, y + height / 2];
  };
  const [right, down] = STEPS[key];
  const [x, y] = middle(square);
  const far = (each) => {
    const [dx, dy] = [middle(each)[0] - x, middle(each)[1] - y];
    const [along, across] = [dx * right + dy * down, Math.abs(dx * down) + Math.abs(dy * right)];
    return along > 1 && across <= along + 1 ? along + 2 * across : Infinity;
  };
  const others = squaresOf(square.closest(".drawn")).filter((each) => !isOff(each));
  const next = others.reduce((best, each) => (far(each) < far(best) ? each : best), square);
  return far(next) < Infinity ? next : square;
}

// Calls `choose(square)` for each that is tapped. Returns a function that turns a new drawing's squares into buttons,
// or back.
export function squareButtons(board, choose) {
  const reach = (square) => {
    for (const each of squaresOf(board)) each.setAttribute("tabindex", each === square ? "0" : "-1");
  };
  let reached = "";
  board.addEventListener("click", ({ target }) => target.matches(".places [id]") && choose(target));
  board.addEventListener("focusin", ({ target }) => (reached = target.id));
  board.addEventListener("keydown", (event) => {
    const square = event.target;
    if (!square.matches(".places [id][role=button]")) return;
    if (event.key === "Enter" || event.key === " ") choose(square);
    else if (event.key in STEPS) {
      const next = beside(square, event.key);
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
      } else {
        square.setAttribute("role", "img");
        square.removeAttribute("tabindex");
      }
    }
    if (!areButtons) return;
    const squares = squaresOf(board);
    reach(squares.find((each) => each.id === reached) ?? squares.find((each) => !isOff(each)) ?? squares[0]);
  };
}
