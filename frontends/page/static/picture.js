// A picture of the end that messengers show: the referee's drawing as PNG, shared where the device can, else saved.
const SCALE = 1.5;
let saved = "";

async function pngOf(address) {
  const drawing = new Image();
  drawing.src = address;
  await drawing.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [drawing.naturalWidth * SCALE, drawing.naturalHeight * SCALE];
  canvas.getContext("2d").drawImage(drawing, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

export function sendPictures() {
  document.addEventListener("click", async (event) => {
    const link = /** @type {any} */ (event.target).closest?.("a[data-picture]");
    if (!link) return;
    event.preventDefault();
    const name = `${link.dataset.picture}.png`;
    const file = new File([await pngOf(link.href)], name, { type: "image/png" });
    if (navigator.canShare?.({ files: [file] })) {
      // Whoever closes the list of programs has only changed their mind.
      await navigator.share({ files: [file] }).catch((error) => {
        if (error.name !== "AbortError") throw error;
      });
      return;
    }
    // Nothing tells when a download has read its file, so the address holds until the next one.
    URL.revokeObjectURL(saved);
    saved = URL.createObjectURL(file);
    Object.assign(document.createElement("a"), { href: saved, download: name }).click();
  });
}
