// A scanned code comes behind the #, which is sent to no server and no other page, and leaves the address at once.
const code = new URLSearchParams(location.hash.slice(1)).get("code");
const field = document.querySelector('[name="code"]');
if (code && field) {
  history.replaceState(null, "", location.pathname);
  field.value = code;
  for (const typed of document.querySelectorAll("#to-type, #less")) typed.hidden = true;
  document.getElementById("scanned").hidden = false;
  document.getElementById("pair").focus();
}
