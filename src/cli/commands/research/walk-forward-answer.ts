import { createHash } from 'node:crypto';
import { benchmarksJson } from './backtest-answer.ts';
import { equityJson, figureTable } from '../../output/metrics-text.ts';
import type { Fact } from '../../output/table.ts';
import { facts, table } from '../../output/table.ts';
import { redactedConfig } from '../../../config/config-record.ts';
import { stringifyJson } from '../../../core/json.ts';
import { pluralize } from '../../../core/text.ts';
import type { Millis } from '../../../core/time.ts';
import { formatDuration } from '../../../core/time.ts';
import { splitWarnings } from '../../../report/page.ts';
import type { WalkForwardReport } from '../../../report/walk-forward-report.ts';
import { parametersOf } from '../../../report/write-report.ts';
import { shareText } from '../../../research/metrics/figure-text.ts';
import { valueText } from '../../../research/metrics/value-text.ts';
import type { ResearchInput } from '../../../research/research-input.ts';
import { limitedBy } from '../../../research/trials/denial-summary.ts';
import type { ObjectiveName } from '../../../research/trials/objectives.ts';
import { OBJECTIVES } from '../../../research/trials/objectives.ts';
import type { DoneTrial, TrialParams } from '../../../research/trials/trial.ts';
import { trialsJson, trialsText } from '../../../research/trials/verdict.ts';
import type { FoldOutcome } from '../../../research/walk-forward/fold-outcome.ts';
import { FOLD_WORDS, foldLimits } from '../../../research/walk-forward/fold-outcome.ts';
import type { FoldPlan, TradedPeriod } from '../../../research/walk-forward/folds.ts';
import { paramsText, walkForwardVerdict } from '../../../research/walk-forward/walk-forward-verdict.ts';
import type { JoinedRun, WalkForwardResult } from '../../../research/walk-forward/walk-forward.ts';
import type { TrialCount } from '../../../store/trial-log.ts';

/** The result of a walk-forward, as the command prints it. */
export interface WalkForwardAnswer {
  readonly input: ResearchInput;
  readonly plan: FoldPlan;
  readonly sets: readonly TrialParams[];
  readonly objective: ObjectiveName;
  readonly anchored: boolean;
  readonly inSampleMs: Millis;
  readonly outOfSampleMs: Millis;
  readonly result: WalkForwardResult;
  /** Trials made on the rows of its out-of-sample parts; undefined when they could not be counted. */
  readonly trials: TrialCount | undefined;
  readonly warnings: readonly string[];
}

/** Returns the input of an answer's HTML report. */
export function reportInput({
  input: { config, setup, recording }, sets, objective, anchored, inSampleMs, outOfSampleMs, result, warnings, plan,
}: WalkForwardAnswer): WalkForwardReport {
  const record = redactedConfig(config);
  return {
    subject: config.strategies.map(({ name }) => name).join(', '),
    terms: `${pluralize(plan.folds.length, 'fold')} · chosen among ${sets.length} `
      + `by the ${OBJECTIVES[objective].label}, over ${inSampleText({ anchored, inSampleMs })} `
      + `· tested on ${formatDuration(outOfSampleMs)}`,
    warnings, verdict: walkForwardVerdict(result), result, sets, objective,
    currency: setup.currency.symbol,
    parameters: parametersOf(record),
    hashes: [
      ['configuration', createHash('sha256').update(stringifyJson(record)).digest('hex')],
      ['recording', recording.manifest.digestsSha256 ?? 'was never closed'],
      ['made by', `Node ${process.version}, ${process.arch}`],
    ],
  };
}

/** Returns an answer as JSON. `report` is the path of the written report. */
export function asJson(answer: WalkForwardAnswer, report: string | undefined): unknown {
  const {
    input: { setup: { currency } }, sets, objective, anchored, inSampleMs, outOfSampleMs, result, trials, warnings,
  } = answer;
  const { folds, joined, judged, positive, efficiency, stability } = result;
  return {
    terms: {
      objective, in_sample: formatDuration(inSampleMs), out_of_sample: formatDuration(outOfSampleMs), anchored,
      parameter_sets: sets.length,
    },
    folds: folds.map((fold) => foldJson(fold, answer)),
    judged_folds: judged,
    positive_folds: positive,
    efficiency: efficiency ?? null,
    stability: {
      choices: stability.choices, changes: stability.changes,
      parameters: stability.parameters.map(({ strategy, parameter, changes, values }) =>
        ({ strategy, parameter, changes, values })),
    },
    out_of_sample: joined === undefined ? null : {
      period: periodJson({ from: joined.series.times[0]!, to: joined.series.times.at(-1)! }),
      equity: equityJson(joined.series.values, currency),
      metrics: joined.assessment.metrics,
      sharpe_interval: joined.assessment.sharpeInterval ?? null,
      benchmarks: benchmarksJson(joined.benchmarks, currency),
    },
    repeatable: result.deviation === undefined,
    trials: trialsJson(trials),
    verdict: walkForwardVerdict(result),
    warnings,
    figure_warnings: joined?.assessment.warnings ?? [],
    report: report ?? null,
  };
}

