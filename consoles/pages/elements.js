// Elements made by hand. Whatever comes from the service goes in as text, never as HTML.

export const byId = (id) => document.getElementById(id);

/** Write this text, if it is another: what is written anew is read out anew. */
export function put(id, text) {
  if (byId(id).textContent !== String(text)) byId(id).textContent = text;
}

/** An element with attributes (null ones left out) and children, of which strings become text. */
export function element(name, attributes = {}, ...children) {
  return dressed(document.createElement(name), attributes, children);
}

export function svg(name, attributes = {}, ...children) {
  return dressed(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function dressed(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

/** A button that does something: its words, or a drawing, and the key that does it too, if there is one. */
export function button(label, act, { key = null, ...attributes } = {}) {
  const made = element("button", { type: "button", ...attributes }, typeof label === "string" ? element("span", {}, label) : label);
  if (key) made.append(element("kbd", { "aria-hidden": true }, key));
  if (key) made.setAttribute("aria-keyshortcuts", key);
  made.addEventListener("click", act);
  return made;
}

/** Say that what is filled in here has changed, as the browser does of its own fields. */
export const changed = (node) => node.dispatchEvent(new Event("input", { bubbles: true }));

/** Do this when the form is submitted; an Error says in the form's line for faults what is missing. */
export function submitted(form, act) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const fault = form.querySelector(".fault");
    fault.textContent = "";
    try {
      act(form);
    } catch (missing) {
      fault.textContent = missing.message;
    }
  });
}

/** A table with a heading for each column; rows are arrays of text or elements. A column named ">…" has numbers. */
export function table(caption, columns, rows) {
  const numbers = columns.map((column) => column.startsWith(">"));
  const cell = (name, content, at) => element(name, { class: numbers[at] ? "number" : null }, content);
  return element(
    "table",
    {},
    element("caption", {}, caption),
    element("thead", {}, element("tr", {}, ...columns.map((column, at) => {
      const made = cell("th", column.replace(/^>/, ""), at);
      made.scope = "col";
      return made;
    }))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((content, at) => cell("td", content, at))))),
  );
}

/** Facts with their names: pairs of text or elements. */
export const facts = (pairs, attributes = {}) =>
  element("dl", attributes, ...pairs.map(([name, fact]) => element("div", {}, element("dt", {}, name), element("dd", {}, fact))));

/** An input, and the label around it. */
export function labelled(label, attributes) {
  const input = element("input", { autocomplete: "off", ...attributes });
  return [input, element("label", {}, label, input)];
}

/** A box that scrolls by itself where the screen is narrow. */
export const scrolling = (label, ...content) => element("div", { class: "scrolling", tabindex: "0", role: "region", "aria-label": label }, ...content);

const shown = new WeakMap();

/** Replace an element's children only when what they show has changed, so that focus and scrolling stay. */
export function refresh(box, value, draw) {
  const now = JSON.stringify(value);
  if (shown.get(box) === now) return;
  shown.set(box, now);
  box.replaceChildren(...[draw(value)].flat());
}
