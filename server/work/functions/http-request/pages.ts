import { z } from "zod";
import { isJsonObject, type Json, type JsonObject } from "@/server/base/json/json";
import { largeJsonBytes } from "@/server/base/json/large";
import { formatLimit, MAX_FINAL_OUTPUT_BYTES } from "@/server/contract/sizes";
import { hasPlaceholder, replacePlaceholders } from "@/server/guard/secrets/placeholders";
import { parseWholeReference, secretMark } from "@/server/guard/secrets/references";
import { MAX_EXPRESSION_LENGTH } from "@/server/work/expressions/jsonata";
import { FunctionError } from "@/server/work/functions/core/define";
import { type HttpResult, readLinks } from "@/server/work/functions/http-request/exchange";

export const MAX_PAGES = 100;
export const MAX_PAGES_BYTES = MAX_FINAL_OUTPUT_BYTES;
const DEFAULT_PAGES = 10;

const expression = z.string().min(1).max(MAX_EXPRESSION_LENGTH).optional();

/** The inputs of calls that follow the pages of a list. */
export const pageInputs = {
  next: expression.describe(
    "A JSONata expression over {status, headers, links, body} that finds the next page's address, such as " +
      '"links.next" or "body.next_url". The list ends when it finds nothing. Only for GET.',
  ),
  items: expression.describe(
    'With next: a JSONata expression that finds a page\'s items, such as "body.data".',
  ),
  maxPages: z
    .int()
    .min(1)
    .max(MAX_PAGES)
    .optional()
    .describe(`With next: the most pages to read. Default: ${DEFAULT_PAGES}.`),
};
type PageInputs = z.output<z.ZodObject<typeof pageInputs>>;

type PageAccess = {
  request(url: URL): Promise<HttpResult>;
  redact(value: Json): Promise<Json>;
  evaluate(expression: string, page: JsonObject): Promise<Json | undefined>;
};

/**
 * Reads a list page by page. The body is the list of all pages' bodies, or with `items` of all items. A first page whose
 * status is not 2xx is the result. Throws FunctionError `page_failed`.
 */
export async function readPages(
  first: URL,
  { next = "", items, maxPages = DEFAULT_PAGES }: PageInputs,
  { request, redact, evaluate }: PageAccess,
): Promise<HttpResult & { pages: number; hasMore: boolean }> {
  const collected: Json[] = [];
  const seen = new Set<string>();
  const restore = await restoreSecrets(first, redact);
  let bytes = 0;
  for (let url = first, pages = 1; ; pages += 1) {
    seen.add(url.href);
    const page = await request(url);
    if (page.status >= 300) {
      if (pages === 1) return { ...page, pages, hasMore: false };
      throw failed(`Page ${pages} returned status ${page.status}.`);
    }
    const facts = { ...page, links: readLinks(page.headers) };
    const found = items === undefined ? [page.body] : asList(await evaluate(items, facts));
    bytes += await largeJsonBytes(found);
    if (bytes > MAX_PAGES_BYTES)
      throw failed(`The pages together are larger than ${formatLimit(MAX_PAGES_BYTES)}.`);
    collected.push(...found);
    const address = asAddress(await evaluate(next, facts));
    const hasMore = address !== "";
    if (!hasMore || pages === maxPages) return { ...page, body: collected, pages, hasMore };
    url = nextUrl(first, url, restore(address));
    if (seen.has(url.href)) throw failed(`The next page of page ${pages} was already read.`);
  }
}

const failed = (message: string) => new FunctionError("page_failed", message);

function asAddress(value: Json | undefined): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null || value === false) return "";
  const type = Array.isArray(value)
    ? "list"
    : isJsonObject(value)
      ? "object"
      : value === true
        ? "boolean"
        : "number";
  throw failed(`next must find the address of a page, not a value of the type ${type}.`);
}

const asList = (value: Json | undefined): Json[] => {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
};

// Expressions see pages without secrets, so the next page's address has marks in place of the first page's
// placeholders.
async function restoreSecrets(
  { pathname }: URL,
  redact: PageAccess["redact"],
): Promise<(address: string) => string> {
  const placeholders = new Set<string>();
  replacePlaceholders(pathname, (placeholder) => {
    placeholders.add(placeholder);
    return placeholder;
  });
  const marks = new Map<string, string>();
  for (const placeholder of placeholders) {
    const name = parseWholeReference(String(await redact(placeholder)));
    if (name !== null) marks.set(secretMark(name), placeholder);
  }
  return (address) =>
    [...marks].reduce((text, [mark, placeholder]) => text.replaceAll(mark, placeholder), address);
}

function nextUrl(first: URL, current: URL, address: string): URL {
  if (!URL.canParse(address, current))
    throw failed(`"${address.slice(0, 200)}" is not the address of a page.`);
  const url = new URL(address, current);
  if (url.origin !== first.origin)
    throw failed(`The next page is on another origin: ${url.origin}, not ${first.origin}.`);
  const secret = new Map([...first.searchParams].filter(([, value]) => hasPlaceholder(value)));
  const own = url.search.slice(1).split("&");
  const filled = own.map((part) => {
    const [[name, value] = ["", ""]] = new URLSearchParams(part);
    const kept = secret.get(name) ?? value;
    secret.delete(name);
    return kept === value ? part : new URLSearchParams([[name, kept]]);
  });
  // A change would encode the address's own parameters in another way.
  if (secret.size > 0 || filled.some((part, at) => part !== own[at]))
    url.search = [...filled, new URLSearchParams([...secret])].filter(String).join("&");
  return url;
}
