// Whoever signed on enters the page.

import { loadPage } from "./start.js";
import { signedOn } from "./top.js";

signedOn().then(loadPage);
