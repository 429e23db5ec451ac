// The start of a page of the consoles. The page's modules ask for words as they load, and all but those of the sign-on for the
// person, so they are loaded when these are there: the oldest browser cannot wait at the top of a module.

import { element, one } from "/shared/elements.js";
import { ready } from "./language.js";

const { page = "" } = one("script[data-page]", HTMLScriptElement).dataset;

/** @param {string} src */
const load = (src) => document.head.append(element("script", { type: "module", src }));

export const loadPage = () => load(page);

ready.then(() => load(document.body.classList.contains("sign-on") ? page : "/static/enter.js"));
