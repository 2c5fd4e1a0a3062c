import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { stringify } from 'yaml';
import {
  alertRules, dashboard, dashboardExpressions, monitoringFile, readMonitoring,
} from '../daemon/metrics/monitoring-files.ts';
import type { Playground, Running } from '../e2e/gannet.ts';
import { PROJECT, createPlayground, jsonLines } from '../e2e/gannet.ts';
import { addResult, packResults, resultsFile } from './results.ts';
import { codeVersion } from './tested-code.ts';

// Needs prometheus and promtool: apt-get install -y --no-install-recommends prometheus. It installs a package of npm
// into a temporary folder.

const VIEWER = 'Xk3vQ8wZp1Lm9Rt5Yb7Nc2Hd4Jf6Gs0A';
const CONFIG = `mode: live
service: { base_url: embedded }
chain: { rpc_url: embedded }
control: { port: 0 }
tokens: { SOL: So11111111111111111111111111111111111111112, USDC: EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v }
strategies:
  - { use: dca, name: one, budget: "300 USDC", params: { buy: SOL, spend: "1 USDC", every: 2s, watch: 500ms } }
`;
/** Has the types of a dashboard and of the options of its panels. */
const GRAFANA_TYPES = '@grafana/schema@13.2.3';
const UP_WITHIN_MS = 120_000;
const SCRAPES = 8;
const ONE_SECOND = '1s';

/** An answer of the query API. */
interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** What was shown, and what is wrong. */
interface MonitoringCheck {
  readonly cases: number;
  readonly rules: number;
  readonly expressions: number;
  /** The expressions of the dashboard that had a value at the end. */
  readonly withValue: number;
  readonly withoutValue: readonly string[];
  /** The panels of the dashboard that fit the published types. */
  readonly panels: number;
  readonly types: string;
  /** The parts that the types must refuse, and do. */
  readonly refused: number;
  readonly scrape: { readonly medianMs: number; readonly bytes: number };
  readonly firing: readonly string[];
  readonly violations: readonly string[];
}

/**
 * Runs the cases of the alert rules by promtool, then a real Prometheus against a real daemon on the sandbox. The
 * target must be up, each rule is evaluated without an error, and each expression of the dashboard is answered.
 */
