// While the referee is away the table opens as it was seen last; all else comes from the referee itself.
// Above this the referee writes KEPT: the addresses of the files that the table needs, which change with their content.
const STORE = `offline ${KEPT[0]}`;
// The screen on the wall has a page of its own.
const TABLES = ["/", "/?view=wall"];

self.addEventListener("install", (event) => {
  const store = async () => (await caches.open(STORE)).addAll(["/offline", ...KEPT]);
  event.waitUntil(store().then(() => self.skipWaiting()));
});
self.addEventListener("activate", (event) => {
  const old = (names) => names.filter((name) => name !== STORE).map((name) => caches.delete(name));
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(old(names)))
      .then(() => self.clients.claim()),
  );
});

async function opened(request) {
  const { pathname, search } = new URL(request.url);
  const store = await caches.open(STORE);
  try {
    const answer = await fetch(request);
    if (answer.ok && [...TABLES, "/offline"].includes(pathname + search)) await store.put(request.url, answer.clone());
    // A device that was unpaired keeps nothing of the table.
    if (pathname === "/pair") await Promise.all(TABLES.map((table) => store.delete(table)));
    return answer;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return (
      (await store.match(request.url)) ??
      (await store.match(pathname)) ??
      (await store.match("/offline")) ??
      Response.error()
    );
  }
}

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (KEPT.includes(new URL(request.url).pathname))
    event.respondWith(caches.match(request).then((kept) => kept ?? fetch(request)));
  else if (request.mode !== "navigate") return;
  else if (request.method === "GET") event.respondWith(opened(request));
  else event.respondWith(fetch(request).catch(() => caches.match("/offline")));
});
