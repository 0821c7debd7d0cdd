// Sends the page's forms as commands, without leaving the page; the answer stands in #said.
// What only the form without this module needs; squares come as "looks.c3" here.
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
    // The same request may arrive twice over a bad network; it counts once.
    body: JSON.stringify({ ...command, request_id: crypto.randomUUID?.() ?? String(Math.random()) }),
  });
  return answer.json();
}

export function sendCommands() {
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (!form.matches("[data-command]")) return;
    event.preventDefault();
    const buttons = form.querySelectorAll("button");
    const said = document.getElementById("said");
    buttons.forEach((button) => (button.disabled = true));
    try {
      const reply = await send(commandOf(form));
      said.textContent = reply.words;
      said.hidden = !reply.words;
      if (reply.refused) return;
      if (form.dataset.then) location.assign(form.dataset.then);
      else form.reset();
      form.dispatchEvent(new CustomEvent("done", { bubbles: true }));
    } catch (error) {
      if (!(error instanceof TypeError || error instanceof SyntaxError)) throw error;
      // The network is away: the form itself says so, by the browser or our offline page.
      form.submit();
    } finally {
      buttons.forEach((button) => (button.disabled = false));
    }
  });
}
