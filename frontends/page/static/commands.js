// Sends the page's forms as commands, without leaving the page; the answer stands in #said, wherever one has scrolled.
// While the referee can't be reached, commands wait here, over a change of page too, until they are answered or cancelled.
import { keep, recall } from "./kept.js";
import { onTable } from "./live.js";
import { word } from "./words.js";

// Fields needed only without this module; with it, squares are sent as "looks.c3".
const PLAIN = new Set(["csrf", "return", "place", "look"]);
const RETRY_MS = 1000;
// The referee answers within 15 s, even if only that it isn't done yet.
const ANSWER_MS = 20000;
const VISIT = "sessionStorage";

// The command that a form says: "players.gold" goes into "players".
function commandOf(form) {
  const command = {};
  for (const [name, value] of new FormData(form)) {
    if (!value || PLAIN.has(name)) continue;
    const [group, key] = name.split(/\.(.*)/s);
    if (key) (command[group] ??= {})[key] = value;
    else if (name === "places") (command.places ??= []).push(value);
    else command[name] = value;
  }
  return command;
}

// The reply to a command; null if it can't be fetched. With the same request_id a command counts once.
async function send(command) {
  const token = document.querySelector('meta[name="csrf"]').content;
  try {
    const answer = await fetch("/api/commands", {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-CSRF-Token": token },
      body: JSON.stringify(command),
      keepalive: true,
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    return await answer.json();
  } catch (error) {
    // No network, a reply that was cut off, or none in time.
    if (!(error instanceof TypeError || error instanceof SyntaxError || error instanceof DOMException)) throw error;
    return null;
  }
}

export function sendCommands() {
  const said = document.getElementById("said");
  const [read, cancel] = ["read", "cancel"].map((id) => document.getElementById(id));
  // The commands without a reply yet, oldest first, each with the words of its button.
  let waiting = recall("waiting", VISIT) ?? [];
  let newest = null;
  let answeredAt = Infinity;
  // The hints for a table that has not arrived yet.
  const early = [];

  const say = (words) => {
    if (said.textContent !== words) said.textContent = words;
    said.parentElement.dataset.of = "";
    read.hidden = !words;
    cancel.hidden = true;
    answeredAt = Infinity;
  };
  const wait = (commands) => {
    waiting = commands;
    keep("waiting", waiting, VISIT);
    if (!waiting.length) return;
    said.ariaLive = "polite";
    say(word("waiting", { what: waiting.map(({ words }) => words).join(", ") }));
    [read.hidden, cancel.hidden] = [true, false];
  };
  const answer = ({ command }, reply) => {
    // The verdict announces a turn that is played, so its answer is only shown.
    const isJudged = command.command === "turn" && !reply.refused && document.getElementById("verdict");
    said.ariaLive = isJudged ? "off" : "polite";
    const isHint = command.command === "hint" && !reply.refused;
    if (isHint && newest && reply.event_number > newest.event_number) {
      early.push(() => answer({ command }, reply));
      return;
    }
    // A hint is for whoever is to move, who need not be who asked.
    say(isHint && newest && !newest.you ? `${newest.next} ${reply.words}` : reply.words);
    // Where the table itself shows it, the answer must not cover what comes next.
    if (!reply.refused && document.getElementById("verdict")) said.parentElement.dataset.of = command.command;
    if (isHint) document.getElementById("hint")?.scrollIntoView({ block: "nearest" });
    // A refusal stays until it is closed or another command is answered; another answer, until an event after it.
    if (!reply.refused) answeredAt = reply.event_number ?? 0;
    if (isHint) document.dispatchEvent(new CustomEvent("hint", { detail: said.textContent }));
  };
  // The reply to a command that waits; null once it is cancelled.
  const outwait = async (one) => {
    let reply = null;
    while (!reply && waiting.includes(one)) {
      wait(waiting);
      await new Promise((again) => setTimeout(again, RETRY_MS));
      // In the order in which they were given.
      if (waiting[0] === one) reply = await send(one.command);
    }
    if (!reply) return null;
    wait(waiting.filter((each) => each !== one));
    answer(one, reply);
    return reply;
  };
  const give = async (one) => {
    const reply = waiting.length ? null : await send(one.command);
    if (reply) {
      answer(one, reply);
      return reply;
    }
    // What has to wait is meant for the table as it was: not for a later turn, draw offer or game.
    if (newest && one.command.command !== "hint") one.command.seen ??= newest.event_number;
    wait([...waiting, one]);
    return outwait(one);
  };

  // What was answered just before a change of page.
  say(said.textContent || recall("said", VISIT) || "");
  keep("said", "", VISIT);
  answeredAt = 0;
  waiting.forEach(outwait);
  onTable((table, before) => {
    newest = table;
    if (before && table.event_number > Math.max(before.event_number, answeredAt)) say("");
    early.splice(0).forEach((each) => each());
  });
  read.addEventListener("click", () => say(""));
  cancel.addEventListener("click", () => {
    wait([]);
    say(word("cancelled"));
  });
  document.addEventListener("submit", async (event) => {
    const form = /** @type {any} */ (event.target);
    // A part of the table that was sent again is for all devices, so it has no token.
    if (form.elements.csrf) form.elements.csrf.value = document.querySelector('meta[name="csrf"]').content;
    if (!form.matches("[data-command]")) return;
    event.preventDefault();
    const buttons = form.querySelectorAll("button");
    buttons.forEach((button) => (button.disabled = true));
    // Over plain HTTP there is no randomUUID.
    const request_id = crypto.randomUUID?.() ?? String(Math.random());
    const reply = await give({
      words: event.submitter?.textContent.trim() ?? "",
      command: { ...commandOf(form), request_id },
    });
    buttons.forEach((button) => (button.disabled = false));
    if (!reply) return;
    // A page that asks about one table leads there, too, if the table has changed meanwhile.
    if (form.dataset.then) {
      keep("said", said.textContent, VISIT);
      location.assign(form.dataset.then);
    }
    if (reply.refused) return;
    if (!form.dataset.then) form.reset();
    form.dispatchEvent(new CustomEvent("done", { bubbles: true }));
  });
}
