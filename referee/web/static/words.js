// The words of the page in its language: all stand in the page itself, so that no module has any.
export function word(name, values = {}) {
  const found = document.querySelector(`#words [data-word="${CSS.escape(name)}"]`)?.textContent ?? "";
  return found.replace(/\{(\w+)\}/g, (whole, key) => values[key] ?? whole);
}
