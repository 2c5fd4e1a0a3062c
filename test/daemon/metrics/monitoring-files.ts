import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { PROJECT } from '../../e2e/gannet.ts';

const FOLDER = join(PROJECT, 'deploy', 'monitoring');

/** An alert rule as its file has it. */
export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** A panel of the dashboard. */
export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly datasource?: { readonly type: string; readonly uid: string };
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number };
  readonly targets?: readonly { readonly refId: string; readonly expr: string; readonly datasource: object }[];
}

/** The parts of a dashboard that are checked. */
export interface Dashboard {
  readonly title: string;
  readonly uid: string;
  readonly schemaVersion: number;
  readonly __inputs: readonly { readonly name: string; readonly type: string; readonly pluginId: string }[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly datasource: object }[] };
  readonly panels: readonly Panel[];
}

/** Returns the path of a file of `deploy/monitoring`. */
export function monitoringFile(name: string): string {
  return join(FOLDER, name);
}

/** Returns a file of `deploy/monitoring` as YAML. */
export function readMonitoring(name: string): unknown {
  return parse(readFileSync(monitoringFile(name), 'utf8'));
}

/** Returns the alert rules. */
export function alertRules(): readonly AlertRule[] {
  const { groups } = readMonitoring('alert-rules.yaml') as { groups: readonly { readonly rules: AlertRule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

/** Returns the dashboard. */
export function dashboard(): Dashboard {
  return JSON.parse(readFileSync(monitoringFile('grafana-dashboard.json'), 'utf8')) as Dashboard;
}

/** Returns the expressions of the dashboard, with every daemon selected. */
export function dashboardExpressions(): readonly { readonly panel: string; readonly expr: string }[] {
  return dashboard().panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ panel: title, expr: expr.replaceAll('$instance', '.*') })));
}

/** Returns the names of metrics in an expression; series of a histogram by the name of the histogram. */
export function metricsIn(expression: string): string[] {
  return [...expression.matchAll(/\bgannet_\w+/g)].map(([name]) => name.replace(/_(?:bucket|sum|count)$/, ''));
}
