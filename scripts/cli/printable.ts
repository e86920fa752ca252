// Control characters, separators of lines, and marks of direction.
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

const escapeCharacter = (character: string): string => {
  const code = character.charCodeAt(0).toString(16);
  return code.length > 2 ? `\\u{${code}}` : `\\x${code.padStart(2, "0")}`;
};

/** A text on one line of a terminal. Tenants choose names, which could otherwise move the cursor or forge a row. */
export const toPrintableLine = (text: string): string => text.replace(UNSAFE, escapeCharacter);

/** Like `toPrintableLine`, with the text's own lines and tabs. */
export const toPrintable = (text: string): string =>
  text.replace(UNSAFE, (character) => (/[\n\t]/.test(character) ? character : escapeCharacter(character)));
