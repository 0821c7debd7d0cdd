// The page's words in its language. They are in the page itself, so that no module contains any.
export function word(name, values = {}) {
  const found = document.querySelector(`#words [data-word="${CSS.escape(name)}"]`)?.textContent ?? "";
  return found.replace(/\{(\w+)\}/g, (whole, key) => values[key] ?? whole);
}
