// One finding in full.

const RUNGS = {
  confirmed: "The program was made to follow the schedule, and it happened.",
  witness: "A schedule that leads there was derived and checked.",
  observed: "It happened in the run that was seen.",
  warning: "Suspicious; nothing proves it.",
};

/** `Race on total` in words, for headings. */
function heading(finding) {
  const possible = finding.rung === "warning";
  const kind = { race: "data race", deadlock: "deadlock", failure: "failure" }[finding.kind];
  const what = possible ? `Possible ${kind}` : kind[0].toUpperCase() + kind.slice(1);
  if (finding.object) return [`${what} on `, el("code", {}, finding.object.name)];
  if (finding.kind === "deadlock") return [finding.accesses.length === 1 ? `${what}: a wait that nobody ends` : `${what} of ${counted(finding.accesses.length, "thread")}`];
  return [what];
}

/** What the sides do, in sentences. */
function lead(finding) {
  const side = (access) => {
    const verb = { read: "reads", write: "writes", "atomic read": "atomically reads", "atomic write": "atomically writes" }[access.op];
    const does = access.waits_for ? `waits for ${access.waits_for.name}` : verb ? `${verb} ${counted(access.size, "byte")}` : `does: ${access.op}`;
    const where = access.function ? ` in ${access.function}` : "";
    return `${access.thread.name} ${does}${where}${at(access) ? `, ${at(access)}` : ""}${holding(access)}.`;
  };
  return finding.accesses.map(side).join(" ");
}

/** Text in which what stands between backquotes is code. */
function withCode(text) {
  return text.split("`").map((part, i) => (i % 2 === 1 ? el("code", {}, part) : part));
}

function holding(access) {
  if (access.locks.length === 0) return access.waits_for ? "" : ", holding no lock";
  return `, holding ${access.locks.map((lock) => lock.name + (lock.read ? " for reading" : "")).join(", ")}`;
}

/** The whole finding. `move` is told how to go to a step, if there are steps. */
function detail(finding, source, start, move) {
  const parts = [
    el("p", { className: "head" }, el("span", { className: `rung ${finding.rung}`, title: RUNGS[finding.rung] }, finding.rung), el("span", {}, RUNGS[finding.rung]), el("code", {}, finding.id)),
    el("h1", {}, heading(finding)),
    el("p", { className: "lead" }, lead(finding)),
  ];
  if (finding.suggestion) parts.push(el("p", { className: "callout" }, el("b", {}, "What to change: "), withCode(finding.suggestion)));
  if (finding.interleaving && finding.interleaving.steps.length > 0) parts.push(el("h2", {}, "How it comes about"), way(finding, source, start, move));
  if (finding.consequence) parts.push(...consequence(finding));
  if (finding.replay) parts.push(el("h2", {}, "Run into it again"), command(finding.replay));
  parts.push(el("h2", {}, finding.kind === "deadlock" ? "Who waits" : "The sides"), el("div", { className: "sides" }, finding.accesses.map((access) => side(access, source))));
  parts.push(...facts(finding));
  return parts;
}

function consequence(finding) {
  const names = { ab: finding.accesses[0], ba: finding.accesses[1] };
  const endings = finding.consequence.endings.map((ending) => {
    const first = names[ending.order];
    const bad = ending.exit !== 0;
    return el("div", { className: `callout ${bad ? "bad" : "calm"}` }, el("b", {}, first ? `${first.thread.name} first: ` : "From here: "), `the program ${ending.told}`,
      ending.value === undefined || !finding.object ? null : `; ${finding.object.name} is ${valued(ending.value)} then`,
      ending.message ? el("pre", {}, ending.message) : null);
  });
  const differs = finding.consequence.differs || [];
  const told = differs.length > 0 ? [el("p", { className: "lead" }, `The order decides ${differs.join(" and ")}.`)] : [];
  return [el("h2", {}, "What follows"), el("div", { className: "sides" }, endings), ...told];
}

