// The camera's newest picture, once a second while somebody looks at it.
const EVERY_MS = 1000;

export function followCamera() {
  const camera = document.getElementById("camera");
  const picture = camera.querySelector("img");
  const overlay = document.getElementById("overlay");
  const load = () => {
    if (!camera.open || document.hidden) return;
    picture.src = `/api/camera.jpg?overlay=${Number(overlay.checked)}&at=${Date.now()}`;
  };
  picture.addEventListener("load", () => {
    picture.hidden = false;
    setTimeout(load, EVERY_MS);
  });
  picture.addEventListener("error", () => {
    picture.hidden = true;
    setTimeout(load, EVERY_MS);
  });
  camera.addEventListener("toggle", load);
  overlay.addEventListener("change", load);
  document.addEventListener("visibilitychange", load);
}
