// What this device keeps between visits, where its browser lets it; with "sessionStorage", until the page is closed.
export function recall(name, storage = "localStorage") {
  try {
    return JSON.parse(window[storage].getItem(name));
  } catch (error) {
    // A browser may forbid storage, or somebody wrote something else there.
    if (!(error instanceof SyntaxError || error instanceof DOMException)) throw error;
    return null;
  }
}

export function keep(name, value, storage = "localStorage") {
  try {
    window[storage].setItem(name, JSON.stringify(value));
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
  }
}
