import { expect, it } from "vitest";
import { anyCase } from "./any-case";

const finds = (needle: string, text: string) => new RegExp(anyCase(needle), "u").exec(text)?.[0] ?? null;

it.each([
  ["ärger", "Großer ÄRGER hier", "ÄRGER"],
  ["ÄRGER", "kein ärger", "ärger"],
  ["istanbul", "in İSTANBUL", "İSTANBUL"],
  ["İstanbul", "in istanbul", "istanbul"],
  ["ISTANBUL", "in ıstanbul", "ıstanbul"],
  ["istanbul", "İSTANBUL".toLowerCase(), "i\u0307stanbul"],
  ["İSTANBUL".toLowerCase(), "İstanbul", "İstanbul"],
  ["ΟΔΟΣ", "η οδος", "οδος"],
  ["οδος", "Η ΟΔΟΣ", "ΟΔΟΣ"],
  ["москва", "МОСКВА", "МОСКВА"],
  ["Ѐ", "ѐ", "ѐ"],
  ["café", "CAFE\u0301", "CAFE\u0301"],
  ["cafe\u0301", "Café", "Café"],
  ["straße", "STRAẞE", "STRAẞE"],
  ["300 k", "300 \u212a", "300 \u212a"],
  ["𐐨", "𐐀", "𐐀"],
  ["日本", "in 日本", "日本"],
  ["a.b*(c)[d]{e}^$|\\?+", "A.B*(C)[D]{E}^$|\\?+", "A.B*(C)[D]{E}^$|\\?+"],
])("%j finds its letters in %j", (needle, text, found) => {
  expect(finds(needle, text)).toBe(found);
});

it.each([
  ["ärger", "arger"],
  ["a.b", "axb"],
  ["strasse", "straße"],
  ["a|b", "a"],
  ["ñ", "n"],
])("%j is not in %j", (needle, text) => {
  expect(finds(needle, text)).toBeNull();
});

it.each([
  ["Latin", 0x20, 0x24f],
  ["more Latin", 0x1e00, 0x1eff],
  ["Greek", 0x370, 0x3ff],
  ["Cyrillic", 0x400, 0x52f],
  ["Armenian", 0x531, 0x586],
  ["Deseret", 0x10400, 0x1044f],
])("finds every letter by its other case: %s", (_, first, last) => {
  const missed: string[] = [];
  for (let code = first; code <= last; code += 1) {
    const letter = String.fromCodePoint(code);
    for (const other of [letter.toLowerCase(), letter.toUpperCase()]) {
      if ([...other].length === 1 && (finds(letter, other) !== other || finds(other, letter) === null)) {
        missed.push(`${letter} ${other}`);
      }
    }
  }
  expect(missed).toEqual([]);
});
