// What the page's modules are given: elements of the templates, which the checker can't know, and the referee's news.
interface ParentNode {
  querySelector(selectors: string): any;
  querySelectorAll(selectors: string): NodeListOf<any>;
}
interface Document {
  getElementById(id: string): any;
}

// Events come from elements, and some from modules.
interface EventTarget {
  closest?(selectors: string): any;
}
interface Event {
  detail?: any;
  key?: string;
}

interface Navigator {
  getBattery?(): Promise<any>;
}

interface Clock {
  mode: string;
  control: string;
  remaining_s: Record<string, number>;
  delay_s: Record<string, number>;
  running: string[];
  paused: string;
  fallen: string[];
}

// The table as /api/events tells it beside the parts; frontends/documents.py and shown_table.py say what each field means.
interface Table {
  version: number;
  event_number: number;
  you: string | null;
  your_turn: string;
  game: { number: number; name: string; title: string; hints_allowed: boolean };
  turns: number;
  next: string;
  awaits_turn: boolean;
  verdict: { kind: string; sentence: string; remedy: string; places: string[] } | null;
  outcome: string | null;
  end: object | null;
  hint: string;
  trouble: string;
  mood: string;
  words: string;
  sound: string;
  clock: Clock | null;
  asked: { about: string; player: string; words: string } | null;
  deeds: string[];
  start: string;
  wrong: string[];
  overruled: string;
}
