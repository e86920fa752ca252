/** HTML standard, "prescan a byte stream". */
const DECLARED_WITHIN = 1024;
const TEXT = /^(text\/.*|application\/((x-)?(xml|json|javascript|csv|ndjson|yaml|sql)|.*\+(xml|json|yaml)))$/;
const MARKUP = /^(text\/(html|xml)|application\/(xml|.*\+xml))$/;

/** The media type of a header, which some servers send twice. */
export const mediaTypeOf = (contentType: string): string =>
  contentType.split(/[;,]/, 1)[0]?.trim().toLowerCase() ?? "";

/**
 * The text of a body, or undefined if it is binary data. Bytes that are no text of a named charset become U+FFFD. A
 * text with NUL counts as binary: it may be UTF-16, in which no secret would be found.
 */
export function decodeBody(bytes: Uint8Array<ArrayBuffer>, contentType: string): string | undefined {
  const type = mediaTypeOf(contentType);
  const named = namedCharset(bytes, contentType, type);
  const text =
    decode(bytes, named ?? "utf-8", true) ??
    (TEXT.test(type) ? decode(bytes, named ?? "windows-1252", false) : undefined);
  return text?.includes("\u0000") ? undefined : text;
}

// Undefined if the charset is unknown, or the bytes are no text of it and `fatal` is set.
function decode(bytes: Uint8Array<ArrayBuffer>, charset: string, fatal: boolean): string | undefined {
  try {
    return new TextDecoder(charset, { fatal }).decode(bytes);
  } catch {
    return undefined;
  }
}

function namedCharset(bytes: Uint8Array, contentType: string, type: string): string | undefined {
  const start = Buffer.from(bytes.subarray(0, DECLARED_WITHIN)).toString("latin1");
  if (start.startsWith("\xff\xfe")) return "utf-16le";
  if (start.startsWith("\xfe\xff")) return "utf-16be";
  if (start.startsWith("\xef\xbb\xbf")) return "utf-8";
  const ofHeader = /[;,\s]charset\s*=\s*["']?([\w.:-]+)/i.exec(withoutQuoted(contentType))?.[1];
  if (ofHeader !== undefined && /^utf-?16$/i.test(ofHeader)) return utf16Of(start);
  if (ofHeader !== undefined) return isKnown(ofHeader) ? ofHeader : undefined;
  if (!MARKUP.test(type)) return undefined;
  const declared =
    /^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([\w.:-]+)/i.exec(start)?.[1] ??
    /<meta[^>]*?\scharset\s*=\s*["']?\s*([\w.:-]+)/i.exec(start)?.[1] ??
    /<meta[^>]*?\scontent\s*=\s*["'][^"'>]*?charset\s*=\s*([\w.:-]+)/i.exec(start)?.[1];
  if (declared === undefined || !isKnown(declared)) return undefined;
  // A declaration that was readable as ASCII is not in UTF-16.
  return /^utf-?16/i.test(declared) ? "utf-8" : declared;
}

// The byte order of a text without a mark, by the zeros of its ASCII characters. Browsers read little-endian,
// RFC 2781 says big-endian (Azure/azure-functions-nodejs-worker#168).
function utf16Of(start: string): string {
  const zeros = [0, 0];
  for (let at = 0; at < start.length; at += 1)
    if (start[at] === "\0") zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  const [first = 0, second = 0] = zeros;
  return first > second ? "utf-16be" : "utf-16le";
}

// Without the quoted values of other parameters, which may contain anything (langgenius/dify#41252). An open value
// matches, too: otherwise each escaped quote in it would be tried as a beginning.
const withoutQuoted = (contentType: string): string =>
  contentType.replace(/(?<!charset\s*=\s*)"(?:\\.|[^"\\])*("|\\?$)/gi, (whole, end: string) =>
    end === '"' ? '""' : whole,
  );

function isKnown(charset: string): boolean {
  return decode(new Uint8Array(), charset, true) !== undefined;
}
