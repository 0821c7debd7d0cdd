// The camera's newest picture, once a second while somebody looks at it.
const EVERY_MS = 1000;

export function followCamera() {
  const camera = document.getElementById("camera");
  const picture = camera.querySelector("img");
  const overlay = document.getElementById("overlay");
  let timer;
  const load = () => {
    clearTimeout(timer);
    if (!camera.open || document.hidden) return;
    picture.src = `/api/camera.jpg?overlay=${Number(overlay.checked)}&at=${Date.now()}`;
  };
  for (const event of ["load", "error"])
    picture.addEventListener(event, () => {
      picture.hidden = event === "error";
      clearTimeout(timer);
      timer = setTimeout(load, EVERY_MS);
    });
  camera.addEventListener("toggle", load);
  overlay.addEventListener("change", load);
  document.addEventListener("visibilitychange", load);
}
