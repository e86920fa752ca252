import { WorkSlice } from "@/server/base/scheduling/event-loop";
import { type ViewName, type Views, viewOf, viewsOf } from "./decoded-views";
import { formsOf, type SecretForms, toSmall } from "./secret-forms";

type KnownSecret = { value: string; mark: string };

export type Redact = (text: string) => string;

export type Redactor = {
  redact: Redact;
  /** Redacts a long text in slices, in turns with other work. */
  redactLong: (text: string) => Promise<string>;
};

// Shorter secrets would match ordinary text.
const MIN_SECRET_LENGTH = 6;
const PART_LENGTH = 32 * 1024;
// Longer than a piece of a secret in any form.
const OVERLAP = 16 * 1024;
// What base64 leaves between adjacent pieces of one secret.
const GAP = /^[A-Za-z0-9+/_=-]{0,4}$/;

/** The place of a secret, or of a piece of one. */
type Found = { start: number; end: number; secret: number };

/**
 * Replaces these secrets in every form in which a service may echo them: plain, in other letters, escaped in JSON, HTML, a
 * URL or a programming language, hexadecimal, base64 and base64url, also within a longer encoded text. Takes time in
 * proportion to the text's length, whatever the text.
 */
export function createRedactor(secrets: readonly KnownSecret[]): Redactor {
  const known = secrets
    .filter(({ value }) => value.length >= MIN_SECRET_LENGTH)
    // The longest first: a secret may contain another one.
    .sort((a, b) => b.value.length - a.value.length)
    .map(({ value, mark }) => ({ mark, pieces: formsOf(value) }));
  const starts = (text: string) =>
    Array.from({ length: known.length && Math.ceil(text.length / PART_LENGTH) }, (_, n) => n * PART_LENGTH);
  const findIn = (text: string, from: number, found: Found[]) => {
    const part = new SearchedText(text.slice(from, from + PART_LENGTH + OVERLAP));
    for (const [secret, { pieces }] of known.entries()) {
      const find = (piece: SecretForms) =>
        part.find(piece, (start, end) => found.push({ start: from + start, end: from + end, secret }));
      const [first, last] = [pieces[0], pieces.length > 1 ? pieces.at(-1) : undefined];
      const ends = [first, last].filter((piece) => piece !== undefined).map(find);
      // The pieces between take long to search.
      if (ends.includes(true)) for (const piece of pieces.slice(1, -1)) find(piece);
    }
  };
  const replace = (text: string, found: Found[]) => {
    let clean = "";
    let copied = 0;
    for (const { start, end, secret } of joinFound(
      text,
      found,
      (each) => (known[each]?.pieces.length ?? 0) > 1,
    )) {
      clean += text.slice(copied, start) + known[secret]?.mark;
      copied = end;
    }
    return clean + text.slice(copied);
  };
  return {
    redact(text) {
      const found: Found[] = [];
      for (const from of starts(text)) findIn(text, from, found);
      return replace(text, found);
    },
    async redactLong(text) {
      const found: Found[] = [];
      const slice = new WorkSlice();
      for (const from of starts(text)) {
        if (slice.isOver) await slice.next();
        findIn(text, from, found);
      }
      return replace(text, found);
    },
  };
}

class SearchedText {
  readonly #text: string;
  readonly #small: string;
  readonly #views: Views;
  readonly #places = new Map<ViewName, number[]>();

  constructor(text: string) {
    this.#text = text;
    this.#small = toSmall(text);
    this.#views = viewsOf(text);
  }

  find(forms: SecretForms, add: (start: number, end: number) => void): boolean {
    let isFound = false;
    const note = (start: number, end: number) => {
      isFound = true;
      add(start, end);
    };
    const { small } = forms;
    for (let at = this.#small.indexOf(small); at >= 0; at = this.#small.indexOf(small, at + small.length))
      note(at, at + small.length);
    for (const name of ["decoded", "hex", "base64"] as const)
      for (const form of forms[name]) this.#findIn(name, form, note);
    return isFound;
  }

  #findIn(name: ViewName, form: Buffer, add: (start: number, end: number) => void): void {
    const bytes = this.#views[name];
    for (let at = bytes.indexOf(form); at >= 0; at = bytes.indexOf(form, at + form.length)) {
      const places = this.#placesOf(name);
      add(places[2 * at] ?? 0, places[2 * (at + form.length) - 1] ?? 0);
    }
  }

  // Most texts have no secret, so that places are seldom needed.
  #placesOf(name: ViewName): number[] {
    const places = this.#places.get(name) ?? [];
    if (places.length === 0) viewOf(this.#text, name, places);
    this.#places.set(name, places);
    return places;
  }
}

/** Joins what overlaps, as the longest secret, and adjacent pieces of one secret. */
function joinFound(text: string, found: Found[], isInPieces: (secret: number) => boolean): Found[] {
  const joined: Found[] = [];
  for (const next of found.sort((a, b) => a.start - b.start)) {
    const last = joined.at(-1);
    const isNextPiece = (end: number) =>
      next.secret === last?.secret && isInPieces(next.secret) && GAP.test(text.slice(end, next.start));
    if (last === undefined || (next.start >= last.end && !isNextPiece(last.end))) joined.push({ ...next });
    else {
      last.end = Math.max(last.end, next.end);
      last.secret = Math.min(last.secret, next.secret);
    }
  }
  return joined;
}
