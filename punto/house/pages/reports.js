// The reports of the floor: what was wagered and held, and how often each rule decided, beside what is to be expected.

import { showReport } from "./day-report.js";
import { drawn } from "./floor-report.js";

showReport("reports", drawn, { ofHours: "shift" });
