// What this device keeps between visits, where its browser lets it.
export function recall(name) {
  try {
    return JSON.parse(localStorage.getItem(name));
  } catch (error) {
    // A browser may forbid storage, or somebody wrote something else there.
    if (!(error instanceof SyntaxError || error instanceof DOMException)) throw error;
    return null;
  }
}

export function keep(name, value) {
  try {
    localStorage.setItem(name, JSON.stringify(value));
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
  }
}
