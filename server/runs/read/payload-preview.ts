import { Prisma } from "@/server/db/generated/client";

/** Texts longer than this many characters are cut in pages and fetched whole on demand. */
export const TEXT_PREVIEW_CHARACTERS = 32_768;

/** A text that may be too long for a page: its start, its size in bytes, and whether it was cut. */
export type PayloadPreview = { text: string; bytes: number; cut: boolean };

/** Cuts a text to what a page shows at once. */
export function previewPayload(text: string): PayloadPreview {
  const isCut = text.length > TEXT_PREVIEW_CHARACTERS;
  return {
    text: isCut ? text.slice(0, TEXT_PREVIEW_CHARACTERS) : text,
    bytes: Buffer.byteLength(text),
    cut: isCut,
  };
}

/**
 * For a SELECT: the start of a column as `name`, its size as `name_bytes`, whether it was cut as `name_cut`. Only the
 * start is read of what may be megabytes: nothing here counts the characters of the whole.
 */
export function startOf(column: Prisma.Sql, name: "input" | "output" | "text"): Prisma.Sql {
  return Prisma.sql`left(${column}, ${TEXT_PREVIEW_CHARACTERS}) AS ${Prisma.raw(name)},
    octet_length(${column}) AS ${Prisma.raw(`${name}_bytes`)},
    char_length(left(${column}, ${TEXT_PREVIEW_CHARACTERS + 1})) > ${TEXT_PREVIEW_CHARACTERS} AS ${Prisma.raw(`${name}_cut`)}`;
}
