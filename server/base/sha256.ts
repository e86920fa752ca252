import { createHash } from "node:crypto";

/** The SHA-256 of bytes, or of a text's UTF-8. */
export function sha256(data: string | Uint8Array): Buffer<ArrayBuffer> {
  return createHash("sha256").update(data).digest();
}
