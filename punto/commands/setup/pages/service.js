// What the page asks of the command. The session stays in this tab, and ends with the command.

const SESSION = "setup session";
const AGAIN_MILLISECONDS = 1000;

/** That the address was used already, or that the command has ended and another one runs. */
export class StrangerError extends Error {}

/**
 * Ask the command; its answer, or undefined if it has none.
 * @param {string} method
 * @param {string} address
 * @param {object} [body]
 */
async function ask(method, address, body) {
  const answer = await fetch(address, {
    method,
    headers: { Authorization: `Bearer ${sessionStorage.getItem(SESSION)}`, "Content-Type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (answer.status === 401) throw new StrangerError();
  if (!answer.ok) throw new Error(await answer.text());
  return answer.status === 204 ? undefined : answer.json();
}

/**
 * @param {string} address
 * @param {object} [body]
 */
export const post = (address, body = {}) => ask("POST", address, body);

/** Change the token of the address for a session, and take it out of the address. */
export async function begin() {
  const token = location.hash.slice(1);
  if (token === "") return;
  const { session } = await post("/api/session", { token });
  sessionStorage.setItem(SESSION, session);
  history.replaceState(null, "", location.pathname + location.search);
}

/** Forget the session, which is over. */
export const forget = () => sessionStorage.removeItem(SESSION);

/**
 * Follow the progress until `take` or `lost` returns false; `lost` hears of each time that the command does not answer.
 * @param {(progress: import("#sent/setup").Progress) => boolean} take
 * @param {() => boolean} lost
 */
export async function follow(take, lost) {
  let after = "";
  while (true) {
    try {
      const progress = await ask("GET", `/api/progress?after=${after}`);
      after = progress.number;
      if (!take(progress)) return;
    } catch (error) {
      if (error instanceof StrangerError) throw error;
      if (!lost()) return;
      await new Promise((go) => setTimeout(go, AGAIN_MILLISECONDS));
    }
  }
}