/** The steps with the source beside them. */
function way(finding, source, start, move) {
  const steps = finding.interleaving;
  const last = steps.steps.length - 1;
  const [rows, places] = [el("div", { className: "steps", tabIndex: 0, "aria-label": "Steps" }), el("div", { className: "card", id: "state", "aria-live": "polite" })];
  const slider = el("input", { type: "range", min: 0, max: last, value: last, id: "slider", "aria-label": "Step" });
  const told = el("output", { id: "step" });
  const button = (id, sign, title, to) => el("button", { type: "button", id, title, "aria-label": title, onclick: () => show(to()) }, sign);
  const back = button("back", "\u2039", "One step back (left arrow)", () => now - 1);
  const on = button("forward", "\u203a", "One step on (right arrow)", () => now + 1);
  let now = Math.min(Math.max(start === null ? last : start, 0), last);
  let drawn = null;
  const show = (step) => {
    now = Math.min(Math.max(step, 0), last);
    drawn.show(now);
    slider.value = now;
    told.textContent = `${now + 1} of ${last + 1}`;
    back.disabled = now === 0;
    on.disabled = now === last;
    places.replaceChildren(...state(finding, drawn, now, source));
    const top = drawn.top(now);
    if (top < rows.scrollTop || top + 3 * ROW > rows.scrollTop + rows.clientHeight - 40) rows.scrollTop = top - rows.clientHeight / 2;
  };
  const layOut = () => {
    drawn = timeline(steps, rows.clientWidth || 600, show);
    const names = steps.threads.map((lane) => Object.assign(el("span", { title: lane.name }, lane.name), { style: `width:${drawn.lane}px` }));
    const head = Object.assign(el("div", { className: drawn.narrow ? "lanes narrow" : "lanes" }, names), { style: `padding-left:${GUTTER}px;width:${drawn.whole}px` });
    rows.replaceChildren(head, drawn.drawing);
    show(now);
  };
  slider.addEventListener("input", () => show(Number(slider.value)));
  move({ to: show, by: (steps) => show(now + steps), layOut, now: () => now, last });
  return el("div", { className: "way" }, el("div", { className: "card" }, rows, el("div", { className: "controls" }, back, on, slider, told)), places);
}

/** Where everybody is after a step, and what they hold. */
function state(finding, drawn, now, source) {
  const steps = finding.interleaving;
  const step = steps.steps[now];
  const held = heldAfter(steps, drawn.spans, now);
  const stands = new Map();
  for (const earlier of steps.steps.slice(0, now + 1)) stands.set(earlier.thread, earlier);
  const marks = new Map();
  for (const other of [step, ...stands.values()].filter((other) => other.file === step.file)) {
    const [name, there] = [laneName(steps, other.thread), marks.get(other.line) || []];
    if (!there.includes(name)) marks.set(other.line, [...there, name]);
  }
  marks.forEach((names, line) => marks.set(line, names.join(", ")));
  const access = step.side === undefined ? null : finding.accesses[step.side];
  const does = access && access.waits_for ? ` waits for ${access.waits_for.name}` : `: ${stepLabel(step)}`;
  const rows = steps.threads.map((lane) => {
    const locks = held.get(lane.number).map((lock) => Object.assign(el("span", { className: "chip" }, lock), { style: `color:${drawn.colours.get(lock)}` }));
    const place = stands.get(lane.number);
    return el("tr", { "data-thread": lane.number }, el("th", {}, lane.name), el("td", {}, locks.length > 0 ? locks : el("span", { className: "soft" }, "no locks")),
      el("td", { className: "soft" }, place ? near(place) : "not yet here"));
  });
  return [
    el("p", { className: "place" }, el("b", {}, laneName(steps, step.thread) + does), el("span", { className: "soft" }, `${step.function || ""} ${at(step)}`)),
    excerpt(source, step, 6, step.side !== undefined, marks),
    el("table", { className: "state" }, el("tbody", {}, rows)),
  ];
}

