// The list of findings, its filters, the keys, and what is shown.

const data = JSON.parse(document.getElementById("data").textContent);
const find = (id) => document.getElementById(id);
const wanted = { rungs: new Set(["confirmed", "witness", "observed", "warning"]), kinds: new Set(["race", "deadlock", "failure"]), text: "" };
let chosen = null; // a finding's name, or "run"
let steps = null; // how to move through the steps of what is shown

/** All that can be searched for in a finding. */
const searched = new Map(data.findings.map((finding) => [finding, [finding.id, finding.kind, finding.rung, finding.method, finding.signature, finding.object ? finding.object.name : "", ...finding.accesses.flatMap((access) => [access.thread.name, access.op, ...access.locks.map((lock) => lock.name), access.waits_for ? access.waits_for.name : "", ...access.stack.map((frame) => `${frame.function || ""} ${at(frame)}`)])].join("\n").toLowerCase()]));

function visible() {
  return data.findings.filter((finding) => wanted.rungs.has(finding.rung) && wanted.kinds.has(finding.kind) && wanted.text.split(/\s+/).every((word) => searched.get(finding).includes(word)));
}

/** Shows the list again; the first one is chosen if the chosen one is no longer there. */
function list() {
  const all = visible();
  const item = (finding) => el("li", {}, el("button", { type: "button", "data-id": finding.id, "aria-current": String(finding.id === chosen), onclick: () => choose(finding.id) },
    el("span", { className: `rung ${finding.rung}` }, finding.rung),
    el("span", { className: "what" }, heading(finding)),
    el("span", { className: "where" }, finding.accesses.map(near).filter((place, i, places) => places.indexOf(place) === i).join(", "))));
  find("list").replaceChildren(...all.map(item));
  find("run").setAttribute("aria-current", String(chosen === "run"));
  const many = all.length === data.findings.length ? counted(all.length, "finding") : `${figure(all.length)} of ${counted(data.findings.length, "finding")}`;
  find("count").textContent = data.findings.length === 0 ? "No findings" : many;
  if (chosen !== "run" && !all.some((finding) => finding.id === chosen)) choose(all.length > 0 ? all[0].id : null);
}

/** Shows a finding, the run in figures, or that there is nothing. */
function choose(id, step = null) {
  chosen = id;
  steps = null;
  const finding = data.findings.find((one) => one.id === id);
  const main = find("detail");
  if (finding) {
    main.replaceChildren(...detail(finding, data.source, step, (move) => { steps = move; }));
    if (steps) steps.layOut();
  } else if (id === "run" && data.overview) {
    main.replaceChildren(plots(data.overview));
  } else {
    main.replaceChildren(el("p", { className: "none" }, data.findings.length === 0 ? "Nothing was found." : "No finding is like that."));
  }
  for (const button of document.querySelectorAll("#list button, #run")) button.setAttribute("aria-current", String((button.dataset.id || "run") === id));
  const current = document.querySelector("#list button[aria-current=true]");
  if (current) current.scrollIntoView({ block: "nearest" });
  if (id) history.replaceState(null, "", step === null ? `#${id}` : `#${id}.${step + 1}`);
}

/** The next or previous finding in the list. */
function walk(by) {
  const all = visible();
  const place = all.findIndex((finding) => finding.id === chosen);
  const next = all[place < 0 ? 0 : Math.min(Math.max(place + by, 0), all.length - 1)];
  if (next && next.id !== chosen) choose(next.id);
}

/** Buttons that take a group of findings away, for those that there are. */
function choices(place, names, property, set) {
  const there = names.filter((name) => data.findings.some((finding) => finding[property] === name));
  const button = (name) => el("button", { type: "button", "data-name": name, "aria-pressed": "true", onclick: (event) => {
    if (set.has(name)) set.delete(name); else set.add(name);
    event.currentTarget.setAttribute("aria-pressed", String(set.has(name)));
    list();
  } }, `${name} ${data.findings.filter((finding) => finding[property] === name).length}`);
  if (there.length > 1) find(place).replaceChildren(...there.map(button));
}

const THEMES = ["system", "light", "dark"];
function theme(name) {
  if (name === "system") delete document.documentElement.dataset.theme; else document.documentElement.dataset.theme = name;
  find("theme").textContent = `Theme: ${name}`;
  try { localStorage.setItem("deadheat-theme", name); } catch { /* pages from files may not keep anything */ }
}
function nextTheme() {
  const now = document.documentElement.dataset.theme || "system";
  theme(THEMES[(THEMES.indexOf(now) + 1) % THEMES.length]);
}

const KEYS = [["j  k", "next, previous finding"], ["\u2190  \u2192", "one step back, on"], ["Home  End", "first, last step"], ["/", "search"], ["t", "theme"], ["?", "these keys"]];
function help() {
  const rows = KEYS.flatMap(([keys, what]) => [el("dt", {}, keys.split("  ").map((key) => [el("kbd", {}, key), " "]).flat()), el("dd", {}, what)]);
  find("keys").replaceChildren(el("dl", {}, rows), el("button", { type: "button", onclick: () => find("keys").close() }, "Close"));
  find("keys").showModal();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || find("keys").open) return;
  const field = event.target instanceof HTMLInputElement;
  if (field && event.key === "Escape") return event.target.blur();
  if (field && event.target.type !== "range") return undefined;
  const press = {
    j: () => walk(1), k: () => walk(-1), t: nextTheme, "?": help, "/": () => find("search").focus(),
    ArrowRight: () => steps && steps.by(1), ArrowLeft: () => steps && steps.by(-1),
    Home: () => steps && steps.to(0), End: () => steps && steps.to(steps.last),
  }[event.key];
  if (!press) return undefined;
  event.preventDefault();
  return press();
});
find("search").addEventListener("input", () => { wanted.text = find("search").value.trim().toLowerCase(); list(); });
find("filters").addEventListener("submit", (event) => event.preventDefault());
find("theme").addEventListener("click", nextTheme);
find("ask").addEventListener("click", help);
find("run").addEventListener("click", () => choose("run"));
window.addEventListener("resize", () => { if (steps) steps.layOut(); });
window.addEventListener("hashchange", fromAddress);

/** What the page's address names: a finding, and perhaps a step. */
function fromAddress() {
  const [id, step] = decodeURIComponent(location.hash.slice(1)).split(".");
  const known = data.findings.some((finding) => finding.id === id) || (id === "run" && data.overview);
  if (known) choose(id, step && Number(step) > 0 ? Number(step) - 1 : null);
  return Boolean(known);
}

find("about").append(shown(data.about));
find("about").title = data.about;
find("run").hidden = !data.overview;
choices("rungs", Object.keys(RUNGS), "rung", wanted.rungs);
choices("kinds", ["race", "deadlock", "failure"], "kind", wanted.kinds);
try { theme(localStorage.getItem("deadheat-theme") || "system"); } catch { theme("system"); }
if (data.findings.length === 0) choose(data.overview ? "run" : null);
else fromAddress();
list();
