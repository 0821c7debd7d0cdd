// What this device keeps: voice, sounds, quiet hours, colours.
const read = () => {
  try {
    return JSON.parse(localStorage.getItem("settings")) ?? {};
  } catch (error) {
    // A browser may forbid storage, or somebody wrote something else there.
    if (!(error instanceof SyntaxError || error instanceof DOMException)) throw error;
    return {};
  }
};
// What the owner has set holds until this device chooses: quiet hours.
const house = document.documentElement.dataset;
let settings = read();

export const setting = (name) => settings[name] ?? house[name];

// Whether nothing may sound now: from `quietFrom` to `quietTo`, past midnight too.
export function isQuiet(now = new Date()) {
  const [from, to] = [setting("quietFrom"), setting("quietTo")];
  if (!from || !to) return false;
  const time = `${String(now.getHours()).padStart(2, "0")}:${String(now.getMinutes()).padStart(2, "0")}`;
  return from <= to ? from <= time && time < to : time >= from || time < to;
}

function apply() {
  if (settings.theme) document.documentElement.dataset.theme = settings.theme;
  else delete document.documentElement.dataset.theme;
}

export function keepSettings() {
  apply();
  document.getElementById("settings").hidden = false;
  for (const field of document.querySelectorAll("[data-setting]")) {
    const name = field.dataset.setting;
    if (field.type === "checkbox") field.checked = settings[name] ?? false;
    else field.value = setting(name) ?? "";
    field.addEventListener("change", () => {
      settings = { ...settings, [name]: field.type === "checkbox" ? field.checked : field.value };
      localStorage.setItem("settings", JSON.stringify(settings));
      apply();
    });
  }
}
