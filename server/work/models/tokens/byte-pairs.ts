/**
 * Byte pair encoding. Typed arrays hold the vocabulary in a few megabytes; a `Map` of the same 200,000 strings
 * takes ten times as much.
 */

/** The format of js-tiktoken: lines of `! FIRST_RANK BASE64 BASE64 …`. */
type Vocabulary = { pattern: string; ranks: string };

// Longer pieces, which no language has, are split, because merging is quadratic. A split adds at most one token.
const MAX_PIECE_BYTES = 128;

const NONE = 0x7fffffff;

/** Counts the tokens of a text. Special tokens count as text. Linear in the length of the text. */
export type BytePairCounter = (text: string) => number;

/** Reads a vocabulary; takes about 0.1 s for 200,000 tokens. */
export function createBytePairCounter(vocabulary: Vocabulary): BytePairCounter {
  const rankOf = indexRanks(vocabulary.ranks);
  const pieces = new RegExp(vocabulary.pattern, "gu");
  const encoder = new TextEncoder();
  // A UTF-16 unit takes at most three bytes.
  let bytes = new Uint8Array(4096);
  // The start of each part of a piece, and the rank of its union with the next part.
  const starts = new Uint16Array(MAX_PIECE_BYTES + 1);
  const ranks = new Int32Array(MAX_PIECE_BYTES + 1);

  const countPiece = (begin: number, end: number): number => {
    if (end - begin === 1 || rankOf(bytes, begin, end) !== NONE) return 1;
    let parts = end - begin;
    const unionRank = (part: number, next: number): number =>
      next >= parts ? NONE : rankOf(bytes, begin + (starts[part] ?? 0), begin + (starts[next + 1] ?? 0));
    for (let part = 0; part <= parts; part += 1) starts[part] = part;
    for (let part = 0; part < parts; part += 1) ranks[part] = unionRank(part, part + 1);
    for (;;) {
      let best = 0;
      for (let part = 1; part < parts - 1; part += 1) {
        if ((ranks[part] ?? NONE) < (ranks[best] ?? NONE)) best = part;
      }
      if (ranks[best] === NONE) return parts;
      starts.copyWithin(best + 1, best + 2, parts + 1);
      ranks.copyWithin(best + 1, best + 2, parts);
      parts -= 1;
      if (parts === 1) return 1;
      ranks[best] = unionRank(best, best + 1);
      if (best > 0) ranks[best - 1] = unionRank(best - 1, best);
    }
  };

  return (text) => {
    let tokens = 0;
    for (const [piece] of text.matchAll(pieces)) {
      if (piece.length * 3 > bytes.length) bytes = new Uint8Array(piece.length * 3);
      const { written } = encoder.encodeInto(piece, bytes);
      for (let at = 0; at < written; at += MAX_PIECE_BYTES) {
        tokens += countPiece(at, Math.min(at + MAX_PIECE_BYTES, written));
      }
    }
    return tokens;
  };
}

type RankOf = (bytes: Uint8Array, begin: number, end: number) => number;

function indexRanks(lines: string): RankOf {
  const content = new Uint8Array(Math.ceil((lines.length * 3) / 4));
  const { starts, rankAt } = readTokens(lines, content);
  const slots = 2 ** Math.ceil(Math.log2(rankAt.length * 2));
  const table = new Int32Array(slots).fill(-1);
  for (let index = 0; index < rankAt.length; index += 1) {
    let slot = hash(content, starts[index] ?? 0, starts[index + 1] ?? 0) & (slots - 1);
    while (table[slot] !== -1) slot = (slot + 1) & (slots - 1);
    table[slot] = index;
  }
  return (bytes, begin, end) => {
    const length = end - begin;
    let slot = hash(bytes, begin, end) & (slots - 1);
    for (;;) {
      const index = table[slot] ?? -1;
      if (index === -1) return NONE;
      const at = starts[index] ?? 0;
      if ((starts[index + 1] ?? 0) - at === length) {
        let same = 0;
        while (same < length && content[at + same] === bytes[begin + same]) same += 1;
        if (same === length) return rankAt[index] ?? NONE;
      }
      slot = (slot + 1) & (slots - 1);
    }
  };
}

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const SIX_BITS = new Uint8Array(128).fill(255);
for (let value = 0; value < BASE64.length; value += 1) SIX_BITS[BASE64.charCodeAt(value)] = value;

// Fills `content`; returns the start of each token (and the end of the last one) and its rank. Character by
// character, because 200,000 temporary strings or buffers cost more than the rest.
function readTokens(lines: string, content: Uint8Array): { starts: Uint32Array; rankAt: Int32Array } {
  const rankAt: number[] = [];
  const starts: number[] = [];
  let end = 0;
  for (const line of lines.split("\n")) {
    // `! FIRST_RANK`, then the tokens of that rank and the following ones.
    const head = /^! (\d+) /.exec(line);
    if (head === null) continue;
    let rank = Number(head[1]);
    for (let at = head[0].length; at < line.length; at += 1) {
      starts.push(end);
      rankAt.push(rank);
      rank += 1;
      for (let bits = 0, value = 0; at < line.length && line[at] !== " "; at += 1) {
        const six = SIX_BITS[line.charCodeAt(at)] ?? 255;
        if (six === 255) continue;
        value = (value << 6) | six;
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        content[end] = value >> bits;
        end += 1;
      }
    }
  }
  starts.push(end);
  return { starts: Uint32Array.from(starts), rankAt: Int32Array.from(rankAt) };
}

// FNV-1a, with a final mix because only its low bits are used.
function hash(bytes: Uint8Array, begin: number, end: number): number {
  let value = 0x811c9dc5;
  for (let at = begin; at < end; at += 1) value = Math.imul(value ^ (bytes[at] ?? 0), 0x01000193);
  return value ^ (value >>> 15);
}
