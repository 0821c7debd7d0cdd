// The phone as the camera: its picture is sent as JPEGs, one at a time, as often as the referee asks for one; or photos.
import { word } from "./words.js";

const LONG_PX = 1280;
const SHORT_PX = 720;
const PHOTO_PX = 1920;
// A photo's first bytes tell of the lens; the reduced one lacks them.
const TELLING_BYTES = 64 * 1024;
// JPEG's quality: less where a picture with much detail would be refused for its size.
const QUALITY = 0.82;
const COARSE = 0.7;
const MOST_BYTES = 400 * 1024;
const RETRY_MS = 1000;
const ANSWER_MS = 8000;
const REMARK_MS = 8000;
const BATTERY_MS = 60000;
const LOW_BATTERY = 0.15;
const STOPPED = 423;
const SVG = "http://www.w3.org/2000/svg";

const scene = document.getElementById("scene");
const video = scene.querySelector("video");
const canvas = document.createElement("canvas");
let stream;
let lens = "";
// What is said for a while, though pictures arrive.
let note = { words: "", until: 0 };

const pause = (ms) => new Promise((go) => setTimeout(go, ms));

function complain(words) {
  const trouble = document.getElementById("trouble");
  if (trouble.textContent !== words) trouble.textContent = words;
  trouble.hidden = !words;
}

function remark(words, ms) {
  note = { words, until: performance.now() + ms };
  complain(words);
}

function send(path, body, headers = {}) {
  const csrf = document.querySelector('meta[name="csrf"]').content;
  return fetch(path, {
    method: "POST",
    headers: { "X-CSRF-Token": csrf, Accept: "application/json", ...headers },
    body,
    keepalive: !body,
    signal: AbortSignal.timeout(ANSWER_MS),
  });
}

// Draws a picture into the canvas, as large as it is or smaller, and returns it as a JPEG.
async function jpeg(drawn, width, height, scale, quality) {
  const by = Math.min(1, scale);
  canvas.width = Math.round(width * by);
  canvas.height = Math.round(height * by);
  canvas.getContext("2d").drawImage(drawn, 0, 0, canvas.width, canvas.height);
  const encoded = (better) => new Promise((go) => canvas.toBlob(go, "image/jpeg", better));
  const whole = await encoded(quality);
  return whole.size > MOST_BYTES ? encoded(COARSE) : whole;
}

function frame() {
  const { videoWidth: width, videoHeight: height } = video;
  const scale = Math.min(LONG_PX / Math.max(width, height), SHORT_PX / Math.min(width, height));
  return jpeg(video, width, height, scale, QUALITY);
}

function draw(group, polygons) {
  const drawn = polygons.map((corners) => {
    const polygon = document.createElementNS(SVG, "polygon");
    polygon.setAttribute("points", corners.join(" "));
    return polygon;
  });
  scene.querySelector(`svg .${group}`).replaceChildren(...drawn);
}

function show(answer) {
  const [width, height] = answer.size;
  scene.querySelector("svg").setAttribute("viewBox", `0 0 ${width || 1} ${height || 1}`);
  draw("part", answer.parts);
  draw("marker", answer.markers);
  draw("hidden", answer.hidden);
  scene.classList.toggle("sees", answer.sees);
  scene.querySelector(".filming").hidden = !answer.films;
  const sees = document.getElementById("sees");
  if (sees.textContent !== answer.words) sees.textContent = answer.words;
  const asks = document.getElementById("asks");
  asks.hidden = !answer.asking;
  asks.querySelector("span").textContent = answer.asking;
}

async function sendOne(path, mine) {
  const taken = performance.now();
  const picture = await frame();
  const age = Math.round(performance.now() - taken);
  const reply = await send(path, picture, { "Content-Type": "image/jpeg", "X-Age-Ms": String(age) });
  const answer = await reply.json();
  // It was stopped meanwhile.
  if (stream !== mine) return RETRY_MS;
  if (!reply.ok) {
    complain(answer.words);
    // Another device was paired, or this one no longer is.
    if (reply.status === 401 || reply.status === 403) stop();
    return RETRY_MS;
  }
  complain(performance.now() < note.until ? note.words : "");
  if (answer.stopped) stop();
  else show(answer);
  return answer.every_ms;
}

async function film(mine) {
  let path = "/frame?do=begin";
  while (stream === mine) {
    const began = performance.now();
    let every = RETRY_MS;
    if (!document.hidden && video.readyState >= video.HAVE_CURRENT_DATA) {
      try {
        every = await sendOne(path, mine);
        path = "/frame";
      } catch (error) {
        if (!(error instanceof TypeError || error instanceof DOMException)) throw error;
        complain(word("unreached"));
      }
    }
    await pause(Math.max(0, every - (performance.now() - began)));
  }
}

