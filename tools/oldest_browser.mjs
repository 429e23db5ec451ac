// Checks that the oldest supported browser knows the styles and the syntax of all pages; tsconfig.json checks the names that their scripts use.
//
//   node tools/oldest_browser.mjs FILE...
//
// A style is reported with the version of Chromium that brought it, unless the browser has something else to show: an earlier
// declaration of the same property in the same rule, or the rules outside an @supports.

import { readFileSync } from "node:fs";
import process from "node:process";
import { parse as parseScript } from "acorn";
import { generate, property as nameOf, parse as parseStyles, walk } from "css-tree";
import { features } from "web-features";

const OLDEST = 87;

/** The version of Chromium that brought each name of a style, by its key at web-features: "css.selectors.has" is 105. */
const BROUGHT = new Map();
for (const { compat_features: keys = [], status } of Object.values(features)) {
  for (const key of keys) {
    const { chrome } = status.by_compat_key?.[key]?.support ?? status.support;
    BROUGHT.set(key, chrome === undefined ? Number.POSITIVE_INFINITY : Number.parseInt(chrome.replace("≤", ""), 10));
  }
}
/** The keys of functions in values, by the function: "color-mix" is "css.types.color.color-mix". */
const FUNCTIONS = new Map(
  [...BROUGHT.keys()].filter((key) => key.startsWith("css.types.")).map((key) => [key.split(".").pop(), key]),
);
/** The units that share a key; another has its own. */
const UNITS = [
  [/^[sld]v(?:[whib]|min|max)$/u, "viewport_percentage_units_dynamic"],
  [/^cq(?:[whib]|min|max)$/u, "container_query_length_units"],
];
/** What older browsers have too: only an outline's round corners are new, and a drawing's letters always had their paint's order. */
for (const key of BROUGHT.keys()) if (/^css\.properties\.(?:outline|paint-order)\b/u.test(key)) BROUGHT.set(key, 1);

const faults = process.argv.slice(2).flatMap((file) => {
  const text = readFileSync(file, "utf-8");
  const found = file.endsWith(".css") ? newStyles(text) : newSyntax(text);
  return found.map(
    ({ line, what, since }) => `${file}:${line}: ${what} needs Chromium ${since}, and the oldest is ${OLDEST}`,
  );
});
for (const fault of faults) console.log(fault);
process.exitCode = faults.length > 0 ? 1 : 0;

/** The styles that are too new, in a style sheet. */
function newStyles(text) {
  const found = [];
  const styles = parseStyles(text, {
    positions: true,
    onParseError({ line, message }) {
      found.push({ line, what: message, since: `${OLDEST + 1} or newer` });
    },
  });
  walk(styles, function visit(node) {
    if (this.atrule?.name === "supports" && node !== this.atrule) return;
    if (node.type === "Declaration" && hasOlder(node, this.rule)) return;
    for (const [what, key] of keysOf(node)) {
      const since = BROUGHT.get(key) ?? 0;
      if (since > OLDEST) found.push({ line: node.loc.start.line, what, since });
    }
  });
  return found;
}

/** What a node of a style sheet uses, each with its key. */
function keysOf(node) {
  const { type, name } = node;
  if (type === "PseudoClassSelector" || type === "PseudoElementSelector") {
    const many = name === "not" && node.children?.first.children.size > 1;
    return [[`:${name}()`, many ? "css.selectors.not.selector_list" : `css.selectors.${name}`]];
  }
  if (type === "NestingSelector") return [["&", "css.selectors.nesting"]];
  if (type === "Atrule") return [[`@${name}`, `css.at-rules.${name}`]];
  if (type === "Feature") return [[name, `css.at-rules.${node.kind}.${name}`]];
  if (type === "FeatureRange") return [["a range", `css.at-rules.${node.kind}.range_syntax`]];
  return type === "Declaration" ? keysOfDeclaration(node) : [];
}

/** A declaration's property, and each word, function and unit of its value. */
function keysOfDeclaration({ property, value }) {
  const keys = [[property, `css.properties.${property}`]];
  walk(
    property.startsWith("--") ? parseStyles(generate(value), { context: "value" }) : value,
    ({ type, name, unit }) => {
      if (type === "Identifier") keys.push([`${property}: ${name}`, `css.properties.${property}.${name}`]);
      if (type === "Function") keys.push([`${name}()`, FUNCTIONS.get(name)]);
      if (type === "Dimension")
        keys.push([unit, `css.types.length.${UNITS.find(([units]) => units.test(unit))?.[1] ?? unit}`]);
    },
  );
  return keys;
}

/** Whether the rule has an earlier declaration of the same property, with or without a prefix, which older browsers take. */
function hasOlder(declaration, rule) {
  const { basename } = nameOf(declaration.property);
  const declarations =
    rule?.block.children.toArray().filter((each) => each.property && nameOf(each.property).basename === basename) ?? [];
  const before = declarations.slice(0, declarations.indexOf(declaration));
  return before.some((each) => keysOfDeclaration(each).every(([, key]) => (BROUGHT.get(key) ?? 0) <= OLDEST));
}

/** The syntax that is too new, in a script. A name that is too new is found by TypeScript, which has the names of that age. */
function newSyntax(text) {
  try {
    return [...newNodes(parseScript(text, { ecmaVersion: 2022, sourceType: "module", locations: true }), false)];
  } catch (error) {
    return [{ line: error.loc.line, what: error.message, since: `${OLDEST + 1} or newer` }];
  }
}

function* newNodes(node, inFunction) {
  for (const [what, since] of syntaxOf(node, inFunction)) {
    if (since > OLDEST) yield { line: node.loc.start.line, what, since };
  }
  for (const child of Object.values(node).flat()) {
    if (typeof child?.type === "string") yield* newNodes(child, inFunction || /Function/u.test(node.type));
  }
}

/** What a node of a script is, if it is newer than ES2021, and the selectors in its text. */
function syntaxOf({ type, await: ofLoop, operator, left, regex, value }, inFunction) {
  return [
    ...((type === "AwaitExpression" || ofLoop) && !inFunction ? [["await outside of a function", 89]] : []),
    ...(type === "StaticBlock" ? [["a static block", 94]] : []),
    ...(operator === "in" && left.type === "PrivateIdentifier" ? [["#… in", 91]] : []),
    ...(regex?.flags.includes("d") ? [["the flag d", 90]] : []),
    ...[...String(value).matchAll(/:(?<name>[a-z-]+)\(/gu)].map(({ groups: { name } }) => [
      `:${name}()`,
      BROUGHT.get(`css.selectors.${name}`) ?? 0,
    ]),
  ];
}
