// Elements made by hand. Whatever comes from the service goes in as text, never as HTML.

/**
 * @typedef {Node | string | number} Content
 * @typedef {Record<string, string | number | boolean | null>} Attributes
 */

/**
 * The element that a selector finds first; the page has it, and it is of this kind.
 * @template {Element} [Kind=HTMLElement]
 * @param {string} selector
 * @param {new () => Kind} [kind]
 * @param {ParentNode} [within]
 */
export function one(selector, kind, within = document) {
  const found = within.querySelector(selector);
  if (!(found instanceof (kind ?? HTMLElement))) throw new TypeError(`${selector} is not on this page`);
  return /** @type {Kind} */ (found);
}

/**
 * @template {HTMLElement} [Kind=HTMLElement]
 * @param {string} id
 * @param {new () => Kind} [kind]
 */
export const byId = (id, kind) => one(`#${id}`, kind);

/**
 * Write this text, if it is another: what is written again is laid out and read out again.
 * @param {HTMLElement} box
 * @param {string} text
 */
function write(box, text) {
  if (box.textContent !== text) box.textContent = text;
}

/**
 * @param {string} id
 * @param {string | number} text
 */
export const put = (id, text) => write(byId(id), String(text));

/**
 * An element with attributes (null ones left out) and children, of which strings become text.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Attributes} [attributes]
 * @param {...Content} children
 */
export function element(name, attributes = {}, ...children) {
  return dressed(document.createElement(name), attributes, children);
}

/**
 * @template {keyof SVGElementTagNameMap} Name
 * @param {Name} name
 * @param {Attributes} [attributes]
 * @param {...Content} children
 */
export function svg(name, attributes = {}, ...children) {
  return dressed(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

/**
 * @template {Element} Kind
 * @param {Kind} made
 * @param {Attributes} attributes
 * @param {Content[]} children
 */
function dressed(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== false) made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...children.map((each) => (typeof each === "number" ? String(each) : each)));
  return made;
}

/**
 * A button that does something: its words, or a drawing, and the key that does it too, if there is one.
 * @param {string | Node} label
 * @param {(event: MouseEvent) => unknown} act
 * @param {Attributes & { key?: string | null }} [attributes]
 */
export function button(label, act, { key = null, ...attributes } = {}) {
  const words = typeof label === "string" ? element("span", {}, label) : label;
  const made = element("button", { type: "button", "aria-keyshortcuts": key, ...attributes }, words);
  if (key) made.append(element("kbd", { "aria-hidden": "true" }, key));
  made.addEventListener("click", act);
  return made;
}

/**
 * Write other words on a button.
 * @param {HTMLButtonElement} made
 * @param {string} words
 */
export const relabel = (made, words) => write(one("span", HTMLElement, made), words);

/**
 * Say that what is filled in here has changed, as the browser does of its own fields.
 * @param {Node} node
 */
export const changed = (node) => node.dispatchEvent(new Event("input", { bubbles: true }));

/**
 * Do this when the form is submitted, whether it ends at once or later; an Error says in the form's line for faults what is missing.
 * @param {HTMLFormElement} form
 * @param {(form: HTMLFormElement) => unknown} act
 */
export function submitted(form, act) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const fault = one(".fault", HTMLElement, form);
    fault.textContent = "";
    try {
      await act(form);
    } catch (missing) {
      fault.textContent = faultOf(missing);
    }
  });
}

/**
 * What an error says.
 * @param {unknown} error
 */
export const faultOf = (error) => (error instanceof Error ? error.message : String(error));

/**
 * A table with a heading for each column; rows are arrays of text or elements. A column named ">…" has numbers.
 * @param {string} caption
 * @param {string[]} columns
 * @param {Content[][]} rows
 */
export function table(caption, columns, rows) {
  const numbers = columns.map((column) => column.startsWith(">"));
  /** @type {(name: "td" | "th", content: Content, at: number) => HTMLTableCellElement} */
  const cell = (name, content, at) =>
    element(name, { class: numbers[at] ? "number" : null, scope: name === "th" ? "col" : null }, content);
  return element(
    "table",
    {},
    element("caption", {}, caption),
    element("thead", {}, element("tr", {}, ...columns.map((name, at) => cell("th", name.replace(/^>/u, ""), at)))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((content, at) => cell("td", content, at))))),
  );
}

/**
 * Facts with their names: pairs of text or elements.
 * @param {[string, Content][]} pairs
 * @param {Attributes} [attributes]
 */
export const facts = (pairs, attributes = {}) =>
  element(
    "dl",
    attributes,
    ...pairs.map(([name, fact]) => element("div", {}, element("dt", {}, name), element("dd", {}, fact))),
  );

/**
 * An input, and the label around it.
 * @param {string} label
 * @param {Attributes} attributes
 * @returns {[HTMLInputElement, HTMLLabelElement]}
 */
export function labelled(label, attributes) {
  const input = element("input", { autocomplete: "off", ...attributes });
  return [input, element("label", {}, label, input)];
}

/**
 * A box that scrolls by itself where the screen is narrow.
 * @param {string} label
 * @param {...Content} content
 */
export const scrolling = (label, ...content) =>
  element("div", { class: "scrolling", tabindex: "0", role: "region", "aria-label": label }, ...content);

/** @type {WeakMap<Element, string>} */
const shown = new WeakMap();

/**
 * Replace an element's children only when what they show has changed, so that focus and scrolling stay.
 * @template Value
 * @param {Element} box
 * @param {Value} value
 * @param {(value: Value) => Node | (Node | string)[]} draw
 */
export function refresh(box, value, draw) {
  const now = JSON.stringify(value);
  if (shown.get(box) === now) return;
  shown.set(box, now);
  box.replaceChildren(...[draw(value)].flat());
}

/**
 * Put these elements into a box in this order; those that are in place already are not touched, and keep the focus.
 * @param {Element} box
 * @param {Element[]} elements
 */
export function arrange(box, elements) {
  const wanted = new Set(elements);
  for (const each of [...box.children]) if (!wanted.has(each)) each.remove();
  elements.forEach((each, at) => {
    if (box.children[at] !== each) box.insertBefore(each, box.children[at] ?? null);
  });
}
