import type { Metric, Registry } from 'prom-client';
import type { PlainHistogram } from './plain-histogram.ts';

/** One value of a metric. */
export interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
  /** When it is not the metric's own name: name_bucket and the like. */
  readonly metricName?: string;
}

/** A metric whose values are read from plain numbers when it is scraped, so that counting costs nothing more. */
export class ScrapedMetrics {
  readonly registry: Registry;
  readonly #prefix: string;

  constructor(registry: Registry, prefix: string) {
    this.registry = registry;
    this.#prefix = prefix;
  }

  gauge(name: string, help: string, value: () => number): void {
    this.#register(name, help, 'gauge', () => [{ value: value() }]);
  }

  gauges(name: string, help: string, samples: () => Iterable<Sample>): void {
    this.#register(name, help, 'gauge', samples);
  }

  counters(name: string, help: string, samples: () => Iterable<Sample>): void {
    this.#register(name, help, 'counter', samples);
  }

  histogram(name: string, help: string, histogram: PlainHistogram): void {
    const full = this.#prefix + name;
    this.#register(name, help, 'histogram', function* () {
      const metricName = `${full}_bucket`;
      for (const [bound, value] of histogram.cumulative()) {
        yield { metricName, labels: { le: goFloat(bound) }, value };
      }
      yield { metricName, labels: { le: '+Inf' }, value: histogram.count };
      yield { metricName: `${full}_sum`, value: histogram.sum };
      yield { metricName: `${full}_count`, value: histogram.count };
    });
  }

  #register(name: string, help: string, type: string, samples: () => Iterable<Sample>): void {
    const full = this.#prefix + name;
    // What a registry asks of a metric; prom-client's own classes keep values by label hash instead.
    const metric = {
      name: full,
      help,
      type,
      get: () => ({ name: full, help, type, values: [...samples()] }),
    };
    this.registry.registerMetric(metric as unknown as Metric);
  }
}

/** One sample for each entry of a map. */
export function* byLabel(label: string, values: Iterable<readonly [string, number]>): Generator<Sample> {
  for (const [name, value] of values) yield { labels: { [label]: name }, value };
}

/** As Go's client prints bucket bounds: 1e-06 where JavaScript says 0.000001. Queries compare the texts. */
function goFloat(value: number): string {
  if (value === 0 || (Math.abs(value) >= 1e-4 && Math.abs(value) < 1e21)) return String(value);
  return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
}
