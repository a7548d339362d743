// The way to a finding: threads as lanes, time from top to bottom, one step at a time.

const ROW = 28;
const GUTTER = 40;
const LETTER = 7.3; // how wide a letter of a label is

/** Colours of locks, in the order in which they come. */
function lockColours(way) {
  const names = way.threads.flatMap((lane) => lane.holds || []);
  for (const step of way.steps) if (step.does === "take" || step.does === "release") names.push(step.on || "?");
  return new Map([...new Set(names)].map((name, i) => [name, `var(--lock-${i % 6})`]));
}

/** From where to where which thread holds which lock, by steps; `depth` is how many it held before. A side of the finding is about to happen: it takes nothing. */
function lockSpans(way) {
  const spans = [];
  const open = new Map(way.threads.map((lane) => [lane.number, (lane.holds || []).map((lock, depth) => ({ thread: lane.number, lock, from: -1, depth }))]));
  way.steps.forEach((step, i) => {
    const held = open.get(step.thread) || [];
    if (step.does === "take" && step.side === undefined) {
      held.push({ thread: step.thread, lock: step.on || "?", from: i, depth: held.length });
    } else if (step.does === "release") {
      const which = held.findLastIndex((span) => span.lock === (step.on || "?"));
      if (which >= 0) spans.push({ ...held.splice(which, 1)[0], to: i });
    }
    open.set(step.thread, held);
  });
  for (const held of open.values()) for (const span of held) spans.push({ ...span, to: way.steps.length });
  return spans;
}

/** The locks that each thread holds after a step. */
function heldAfter(way, spans, step) {
  const of = (lane) => spans.filter((span) => span.thread === lane.number && span.from <= step && span.to > step).sort((a, b) => a.from - b.from);
  return new Map(way.threads.map((lane) => [lane.number, of(lane).map((span) => span.lock)]));
}

/** A step in words. Where there is room for so many letters only, the name in it is cut in the middle. */
function stepLabel(step, most = Infinity) {
  const value = step.value === undefined ? "" : step.does === "read" ? ` \u2192 ${valued(step.value)}` : step.does === "write" ? ` = ${valued(step.value)}` : "";
  const name = Array.from(step.on || "");
  const room = Math.max(most - step.op.length - value.length - 1, 5);
  const half = Math.floor((room - 1) / 2);
  const on = name.length > room ? [...name.slice(0, half), "\u2026", ...name.slice(name.length - (room - 1 - half))] : name;
  return cut(`${step.op}${on.length > 0 ? " " + on.join("") : ""}${value}`, most);
}

