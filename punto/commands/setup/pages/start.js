// The start of the page: its words come before the rest of it, because the oldest browser cannot wait at the top of a module.

import { fillIn, speak } from "/shared/catalogue.js";
import { element } from "/shared/elements.js";

speak(document.documentElement.lang).then(() => {
  fillIn(document.documentElement);
  document.head.append(element("script", { type: "module", src: "/static/setup.js" }));
});
