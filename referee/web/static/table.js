// Draws a table of the history into the page.
const parser = new DOMParser();

// Replaces the drawings by the referee's newest. They are parsed as XML, so that nothing in them can run.
export function draw(into, board) {
  const parsed = parser.parseFromString(`<all>${board}</all>`, "text/xml");
  into.replaceChildren(...[...parsed.documentElement.children].map((each) => document.importNode(each, true)));
}

export function showEvidence(into, pictures) {
  const shown = JSON.stringify(pictures);
  // Pictures that stay are not fetched again.
  if (into.dataset.shown === shown) return;
  into.dataset.shown = shown;
  into.replaceChildren(
    ...pictures.map(([source, words]) => {
      const figure = document.createElement("figure");
      const picture = document.createElement("img");
      const caption = document.createElement("figcaption");
      picture.src = source;
      picture.alt = caption.textContent = words;
      picture.addEventListener("error", () => figure.remove());
      figure.append(picture, caption);
      return figure;
    }),
  );
}
