import parsePrometheusTextFormat from 'parse-prometheus-text-format';

/** One family of metrics, as the parser returns it. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly metrics: readonly {
    readonly labels?: Readonly<Record<string, string>>; readonly value?: string;
    readonly buckets?: Readonly<Record<string, string>>; readonly count?: string; readonly sum?: string;
  }[];
}

/** Returns the families of a scrape by their names, as an independent parser reads them. */
export function readFamilies(text: string): ReadonlyMap<string, Family> {
  const families = parsePrometheusTextFormat(text) as readonly Family[];
  return new Map(families.map((family) => [family.name, family]));
}

/** Returns the value of one series; undefined where it is absent. */
export function valueOf(
  families: ReadonlyMap<string, Family>, name: string, labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const found = families.get(name)?.metrics.find((metric) =>
    Object.entries(labels).every(([label, value]) => metric.labels?.[label] === value));
  return found?.value === undefined ? undefined : Number(found.value);
}
