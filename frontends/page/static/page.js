// Starts what a page needs. Without this file every page works by links and forms.
import { followCamera } from "./camera.js";
import { runClocks } from "./clocks.js";
import { sendCommands } from "./commands.js";
import { chooseSquares } from "./correct.js";
import { offerTurns } from "./enter.js";
import { keepFocus } from "./focus.js";
import { keep } from "./kept.js";
import { follow } from "./live.js";
import { movePieces } from "./moving.js";
import { sendPictures } from "./picture.js";
import { rollByTapping } from "./rolling.js";
import { keepSettings } from "./settings.js";
import { playSounds } from "./sounds.js";
import { awaitWork, stepThrough } from "./steps.js";
import { playByTapping } from "./tapping.js";
import { speak } from "./voice.js";
import { fillWall, foldMenu } from "./wall.js";

const view = document.body.classList[0];

document.documentElement.classList.add("scripted");
// The camera's page shows the table below its own picture.
if (self !== top) document.documentElement.classList.add("framed");
keepSettings();
keepFocus();
sendCommands();
foldMenu();
if (view === "table") {
  playByTapping();
  rollByTapping();
  runClocks();
  followCamera();
  movePieces();
  speak();
  playSounds();
  fillWall();
}
if (view === "correct") chooseSquares();
if (view === "enter") offerTurns();
if (view === "position") stepThrough();
if (view === "game") awaitWork();
sendPictures();
// Who isn't paired keeps nothing of the table and has nothing to follow, and a page that only says something stays.
if (view === "pair") keep("table", null);
else if (view !== "words" && view !== "camera") follow();
navigator.serviceWorker?.register("/service-worker.js").catch(() => {
  // Over plain HTTP a browser has none; the page is as good, but shows nothing of ours while away.
});
