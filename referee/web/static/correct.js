// Squares are chosen by tapping them, or by Tab or arrows and Enter; then what stands there; as many as are wrong.
import { onTable } from "./live.js";
import { placeOf, squareButtons, squaresOf } from "./squares.js";
import { word } from "./words.js";

export function chooseSquares() {
  const board = document.getElementById("board");
  const form = document.querySelector("[data-correct]");
  const field = form.elements.place;
  const changes = document.getElementById("changes");
  const told = document.getElementById("chosen");
  const askForSquare = told.textContent;
  form.querySelector(".plain").remove();

  const mark = () => {
    for (const square of squaresOf(board)) {
      const place = placeOf(square);
      square.classList.toggle("chosen", place === field.value);
      square.classList.toggle("changed", Boolean(form.elements[`looks.${place}`]));
    }
  };
  const askForLook = () => {
    const isSquare = squaresOf(board).some((square) => placeOf(square) === field.value);
    told.textContent = isSquare ? word("chosen", { place: field.value }) : askForSquare;
    for (const each of form.elements.look) each.checked = false;
    mark();
  };
  const choose = (square) => {
    field.value = placeOf(square);
    askForLook();
    form.elements.look[0].focus();
  };
  const change = () => {
    const place = field.value;
    const look = [...form.elements.look].find((each) => each.checked);
    if (!place || !look) return;
    form.elements[`looks.${place}`]?.closest("li").remove();
    const line = document.createElement("li");
    const kept = Object.assign(document.createElement("input"), { type: "hidden", name: `looks.${place}`, value: look.value });
    const leave = Object.assign(document.createElement("button"), { type: "button", textContent: "×" });
    leave.setAttribute("aria-label", word("leave out", { place }));
    leave.addEventListener("click", () => {
      line.remove();
      askForLook();
    });
    line.append(`${place}: ${look.parentNode.textContent.trim()} `, kept, leave);
    changes.append(line);
    told.textContent = line.firstChild.textContent;
    mark();
  };
  const prepare = squareButtons(board, choose);

  field.addEventListener("input", askForLook);
  form.addEventListener("change", ({ target }) => target.name === "look" && change());
  form.addEventListener("done", () => {
    changes.replaceChildren();
    askForLook();
  });
  onTable(() => {
    prepare();
    mark();
  });
  prepare();
  mark();
}
