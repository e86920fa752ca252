import { isJsonObject, tryParseJson } from "@/server/base/json/json";

/** The arguments of a call that come in pieces. All work together is linear: they are parsed at most once. */
export class GrowingArguments {
  /** Joined with `+=` and read only when it may be complete: reading it copies all pieces. */
  #text = "";
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** The outermost bracket is closed. */
  #isClosed = false;
  #goesOn = false;
  #isObject: boolean | undefined;

  get text(): string {
    return this.#text;
  }

  add(piece: string): void {
    this.#text += piece;
    const end = this.#isClosed ? 0 : this.#findEnd(piece);
    if (this.#isClosed) this.#goesOn ||= /[^ \t\r\n]/.test(piece.slice(end));
  }

  /** Returns true for a JSON object. */
  get isComplete(): boolean {
    if (!this.#isClosed || this.#goesOn) return false;
    this.#isObject ??= isJsonObject(tryParseJson(this.#text));
    return this.#isObject;
  }

  #findEnd(piece: string): number {
    for (let at = 0; at < piece.length; at += 1) {
      const character = piece[at];
      if (this.#isEscaped) this.#isEscaped = false;
      else if (this.#isInString) {
        if (character === "\\") this.#isEscaped = true;
        else if (character === '"') this.#isInString = false;
      } else if (character === '"') this.#isInString = true;
      else if (character === "{" || character === "[") this.#depth += 1;
      else if (character === "}" || character === "]") {
        this.#depth -= 1;
        this.#isClosed = this.#depth <= 0;
        if (this.#isClosed) return at + 1;
      }
    }
    return piece.length;
  }
}
