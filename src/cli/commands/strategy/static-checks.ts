import { basename } from 'node:path';
import type { BanTopic } from '../../../config/strategies/code-bans.ts';
import { strategyViolations } from '../../../config/strategies/code-rules.ts';
import { declarationFaults } from '../../../config/strategies/declaration-rules.ts';
import { printable } from '../../../core/text.ts';
import type { CheckCode, CheckFinding, CheckResult } from '../../../research/strategy-check/check-codes.ts';
import type { Strategy } from '../../../strategy/define.ts';

const DECLARATION_CODES = {
  summary: 'SUMMARY_SHORT', name: 'NAME_OTHER', description: 'PARAM_UNDESCRIBED', losses: 'LOSSES_UNSAID',
} as const satisfies Readonly<Record<string, CheckCode>>;

/** Returns what a strategy leaves unsaid about itself. */
export async function schemaResult(file: string, strategy: Strategy): Promise<CheckResult> {
  const faults = await declarationFaults(file, strategy);
  const findings = faults.map(({ rule, message, place }) => ({ code: DECLARATION_CODES[rule], message, place }));
  return { check: 'schema', findings, detail: 'it says what it does, what it takes and when it loses' };
}

const TOPIC_CODES: Readonly<Record<BanTopic, CheckCode>> = {
  clock: 'USES_CLOCK', chance: 'USES_CHANCE', io: 'USES_IO', promises: 'USES_PROMISES', machine: 'USES_MACHINE',
  subscription: 'OWN_SUBSCRIPTION', hidden: 'HIDDEN_CODE',
};

/** Returns what the text of a strategy shows that it must not do. */
export async function codeResult(file: string): Promise<CheckResult> {
  const violations = await strategyViolations(file);
  const findings = violations.map(({ file: own, line, column, message, topic }): CheckFinding =>
    ({ code: TOPIC_CODES[topic], message, place: `${printable(basename(own), 100)}:${line}:${column}` }));
  return { check: 'code', findings, detail: 'no clock, chance, promise, file, network or subscription of its own' };
}
