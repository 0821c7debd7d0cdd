// A screen that shows only the table: it stays awake, and fills the screen if that is wished. And the menu elsewhere.
export function foldMenu() {
  const menu = document.querySelector("details.menu");
  const fold = (/** @type {Event} */ { target, key }) => {
    if (key === "Escape" || (!key && !menu.contains(target))) menu.open = false;
  };
  if (menu) for (const event of ["click", "keydown"]) document.addEventListener(event, fold);
}

export function fillWall() {
  const buttons = document.getElementById("wall-buttons");
  if (!buttons) return;
  const fill = buttons.querySelector("button");
  fill.hidden = !document.fullscreenEnabled;
  fill.addEventListener("click", () => document.documentElement.requestFullscreen());
  // A browser lets go of the lock when the page is hidden. Only at localhost, or over HTTPS, has it one.
  const stayAwake = () => {
    const isShown = document.visibilityState === "visible" && getComputedStyle(buttons).display !== "none";
    if (isShown) navigator.wakeLock?.request("screen").catch(() => {});
  };
  document.addEventListener("visibilitychange", stayAwake);
  stayAwake();
}
