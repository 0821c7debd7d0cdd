// Faults in the page's modules that types don't show. A service worker has names of its own, which only this checks.
import js from "@eslint/js";

const WORKER = ["self", "caches", "fetch", "Response", "URL", "KEPT"];

export default [
  js.configs.recommended,
  {
    rules: {
      "no-undef": "off",
      "eqeqeq": "error",
      "no-shadow": "error",
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-const": "error",
      "prefer-template": "error",
      "require-await": "error",
    },
  },
  {
    files: ["**/service-worker.js"],
    languageOptions: { globals: Object.fromEntries(WORKER.map((name) => [name, "readonly"])) },
    rules: { "no-undef": "error" },
  },
  { ignores: ["**/idiomorph.js"] },
];
