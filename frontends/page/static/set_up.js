// A table that is being set up: the live picture, and corners that are dragged over it.
const EVERY_MS = 1000;
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const SVG = "http://www.w3.org/2000/svg";
const HANDLE_PX = 16;

const state = document.getElementById("set-up")?.dataset.state;
const live = document.getElementById("live");

// A reload would cancel a form that is being sent.
let leaving = false;
addEventListener("submit", (event) => {
  leaving = true;
  // It may take a while: the button shows that it was pressed, and isn't pressed twice.
  event.submitter?.setAttribute("aria-busy", "true");
});

// Where a running referee is met: who took photos goes on taking them.
const atTheTable = () => (self === top && sessionStorage.getItem("photos") ? "/camera" : "/");

const pause = () => new Promise((go) => setTimeout(go, EVERY_MS));

// Puts each part that came in the place of the one with its id.
function show(parts) {
  const came = document.createElement("template");
  came.innerHTML = parts;
  for (const part of [...came.content.children]) {
    const there = document.getElementById(part.id);
    if (there && there.outerHTML !== part.outerHTML) there.replaceWith(part);
  }
}

async function look() {
  if (document.hidden) return;
  const picture = live?.querySelector("img");
  if (picture) {
    picture.src = `/picture.jpg?at=${Date.now()}`;
    await new Promise((go) => {
      picture.onload = picture.onerror = go;
    });
    picture.hidden = !picture.naturalWidth;
  }
  const answer = await fetch(`/seen${location.search}`);
  // The running referee has taken the place of the set-up.
  if (answer.status === 404) location.replace(atTheTable());
  if (!answer.ok) return;
  if (answer.headers.get("X-State") !== state && !leaving) location.reload();
  show(await answer.text());
}

function send(fields) {
  const token = document.querySelector('meta[name="csrf"]').content;
  return fetch("/do", { method: "POST", headers: { "X-CSRF-Token": token }, body: new URLSearchParams(fields) });
}

async function follow() {
  for (;;) {
    try {
      await look();
      document.documentElement.dataset.live = "";
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      // The network is away; what is on the page stays, and it is tried again.
      delete document.documentElement.dataset.live;
    }
    await pause();
  }
}

function dragCorners(fields) {
  const rows = [...fields.querySelectorAll("p")].map((row) => ({
    name: row.querySelector(".corner").textContent,
    x: row.querySelector('[name="x"]'),
    y: row.querySelector('[name="y"]'),
  }));
  const width = Number(live.dataset.width);
  const height = Number(live.dataset.height);
  const drawn = (tag, attributes, parent) => {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return parent.appendChild(made);
  };
  const over = drawn(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": document.querySelector("h1").textContent },
    live,
  );
  const outline = drawn("polygon", {}, over);
  const handles = rows.map(() => drawn("circle", { tabindex: 0, role: "button" }, over));

  const place = () => {
    outline.setAttribute("points", rows.map((row) => `${row.x.value},${row.y.value}`).join(" "));
    for (const [number, row] of rows.entries()) {
      const handle = handles[number];
      handle.setAttribute("cx", row.x.value);
      handle.setAttribute("cy", row.y.value);
      handle.setAttribute("r", (HANDLE_PX * width) / Math.max(over.clientWidth, 1));
      handle.setAttribute("aria-label", `${row.name}: ${row.x.value}, ${row.y.value}`);
    }
  };
  const move = (row, x, y) => {
    row.x.value = Math.round(10 * Math.min(Math.max(x, 0), width - 1)) / 10;
    row.y.value = Math.round(10 * Math.min(Math.max(y, 0), height - 1)) / 10;
    place();
  };
  for (const [number, row] of rows.entries()) {
    const handle = handles[number];
    handle.addEventListener("pointerdown", (event) => {
      handle.setPointerCapture(event.pointerId);
      event.preventDefault();
      handle.focus();
    });
    handle.addEventListener("pointermove", (event) => {
      if (!handle.hasPointerCapture(event.pointerId)) return;
      const box = over.getBoundingClientRect();
      move(row, ((event.clientX - box.left) * width) / box.width, ((event.clientY - box.top) * height) / box.height);
    });
    handle.addEventListener("keydown", (event) => {
      if (!(event.key in STEPS)) return;
      const [right, down] = STEPS[event.key];
      const far = event.shiftKey ? 10 : 1;
      move(row, Number(row.x.value) + right * far, Number(row.y.value) + down * far);
      event.preventDefault();
    });
    row.x.addEventListener("input", place);
    row.y.addEventListener("input", place);
  }
  addEventListener("resize", place);
  place();
}

// The referee takes this page's place; if it can't, the set-up comes back and says why.
async function awaitReferee() {
  for (;;) {
    await pause();
    for (const path of ["/manifest.webmanifest", "/seen"]) {
      const answer = await fetch(path).catch(() => null);
      if (answer?.ok) return location.replace(path === "/seen" ? "/" : atTheTable());
    }
  }
}

for (const picture of document.querySelectorAll(".choice img")) {
  const check = () => {
    picture.hidden = !picture.naturalWidth;
    picture.parentElement.querySelector("span").hidden = !picture.hidden;
  };
  if (picture.complete) check();
  else picture.onload = picture.onerror = check;
}
// The camera's page shows the steps below its own picture.
if (self !== top) document.body.classList.add("beside");
document.documentElement.classList.add("scripted");
const shutter = document.querySelector(".phone input[type=file]");
shutter?.addEventListener("change", () => {
  sessionStorage.setItem("photos", "taken");
  shutter.form.requestSubmit();
});
const fields = document.querySelector("[data-corners]");
if (fields && live?.dataset.width) dragCorners(fields);
const start = document.getElementById("start");
start?.addEventListener("submit", async (event) => {
  // The set-up ends at once, and could not give another page, nor perhaps an answer.
  event.preventDefault();
  document.querySelector("main").replaceChildren(document.getElementById("away").content);
  await send({ do: "start", step: "" }).catch(() => null);
  await awaitReferee();
});
if (document.getElementById("starting")) awaitReferee();
else if (state) follow();
if (!live) document.documentElement.dataset.live = "";