function foldJson({ fold, tried, choice, outOfSample, status, reason }: FoldOutcome, {
  objective, input: { setup: { currency } },
}: WalkForwardAnswer): unknown {
  const { valueOf } = OBJECTIVES[objective];
  const count = (kind: string): number => tried.filter((result) => result.kind === kind).length;
  return {
    number: fold.number,
    status,
    reason: reason ?? null,
    params: choice?.params ?? null,
    in_sample: {
      period: periodJson(fold.inSample),
      done: count('done'), refused: count('refused'), failed: count('failed'),
      objective: choice?.value ?? null,
      fills: choice?.inSample.fills ?? null,
      ...limitsJson(choice?.inSample),
      decision_hash: choice?.inSample.decisionHash ?? null,
      metrics: choice?.inSample.metrics ?? null,
    },
    out_of_sample: {
      period: periodJson(fold.outOfSample),
      objective: outOfSample === undefined ? null : valueOf(outOfSample),
      events: outOfSample?.events ?? null,
      fills: outOfSample?.fills ?? null,
      ...limitsJson(outOfSample),
      decision_hash: outOfSample?.decisionHash ?? null,
      equity: equityJson(outOfSample === undefined ? []
        : [outOfSample.equity.start, outOfSample.equity.end].filter((value) => value !== null), currency),
      metrics: outOfSample?.metrics ?? null,
    },
  };
}

/** Returns the denials, and the most frequent code when the limits decided the result. */
function limitsJson(
  result: DoneTrial | undefined,
): { readonly denials: DoneTrial['denials'] | null; readonly limited_by: string | null } {
  return result === undefined ? { denials: null, limited_by: null }
    : { denials: result.denials, limited_by: limitedBy(result)?.code ?? null };
}

function periodJson({ from, to }: TradedPeriod): unknown {
  return { start: new Date(from).toISOString(), end: new Date(to).toISOString() };
}

/** Returns an answer as text, warnings first. */
export function asText(answer: WalkForwardAnswer, report: string | undefined): string {
  const {
    input: { setup: { currency } }, sets, objective: name, anchored, inSampleMs, outOfSampleMs, result, trials,
    warnings,
  } = answer;
  const { folds, joined, stability } = result;
  const objective = OBJECTIVES[name];
  // The table always shows the total return.
  const isReturn = name === 'total_return';
  const tried = trialsText(trials, joined?.assessment.metrics.dsr ?? null, joined?.assessment.luckUnknown);
  const { warnings: general, missing } = splitWarnings(warnings, joined?.assessment.warnings ?? []);
  return [
    ...general.map((warning) => `  ! ${warning}\n`),
    ...walkForwardVerdict(result).map((sentence, i) => `${i === 0 ? '\n' : ''}  ${sentence}\n`),
    '\n',
    facts([
      ['folds', `${folds.length}, each chosen among ${sets.length} by the ${objective.label} `
        + `over ${inSampleText({ anchored, inSampleMs })}, tested on ${formatDuration(outOfSampleMs)}`],
      ...stability.parameters.map(({ strategy, parameter, changes, values }): Fact => [
        `${strategy}.${parameter}`,
        `${pluralize(changes, 'change')}: ${values.map(({ value, folds: times }) => (
          `${typeof value === 'string' ? value : stringifyJson(value)} (${times})`)).join(', ')}`]),
      ['trials', tried],
      ['equity', joined === undefined ? undefined : `${valueText(joined.series.values[0]!, 'price')} → `
        + `${valueText(joined.series.values.at(-1)!, 'price')} ${currency.symbol}`],
      ['report', report],
    ]),
    '\n',
    table([
      [
        'fold', 'tested from', 'chosen', ...(isReturn ? [] : [`${objective.label} in-sample`, 'out of sample']),
        'return in-sample', 'out of sample', 'swaps', '',
      ],
      ...folds.map(({ fold, choice, outOfSample, status }) => [
        String(fold.number), new Date(fold.outOfSample.from).toISOString().slice(0, 16).replace('T', ' '),
        choice === undefined ? '-' : paramsText(choice.params),
        ...(isReturn ? [] : [
          shown(choice?.value, objective.show),
          shown(outOfSample === undefined ? null : objective.valueOf(outOfSample), objective.show),
        ]), shown(choice?.inSample.metrics.total_return, shareText),
        shown(outOfSample?.metrics.total_return, shareText), String(outOfSample?.fills ?? '-'),
        [FOLD_WORDS[status], foldLimits({ choice, outOfSample })].filter((said) => said !== '').join('; '),
      ]),
    ], { right: [0, ...Array.from({ length: isReturn ? 3 : 5 }, (_, i) => 3 + i)] }),
    ...(joined === undefined ? []
      : ['\n', figuresOf(joined, currency.symbol), ...missing.map((reason) => `  ${reason}\n`)]),
  ].join('');
}

function inSampleText({ anchored, inSampleMs }: Pick<WalkForwardAnswer, 'anchored' | 'inSampleMs'>): string {
  const span = formatDuration(inSampleMs);
  return anchored ? `everything before, at least ${span}` : `the ${span} before`;
}

function shown(value: number | null | undefined, as: (value: number) => string): string {
  return value === null || value === undefined ? '-' : as(value);
}

function figuresOf({ assessment, benchmarks: { buy_and_hold, dca } }: JoinedRun, currency: string): string {
  const beside = ([['buy and hold', buy_and_hold], ['DCA', dca]] as const)
    .flatMap(([name, benchmark]) => (benchmark === undefined ? [] : [{ name, assessment: benchmark.assessment }]));
  return figureTable([{ name: 'out of sample', assessment }, ...beside], currency);
}
