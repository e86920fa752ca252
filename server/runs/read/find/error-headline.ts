/**
 * The headline of a run's error, such as `Provider openai answered 500`, without ids, times and long numbers, so that
 * equal failures have equal headlines. No imports: pages use it.
 */
export function errorHeadline(message: string): string {
  const inner = message
    .replace(/^Step "[^"]*" failed: /, "")
    .replace(/^(?:(?:step "[^"]*"|item \d+): )+/, "")
    .replace(/^(?:Error: )+/, "");
  const [, provider, answer = ""] = /^the model provider "([^"]+)" (.*)$/is.exec(inner) ?? [];
  return cut(provider === undefined ? inner : `Provider ${provider} ${answerOf(answer)}`);
}

function answerOf(answer: string): string {
  const [status] = /^answered \d{3}\b/.exec(answer) ?? [];
  return status ?? answer.replace(/^answered: /, "answered: ");
}

const MAX_HEADLINE = 90;
const NAMED_THINGS =
  /\b(?:\d{4}-\d\d-\d\dT[\d:.]+Z|[0-9a-f]{8}-[0-9a-f-]{27}|req_\w+|[0-9a-f]{12,}|\d*\.?\d{5,})\b/gi;

function cut(text: string): string {
  const [first = ""] = text.trim().split(/\n|(?<=[^.\s]{2}[.!])\s/, 1);
  const plain = first.replace(NAMED_THINGS, "…").replace(/[.:]$/, "");
  const short = plain.length > MAX_HEADLINE ? `${plain.slice(0, MAX_HEADLINE).trimEnd()}…` : plain;
  // The name of a host or a field stays as it is.
  return /^[a-z]+(?: |$)/.test(short) ? short.charAt(0).toUpperCase() + short.slice(1) : short;
}
