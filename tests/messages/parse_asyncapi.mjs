// Prints what the official AsyncAPI parser has against a document, one line each, and exits with 1 if any is an error.
import { readFile } from "node:fs/promises";
import process from "node:process";
import { Parser } from "@asyncapi/parser";

const SEVERITIES = ["error", "warning", "info", "hint"];

const { document, diagnostics } = await new Parser().parse(await readFile(process.argv[2], "utf8"));
for (const { severity, code, path, message } of diagnostics) {
  console.log(`${SEVERITIES[severity]} ${code} ${path.join(".")}: ${message}`);
}
process.exit(document === undefined || diagnostics.some(({ severity }) => severity === 0) ? 1 : 0);
