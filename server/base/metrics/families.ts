/**
 * The figures of this process. Counting is one addition: a frequent caller keeps the child. prom-client, which builds
 * a text for each count, only reads them (server/operate/metrics/).
 */

export type Spec<Labels extends readonly string[]> = { name: string; help: string; labels: Labels };
type Values<Labels extends readonly string[]> = { [Index in keyof Labels]: string };

/** A number that only grows. */
export type Count = { value: number };

type Child<Figure> = { values: readonly string[]; figure: Figure };

class Family<const Labels extends readonly string[], Figure> {
  readonly spec: Spec<Labels>;
  readonly #children = new Map<string, Child<Figure>>();
  readonly #create: () => Figure;

  constructor(spec: Spec<Labels>, create: () => Figure) {
    this.spec = spec;
    this.#create = create;
  }

  /** Each label's values must be few, and chosen by us or the operator. */
  of(...values: Values<Labels>): Figure {
    const key = values.join("\n");
    const known = this.#children.get(key);
    if (known !== undefined) return known.figure;
    const figure = this.#create();
    this.#children.set(key, { values, figure });
    return figure;
  }

  children(): Child<Figure>[] {
    return [...this.#children.values()];
  }
}

export class Counter<const Labels extends readonly string[]> extends Family<Labels, Count> {
  constructor(spec: Spec<Labels>) {
    super(spec, () => ({ value: 0 }));
  }
}

/** Observations by size. `bounds`: the upper bounds of the buckets, ascending. */
export class Histogram {
  readonly bounds: readonly number[];
  /** One more than bounds: for what is larger. */
  readonly counts: number[];
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Array(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    let bucket = 0;
    while (bucket < this.bounds.length && value > (this.bounds[bucket] ?? 0)) bucket += 1;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.sum += value;
  }
}

export class HistogramFamily<const Labels extends readonly string[]> extends Family<Labels, Histogram> {
  constructor(spec: Spec<Labels>, bounds: readonly number[]) {
    super(spec, () => new Histogram(bounds));
  }
}
