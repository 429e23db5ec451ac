// The session's token is told once, at sign-on. It stays in this tab, and goes to other tabs of this very service alone: a
// browser gives the cookie to whatever listens on this host, and storage and channels only to pages of the same port too.

const TOKEN = "csrf";
const TOKEN_WANTED = "token wanted";
const OTHER_PAGES_MILLISECONDS = 250;
const pages = new BroadcastChannel("punto session");

/** The token of the session that this tab knows. */
export let csrf = sessionStorage.getItem(TOKEN);

/**
 * Keep the token of the session that has begun.
 * @param {string} token
 */
export function keepToken(token) {
  csrf = token;
  sessionStorage.setItem(TOKEN, token);
}

pages.addEventListener("message", ({ data }) => {
  if (data === TOKEN_WANTED && csrf !== null) pages.postMessage({ csrf });
});

async function tokensOfOtherPages() {
  /** @type {Set<string>} */
  const told = new Set();
  /** @param {MessageEvent} event */
  const listen = ({ data }) => data.csrf && told.add(data.csrf);
  pages.addEventListener("message", listen);
  pages.postMessage(TOKEN_WANTED);
  await new Promise((go) => setTimeout(go, OTHER_PAGES_MILLISECONDS));
  pages.removeEventListener("message", listen);
  return told;
}

/** The tokens that may be the session's: this tab's first, and then those of other tabs. */
export async function* tokens() {
  if (csrf !== null) yield csrf;
  yield* await tokensOfOtherPages();
}
