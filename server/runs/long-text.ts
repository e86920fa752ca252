/** Texts longer than this many characters are cut in pages and fetched whole on demand. */
export const TEXT_PREVIEW_CHARACTERS = 32_768;

/** A text that may be too long for a page: its start, its size in bytes, and whether it was cut. */
export type LongText = { text: string; bytes: number; cut: boolean };

/** Cuts a text to what a page shows at once. */
export function cutText(text: string): LongText {
  const isCut = text.length > TEXT_PREVIEW_CHARACTERS;
  return {
    text: isCut ? text.slice(0, TEXT_PREVIEW_CHARACTERS) : text,
    bytes: Buffer.byteLength(text),
    cut: isCut,
  };
}
