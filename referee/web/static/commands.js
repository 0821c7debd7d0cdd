// Sends the page's forms as commands, without leaving the page; the answer stands in #said.
import { onTable } from "./live.js";

// Fields needed only without this module; with it, squares are sent as "looks.c3".
const PLAIN = new Set(["csrf", "return", "place", "look"]);

// The command that a form says: "players.gold" goes into "players".
export function commandOf(form) {
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

export async function send(command) {
  const token = document.querySelector('meta[name="csrf"]').content;
  const answer = await fetch("/api/commands", {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-CSRF-Token": token },
    body: JSON.stringify(command),
  });
  return answer.json();
}

export function sendCommands() {
  const said = document.getElementById("said");
  const say = (words) => {
    said.textContent = words;
    said.hidden = !words;
  };
  let answeredAt = 0;
  // A reply stays until an event after it.
  onTable((table, before) => before && table.event_number > Math.max(before.event_number, answeredAt) && say(""));
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (!form.matches("[data-command]")) return;
    event.preventDefault();
    const buttons = form.querySelectorAll("button");
    buttons.forEach((button) => (button.disabled = true));
    // If the reply is lost, the browser sends the form again; with the same id it counts once.
    const request = Object.assign(document.createElement("input"), { type: "hidden", name: "request_id" });
    request.value = crypto.randomUUID?.() ?? String(Math.random());
    form.append(request);
    try {
      const reply = await send(commandOf(form));
      answeredAt = reply.event_number ?? 0;
      say(reply.words);
      if (reply.refused) return;
      if (form.dataset.then) location.assign(form.dataset.then);
      else form.reset();
      form.dispatchEvent(new CustomEvent("done", { bubbles: true }));
    } catch (error) {
      if (!(error instanceof TypeError || error instanceof SyntaxError)) throw error;
      // Without a network, a plain submission shows the browser's error or our offline page.
      form.submit();
    } finally {
      request.remove();
      buttons.forEach((button) => (button.disabled = false));
    }
  });
}
