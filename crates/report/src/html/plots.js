// The run in figures: what happened when, which locks were waited for, what each thread did.

/** Everything that is known of the run. */
function plots(overview) {
  const parts = [];
  const series = [["syncs", "Synchronisation"], ["switches", "Switches between threads"], ["accesses", "Accesses to memory"]];
  if (overview.slices.length > 0) {
    const bars = series.map(([name, title]) => overTime(grouped(overview.slices.map((slice) => slice[name]), overview.events), title));
    parts.push(el("h2", {}, "Over time, from the first event to the last"), el("div", { className: "card" }, bars));
  }
  if (overview.locks.length > 0) parts.push(el("h2", {}, "Locks, those that are waited for most first"), el("div", { className: "card scroll" }, locks(overview.locks)));
  if (overview.threads.length > 0) parts.push(el("h2", {}, "Threads, from their first event to their last"), el("div", { className: "card scroll" }, threads(overview)));
  return el("div", { className: "plots" }, el("div", {}, el("p", { className: "head" }, counted(overview.events, "event")), el("h1", {}, "The run in figures")), el("div", {}, parts));
}

/** Fewer slices where a trace is short: a bar for each event says nothing. */
function grouped(values, events) {
  let all = values;
  while (all.length > 12 && events / all.length < 8) all = all.map((value, i) => value + (all[i + 1] || 0)).filter((_, i) => i % 2 === 0);
  return all;
}

/** One row of bars. */
function overTime(values, title) {
  const [width, height] = [800, 56];
  const most = Math.max(1, ...values);
  const step = width / values.length;
  const drawing = draw("svg", { viewBox: `0 0 ${width} ${height}`, width: "100%", height, preserveAspectRatio: "none", role: "img", "aria-label": title });
  values.forEach((value, i) => {
    if (value === 0) return;
    const tall = Math.max((value / most) * height, 1.5);
    drawing.append(draw("rect", { class: "bar", x: i * step, y: height - tall, width: Math.max(step - 1, 0.8), height: tall }, draw("title", {}, figure(value))));
  });
  const sum = values.reduce((sum, value) => sum + value, 0);
  return el("figure", {}, el("figcaption", {}, title, el("span", { className: "soft" }, `${figure(sum)} in all, ${figure(most)} at most`)), drawing);
}

function bar(from, to, whole, className) {
  const drawing = draw("svg", { viewBox: "0 0 100 12", width: "100%", height: 12, preserveAspectRatio: "none", "aria-hidden": "true" });
  const start = (100 * from) / Math.max(whole, 1);
  drawing.append(draw("rect", { class: `bar ${className}`, x: start, y: 2, width: Math.max((100 * (to - from)) / Math.max(whole, 1), 0.6), height: 8, rx: 1 }));
  return drawing;
}

function row(cells, tag) {
  return el("tr", {}, cells.map((cell) => el(tag, {}, cell)));
}

function locks(all) {
  const most = Math.max(...all.map((lock) => lock.waited), 0);
  const waits = most > 0;
  const whole = waits ? most : Math.max(...all.map((lock) => lock.taken));
  const rows = all.map((lock) => row([lock.name, figure(lock.waited), figure(lock.handed_over), figure(lock.taken), figure(lock.threads), bar(0, waits ? lock.waited : lock.taken, whole, waits ? "" : "soft")], "td"));
  const head = row(["lock", "waited for", "handed over", "taken", "threads", waits ? "waited for" : "taken"], "th");
  head.lastChild.className = "wide";
  return el("table", {}, el("thead", {}, head), el("tbody", {}, rows));
}

function threads(overview) {
  const rows = overview.threads.map((thread) => row([thread.name, figure(thread.accesses), figure(thread.syncs), bar(thread.first, thread.last + 1, overview.events, "")], "td"));
  const head = row(["thread", "accesses", "synchronisation", "when"], "th");
  head.lastChild.className = "wide";
  return el("table", {}, el("thead", {}, head), el("tbody", {}, rows));
}
