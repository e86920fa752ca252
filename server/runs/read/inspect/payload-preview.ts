import { Prisma } from "@/server/db/generated/client";

/** Longer texts are cut in pages and loaded completely on demand. */
export const TEXT_PREVIEW_CHARACTERS = 32_768;

/** The start of a text that may be too long for a page, its size in bytes, and whether it was cut. */
export type PayloadPreview = { text: string; bytes: number; cut: boolean };

/** Cuts a text to what a page shows at first. */
export function previewPayload(text: string): PayloadPreview {
  const isCut = text.length > TEXT_PREVIEW_CHARACTERS;
  return {
    text: isCut ? text.slice(0, TEXT_PREVIEW_CHARACTERS) : text,
    bytes: Buffer.byteLength(text),
    cut: isCut,
  };
}

/**
 * For a SELECT: the start of a column as `name`, its size as `name_bytes`, whether it was cut as `name_cut`. Reads only
 * the start of what may be megabytes, and never counts all characters.
 */
export function startOf(column: Prisma.Sql, name: "input" | "output" | "text"): Prisma.Sql {
  return Prisma.sql`left(${column}, ${TEXT_PREVIEW_CHARACTERS}) AS ${Prisma.raw(name)},
    octet_length(${column}) AS ${Prisma.raw(`${name}_bytes`)},
    char_length(left(${column}, ${TEXT_PREVIEW_CHARACTERS + 1})) > ${TEXT_PREVIEW_CHARACTERS} AS ${Prisma.raw(`${name}_cut`)}`;
}
