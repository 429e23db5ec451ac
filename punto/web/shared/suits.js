// The suits in a box of 20 × 20.

/** @type {Record<string, string>} */
export const SUIT_PATHS = {
  S: "M10 1C8 5 2 8 2 12.2A3.9 3.9 0 0 0 9 14.4C8.8 16.4 8.2 17.8 7 19h6c-1.2-1.2-1.8-2.6-2-4.6a3.9 3.9 0 0 0 7-2.2C18 8 12 5 10 1z",
  H: "M10 18.6C8 14.6 1.6 11.4 1.6 6.6A4.5 4.5 0 0 1 10 4.4a4.5 4.5 0 0 1 8.4 2.2c0 4.8-6.4 8-8.4 12z",
  D: "M10 1c1.8 3.4 4 6.2 6.6 9-2.6 2.8-4.8 5.6-6.6 9-1.8-3.4-4-6.2-6.6-9C6 7.2 8.2 4.4 10 1z",
  C: "M10 1a4 4 0 0 1 3.5 5.9 4.1 4.1 0 1 1-2.5 7.2c.2 2.1.8 3.6 2 4.9H7c1.2-1.3 1.8-2.8 2-4.9a4.1 4.1 0 1 1-2.5-7.2A4 4 0 0 1 10 1z",
};

/**
 * The colour of a suit, as a class.
 * @param {string} suit
 */
export const suitColor = (suit) => ("HD".includes(suit) ? "red" : "black");
