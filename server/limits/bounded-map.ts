/** A map that holds a bounded number of entries; the one that was used least recently goes first. */
export class BoundedMap<Value> {
  readonly #entries = new Map<string, Value>();
  readonly #most: number;
  readonly #onRemove: ((value: Value, key: string) => void) | undefined;

  constructor(most: number, onRemove?: (value: Value, key: string) => void) {
    this.#most = most;
    this.#onRemove = onRemove;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): Value | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  set(key: string, value: Value): void {
    this.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size > this.#most) this.deleteOldest();
  }

  delete(key: string): void {
    const value = this.#entries.get(key);
    if (value === undefined) return;
    this.#entries.delete(key);
    this.#onRemove?.(value, key);
  }

  deleteOldest(): void {
    const oldest = this.#entries.keys().next();
    if (!oldest.done) this.delete(oldest.value);
  }

  clear(): void {
    for (const key of [...this.#entries.keys()]) this.delete(key);
  }
}
