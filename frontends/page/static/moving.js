// Moves the pieces of the last turn on the screen as they moved on the table, where a person has not asked for less motion.
import { onTable } from "./live.js";

const MOVE_MS = 450;
const calm = matchMedia("(prefers-reduced-motion: reduce)");

function middle(board, place) {
  const square = board.querySelector(`#${CSS.escape(`place-${place}`)}`)?.getBBox();
  return square && { x: square.x + square.width / 2, y: square.y + square.height / 2 };
}

// Each piece that has moved says from where: `data-from`, beside its own `data-place`.
export function animateMoves(board) {
  if (calm.matches) return;
  for (const piece of board.querySelectorAll("[data-from]")) {
    const [from, to] = [piece.dataset.from, piece.dataset.place].map((place) => middle(board, place));
    if (!from || !to) continue;
    const start = `translate(${from.x - to.x}px, ${from.y - to.y}px)`;
    piece.animate({ transform: [start, "none"] }, { duration: MOVE_MS, easing: "ease-in-out", composite: "add" });
  }
}

export function movePieces() {
  const board = document.getElementById("board");
  onTable((table, before) => {
    if (before && table.game.number === before.game.number && table.turns > before.turns) animateMoves(board);
  });
}
