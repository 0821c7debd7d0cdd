// Draws each document of the table into the page.
import { onTable } from "./live.js";
import { word } from "./words.js";

const parser = new DOMParser();
// Characters above which the heading is set smaller, so that the board stays in view; table.html has the same number.
const LONG = 40;

// Replaces the drawings by the referee's newest. They are parsed as XML, so that nothing in them can run.
export function draw(into, board) {
  const parsed = parser.parseFromString(`<all>${board}</all>`, "text/xml");
  into.replaceChildren(...[...parsed.documentElement.children].map((each) => document.importNode(each, true)));
}

export function showEvidence(into, pictures) {
  const shown = JSON.stringify(pictures);
  // Pictures that stay are not fetched again.
  if (into.dataset.shown === shown) return;
  into.dataset.shown = shown;
  into.replaceChildren(
    ...pictures.map(([source, words]) => {
      const figure = document.createElement("figure");
      const picture = document.createElement("img");
      const caption = document.createElement("figcaption");
      picture.src = source;
      picture.alt = caption.textContent = words;
      picture.addEventListener("error", () => figure.remove());
      figure.append(picture, caption);
      return figure;
    }),
  );
}

function say(element, words) {
  if (element.textContent !== words) element.textContent = words;
  element.hidden = !words;
}

export function nextWords(table) {
  const playing = table.players.filter((player) => player.to_move).map((player) => player.name);
  if (table.outcome) return table.outcome;
  if (table.verdict?.kind === "illegal" && table.verdict.remedy) return table.verdict.remedy;
  if (table.verdict?.kind === "ambiguous") return word("ambiguous");
  if (!playing.length || !table.awaits_turn) return table.next;
  return word(playing.length > 1 ? "all to play" : "to play", { name: playing.join(", ") });
}

function showVerdict({ verdict, event_number: seen }, next) {
  const card = document.getElementById("verdict");
  card.hidden = !verdict;
  if (!verdict) return;
  const part = (name) => card.querySelector(`[data-part="${name}"]`);
  card.dataset.kind = verdict.kind;
  say(part("kind"), word(verdict.kind));
  // The heading already shows the remedy.
  say(part("sentence"), verdict.remedy === next ? verdict.sentence.replace(verdict.remedy, "").trim() : verdict.sentence);
  say(part("rule"), verdict.rule);
  const isNew = verdict.remedy !== next && !verdict.sentence.includes(verdict.remedy);
  say(part("remedy"), isNew ? verdict.remedy : "");
  const pictures = verdict.evidence === null ? [] : verdict.places.flatMap((place) =>
    ["before", "after"].map((when) => [`/api/evidence/${verdict.evidence}/${when}-${place}`, word(when, { place })]));
  showEvidence(part("evidence"), pictures);
  showAnswers(part("answers"), verdict, seen);
}

function showAnswers(into, verdict, seen) {
  const template = document.getElementById("answer");
  if (!into || !template) return;
  const shown = JSON.stringify([verdict, seen]);
  // A button that stays keeps the keyboard's focus.
  if (into.dataset.shown === shown) return;
  into.dataset.shown = shown;
  const answer = (words, fields) => {
    const form = template.content.firstElementChild.cloneNode(true);
    for (const [name, value] of [...fields, ["seen", seen]]) {
      const field = document.createElement("input");
      Object.assign(field, { type: "hidden", name, value });
      form.append(field);
    }
    form.querySelector("button").textContent = words;
    return form;
  };
  const forms = verdict.candidates.map((text, index) => {
    const player = verdict.candidate_players[index];
    const played = player ? [["command", "turn"], ["player", player]] : [["command", "roll"]];
    return answer(text, [...played, ["text", text]]);
  });
  if (template.dataset.asking.split(",").includes(verdict.kind) && verdict.places.length)
    forms.push(answer(template.dataset.overrule, [["command", "overrule"], ...verdict.places.map((place) => ["places", place])]));
  into.replaceChildren(...forms);
}

function showPlayers(players) {
  const list = document.getElementById("players");
  list.replaceChildren(
    ...players.map((player) => {
      const line = document.createElement("li");
      const [name, side, clock, score] = ["span", "small", "span", "b"].map((tag) => document.createElement(tag));
      line.dataset.player = player.id;
      line.classList.toggle("to-move", player.to_move);
      name.textContent = player.name;
      side.textContent = player.name.toLowerCase() === player.side.toLowerCase() ? "" : player.side;
      clock.dataset.part = "clock";
      score.dataset.part = "score";
      score.textContent = player.score ?? "";
      line.append(name, side, clock, score);
      return line;
    }),
  );
}

// On a phone one sheet fills the screen; begin with that of the player to move.
function swipeToPlayer(board) {
  const sheet = board.querySelector(".sheet.to-move");
  if (sheet) board.scrollLeft += sheet.getBoundingClientRect().left - board.getBoundingClientRect().left;
}

function showOffer(table) {
  const offer = document.getElementById("offer");
  const side = table.players.find((player) => player.id === table.draw_offer);
  say(offer.firstElementChild, side ? word("offer", { name: side.name }) : "");
  offer.hidden = !side;
}

export function showTable() {
  const board = document.getElementById("board");
  onTable((table, before) => {
    const scrolled = board.scrollLeft;
    draw(board, table.board);
    board.scrollLeft = scrolled;
    if (before === null) swipeToPlayer(board);
    const next = nextWords(table);
    const heading = document.getElementById("next");
    say(heading, next);
    heading.classList.toggle("long", next.length > LONG);
    showVerdict(table, next);
    for (const name of ["trouble", "hint"]) say(document.getElementById(name), table[name] ?? "");
    showOffer(table);
    showPlayers(table.players);
    for (const field of document.querySelectorAll("[data-newest-event]")) field.value = table.event_number;
    for (const part of document.querySelectorAll("[data-while=playing]"))
      part.hidden = table.outcome !== null || ("hints" in part.dataset && !table.game.hints_allowed);
    say(document.getElementById("last"), table.last_turn ? word("last turn", { turn: table.last_turn.text }) : "");
    document.getElementById("scores").replaceChildren(
      ...table.scores.map((line) => Object.assign(document.createElement("li"), { textContent: line })),
    );
  });
}
