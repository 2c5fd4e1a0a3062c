import { groupThousands, pluralize, printable } from '../../../core/text.ts';
import type { Millis } from '../../../core/time.ts';
import { shortDuration } from '../../../core/time.ts';
import type { CheckFinding, CheckResult } from '../../../research/strategy-check/check-codes.ts';
import { CHECK_CODES } from '../../../research/strategy-check/check-codes.ts';

/** A strategy with the results of its checks. */
export interface StrategyCheck {
  readonly name: string;
  readonly file: string;
  readonly results: readonly CheckResult[];
}

interface CheckAnswer {
  readonly strategies: readonly StrategyCheck[];
  readonly parameters: string;
  readonly isGenerated: boolean;
  readonly events: number;
  readonly startAt: Millis;
  readonly endAt: Millis;
}

type Verdict = 'passed' | 'warning' | 'failed' | 'left out';

const MARKS: Readonly<Record<Verdict, string>> = {
  'passed': '✓', 'warning': '!', 'failed': '✗', 'left out': '–',
};
const CHECK_WIDTH = 12;
const VERDICT_WIDTH = 9;

/** Returns the answer for `--json`. */
export function checkJson({ strategies, parameters, isGenerated, events, startAt, endAt }: CheckAnswer): unknown {
  const all = strategies.flatMap(({ results }) => results.map(verdictOf));
  return {
    passed: !all.includes('failed'),
    parameters, generated: isGenerated, events,
    period: { start: new Date(startAt).toISOString(), end: new Date(endAt).toISOString() },
    strategies: strategies.map(({ name, file, results }) => ({
      name, file,
      checks: results.map((result) => ({
        check: result.check, verdict: verdictOf(result).replace(' ', '_'), detail: result.detail,
        findings: result.findings.map(({ code, message, place }) => (
          { code, level: CHECK_CODES[code].level, message, place: place ?? null, remedy: CHECK_CODES[code].remedy })),
      })),
    })),
  };
}

/** Returns the answer as text. */
export function checkText({ strategies, parameters, isGenerated, events, startAt, endAt }: CheckAnswer): string {
  const market = `${groupThousands(String(events))} ${isGenerated ? 'generated' : 'recorded'} events over `
    + shortDuration(endAt - startAt);
  return `parameters: ${printable(parameters)}; ${market}\n${strategies.map(strategyText).join('')}`;
}

function strategyText({ name, file, results }: StrategyCheck): string {
  const findings = results.flatMap((result) => result.findings);
  const count = (verdict: Verdict): number => results.filter((result) => verdictOf(result) === verdict).length;
  const failed = count('failed');
  const summary = [
    failed > 0 ? `${pluralize(failed, 'check')} failed` : 'no check failed',
    ...(count('warning') > 0 ? [pluralize(count('warning'), 'warning')] : []),
    ...(count('left out') > 0 ? [`${count('left out')} left out`] : []),
  ].join(', ');
  return `${name} (${printable(file, 100)}): ${summary}\n${results.map(lineOf).join('')}${findingsText(findings)}`;
}

function lineOf(result: CheckResult): string {
  const verdict = verdictOf(result);
  const told = result.findings.length > 0 ? codesOf(result.findings) : result.detail;
  return `  ${MARKS[verdict]} ${result.check.padEnd(CHECK_WIDTH)} ${verdict.padEnd(VERDICT_WIDTH)} ${told}\n`;
}

/** Each code once, with its number. */
function codesOf(findings: readonly CheckFinding[]): string {
  const counts = new Map<string, number>();
  for (const { code } of findings) counts.set(code, (counts.get(code) ?? 0) + 1);
  return [...counts].map(([code, count]) => (count === 1 ? code : `${code} (${count})`)).join(', ');
}

function findingsText(findings: readonly CheckFinding[]): string {
  return findings.map(({ code, message, place }) => {
    const where = place === undefined ? '' : ` ${place}`;
    return `  ${code}${where}: ${message}. To do: ${CHECK_CODES[code].remedy}\n`;
  }).join('');
}

function verdictOf({ findings, leftOut }: CheckResult): Verdict {
  if (leftOut !== undefined) return 'left out';
  if (findings.length === 0) return 'passed';
  return findings.some(({ code }) => CHECK_CODES[code].level === 'failure') ? 'failed' : 'warning';
}
