import { Counter, Histogram, type Registry } from "prom-client";
import type * as families from "@/server/base/metrics/families";

/** Metrics of prom-client whose values are our own counts at the time of a scrape. */

type AnyCounter = families.Counter<readonly string[]>;
type AnyHistogram = families.HistogramFamily<readonly string[]>;

function labelsOf(names: readonly string[], values: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? ""]));
}

export function addCounter(registry: Registry, family: AnyCounter): void {
  const { name, help, labels } = family.spec;
  new Counter({
    name,
    help,
    labelNames: labels,
    registers: [registry],
    collect() {
      this.reset();
      for (const { values, figure } of family.children()) this.inc(labelsOf(labels, values), figure.value);
    },
  });
}

export function addHistogram(registry: Registry, family: AnyHistogram): void {
  registry.registerMetric(new CollectedHistogram(family));
}

// prom-client can only observe one value after the other. A registry prints what `getForPromString` returns.
class CollectedHistogram extends Histogram {
  readonly #family: AnyHistogram;

  constructor(family: AnyHistogram) {
    const { name, help, labels } = family.spec;
    super({ name, help, labelNames: labels, registers: [] });
    this.#family = family;
  }

  async getForPromString() {
    const { name, help, labels } = this.#family.spec;
    const values = this.#family.children().flatMap(({ values: own, figure }) => {
      const common = labelsOf(labels, own);
      let count = 0;
      const buckets = figure.counts.map((observed, index) => {
        count += observed;
        const le = figure.bounds[index] ?? "+Inf";
        return { metricName: `${name}_bucket`, labels: { ...common, le }, value: count };
      });
      return [
        ...buckets,
        { metricName: `${name}_sum`, labels: common, value: figure.sum },
        { metricName: `${name}_count`, labels: common, value: count },
      ];
    });
    return { name, help, type: "histogram", aggregator: "sum", values };
  }
}
