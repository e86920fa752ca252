const PAIRS = [
  { begin: "<think>", end: "</think>" },
  // Mistral (RooCodeInc/Roo-Code#8522), MiniMax, Gemini, ByteDance, and others (QwenLM/qwen-code#10791).
  { begin: "[THINK]", end: "[/THINK]" },
  { begin: "<mm:think>", end: "</mm:think>" },
  { begin: "<thought>", end: "</thought>" },
  { begin: "<seed:think>", end: "</seed:think>" },
  { begin: "<thinking>", end: "</thinking>" },
] as const;
const [DEFAULT] = PAIRS;
type Pair = (typeof PAIRS)[number];

const pairAt = (text: string): Pair | undefined => PAIRS.find(({ begin }) => text.startsWith(begin));

/**
 * The text's length if the reasoning is not closed. Templates that open the reasoning in the prompt leave only its
 * end, in a line of its own (open-webui/open-webui#9808).
 */
function answerStart(text: string, opened: Pair | undefined): number {
  const { begin, end: mark } = opened ?? DEFAULT;
  const end = text.indexOf(mark);
  if (end < 0) return opened ? text.length : 0;
  if (opened) return end + mark.length;
  const before = text.slice(0, end);
  return before.includes(begin) || !/(?:^|\n)[ \t]*$/.test(before) ? 0 : end + mark.length;
}

/**
 * Takes reasoning from the beginning of an answer, as servers without a reasoning parser send it (DeepSeek R1's and
 * Qwen's chat formats; langchain-ai/langchain#33126).
 */
export function splitThinking(text: string): { reasoning: string; content: string } {
  const opened = pairAt(text.trimStart());
  const start = answerStart(text, opened);
  if (start === 0) return { reasoning: "", content: text };
  const { begin, end } = opened ?? DEFAULT;
  const isClosed = text.startsWith(end, start - end.length);
  const thoughts = text.slice(0, isClosed ? start - end.length : undefined).trim();
  const reasoning = thoughts.startsWith(begin) ? thoughts.slice(begin.length).trim() : thoughts;
  return { reasoning, content: text.slice(start).trimStart() };
}

/** The answer within a text that comes in pieces, in linear time. */
export class GrowingAnswer {
  /** Of the answer, or all of a text that may still begin with reasoning. */
  #text = "";
  /** A beginning without white space, or the last characters of the reasoning. */
  #rest = "";
  #state: "beginning" | "reasoning" | "answer" = "beginning";
  #end = "";

  /** Returns the answer so far. */
  add(piece: string): string {
    if (this.#state === "beginning") return this.#begin(piece);
    if (this.#state === "reasoning") return this.#findEnd(piece);
    this.#text = this.#text === "" ? piece.trimStart() : this.#text + piece;
    return this.#text;
  }

  #begin(piece: string): string {
    this.#text += piece;
    const given = this.#rest === "" ? piece.trimStart() : this.#rest + piece;
    this.#rest = given;
    const opened = pairAt(given);
    if (opened === undefined) {
      if (PAIRS.some(({ begin }) => begin.startsWith(given))) return "";
      this.#state = "answer";
      return this.#text;
    }
    this.#state = "reasoning";
    this.#text = "";
    this.#end = opened.end;
    return this.#findEnd("");
  }

  #findEnd(piece: string): string {
    const text = this.#rest + piece;
    const end = text.indexOf(this.#end);
    this.#rest = text.slice(1 - this.#end.length);
    if (end < 0) return "";
    this.#state = "answer";
    this.#text = text.slice(end + this.#end.length).trimStart();
    return this.#text;
  }
}