async function checkMonitoring(): Promise<MonitoringCheck> {
  const violations: string[] = [];
  for (const args of [
    ['check', 'rules', monitoringFile('alert-rules.yaml')], ['test', 'rules', monitoringFile('alert-rules.test.yaml')],
  ]) violations.push(...promtool(args));
  const playground = createPlayground();
  const { panels, refused, faults } = checkDashboard(playground);
  violations.push(...faults);
  let prometheus: ReturnType<typeof spawn> | undefined;
  try {
    const config = playground.write('gannet.yaml', CONFIG);
    const daemon = playground.start(['run', '--json', '--config', config, '--state-dir', playground.path('state')], {
      environment: { GANNET_CONTROL_VIEWER_TOKEN: VIEWER },
    });
    const url = await controlUrlOf(daemon);
    const text = await (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${VIEWER}` } })).text();
    violations.push(...promtool(['check', 'metrics'], text));
    const api = await freePort();
    prometheus = startPrometheus(playground, new URL(url).host, api);
    const target = await until(() => upTarget(api));
    if (target === undefined) violations.push('the target is not up');
    await wait(SCRAPES * 1_000);
    const expressions = dashboardExpressions();
    const withoutValue: string[] = [];
    for (const { panel, expr } of expressions) {
      const answer = await query(api, `query?query=${encodeURIComponent(expr)}`);
      if (answer.status !== 'success') violations.push(`${panel}: ${answer.error}: ${expr}`);
      else if ((answer.data!['result'] as readonly unknown[]).length === 0) withoutValue.push(expr);
    }
    const rules = await rulesOf(api);
    for (const { alert } of alertRules())
      if (!rules.some(({ name }) => name === alert)) violations.push(`${alert} was not loaded`);
    for (const { name, health, lastError } of rules)
      if (health !== 'ok') violations.push(`${name}: ${health} ${lastError ?? ''}`);
    const scrapes = await query(api, 'query?query=quantile_over_time(0.5, gannet_scrape_seconds[1m])');
    daemon.signal('SIGINT');
    await daemon.ended;
    return {
      cases: casesOf(), rules: rules.length, expressions: expressions.length,
      withValue: expressions.length - withoutValue.length, withoutValue,
      panels, refused, types: GRAFANA_TYPES,
      scrape: { medianMs: valueIn(scrapes) * 1_000, bytes: text.length },
      firing: rules.filter(({ state }) => state !== 'inactive').map(({ name, state }) => `${name} ${state}`),
      violations,
    };
  } finally {
    await end(prometheus);
    await playground.close();
  }
}

/** The dashboard as an object of the published types: no key too many, and each value one of those that they name. */
const TYPES = `import type { Dashboard, Panel, RowPanel } from '@grafana/schema';
import type { Options as Stat } from '@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen';
import type { FieldConfig as SeriesFields, Options as Series }
  from '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen';
import type { FieldConfig as TableFields, Options as Table }
  from '@grafana/schema/dist/esm/raw/composable/table/panelcfg/x/TablePanelCfg_types.gen';

/** As JSON has it: words in place of the members of enumerations, and any option may be left out. */
type Json<T> = unknown extends T ? T : T extends string ? \`\${T}\`
  : T extends object ? { [K in keyof T]: Json<T[K]> } : T;
type Some<T> = T extends readonly unknown[] ? T : T extends object ? { [K in keyof T]?: Some<T[K]> } : T;
interface Query {
  refId: string; expr: string; datasource: { type: 'prometheus'; uid: string }; legendFormat: string; range: boolean;
  instant: boolean;
}
type Shown<Type, Options, Fields> = Omit<Json<Panel>, 'type' | 'options' | 'fieldConfig' | 'targets'> & {
  type: Type; options: Some<Json<Options>>; targets: Query[];
  fieldConfig: Omit<NonNullable<Json<Panel>['fieldConfig']>, 'defaults'> & {
    defaults: Omit<NonNullable<Json<Panel>['fieldConfig']>['defaults'], 'custom'> & { custom?: Some<Json<Fields>> };
  };
};
type Shipped = Omit<Json<Dashboard>, 'panels'> & {
  panels: (Json<RowPanel> | Shown<'stat', Stat, object> | Shown<'timeseries', Series, SeriesFields>
    | Shown<'table', Table, TableFields>)[];
  // What an import asks for; no part of a dashboard that is stored.
  __inputs: object[]; __requires: object[];
};
`;

/** Faults that the types must find, so that silence means something. */
const PLANTED: readonly (readonly [from: string, to: string])[] = [
  ['"colorMode": "value"', '"colorMode": "loud"'], ['"type": "stat"', '"type": "gauge"'],
  ['"schemaVersion": 36', '"schemaVersion": "36"'], ['"showHeader": true', '"showHeaders": true'],
  ['"refresh": 2', '"refresh": 7'], ['"gridPos"', '"gridPosition"'], ['"placement": "bottom"', '"placement": "below"'],
  ['"panels": [', '"panel": ['],
];

/** Compiles the dashboard against the types that Grafana publishes, and each planted fault. */
function checkDashboard(
  playground: Playground,
): { readonly panels: number; readonly refused: number; readonly faults: readonly string[] } {
  const folder = playground.path('grafana');
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', GRAFANA_TYPES], {
    cwd: folder, stdio: 'pipe',
  });
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({
    compilerOptions: { module: 'esnext', moduleResolution: 'bundler', strict: true, noEmit: true, skipLibCheck: true,
      types: [] },
    include: ['*.ts'],
  }));
  const text = readFileSync(monitoringFile('grafana-dashboard.json'), 'utf8');
  writeFileSync(join(folder, 'shipped.ts'), `${TYPES}export const shipped: Shipped = ${text};\n`);
  for (const [n, [from, to]] of PLANTED.entries()) {
    writeFileSync(join(folder, `planted-${n}.ts`),
      `${TYPES}export const planted: Shipped = ${text.replace(from, to)};\n`);
  }
  const said = compile(folder);
  const faults = said.filter((line) => /^(?!planted-)\S/.test(line)).map((line) => `the dashboard: ${line}`);
  const refused = PLANTED.map((_, n) => said.some((line) => line.startsWith(`planted-${n}.ts`)));
  return {
    panels: dashboardPanels(), refused: refused.filter(Boolean).length,
    faults: [...faults, ...PLANTED.filter((_, n) => refused[n] !== true)
      .map(([, to]) => `the types do not refuse ${to}`)],
  };
}

