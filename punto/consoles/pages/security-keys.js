// Security keys, by the browser's WebAuthn: it needs TLS or localhost, and a host with a name, not an address.

import { faultOf } from "/shared/elements.js";
import { t } from "./language.js";
import { ask } from "./service.js";

/** Its methods are in Chromium from 129 on. */
const options = /** @type {PublicKeyOptions} */ (/** @type {unknown} */ (globalThis.PublicKeyCredential ?? {}));

export const keysHere =
  globalThis.isSecureContext && "parseRequestOptionsFromJSON" in options && !/^([\d.]+|\[.*)$/u.test(location.hostname);

/**
 * Approve an order that waits here, with the key of the person of this name.
 * @param {number} number
 * @param {string} name
 */
export const approveByKey = (number, name) =>
  withKey(`/api/approvals/${number}/key`, { name }, { name }, (asked) =>
    navigator.credentials.get({ publicKey: options.parseRequestOptionsFromJSON(asked) }),
  );

/**
 * Add a key of whoever is signed on, who gives their password again.
 * @param {string} password
 */
export const addKey = (password) =>
  withKey("/api/session/key", { password }, {}, (asked) =>
    navigator.credentials.create({ publicKey: options.parseCreationOptionsFromJSON(asked) }),
  );

/**
 * @template Options
 * @param {string} path
 * @param {object} first
 * @param {object} then
 * @param {(asked: Options) => Promise<Credential | null>} use
 * @returns {Promise<import("./service.js").Answer<unknown>>}
 */
async function withKey(path, first, then, use) {
  /** @type {import("./service.js").Answer<Options>} */
  const asked = await ask("POST", `${path}-options`, first);
  if (!asked.ok) return asked;
  try {
    const credential = /** @type {PublicKeyCredential} */ (await use(asked.body));
    return await ask("POST", path, { ...then, credential: credential.toJSON() });
  } catch (error) {
    return { ok: false, status: 0, body: { reason: t("key.unused", { why: faultOf(error) }) } };
  }
}
