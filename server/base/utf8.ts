const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Decodes UTF-8 without losing its byte order mark. Throws an error that says "not UTF-8" for other bytes. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw new Error("The text is not UTF-8.", { cause });
  }
}
