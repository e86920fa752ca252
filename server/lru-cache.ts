/** A map that holds at most `capacity` weight and evicts what was unused for longest. */
export class LruCache<Value> {
  readonly #capacity: number;
  readonly #entries = new Map<string, { value: Value; weight: number }>();
  #weight = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** The weight of an entry is what the capacity counts, such as its characters; a heavier one than the capacity is not kept. */
  set(key: string, value: Value, weight: number): void {
    this.#remove(key);
    if (weight > this.#capacity) return;
    this.#entries.set(key, { value, weight });
    this.#weight += weight;
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#capacity) return;
      this.#remove(oldest);
    }
  }

  #remove(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#weight -= entry.weight;
  }
}
