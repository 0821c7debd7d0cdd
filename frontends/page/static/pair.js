// A scanned code comes behind the #, which is sent to no server and no other page, and leaves the address at once.
const field = document.querySelector('[name="code"]');

function fill() {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (!code || !field) return;
  history.replaceState(null, "", location.pathname);
  field.value = code;
  for (const typed of document.querySelectorAll("#to-type, #less")) typed.hidden = true;
  document.getElementById("scanned").hidden = false;
  document.getElementById("pair").focus();
}
fill();
// In a tab that is here already, the browser only changes what is behind the #.
addEventListener("hashchange", fill);
