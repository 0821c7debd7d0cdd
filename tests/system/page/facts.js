// What a person can tell from a screen without scrolling, in CSS pixels: how large the table is drawn, what of the
// essential is out of sight or hidden, what overlaps the board, is cut off, or is too small for a finger.
() => {
  const [W, H] = [innerWidth, innerHeight];
  const isSeen = (each) => {
    const { width, height } = each.getBoundingClientRect();
    return width > 1 && height > 1 && each.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) && !each.closest(".unseen, .skip");
  };
  const seen = (selector, within = document) => [...within.querySelectorAll(selector)].filter(isSeen);
  const nameOf = (each) => `${each.id ? `#${each.id}` : each.dataset.part ?? each.localName} “${(each.textContent || each.ariaLabel || each.name || "").trim().replace(/\s+/g, " ").slice(0, 30)}”`;
  const isIn = (box) => box.left >= -1 && box.top >= -1 && box.right <= W + 1 && box.bottom <= H + 1;
  const isOnTop = (each) => {
    const box = each.getBoundingClientRect();
    const top = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    return Boolean(top && (each.contains(top) || top.contains(each)));
  };
  const scrolls = (each) => {
    for (let at = each.parentElement; at && at !== document.body; at = at.parentElement) {
      if (["auto", "scroll"].includes(getComputedStyle(at).overflowX) && at.scrollWidth > at.clientWidth) return true;
    }
    return false;
  };
  const board = seen("#board svg.board, #board svg.sheet");
  // Sheets that are swept through show only what is inside their frame.
  const frame = document.getElementById("board")?.getBoundingClientRect();
  const shown = (box) => (frame?.width ? new DOMRect(Math.max(box.x, frame.x), box.y, Math.max(0, Math.min(box.right, frame.right) - Math.max(box.x, frame.x)), box.height) : box);
  // A drawing keeps its shape in the middle of the place it is given.
  const drawn = (each) => {
    const { x, y, width, height } = each.getBoundingClientRect();
    const scale = Math.min(width / each.viewBox.baseVal.width, height / each.viewBox.baseVal.height);
    const [w, h] = [scale * each.viewBox.baseVal.width, scale * each.viewBox.baseVal.height];
    return new DOMRect(x + (width - w) / 2, y + (height - h) / 2, w, h);
  };
  const all = board.map((each) => shown(drawn(each)));
  const own = all.reduce((best, each) => (each.width * each.height > best.width * best.height ? each : best), all[0]);
  const union = own && { left: Math.min(...all.map((b) => b.left)), top: Math.min(...all.map((b) => b.top)), right: Math.max(...all.map((b) => b.right)), bottom: Math.max(...all.map((b) => b.bottom)) };
  const texts = seen("h1, h2, h3, p, li, button, a, label, summary, figcaption, b, small").filter((each) => !each.closest("#board svg"));
  const essential = [...seen("#next, #players [data-player]"), ...seen("#players [data-part=clock], #players [data-part=score]").filter((each) => each.textContent.trim())];
  const main = seen("#verdict button")[0] ?? seen("#rolling .die")[0] ?? seen("main .strong")[0];
  const heightOf = (each) => each?.getBoundingClientRect().height ?? 0;
  // Upright, what is asked and the main button have their place under the board.
  const below = seen("#board .sheet ~ .dice").reduce((sum, each) => sum + heightOf(each), 0) + (H > W ? heightOf(seen("#verdict")[0]) + 2 * Math.min(heightOf(main), 60) : 0);
  if (main) essential.push(main);
  const told = (each) => `${nameOf(each)} to ${Math.round(each.getBoundingClientRect().bottom)}`;
  // What a scrolling list does not show can't overlap anything.
  const inView = (each) => {
    let { left, top, right, bottom } = each.getBoundingClientRect();
    for (let at = each.parentElement; at && at !== document.body; at = at.parentElement) {
      if (getComputedStyle(at).overflowY === "visible") continue;
      const box = at.getBoundingClientRect();
      [left, top, right, bottom] = [Math.max(left, box.left), Math.max(top, box.top), Math.min(right, box.right), Math.min(bottom, box.bottom)];
    }
    return { left, top, right, bottom };
  };
  const overlaps = (each) => {
    const box = inView(each);
    return all.some((b) => Math.min(b.right, box.right) - Math.max(b.left, box.left) > 2 && Math.min(b.bottom, box.bottom) - Math.max(b.top, box.top) > 2);
  };
  const hits = seen("a, button, summary, select, input, textarea").filter((each) => !each.closest("p, td, li, legend, figcaption, svg") || !each.matches("a"));
  const target = (each) => (each.matches("input[type=checkbox], input[type=radio]") ? each.closest("label") ?? each : each).getBoundingClientRect();
  return {
    wide: document.documentElement.scrollWidth - W,
    // Shares of the screen: of the largest drawing, and of all together.
    filled: own ? Math.max(own.width / W, own.height / (H - Math.min(...board.map((each) => each.getBoundingClientRect().top)) - below)) : 0,
    width: own ? own.width / W : 0,
    height: own ? own.height / H : 0,
    all_width: own ? (union.right - union.left) / W : 0,
    all_height: own ? (union.bottom - union.top) / H : 0,
    board: own ? [own.left, own.top, own.right, own.bottom].map(Math.round) : [],
    out_of_sight: essential.filter((each) => !isIn(each.getBoundingClientRect())).map(told),
    hidden: essential.filter((each) => isIn(each.getBoundingClientRect()) && !isOnTop(each)).map(told),
    overlapping: [...texts, ...seen("#board .dice")].filter((each) => overlaps(each)).map(told),
    cut: texts.filter((each) => {
      const box = each.getBoundingClientRect();
      const style = getComputedStyle(each);
      const isClipped = style.overflowX !== "visible" && !["auto", "scroll"].includes(style.overflowX) && each.scrollWidth > each.clientWidth + 1;
      return isClipped || ((box.left < -1 || box.right > W + 1) && !scrolls(each));
    }).map(told),
    small: hits.filter((each) => { const box = target(each); return Math.min(box.width, box.height) < 43.5; }).map((each) => { const box = target(each); return `${nameOf(each)} ${Math.round(box.width)}x${Math.round(box.height)}`; }),
    letters: Math.min(...seen("#players [data-part=clock], #players [data-part=score]").filter((each) => each.textContent.trim()).map((each) => parseFloat(getComputedStyle(each).fontSize)), 999),
    page: Math.round(document.documentElement.scrollHeight / H * 10) / 10,
  };
}
