// Makes elements. All text goes in as text: nothing that a program is called or says is ever read as markup.

/** An element with properties, attributes (aria-*, data-*, for) and children; text becomes text. */
function el(tag, properties, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (name in node) node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined).map(shown));
  return node;
}

/** The same for drawings. */
function draw(tag, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
  node.append(...children.flat().filter(Boolean).map(shown));
  return node;
}

/** Characters that are not seen, or turn text around, are shown as what they are: unknown. */
function shown(child) {
  if (child instanceof Node) return child;
  return String(child).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
}

/** `1,234`. */
function figure(number) {
  return Number(number).toLocaleString("en-US");
}

/** `1 step`, `2 steps`. */
function counted(number, thing) {
  return `${figure(number)} ${thing}${Number(number) === 1 ? "" : "s"}`;
}

/** Text cut to so many characters. */
function cut(text, most) {
  const letters = Array.from(String(text));
  return letters.length > most ? letters.slice(0, Math.max(most - 1, 1)).join("") + "\u2026" : String(text);
}

/** `file:line` of a place. */
function at(place) {
  if (place.file && place.line) return `${place.file}:${place.line}`;
  return place.file || (place.module ? `(${place.module})` : "");
}

/** The last part of a path, with the line. */
function near(place) {
  return at(place).split("/").pop();
}

/** A number as people read it: with its sign if it looks like one, in hexadecimal if it is large. */
function valued(value) {
  const number = BigInt(value);
  const signed = BigInt.asIntN(64, number);
  if (signed < 0n && signed > -65536n) return String(signed);
  const small = BigInt.asIntN(32, number);
  if (number < 1n << 32n && small < 0n && small > -65536n) return String(small);
  return number > 0xffffffn ? "0x" + number.toString(16) : String(number);
}