/** Returns the lines of the compiler. */
function compile(folder: string): string[] {
  try {
    execFileSync(join(PROJECT, 'node_modules', '.bin', 'tsc'), ['-p', folder, '--pretty', 'false'], {
      cwd: folder, stdio: 'pipe',
    });
    return [];
  } catch (error) {
    return String((error as { readonly stdout?: Buffer }).stdout ?? error).trim().split('\n');
  }
}

function dashboardPanels(): number {
  return dashboard().panels.filter(({ type }) => type !== 'row').length;
}

/** Returns what promtool complains about; empty where it is content. */
function promtool(args: readonly string[], input = ''): string[] {
  try {
    execFileSync('promtool', args, { input, stdio: 'pipe' });
    return [];
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as Error & { stdout?: Buffer; stderr?: Buffer };
    return [`promtool ${args.slice(0, 2).join(' ')}: ${String(stdout)}${String(stderr) || message}`];
  }
}

async function controlUrlOf(daemon: Running): Promise<string> {
  await daemon.until((stdout) =>
    jsonLines(stdout).some(({ type, state }) => type === 'intent' && state === 'confirmed'));
  return String(daemon.lines()[0]!['control_url']);
}

/** The shipped configuration and rules, with the place of this daemon and a token file of this user. */
function startPrometheus(playground: Playground, target: string, port: number): ReturnType<typeof spawn> {
  const folder = playground.path('prometheus');
  mkdirSync(folder);
  writeFileSync(`${folder}/token`, VIEWER, { mode: 0o600 });
  copyFileSync(monitoringFile('alert-rules.yaml'), `${folder}/alert-rules.yaml`);
  const shipped = readMonitoring('prometheus.yaml') as { readonly scrape_configs: readonly object[] };
  writeFileSync(`${folder}/prometheus.yml`, stringify({
    ...shipped,
    global: { scrape_interval: ONE_SECOND, evaluation_interval: ONE_SECOND },
    scrape_configs: shipped.scrape_configs.map((job) => ({
      ...job, authorization: { credentials_file: 'token' }, static_configs: [{ targets: [target] }],
    })),
  }));
  const started = spawn('prometheus', [
    `--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/data`,
    `--web.listen-address=127.0.0.1:${port}`, '--log.level=error',
  ], { stdio: ['ignore', 'ignore', 'inherit'] });
  started.on('error', () => { process.stderr.write('apt-get install -y --no-install-recommends prometheus\n'); });
  return started;
}

async function upTarget(port: number): Promise<object | undefined> {
  const { data } = await query(port, 'targets?state=active');
  const targets = (data?.['activeTargets'] ?? []) as readonly { readonly health: string }[];
  return targets.find(({ health }) => health === 'up');
}

/** A rule as Prometheus has evaluated it. */
interface EvaluatedRule {
  readonly name: string;
  readonly health: string;
  readonly state: string;
  readonly lastError?: string;
}

async function rulesOf(port: number): Promise<readonly EvaluatedRule[]> {
  const { data } = await query(port, 'rules');
  return ((data?.['groups'] ?? []) as readonly { readonly rules: EvaluatedRule[] }[]).flatMap(({ rules }) => rules);
}

async function query(port: number, path: string): Promise<Answer> {
  return await (await fetch(`http://127.0.0.1:${port}/api/v1/${path}`)).json() as Answer;
}

function valueIn({ data }: Answer): number {
  const [series] = (data?.['result'] ?? []) as readonly { readonly value: readonly [number, string] }[];
  return Number(series?.value[1]);
}

/** Asks again until there is an answer; undefined where none comes in time. */
async function until<T>(ask: () => Promise<T | undefined>): Promise<T | undefined> {
  for (const giveUpAt = Date.now() + UP_WITHIN_MS; Date.now() < giveUpAt; await wait(500)) {
    // Prometheus does not listen yet.
    const answer = await ask().catch(() => undefined);
    if (answer !== undefined) return answer;
  }
  return undefined;
}

async function end(started: ReturnType<typeof spawn> | undefined): Promise<void> {
  if (started?.pid === undefined || started.exitCode !== null) return;
  started.kill('SIGTERM');
  await once(started, 'close');
}

function casesOf(): number {
  return readFileSync(monitoringFile('alert-rules.test.yaml'), 'utf8').split('  - name: ').length - 1;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

const result = await checkMonitoring();
const file = resultsFile('monitoring');
addResult(file, { type: 'monitoring', at: new Date().toISOString(), ...codeVersion('everything'), ...result });
packResults(file);
process.stdout.write(`${JSON.stringify(result, undefined, 2)}\n`);
process.exitCode = result.violations.length === 0 ? 0 : 1;
