import type { Json, JsonObject } from "@/server/base/json/json";

export type RedactBody = (value: Json) => Promise<Json>;

/** Binary data as functions return it, redacted before it is encoded. */
export async function asBase64(bytes: Uint8Array<ArrayBuffer>, redact: RedactBody): Promise<JsonObject> {
  const kept = await redactBytes(Buffer.from(bytes), redact);
  return { base64: kept.toString("base64"), bytes: kept.length };
}

// Binary data may contain a secret in ASCII, or in UTF-16 of either byte order from any byte on.
async function redactBytes(bytes: Buffer, redact: RedactBody): Promise<Buffer> {
  const text = bytes.toString("latin1");
  const cleaned = await redact(text);
  let kept = cleaned === text ? bytes : Buffer.from(String(cleaned), "latin1");
  // Without zeros there is no ASCII in UTF-16.
  if (!kept.includes(0)) return kept;
  for (const start of [0, 1])
    for (const order of ["little", "big"] as const) kept = await redactUtf16(kept, { start, order }, redact);
  return kept;
}

async function redactUtf16(
  bytes: Buffer,
  { start, order }: { start: number; order: "little" | "big" },
  redact: RedactBody,
): Promise<Buffer> {
  const end = bytes.length - ((bytes.length - start) % 2);
  const toLittle = (units: Buffer) => (order === "big" ? Buffer.from(units).swap16() : units);
  const text = toLittle(bytes.subarray(start, end)).toString("utf16le");
  const cleaned = await redact(text);
  if (cleaned === text) return bytes;
  const kept = toLittle(Buffer.from(String(cleaned), "utf16le"));
  return Buffer.concat([bytes.subarray(0, start), kept, bytes.subarray(end)]);
}
