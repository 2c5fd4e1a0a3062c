import { createHash } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { costBreakdown } from '../backtest/cost-breakdown.ts';
import { monthlyReturns } from '../backtest/metrics/monthly.ts';
import { renderReport } from '../backtest/report/report.ts';
import type { NamedText } from '../backtest/report/report-input.ts';
import { verdictOf } from '../backtest/verdict.ts';
import type { RunConfig } from '../config/run-config.ts';
import { stringifyJson } from '../core/json.ts';
import type { RunManifest } from '../daemon/manifest.ts';
import type { Recording } from '../recording/reader.ts';
import type { BacktestAnswer } from './backtest-answer.ts';

/** What a report says of where its figures come from. */
export interface ReportSources {
  readonly config: RunConfig;
  readonly recording: Recording;
  readonly manifest: RunManifest;
}

/** Writes the report of a backtest, whole or not at all, and returns its path. */
export function writeReport(file: string, { runId, run, settings, benchmarks, warnings }: BacktestAnswer, { config, recording, manifest }: ReportSources): string {
  const path = resolve(file);
  const page = renderReport({
    runId, warnings, run, settings, benchmarks,
    subject: config.strategies.map(({ name }) => name).join(', '),
    verdict: verdictOf(run, settings, benchmarks),
    months: monthlyReturns(run.series),
    costs: costBreakdown(run, config.tokens),
    parameters: parametersOf(manifest),
    hashes: [
      ['decisions, as configured', run.result.decisionHash],
      ...Object.entries(settings).map(([setting, { result }]): NamedText => [`decisions, ${setting}`, result.decisionHash]),
      ['configuration', createHash('sha256').update(stringifyJson(manifest.config)).digest('hex')],
      ['recording', recording.manifest.digestsSha256 ?? 'was never closed'],
      ['made by', `Node ${manifest.node}, ${manifest.arch}`],
    ],
  });
  mkdirSync(dirname(path), { recursive: true });
  try {
    writeFileSync(`${path}.new`, page);
    renameSync(`${path}.new`, path);
  } catch (error) {
    rmSync(`${path}.new`, { force: true });
    throw error;
  }
  return path;
}

/** What the figures depend on: where it would trade live, and whose wallet that is, do not belong into a file that is handed on. */
function parametersOf({ config: { file, seed, strategies, backtest, limits, tokens } }: RunManifest): NamedText[] {
  return [
    ['configuration', basename(file)],
    ['seed', String(seed)],
    ...strategies.map(({ name, ...rest }): NamedText => [name, stringifyJson(rest)]),
    ...Object.entries({ backtest, limits, tokens }).map(([name, value]): NamedText => [name, stringifyJson(value)]),
  ];
}
