// What the dice show, tapped: each die is a button that goes through its faces.
import { onTable } from "./live.js";
import { word } from "./words.js";

const STEPS = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1 };
const SVG = "http://www.w3.org/2000/svg";
const signOf = (face) => (face === "*" ? "★" : face);

export function rollByTapping() {
  const panel = document.getElementById("rolling");
  if (!panel) return;
  const part = (name) => panel.querySelector(`[data-part="${name}"]`);
  const form = panel.querySelector("form");
  let asked = 0;
  let shown = "";
  let read = "";
  let areTiles = false;

  const tell = () => {
    const faces = [...part("dice").children].map((die) => die.dataset.face);
    const isWhole = faces.every(Boolean);
    form.elements.text.value = faces.join();
    // What the camera read needs no confirmation, only a correction.
    form.hidden = !isWhole || faces.join() === read;
    const told = areTiles ? "tiles" : "dice";
    part("told").textContent = isWhole ? word(told, { faces: faces.map(signOf).join(", ") }) : word(`tap ${told}`);
  };
  const dieOf = (shapes, { name, faces, shown: face }, at) => {
    const die = document.createElement("button");
    const [label, sign, unsaid] = ["small", "b", "span"].map((tag) => document.createElement(tag));
    const [drawn, path] = ["svg", "path"].map((tag) => document.createElementNS(SVG, tag));
    const show = (now) => {
      die.dataset.face = now;
      sign.textContent = now ? signOf(now) : "?";
      path.setAttribute("d", shapes[now] ?? "");
      unsaid.textContent = now ? "" : word("no face");
    };
    const turn = (step) => {
      const now = faces.indexOf(die.dataset.face);
      show(faces.at(now < 0 && step < 0 ? -1 : (now + step) % faces.length));
      tell();
    };
    die.type = "button";
    die.className = "die";
    label.textContent = name || word("die", { number: at + 1 });
    label.classList.toggle("unseen", !name);
    unsaid.className = "unseen";
    die.append(label, " ", sign, " ", unsaid);
    if (faces.some((one) => one in shapes)) {
      drawn.setAttribute("viewBox", "-42 -22 84 44");
      drawn.setAttribute("aria-hidden", "true");
      drawn.append(path);
      die.append(drawn);
    }
    die.addEventListener("click", () => turn(1));
    die.addEventListener("keydown", (event) => {
      if (!(event.key in STEPS)) return;
      event.preventDefault();
      turn(STEPS[event.key]);
    });
    show(face);
    return die;
  };
  onTable(async (table) => {
    const number = ++asked;
    const answer = await fetch("/api/dice").catch(() => null);
    if (!answer?.ok || number !== asked) return;
    const { dice, event_number: seen, are_tiles, is_read, shapes } = await answer.json();
    panel.hidden = !dice.length;
    form.elements.seen.value = seen;
    // What was tapped so far stays while the same dice are asked for.
    const now = JSON.stringify([table.game.number, table.turns, dice]);
    if (now === shown) return;
    shown = now;
    areTiles = are_tiles;
    read = is_read ? dice.map((die) => die.shown).join() : "";
    panel.classList.toggle("read", is_read);
    part("dice").replaceChildren(...dice.map((die, at) => dieOf(shapes, die, at)));
    tell();
  });
}
