// Plays what the buzzer plays, where that is switched on and the hour is not quiet.
import { onTable } from "./live.js";
import { isQuiet, setting } from "./settings.js";

// Tones in hertz, each 140 ms long.
const TONES = {
  accepted: [660, 880],
  ready: [523],
  question: [587, 587],
  fault: [330, 247],
  finished: [523, 659, 784, 1047],
};
const TONE_S = 0.14;
let audio = null;

export function playSounds() {
  // A browser lets a page sound only after somebody has used it. The click that switches sounds on counts too.
  for (const event of ["pointerdown", "keydown", "click", "change"])
    addEventListener(event, () => setting("sounds") && (audio ??= new AudioContext()).resume());
  onTable((table, before) => {
    const tones = TONES[table.sound];
    const isNext = before !== null && table.version === before.version + 1;
    if (!tones || !isNext || !audio || !setting("sounds") || isQuiet()) return;
    tones.forEach((hertz, place) => {
      const tone = audio.createOscillator();
      const volume = audio.createGain();
      const start = audio.currentTime + place * TONE_S;
      tone.frequency.value = hertz;
      volume.gain.setValueAtTime(0.2, start);
      volume.gain.exponentialRampToValueAtTime(0.001, start + TONE_S);
      tone.connect(volume).connect(audio.destination);
      tone.start(start);
      tone.stop(start + TONE_S);
    });
  });
}
