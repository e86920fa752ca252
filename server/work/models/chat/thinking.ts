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

/** The answer within a text that grows, in linear time. */
export class GrowingAnswer {
  #start: number | undefined;
  #end: string | undefined;
  #searched = 0;

  read(text: string): string {
    if (this.#start === undefined) this.#start = this.#find(text);
    if (this.#start === 0) return text;
    return this.#start === undefined ? "" : text.slice(this.#start).trimStart();
  }

  #find(text: string): number | undefined {
    if (this.#end === undefined) {
      const given = text.trimStart();
      this.#end = pairAt(given)?.end;
      if (this.#end === undefined) return PAIRS.some(({ begin }) => begin.startsWith(given)) ? undefined : 0;
    }
    const end = text.indexOf(this.#end, this.#searched);
    this.#searched = Math.max(1, text.length - this.#end.length);
    return end < 0 ? undefined : end + this.#end.length;
  }
}
