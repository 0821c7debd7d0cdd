// Shows a page of ours while the referee is away; all else always comes from the referee itself.
const KEPT = "offline-1";
const FILES = ["/offline", "/static/page.css", "/static/icon.svg"];

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(KEPT).then((cache) => cache.addAll(FILES)).then(() => self.skipWaiting()));
});
self.addEventListener("activate", (event) => {
  const old = (names) => names.filter((name) => name !== KEPT).map((name) => caches.delete(name));
  event.waitUntil(caches.keys().then((names) => Promise.all(old(names))).then(() => self.clients.claim()));
});
self.addEventListener("fetch", (event) => {
  const { request } = event;
  const away = async () => (await caches.match(request.mode === "navigate" ? "/offline" : request)) ?? Response.error();
  if (request.mode === "navigate" || FILES.includes(new URL(request.url).pathname)) {
    event.respondWith(fetch(request).catch(away));
  }
});
