// Squares are chosen by tapping them, or by Tab or arrows and Enter; then what stands there; as many as are wrong.
import { onTable } from "./live.js";
import { draw } from "./table.js";
import { word } from "./words.js";

const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export function chooseSquares() {
  const board = document.querySelector("[data-tap]");
  const form = document.querySelector("[data-correct]");
  const field = form.elements.place;
  const changes = document.getElementById("changes");
  const told = document.getElementById("chosen");
  form.querySelector(".plain").remove();

  const squares = () => [...board.querySelectorAll(".places [id]")];
  const placeOf = (square) => square.id.replace("place-", "");
  const mark = () => {
    for (const square of squares()) {
      const place = placeOf(square);
      square.classList.toggle("chosen", place === field.value);
      square.classList.toggle("changed", Boolean(form.elements[`looks.${place}`]));
    }
  };
  const prepare = () => {
    for (const drawing of board.querySelectorAll("svg")) drawing.setAttribute("role", "group");
    for (const [number, square] of squares().entries()) {
      square.setAttribute("role", "button");
      square.setAttribute("aria-label", word("square", { place: placeOf(square) }));
      square.setAttribute("tabindex", number ? "-1" : "0");
    }
    mark();
  };
  const choose = (square) => {
    field.value = placeOf(square);
    told.textContent = word("chosen", { place: field.value });
    for (const each of form.elements.look) each.checked = false;
    mark();
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
      mark();
    });
    line.append(`${place}: ${look.parentNode.textContent.trim()} `, kept, leave);
    changes.append(line);
    told.textContent = line.firstChild.textContent;
    mark();
  };
  const moved = (square, key) => {
    const { x, y, width, height } = square.getBBox();
    const [right, down] = STEPS[key];
    return [...square.parentNode.querySelectorAll("[id]")].find((each) => {
      const box = each.getBBox();
      return Math.abs(box.x - x - right * width) < 1 && Math.abs(box.y - y - down * height) < 1;
    });
  };

  board.addEventListener("click", ({ target }) => target.matches(".places [id]") && choose(target));
  board.addEventListener("keydown", (event) => {
    const square = event.target;
    if (!square.matches(".places [id]")) return;
    if (event.key === "Enter" || event.key === " ") choose(square);
    else if (event.key in STEPS) {
      const next = moved(square, event.key) ?? square;
      square.setAttribute("tabindex", "-1");
      next.setAttribute("tabindex", "0");
      next.focus();
    } else return;
    event.preventDefault();
  });
  field.addEventListener("input", mark);
  form.addEventListener("change", ({ target }) => target.name === "look" && change());
  form.addEventListener("done", () => {
    changes.replaceChildren();
    mark();
  });
  onTable((table) => {
    draw(board, table.board);
    prepare();
  });
  prepare();
}