const FAULTS = { NotAllowedError: "refused", NotReadableError: "in use", SecurityError: "refused" };

// The screen stays on as long as the page is seen; a browser may refuse that, as when the battery is low.
function stayAwake() {
  navigator.wakeLock?.request("screen").catch(() => {});
}

function lensOf(opened) {
  const { deviceId, width, height } = opened.getVideoTracks()[0].getSettings();
  return `${deviceId} ${Math.max(width, height)} ${Math.min(width, height)}`;
}

async function begin() {
  complain("");
  // The same lens as before, since another one sees the table otherwise.
  const which = lens ? { deviceId: { ideal: lens.split(" ")[0] } } : { facingMode: { ideal: "environment" } };
  const asked = { ...which, width: { ideal: LONG_PX }, height: { ideal: SHORT_PX }, frameRate: { ideal: 15 } };
  let opened;
  try {
    opened = await navigator.mediaDevices.getUserMedia({ video: asked, audio: false });
  } catch (error) {
    complain(word((error instanceof DOMException && FAULTS[error.name]) || "no camera"));
    return;
  }
  if (lens && lens !== lensOf(opened)) remark(word("other lens"), REMARK_MS);
  lens = lensOf(opened);
  opened.getVideoTracks()[0].addEventListener("ended", () => {
    stop();
    complain(word("ended"));
  });
  video.srcObject = opened;
  await video.play();
  stream = opened;
  filming(true);
  stayAwake();
  film(opened);
}

function filming(on) {
  scene.hidden = document.getElementById("stop").hidden = !on;
  // To leave the page would end the film, so what else the device may see stands below its picture.
  const beside = document.getElementById("beside");
  if (beside) {
    beside.hidden = !on;
    if (on && !beside.src) beside.src = beside.dataset.src;
  }
  document.getElementById("begin").hidden = on;
  if (on) document.getElementById("stop").focus({ preventScroll: true });
}

function stop() {
  if (!stream) return;
  for (const track of stream.getTracks()) track.stop();
  stream = undefined;
  video.srcObject = null;
  filming(false);
  document.getElementById("asks").hidden = true;
  document.getElementById("sees").textContent = word("off");
  document.getElementById("begin").focus();
  send("/frame?do=stop").catch(() => {});
}

async function watchBattery() {
  const battery = await navigator.getBattery?.();
  const check = () => {
    if (stream && battery.level < LOW_BATTERY && !battery.charging) remark(word("battery"), BATTERY_MS);
  };
  battery?.addEventListener("levelchange", check);
}

async function shrunk(file) {
  try {
    const picture = await createImageBitmap(file, { imageOrientation: "from-image" });
    return await jpeg(picture, picture.width, picture.height, PHOTO_PX / Math.max(picture.width, picture.height), 0.9);
  } catch {
    // The referee reads more kinds of pictures than this browser, and says so if it is none.
    return file;
  }
}

async function sendPhoto(input) {
  const judged = document.getElementById("judged");
  judged.textContent = word("looking");
  const form = new FormData();
  const [file] = input.files;
  form.append("photo", await shrunk(file), "photo.jpg");
  form.append("original", file.slice(0, TELLING_BYTES), "original.jpg");
  input.value = "";
  try {
    const reply = await fetch("/photo", {
      method: "POST",
      headers: {
        "X-CSRF-Token": document.querySelector('meta[name="csrf"]').content,
        Accept: "application/json",
      },
      body: form,
    });
    // The owner stopped this phone; the page as it is then says so, and how to go on.
    if (reply.status === STOPPED) location.reload();
    judged.textContent = (await reply.json()).words;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    judged.textContent = word("unreached");
  }
}

if (navigator.mediaDevices?.getUserMedia) {
  document.getElementById("film").hidden = false;
  document.getElementById("by-https").hidden = true;
  document.getElementById("begin").addEventListener("click", begin);
  document.getElementById("stop").addEventListener("click", stop);
  document.getElementById("hand-over").addEventListener("click", () => send("/frame?do=hand+over").then(stop));
  document.addEventListener("visibilitychange", () => {
    if (!stream || document.hidden) return;
    remark(word("asleep"), REMARK_MS);
    stayAwake();
  });
  addEventListener("pagehide", stop);
  watchBattery();
}
const photo = document.querySelector('#photos input[type="file"]');
photo?.addEventListener("change", () => {
  if (photo.files.length) sendPhoto(photo);
});
