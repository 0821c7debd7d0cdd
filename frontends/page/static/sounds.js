// Plays what the buzzer plays, and buzzes when its player's turn comes, where that is switched on and the hour is not quiet.
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
// On the phone of a player whose turn has come.
const YOUR_TURN = [784, 988, 784];
const TONE_S = 0.14;
const BUZZ_MS = [120, 80, 120];
let audio = null;

function play(tones) {
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
}

export function playSounds() {
  let isUsed = false;
  // A browser lets a page sound and buzz only after somebody has used it. The click that switches sounds on counts too.
  for (const event of ["pointerdown", "keydown", "click", "change"])
    addEventListener(event, () => {
      isUsed = true;
      if (setting("sounds")) (audio ??= new AudioContext()).resume();
    });
  onTable((table, before) => {
    if (before === null || isQuiet()) return;
    const isYours = table.your_turn && !before.your_turn;
    if (isYours && isUsed && setting("buzz")) navigator.vibrate?.(BUZZ_MS);
    const isNext = table.version === before.version + 1;
    const tones = isYours ? YOUR_TURN : isNext && TONES[table.sound];
    if (tones && audio && setting("sounds")) play(tones);
  });
}