/** Source lines around a place, the place marked; null if the text is not there. */
function excerpt(source, place, around, bad, marks) {
  const lines = source[place.file];
  if (!lines || !place.line || lines[place.line] === undefined) return marks ? el("p", { className: "place soft" }, "The source text is not at hand.") : null;
  const widest = marks ? Math.min(Math.max(...[...marks.values()].map((name) => Array.from(name).length)), 16) + 1 : 0;
  const rows = [];
  for (let number = place.line - around; number <= place.line + around; number += 1) {
    if (lines[number] === undefined) continue;
    const hit = number === place.line;
    const mark = marks ? Object.assign(el("span", { className: "here", title: marks.get(number) || "" }, marks.get(number) || ""), { style: `width:${widest}ch` }) : null;
    rows.push(el("div", { className: hit ? (bad ? "hit bad" : "hit") : "" }, el("span", { className: "no" }, String(number)), mark, el("span", { className: "text" }, lines[number] || " ")));
  }
  return el("div", { className: "source", tabIndex: 0, "aria-label": "Source" }, rows);
}

/** One side: what, where, with which locks, and how it got there. */
function side(access, source) {
  const what = access.waits_for ? `waits for ${access.waits_for.name}` : `${access.op}${access.size ? ` of ${counted(access.size, "byte")}` : ""}`;
  const locks = access.locks.map((lock) => el("li", {}, "holds ", el("code", {}, lock.name), lock.read ? " for reading" : "", lock.acquired_at.length > 0 ? `, taken at ${at(lock.acquired_at.find((frame) => frame.file) || lock.acquired_at[0])}` : ""));
  const created = access.thread.created_at || [];
  return el("section", { className: "card" },
    el("p", { className: "place" }, el("b", {}, `${access.thread.name}: ${what}`), el("span", { className: "soft" }, `${access.function || ""} ${at(access)}`)),
    excerpt(source, access, 2, true, null),
    locks.length > 0 ? el("ul", {}, locks) : null,
    stack(`Calls (${access.stack.length}${access.folded ? ", recursion left out" : ""})`, access.stack),
    created.length > 0 ? stack(`${access.thread.name} was created${access.thread.parent === undefined ? "" : ` by T${access.thread.parent}`}`, created) : null);
}

function stack(title, frames) {
  const told = (frame) => el("li", {}, frame.function || "??", " ", el("span", { className: "soft" }, `${at(frame)}${frame.inlined ? " (inlined)" : ""}`));
  return el("details", {}, el("summary", {}, title), el("ol", {}, frames.map(told)));
}

/** A command with a button that copies it. */
function command(text) {
  const shownText = el("code", {}, text);
  const copy = el("button", { type: "button", className: "copy", onclick: async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      getSelection().selectAllChildren(shownText);
      document.execCommand("copy");
    }
    copy.textContent = "Copied";
    setTimeout(() => { copy.textContent = "Copy"; }, 1500);
  } }, "Copy");
  return el("div", { className: "card command" }, shownText, copy);
}

/** The rest, in a list. */
function facts(finding) {
  const object = finding.object;
  const memory = object && { global: () => `${object.name}: a global variable${object.declared ? `, declared at ${object.declared}` : ""}`, heap: () => `byte ${object.offset} of a heap block of ${counted(object.length, "byte")}, allocated by ${object.thread} at ${at(object.allocated_at.find((frame) => frame.file) || {})}`, stack: () => `on the stack of ${object.thread}` }[object.memory];
  const all = [
    ["Memory", memory && memory()],
    ["In this run", finding.in_run],
    ["Not enforced", finding.not_enforced],
    ...(finding.hints || []).map((hint) => ["Hint", hint]),
    ...(finding.reasons || []).map((reason) => ["Because", reason]),
    ["Found by", finding.method + (Number(finding.count) > 1 ? `, ${counted(finding.count, "time")}` : "")],
    ["Schedule", finding.witness],
  ].filter(([, value]) => value);
  return [el("h2", {}, "More"), el("dl", { className: "facts" }, all.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]))];
}
