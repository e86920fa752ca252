import { Transform, type TransformCallback } from "node:stream";
import { crc32, createInflateRaw, type InflateRaw } from "node:zlib";

// Each part costs an inflater of its own.
const MAX_PARTS = 10_000;
// Names and comments in the head of a part are no longer.
const MAX_HEAD_BYTES = 64 * 1024;
const HAS = { check: 2, extra: 4, name: 8, comment: 16 };
const TRAILER_BYTES = 8;

/**
 * Decodes gzip (RFC 1952). Like browsers, it ignores bytes behind the end that are no further part
 * (apify/crawlee#266). Node's decoder fails there, and loses output.
 */
export class Gunzip extends Transform {
  /** Bytes of a head or trailer that is incomplete. */
  #held: Buffer = Buffer.alloc(0);
  #state: "head" | "content" | "trailer" | "ignored" = "head";
  #inflate: InflateRaw | undefined;
  #given = 0;
  #check = 0;
  #length = 0;
  #parts = 0;

  override _transform(chunk: Uint8Array, _encoding: BufferEncoding, callback: TransformCallback): void {
    this.#read(Buffer.from(chunk)).then(
      () => callback(),
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error))),
    );
  }

  override _flush(callback: TransformCallback): void {
    const isBetween = this.#state === "head" && this.#held.length === 0;
    callback(isBetween || this.#state === "ignored" ? null : new Error("unexpected end of file"));
  }

  override _read(size: number): void {
    this.#inflate?.resume();
    super._read(size);
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#inflate?.destroy();
    callback(error);
  }

  async #read(chunk: Buffer): Promise<void> {
    let rest = chunk;
    while (rest.length > 0 && this.#state !== "ignored") {
      if (this.#state === "content") rest = await this.#decode(rest);
      else {
        this.#held = this.#held.length === 0 ? rest : Buffer.concat([this.#held, rest]);
        const used = this.#state === "head" ? this.#readHead() : this.#readTrailer();
        if (used === null) return;
        rest = this.#held.subarray(used);
        this.#held = Buffer.alloc(0);
      }
    }
  }

  /** The bytes of the head; null if it is incomplete. */
  #readHead(): number | null {
    const bytes = this.#held;
    const isOther = bytes[0] !== 0x1f || (bytes.length > 1 && bytes[1] !== 0x8b);
    if (isOther && this.#parts > 0) {
      this.#state = "ignored";
      return bytes.length;
    }
    if (isOther) throw new Error("incorrect header check");
    const length = lengthOfHead(bytes);
    if (length === null && bytes.length > MAX_HEAD_BYTES) throw new Error("header too long");
    if (length === null) return null;
    if (bytes[2] !== 8) throw new Error("unknown compression method");
    if (this.#parts === MAX_PARTS) throw new Error(`more than ${MAX_PARTS} parts`);
    this.#begin();
    return length;
  }

  #begin(): void {
    this.#state = "content";
    this.#parts += 1;
    this.#given = 0;
    this.#check = 0;
    this.#length = 0;
    const inflate = createInflateRaw();
    inflate.on("data", (part: Buffer) => {
      this.#check = crc32(part, this.#check);
      this.#length = (this.#length + part.length) % 2 ** 32;
      if (!this.push(part)) inflate.pause();
    });
    this.#inflate = inflate;
  }

  /** Returns the bytes behind the content. */
  #decode(bytes: Buffer): Promise<Buffer> {
    const inflate = this.#inflate;
    if (inflate === undefined) throw new Error("no content");
    return new Promise((resolve, reject) => {
      const settle = (rest: Buffer) => {
        inflate.off("end", atEnd).off("error", reject).off("close", atClose);
        resolve(rest);
      };
      const atEnd = () => {
        this.#state = "trailer";
        settle(bytes.subarray(bytes.length - (this.#given - inflate.bytesWritten)));
      };
      const atClose = () => reject(new Error("the decoder was closed"));
      inflate.once("end", atEnd).once("error", reject).once("close", atClose);
      this.#given += bytes.length;
      inflate.write(bytes, () => {
        // At the end of the content, the callback comes only if nothing follows.
        if (this.#state === "content") settle(Buffer.alloc(0));
      });
    });
  }

  #readTrailer(): number | null {
    if (this.#held.length < TRAILER_BYTES) return null;
    if (this.#held.readUInt32LE(0) !== this.#check) throw new Error("incorrect data check");
    if (this.#held.readUInt32LE(4) !== this.#length) throw new Error("incorrect length check");
    this.#state = "head";
    return TRAILER_BYTES;
  }
}

function lengthOfHead(bytes: Buffer): number | null {
  const flags = bytes[3] ?? 0;
  let at = 10;
  if (flags & HAS.extra) {
    if (bytes.length < at + 2) return null;
    at += 2 + bytes.readUInt16LE(at);
  }
  for (const text of [HAS.name, HAS.comment]) {
    if (!(flags & text)) continue;
    const end = bytes.indexOf(0, at);
    if (end < 0) return null;
    at = end + 1;
  }
  if (flags & HAS.check) at += 2;
  return bytes.length < at ? null : at;
}
