// Starts what a page needs. Without this file every page works by links and forms.
import { followCamera } from "./camera.js";
import { runClocks } from "./clocks.js";
import { sendCommands } from "./commands.js";
import { chooseSquares } from "./correct.js";
import { offerTurns } from "./enter.js";
import { follow } from "./live.js";
import { movePieces } from "./moving.js";
import { rollByTapping } from "./rolling.js";
import { keepSettings } from "./settings.js";
import { playSounds } from "./sounds.js";
import { stepThrough } from "./steps.js";
import { playByTapping } from "./tapping.js";
import { speak } from "./voice.js";

const view = document.body.className;

document.documentElement.classList.add("scripted");
keepSettings();
sendCommands();
// On a phone the names of the pages may be wider than the screen.
document.querySelector("[aria-current=page]")?.scrollIntoView({ block: "nearest", inline: "center" });
if (view === "table") {
  playByTapping();
  rollByTapping();
  runClocks();
  followCamera();
  movePieces();
  speak();
  playSounds();
}
if (view === "correct") chooseSquares();
if (view === "enter") offerTurns();
if (view === "position") stepThrough();
// Who isn't paired has nothing to follow, and a page that only says something stays.
if (view !== "pair" && view !== "words") follow();
navigator.serviceWorker?.register("/service-worker.js").catch(() => {
  // Over plain HTTP a browser has none; the page is as good, but shows nothing of ours while away.
});
