// A piece of the palette goes onto the square that was tapped before it, or onto each that is tapped after it.
import { onTable } from "./live.js";
import { placeOf, squareButtons, squaresOf } from "./squares.js";
import { word } from "./words.js";

export function chooseSquares() {
  const board = document.getElementById("board");
  const form = document.querySelector("[data-correct]");
  const changes = document.getElementById("changes");
  const told = document.getElementById("chosen");
  const [undo, send] = form.querySelectorAll(".palette .buttons button");
  const asking = told.textContent;
  // What was changed, in order; a square may occur again.
  let steps = [];
  let square = null;
  let piece = null;

  const squareAt = (place) => squaresOf(board).find((each) => placeOf(each) === place);
  const nameOfSquare = (place) => place.split(".").at(-1);
  const said = (place, look) => `${nameOfSquare(place)}: ${nameOf(look)}`;
  const nameOf = (look) => pieces.find(({ value }) => value === look).title;

  // The piece as it will stand there, over what is drawn now.
  const drawnOn = (under, look) => {
    const { x, y, width, height } = under.getBBox();
    const drawn = document.createElementNS("http://www.w3.org/2000/svg", "g");
    const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    const top = pieces
      .find(({ value }) => value === look)
      .querySelector("svg")
      .cloneNode(true);
    drawn.classList.add("put");
    for (const [name, value] of Object.entries({ x, y, width, height }))
      for (const each of [ground, top]) each.setAttribute(name, value);
    drawn.append(ground, top);
    return drawn;
  };
  const show = () => {
    const latest = new Map(steps);
    for (const old of board.querySelectorAll(".put")) old.remove();
    for (const each of squaresOf(board)) each.classList.toggle("chosen", placeOf(each) === square);
    for (const [place, look] of latest) {
      const under = squareAt(place);
      under?.ownerSVGElement.append(drawnOn(under, look));
    }
    for (const each of pieces) each.setAttribute("aria-pressed", String(each === piece));
    changes.replaceChildren(
      ...[...latest].map(([place, look]) => {
        const line = document.createElement("li");
        line.append(
          said(place, look),
          Object.assign(document.createElement("input"), { type: "hidden", name: `looks.${place}`, value: look }),
        );
        return line;
      }),
    );
    changes.previousElementSibling.textContent = word(latest.size === 1 ? "one change" : "changes", {
      count: latest.size,
    });
    changes.parentNode.hidden = undo.hidden = !steps.length;
    send.disabled = !steps.length && !form.elements.to_move.value;
    if (square) told.textContent = word("chosen", { place: nameOfSquare(square) });
    else if (piece) told.textContent = word("piece", { piece: nameOf(piece.value) });
    else told.textContent = steps.length ? said(...steps.at(-1)) : asking;
  };
  const put = (place, look) => {
    steps.push([place, look]);
    square = null;
    show();
  };
  const tapSquare = (tapped) => {
    if (piece) {
      put(placeOf(tapped), piece.value);
      return;
    }
    square = square === placeOf(tapped) ? null : placeOf(tapped);
    show();
    if (square) pieces[0].focus({ preventScroll: true });
    tapped.scrollIntoView({ block: "nearest", inline: "nearest" });
  };
  const tapPiece = (tapped) => {
    if (square) {
      const back = squareAt(square);
      put(square, tapped.value);
      back?.focus({ preventScroll: true });
      return;
    }
    piece = piece === tapped ? null : tapped;
    show();
  };

  for (const each of form.querySelectorAll(".plain")) each.remove();
  const pieces = [...form.querySelectorAll(".pieces label")].map((label) => {
    const button = Object.assign(document.createElement("button"), { type: "button", value: label.control.value });
    button.title = label.querySelector("span").textContent;
    button.append(...label.querySelectorAll("i, span"));
    button.addEventListener("click", () => tapPiece(button));
    label.replaceWith(button);
    return button;
  });
  const prepare = squareButtons(board, tapSquare);

  undo.addEventListener("click", () => {
    steps.pop();
    square = null;
    show();
  });
  form.addEventListener("change", show);
  form.addEventListener("done", () => {
    steps = [];
    square = piece = null;
    show();
  });
  onTable((table, before) => {
    // What was changed is meant for its own game.
    if (before && before.game.number !== table.game.number) steps = [];
    prepare();
    show();
  });
  prepare();
  show();
}
