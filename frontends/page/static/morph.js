// Changes an element into what the referee rendered anew, and keeps what a person or a script has done to it.
import { Idiomorph } from "./idiomorph.js";

// Whether an attribute belongs to the browser: a fold that was opened, or a button that is being sent.
function isOurs(name, element) {
  return (
    (name === "open" && element.matches("details")) ||
    (name === "disabled" && element.matches("form[data-command] button"))
  );
}

// `keeps(node)` says of a node that it stays as it is.
/** @param {(node: Node) => boolean} keeps */
export function morph(element, markup, keeps = () => false) {
  Idiomorph.morph(element, markup, {
    morphStyle: "outerHTML",
    callbacks: {
      beforeNodeMorphed: (node) => !keeps(node),
      beforeNodeRemoved: (node) => !keeps(node),
      beforeAttributeUpdated: (name, node) => !isOurs(name, node),
    },
  });
}
