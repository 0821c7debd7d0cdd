// Changes an element into what the referee rendered anew, and keeps what a person or a script has done to it.
import { Idiomorph } from "./idiomorph.js";

// Whether an attribute belongs to the browser: a fold that was opened, or a button that is being sent.
function isOurs(name, element) {
  return (name === "open" && element.matches("details")) || (name === "disabled" && element.matches("form[data-command] button"));
}

export function morph(element, markup) {
  Idiomorph.morph(element, markup, {
    morphStyle: "outerHTML",
    callbacks: { beforeAttributeUpdated: (name, node) => !isOurs(name, node) },
  });
}
