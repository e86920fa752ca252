const BEGIN = "<think>";
const END = "</think>";

/**
 * The text's length if the reasoning is not closed. Templates that open the reasoning in the prompt leave only its
 * end, in a line of its own (open-webui/open-webui#9808).
 */
function answerStart(text: string): number {
  const end = text.indexOf(END);
  const isOpened = text.trimStart().startsWith(BEGIN);
  if (end < 0) return isOpened ? text.length : 0;
  if (isOpened) return end + END.length;
  const before = text.slice(0, end);
  return before.includes(BEGIN) || !/(?:^|\n)[ \t]*$/.test(before) ? 0 : end + END.length;
}

/**
 * Takes reasoning from the beginning of an answer, as servers without a reasoning parser send it (DeepSeek R1's and
 * Qwen's chat formats; langchain-ai/langchain#33126).
 */
export function splitThinking(text: string): { reasoning: string; content: string } {
  const start = answerStart(text);
  if (start === 0) return { reasoning: "", content: text };
  const isClosed = text.startsWith(END, start - END.length);
  const thoughts = text.slice(0, isClosed ? start - END.length : undefined).trim();
  const reasoning = thoughts.startsWith(BEGIN) ? thoughts.slice(BEGIN.length).trim() : thoughts;
  return { reasoning, content: text.slice(start).trimStart() };
}

/** The answer within a text that grows, in linear time. */
export class GrowingAnswer {
  #start: number | undefined;
  #searched = 0;

  read(text: string): string {
    if (this.#start === undefined) this.#start = this.#find(text);
    if (this.#start === 0) return text;
    return this.#start === undefined ? "" : text.slice(this.#start).trimStart();
  }

  #find(text: string): number | undefined {
    if (this.#searched === 0) {
      const begin = text.trimStart().slice(0, BEGIN.length);
      if (begin !== BEGIN) return BEGIN.startsWith(begin) ? undefined : 0;
    }
    const end = text.indexOf(END, this.#searched);
    this.#searched = Math.max(1, text.length - END.length);
    return end < 0 ? undefined : end + END.length;
  }
}
