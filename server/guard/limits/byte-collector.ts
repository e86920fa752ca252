import { KIB } from "@/server/contract/sizes";

const FIRST_BYTES = 4 * KIB;

/** Joins the chunks of a body. Copies them: kept as they came, a million small ones would take 150 MB. */
export class ByteCollector {
  #bytes = Buffer.alloc(0);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(chunk: Uint8Array): void {
    const size = this.#size + chunk.length;
    if (size > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(FIRST_BYTES, size, 2 * this.#bytes.length));
      this.#bytes.copy(larger, 0, 0, this.#size);
      this.#bytes = larger;
    }
    this.#bytes.set(chunk, this.#size);
    this.#size = size;
  }

  finish(): Buffer {
    return this.#bytes.subarray(0, this.#size);
  }
}
