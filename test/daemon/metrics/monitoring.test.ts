import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { METRICS } from '../../../src/daemon/metrics/exposition.ts';
import { PROJECT } from '../../e2e/gannet.ts';
import { alertRules, dashboard, dashboardExpressions, metricsIn, readMonitoring } from './monitoring-files.ts';

// What is checked here needs neither Prometheus nor promtool. That each expression is valid, that each rule fires on
// recorded series and that Prometheus scrapes a daemon is shown by "npm run campaign:monitoring" alone.

const NAMES = new Set(METRICS.map(({ name }) => name));
const DOCUMENT = readFileSync(join(PROJECT, 'docs/operations/metrics.md'), 'utf8');
/** Labels that Prometheus adds, and those of histograms and of rules themselves. */
const OTHER_LABELS = ['instance', 'job', 'le'];

/** Returns what is wrong with an expression, as far as its text alone shows. */
function faultsOf(expression: string): string[] {
  const faults: string[] = [];
  const open: string[] = [];
  for (const [sign] of expression.replaceAll(/"[^"]*"/g, '""').matchAll(/[()[\]{}]/g)) {
    if ('([{'.includes(sign)) open.push(sign);
    else if (`${open.pop()}${sign}`.search(/^(?:\(\)|\[\]|\{\})$/) < 0) faults.push(`an odd ${sign}`);
  }
  if (open.length > 0) faults.push(`${open.join('')} is not closed`);
  const known = metricsIn(expression).flatMap((name) => METRICS.find((metric) => metric.name === name)?.labels ?? []);
  const labels = new Set<string>([...known, ...OTHER_LABELS]);
  for (const [, selector = ''] of expression.matchAll(/\{([^}]*)\}/g)) {
    for (const [, label = ''] of selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g))
      if (!labels.has(label)) faults.push(`no label ${label}`);
  }
  for (const [, list = ''] of expression.matchAll(/\b(?:by|without)\s*\(([^)]*)\)/g))
    for (const label of list.split(',')) if (!labels.has(label.trim())) faults.push(`no label ${label}`);
  for (const name of metricsIn(expression)) if (!NAMES.has(name)) faults.push(`no metric ${name}`);
  return faults;
}

describe('the check of expressions', () => {
  it('finds brackets, labels and metrics that do not fit', () => {
    expect(faultsOf('sum by (feed) (gannet_feed_healthy{instance=~"a|(b"})')).toEqual([]);
    expect(faultsOf('sum(gannet_ready')).toEqual(['( is not closed']);
    expect(faultsOf('gannet_ready{feed="a"}')).toEqual(['no label feed']);
    expect(faultsOf('sum without (code) (gannet_readiness)')).toEqual(['no label code', 'no metric gannet_readiness']);
  });
});

describe('the alert rules', () => {
  it('have expressions over metrics that exist, with time, severity, texts and a place in the documents', () => {
    const rules = alertRules();
    expect(rules.length).toBeGreaterThan(30);
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    for (const { alert, expr, for: span, labels, annotations } of rules) {
      expect(faultsOf(expr), alert).toEqual([]);
      expect(alert).toMatch(/^Gannet[A-Z]\w+$/);
      expect(span, alert).toMatch(/^\d+[smh]$/);
      expect(Object.keys(labels), alert).toEqual(['severity']);
      expect(labels['severity'], alert).toMatch(/^(?:warning|critical)$/);
      expect(annotations, alert).toEqual({
        summary: expect.any(String), description: expect.any(String),
        runbook: `docs/operations/metrics.md#${alert.toLowerCase()}`,
      });
      expect(DOCUMENT, alert).toContain(`\n### ${alert}\n`);
    }
  });

  it('each have a case that fires and one that stays quiet, for promtool', () => {
    const { tests, rule_files: files } = readMonitoring('alert-rules.test.yaml') as {
      readonly rule_files: readonly string[];
      readonly tests: readonly { readonly name: string; readonly input_series: readonly { series: string }[] }[];
    };
    expect(files).toEqual(['alert-rules.yaml']);
    expect(tests.map(({ name }) => name))
      .toEqual(alertRules().flatMap(({ alert }) => [`${alert} fires`, `${alert} stays quiet`]));
    for (const { name, input_series: series } of tests)
      for (const one of series) expect(faultsOf(one.series), name).toEqual([]);
  });

  it('are named by the example of a scrape configuration, with the viewer’s token in a file', () => {
    expect(readMonitoring('prometheus.yaml')).toMatchObject({
      rule_files: ['alert-rules.yaml'],
      scrape_configs: [{
        job_name: 'gannet', authorization: { credentials_file: expect.stringMatching(/^\//) },
        static_configs: [{ targets: ['127.0.0.1:7070'] }],
      }],
    });
  });
});

describe('the dashboard', () => {
  const { panels, uid, title, schemaVersion, __inputs: inputs, templating } = dashboard();

  it('asks for its data source, and each panel uses that', () => {
    expect(inputs).toMatchObject([{ name: 'DS_PROMETHEUS', type: 'datasource', pluginId: 'prometheus' }]);
    expect([uid, title, schemaVersion]).toEqual(['gannet', 'Gannet', 36]);
    const source = { type: 'prometheus', uid: '${DS_PROMETHEUS}' };
    for (const { title: name, type, datasource, targets = [] } of panels) {
      if (type === 'row') continue;
      expect(datasource, name).toEqual(source);
      expect(targets.length, name).toBeGreaterThan(0);
      for (const target of targets) expect(target.datasource, name).toEqual(source);
      expect(new Set(targets.map(({ refId }) => refId)).size, name).toBe(targets.length);
    }
    expect(templating.list).toMatchObject([{ name: 'instance', datasource: source }]);
  });

  it('has panels of known types with ids and titles of their own, side by side without overlap', () => {
    const shown = panels.filter(({ type }) => type !== 'row');
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    expect(new Set(shown.map(({ title: name }) => name)).size).toBe(shown.length);
    for (const { type, title: name } of panels) expect(['row', 'stat', 'timeseries', 'table'], name).toContain(type);
    const cells = panels.flatMap(({ gridPos: { h, w, x, y } }) => Array.from({ length: h * w }, (_, n) => {
      const column = x + (n % w);
      expect(column).toBeLessThan(24);
      return `${column},${y + Math.floor(n / w)}`;
    }));
    expect(new Set(cells).size).toBe(cells.length);
  });

  it('has expressions over metrics that exist', () => {
    for (const { panel, expr } of dashboardExpressions()) expect(faultsOf(expr), panel).toEqual([]);
  });
});

describe('every metric', () => {
  it('is documented with its type, its labels and its help text', () => {
    for (const { name, type, labels, help } of METRICS) {
      const shown = labels.length === 0 ? '–' : labels.join(', ');
      expect(DOCUMENT).toContain(`| \`${name}\` | ${type} | ${shown} | ${help} |`);
    }
    for (const name of metricsIn(DOCUMENT)) expect(NAMES, name).toContain(name);
  });

  it('is shown on the dashboard or watched by a rule', () => {
    const used = new Set([...dashboardExpressions(), ...alertRules()].flatMap(({ expr }) => metricsIn(expr)));
    expect(METRICS.map(({ name }) => name).filter((name) => !used.has(name))).toEqual([]);
  });
});
