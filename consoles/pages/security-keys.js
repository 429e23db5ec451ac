// Security keys, by the browser's WebAuthn: it needs TLS or localhost, and a host with a name, not an address.

import { ask } from "./service.js";

export const keysHere = window.isSecureContext && "PublicKeyCredential" in window && !/^([\d.]+|\[.*)$/.test(location.hostname);

/** Approve an order that waits here, with the key of the person of this name. */
export const approveByKey = (number, name) => withKey(`/api/approvals/${number}/key`, { name }, { name }, (asked) =>
  navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(asked) }));

/** Add a key of whoever is signed on, who gives their password again. */
export const addKey = (password) => withKey("/api/session/key", { password }, {}, (asked) =>
  navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(asked) }));

async function withKey(path, first, then, use) {
  const asked = await ask("POST", `${path}-options`, first);
  if (asked.status !== 200) return asked;
  try {
    const credential = await use(asked.body);
    return await ask("POST", path, { ...then, credential: credential.toJSON() });
  } catch (error) {
    return { status: 0, body: { reason: `The security key was not used: ${error.message}` } };
  }
}
