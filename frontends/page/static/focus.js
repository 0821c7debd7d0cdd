// Keeps the focus for keys and screen readers when what has it is sent, hidden or gone: it goes to what comes next.
const NEXT = [
  "#tapping [data-part=play] button",
  "#tapping [data-part=choices] button",
  "#board .places [tabindex='0']",
  "#rolling button",
  "[data-deed=tap]",
  "#main",
];

const isShown = (element) => element.isConnected && element.getClientRects().length > 0;
const canHave = (element) =>
  isShown(element) && !element.disabled && (element.tabIndex >= 0 || element.hasAttribute("tabindex"));

export function keepFocus() {
  let last = null;
  let isByKeys = false;
  document.addEventListener("focusin", ({ target }) => {
    last = /** @type {any} */ (target);
    isByKeys = last.matches(":focus-visible");
  });
  document.addEventListener("focusout", ({ target, relatedTarget }) => {
    // Whoever leaves what could keep the focus means to. An element that is being removed is still there at this moment.
    if (!relatedTarget) queueMicrotask(() => last === target && canHave(target) && (last = null));
  });
  new MutationObserver(() => {
    const now = document.activeElement;
    if (!last || (now !== last && now !== document.body)) return;
    // A button that is being sent comes back.
    const isSent = last.disabled && isShown(last);
    if (isSent || (now === last && canHave(last))) return;
    const next = [last, ...NEXT.flatMap((each) => [...document.querySelectorAll(each)])].find(canHave);
    next?.focus({ preventScroll: !isByKeys });
  }).observe(document.body, { subtree: true, childList: true, attributeFilter: ["hidden", "disabled", "tabindex"] });
}
