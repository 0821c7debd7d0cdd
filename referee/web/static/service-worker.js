// While the referee is away the table opens as it was seen last; all else always comes from the referee itself.
const KEPT = "offline-7";
const MODULES = [
  "camera", "clocks", "commands", "correct", "enter", "idiomorph", "kept", "live", "morph", "moving", "page", "rolling", "settings", "sounds", "squares", "steps", "table", "tapping", "voice", "words",
].map((name) => `/static/${name}.js`);
const FILES = ["/offline", "/static/page.css", "/static/table.css", "/static/whose_phone.css", "/static/icon.svg", ...MODULES];

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(KEPT).then((cache) => cache.addAll(FILES)).then(() => self.skipWaiting()));
});
self.addEventListener("activate", (event) => {
  const old = (names) => names.filter((name) => name !== KEPT).map((name) => caches.delete(name));
  event.waitUntil(caches.keys().then((names) => Promise.all(old(names))).then(() => self.clients.claim()));
});

async function fetched(request) {
  const { pathname } = new URL(request.url);
  const cache = await caches.open(KEPT);
  try {
    const answer = await fetch(request);
    if (answer.ok && (pathname === "/" || FILES.includes(pathname))) await cache.put(pathname, answer.clone());
    // A device that was unpaired keeps nothing of the table.
    if (pathname === "/" && answer.type === "opaqueredirect") await cache.delete("/");
    return answer;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const offline = request.mode === "navigate" ? await cache.match("/offline") : undefined;
    return (await cache.match(pathname)) ?? offline ?? Response.error();
  }
}

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const isOurs = request.mode === "navigate" || FILES.includes(new URL(request.url).pathname);
  if (isOurs && request.method === "GET") event.respondWith(fetched(request));
  else if (isOurs) event.respondWith(fetch(request).catch(() => caches.match("/offline")));
});
