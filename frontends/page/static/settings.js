// What people choose on this device: voice, sounds, quiet hours, colours.
import { keep, recall } from "./kept.js";

// The owner's quiet hours hold until others are chosen on this device.
const house = document.documentElement.dataset;
let settings = recall("settings") ?? {};

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
    if (field.type === "checkbox") field.checked = Boolean(setting(name));
    else field.value = setting(name) ?? "";
    field.addEventListener("change", () => {
      settings = { ...settings, [name]: field.type === "checkbox" ? field.checked : field.value };
      keep("settings", settings);
      apply();
    });
  }
}