/** The drawing. `choose` is called with the step that is clicked. */
function timeline(way, width, choose) {
  const lanes = new Map(way.threads.map((lane, i) => [lane.number, i]));
  const longest = Math.max(4, ...way.threads.map((one) => Array.from(one.name).length));
  const lane = Math.max(12, Math.min(84, longest * 8 + 12, Math.floor((0.45 * (width - GUTTER)) / Math.max(way.threads.length, 1))));
  const above = way.earlier > 0 ? ROW : 6;
  const x = (thread) => GUTTER + (lanes.get(thread) || 0) * lane + lane / 2;
  const y = (step) => above + step * ROW + ROW / 2;
  const height = above + way.steps.length * ROW + 8;
  const words = GUTTER + lane * way.threads.length + 10; // where labels begin
  const whole = Math.max(width, words + 110);
  const colours = lockColours(way);
  const spans = lockSpans(way);
  const drawing = draw("svg", { width: whole, height, viewBox: `0 0 ${whole} ${height}`, role: "img", "aria-label": "The steps that lead to the finding" });
  if (way.earlier > 0) drawing.append(draw("text", { x: words, y: 18, class: "axis" }, `${counted(way.earlier, "earlier step")} not shown`));

  const bands = draw("g");
  const marks = draw("g");
  const groups = way.steps.map((step, i) => {
    const label = stepLabel(step);
    const told = `${i + 1}. ${laneName(way, step.thread)}: ${label}${at(step) ? `\n${step.function || ""} ${at(step)}` : ""}${step.value === undefined ? "" : `\nvalue ${step.value}`}`;
    const weight = step.side !== undefined ? "step side" : step.key ? "step" : "step minor";
    const group = draw("g", { class: weight, "data-step": i }, draw("title", {}, told));
    group.append(draw("rect", { class: "band", x: 0, y: y(i) - ROW / 2, width: whole, height: ROW }));
    group.append(draw("text", { class: "number", x: GUTTER - 12, y: y(i) + 4, "text-anchor": "end" }, String(i + 1)));
    group.append(draw("text", { class: "label", x: words, y: y(i) + 4 }, stepLabel(step, Math.floor((whole - words - 10) / LETTER))));
    group.addEventListener("click", () => choose(i));
    bands.append(group);
    const mark = draw("g", { class: weight, "pointer-events": "none" }, dot(step, x(step.thread), y(i), colours));
    if (step.side !== undefined) mark.append(draw("circle", { class: "ring", cx: x(step.thread), cy: y(i), r: 10.5 }));
    marks.append(mark);
    return [group, mark];
  });
  const lines = way.threads.map((one) => draw("line", { class: "lane", x1: x(one.number), x2: x(one.number), y1: 0, y2: height }));
  const held = spans.map((span) => {
    const half = Math.max(Math.min(9, lane / 2 - 1) - span.depth * 3, 3);
    const top = span.from < 0 ? 0 : y(span.from) - 4;
    const bottom = span.to >= way.steps.length ? height : y(span.to) + 4;
    return draw("rect", { class: "held", x: x(span.thread) - half, y: top, width: 2 * half, height: bottom - top, rx: 4, fill: colours.get(span.lock), stroke: colours.get(span.lock) }, draw("title", {}, `${laneName(way, span.thread)} holds ${span.lock}`));
  });
  drawing.append(bands, ...lines, ...held, ...handovers(spans, way, x, y), ...heat(way, x, y), marks);
  const show = (now) => groups.forEach((pair, i) => pair.forEach((group) => {
    group.classList.toggle("now", i === now);
    group.classList.toggle("later", i > now);
  }));
  return { drawing, show, lane, narrow: lane < longest * 8, whole, colours, spans, top: (step) => y(step) - ROW / 2 };
}

function laneName(way, number) {
  const lane = way.threads.find((one) => one.number === number);
  return lane ? lane.name : `T${number}`;
}

/** Accesses are round, full if they write; locks are square, full if taken. */
function dot(step, cx, cy, colours) {
  if (step.does === "read" || step.does === "write") return draw("circle", { class: `dot ${step.does}`, cx, cy, r: 5 });
  if (step.does === "take" || step.does === "release") {
    const colour = colours.get(step.on || "?");
    return draw("rect", { x: cx - 5, y: cy - 5, width: 10, height: 10, rx: 2, stroke: colour, "stroke-width": 2, fill: step.does === "take" ? colour : "var(--card)" });
  }
  return draw("rect", { class: "dot other", x: cx - 3, y: cy - 3, width: 6, height: 6, transform: `rotate(45 ${cx} ${cy})` });
}

/** From where a lock is given back to where another thread takes it next. */
function handovers(spans, way, x, y) {
  const arrows = [];
  for (const span of spans) {
    if (span.to >= way.steps.length) continue;
    const later = spans.filter((other) => other.lock === span.lock && other.from > span.to);
    const next = later.reduce((first, other) => (first && first.from <= other.from ? first : other), null);
    if (!next || next.thread === span.thread) continue;
    const [x1, y1, x2, y2] = [x(span.thread), y(span.to) + 6, x(next.thread), y(next.from) - 6];
    const bend = Math.max((y2 - y1) / 2, 12);
    arrows.push(draw("path", { class: "hand", d: `M${x1} ${y1} C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}` }, draw("title", {}, `${span.lock} goes from ${laneName(way, span.thread)} to ${laneName(way, next.thread)}`)));
  }
  return arrows;
}

/** The line between the sides of the finding, which are all next at once. */
function heat(way, x, y) {
  const sides = way.steps.map((step, i) => ({ step, i })).filter(({ step }) => step.side !== undefined);
  const last = sides.slice(-2);
  if (last.length < 2 || last[0].step.thread === last[1].step.thread) return [];
  const [a, b] = last.map(({ step, i }) => [x(step.thread), y(i)]);
  return [draw("path", { class: "heat", d: `M${a[0]} ${a[1]} L${b[0]} ${b[1]}` })];
}
