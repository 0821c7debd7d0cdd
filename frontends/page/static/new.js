// Puts names in their places by a tap; without it they are typed. As many places are shown as may be needed next.
const form = document.getElementById("new");
const inputs = [...(form.elements.player.length ? form.elements.player : [form.elements.player])];
const chips = [...form.querySelectorAll(".chip")];
const swap = document.getElementById("swap");
const isMany = form.querySelector(".who").dataset.many === "true";

// As the server chooses a face's colour.
const hueOf = (name) => (name ? [...name].reduce((sum, letter) => sum + letter.codePointAt(0), 0) % 6 : "");

function show() {
  const names = inputs.map((input) => input.value.trim());
  for (const chip of chips) chip.setAttribute("aria-pressed", names.includes(chip.dataset.name));
  const needed = Math.max(2, names.filter(Boolean).length + 1, names.findLastIndex(Boolean) + 1);
  inputs.forEach((input, place) => {
    const seat = input.closest("li");
    Object.assign(seat.querySelector(".face").dataset, {
      face: [...names[place]][0]?.toUpperCase() ?? "?",
      hue: hueOf(names[place]),
    });
    seat.hidden = isMany && place >= needed;
  });
}

function put(names) {
  inputs.forEach((input, place) => (input.value = names[place] ?? ""));
  show();
}

for (const chip of chips) {
  chip.addEventListener("click", () => {
    const names = inputs.map((input) => input.value.trim());
    const taken = names.indexOf(chip.dataset.name);
    const free = names.indexOf("");
    if (taken >= 0) names[taken] = "";
    else if (free >= 0) names[free] = chip.dataset.name;
    put(isMany ? names.filter(Boolean) : names);
  });
}
swap.addEventListener("click", () => {
  const names = inputs.map((input) => input.value.trim());
  const last = isMany ? Math.max(names.filter(Boolean).length, 1) : names.length;
  put([names[last - 1], ...names.slice(0, last - 1), ...names.slice(last)]);
});
form.addEventListener("input", show);
form.querySelector(".chips").hidden = false;
swap.hidden = false;
show();
