import { Counter, Gauge, type Metric, Registry } from 'prom-client';
import type { Distribution } from './distribution.ts';
import type { MetricDefinition, Reading } from './metric-definition.ts';
import { PROCESS_METRICS } from './process-metrics.ts';
import { TRADING_METRICS } from './trading-metrics.ts';

/** Every metric, in the order of a scrape. */
export const METRICS: readonly MetricDefinition[] = [...PROCESS_METRICS, ...TRADING_METRICS];

/** Writes readings in the text format of Prometheus. */
export interface Exposition {
  readonly contentType: string;
  write(reading: Reading): Promise<string>;
}

/** Returns the writer of all metrics, with a registry of its own. */
export function createExposition(): Exposition {
  const registry = new Registry();
  let reading: Reading | undefined;
  const current = (): Reading => {
    if (reading === undefined) throw new Error('a metric was read outside a scrape');
    return reading;
  };
  for (const metric of METRICS) register(registry, metric, current);
  return {
    contentType: registry.contentType,
    write: async (given) => {
      reading = given;
      return registry.metrics();
    },
  };
}

function register(registry: Registry, metric: MetricDefinition, reading: () => Reading): void {
  const { name, help, labels: labelNames } = metric;
  if (metric.type === 'histogram') {
    registry.registerMetric(counted(name, help, () => metric.read(reading())));
  } else if (metric.type === 'gauge') {
    registry.registerMetric(new Gauge({
      name, help, labelNames, registers: [],
      collect() {
        this.reset();
        const samples = metric.read(reading());
        // Without labels, the library shows 0 after a reset.
        if (labelNames.length === 0 && samples.length === 0) this.remove();
        for (const { labels = {}, value } of samples) this.set(labels, value);
      },
    }));
  } else {
    registry.registerMetric(new Counter({
      name, help, labelNames, registers: [],
      collect() {
        this.reset();
        for (const { labels = {}, value } of metric.read(reading())) this.inc(labels, value);
      },
    }));
  }
}

/** The library's own histogram must see each value; this one shows what was counted before it was loaded, too. */
function counted(name: string, help: string, read: () => Distribution): Metric {
  return {
    name, help, type: 'histogram',
    get: async () => {
      const distribution = read();
      const counts = distribution.cumulative();
      return {
        name, help, type: 'histogram',
        values: [
          ...distribution.bounds.map((le, index) =>
            ({ metricName: `${name}_bucket`, labels: { le }, value: counts[index] })),
          { metricName: `${name}_bucket`, labels: { le: '+Inf' }, value: distribution.count },
          { metricName: `${name}_sum`, labels: {}, value: distribution.sum },
          { metricName: `${name}_count`, labels: {}, value: distribution.count },
        ],
      };
    },
  } as unknown as Metric;
}
