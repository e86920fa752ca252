import { z } from "zod";

/** Longer texts are cut in pages and loaded completely on demand. */
export const TEXT_PREVIEW_CHARACTERS = 32_768;

export const payloadPreview = z.object({ text: z.string(), bytes: z.number(), cut: z.boolean() });
export type PayloadPreview = z.infer<typeof payloadPreview>;

export function previewPayload(text: string): PayloadPreview {
  const isCut = text.length > TEXT_PREVIEW_CHARACTERS;
  return {
    text: isCut ? text.slice(0, TEXT_PREVIEW_CHARACTERS) : text,
    bytes: Buffer.byteLength(text),
    cut: isCut,
  };
}

/**
 * For a SELECT: the start of a column, a JSON `PayloadPreview`. Reads only the start of what may be megabytes, and
 * never counts all characters.
 */
export function startOf(column: string): string {
  return `CASE WHEN ${column} IS NOT NULL THEN json_build_object(
    'text', left(${column}, ${TEXT_PREVIEW_CHARACTERS}), 'bytes', octet_length(${column}),
    'cut', char_length(left(${column}, ${TEXT_PREVIEW_CHARACTERS + 1})) > ${TEXT_PREVIEW_CHARACTERS}
  ) END`;
}
