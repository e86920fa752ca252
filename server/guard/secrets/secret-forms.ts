import { viewOf } from "./decoded-views";

// Only a part of a long secret may come back.
const MAX_PIECE_LENGTH = 200;
// Shorter rows of base64 occur in ordinary text.
const MIN_BASE64_LENGTH = 8;
// Shorter decoded texts would match ordinary text.
const MIN_DECODED_LENGTH = 6;

/** One piece of a secret: `small` is searched in the small letters of a text, the others in its views. */
export type SecretForms = { small: string; decoded: Buffer[]; hex: Buffer[]; base64: Buffer[] };

/** The pieces of a secret in the forms in which an answer may echo them; a short secret is one piece. */
export function formsOf(secret: string): SecretForms[] {
  const characters = Array.from(secret.toWellFormed());
  const count = Math.ceil(characters.length / MAX_PIECE_LENGTH);
  const size = Math.ceil(characters.length / count);
  const pieces = Array.from({ length: count }, (_, index) =>
    characters.slice(index * size, (index + 1) * size).join(""),
  );
  return pieces.filter((piece) => piece !== "").map((piece) => formsOfPiece(piece, count === 1));
}

function formsOfPiece(piece: string, isWhole: boolean): SecretForms {
  // Backslashes belong to the character behind them.
  const decoded = viewOf(piece.replace(/\\+$/, ""), "decoded");
  // Requests encode whole secrets within a JSON text or a form.
  const inJson = JSON.stringify(piece).slice(1, -1);
  const inForm = new URLSearchParams([["", piece]]).toString().slice(1);
  const encoded = new Set(isWhole ? [piece, inJson, inForm] : [piece]);
  return {
    small: toSmall(piece),
    // Behind a backslash, such a first letter is taken for a line break.
    decoded: [decoded, ...(/^[nrt]/i.test(piece) ? [decoded.subarray(1)] : [])].filter(
      ({ length }) => length >= MIN_DECODED_LENGTH,
    ),
    hex: [Buffer.from(Buffer.from(piece).toString("hex"))],
    base64: [...encoded].flatMap((text) => base64Forms(Buffer.from(text))),
  };
}

/** In small letters, and as long as before. */
export function toSmall(text: string): string {
  const small = text.toLowerCase();
  return small.length === text.length ? small : text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

// The common part of the base64 of every text that contains this one, at the three offsets of a base64 group.
// Characters that also hold bits of their neighbors are left out.
function base64Forms(bytes: Buffer): Buffer[] {
  return [0, 1, 2].flatMap((offset) => {
    const bits = 8 * (offset + bytes.length);
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
    const unshared = text.slice(Math.ceil((8 * offset) / 6), Math.floor(bits / 6));
    return unshared.length < MIN_BASE64_LENGTH ? [] : [Buffer.from(unshared)];
  });
}
