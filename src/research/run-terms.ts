import { basename } from 'node:path';
import type { RunTerms } from '../backtest/record/run-record.ts';
import { recordSimulation } from '../config/config-record.ts';
import { formatDecimal } from '../core/amount.ts';
import { canonicalJson } from '../core/json.ts';
import type { Millis } from '../core/time.ts';
import type { Mint } from '../market/token.ts';
import { recordingIdentity } from '../recording/identity.ts';
import type { ResearchInput } from './research-input.ts';

/** Returns the terms of a run of a research input, from its first to its last instant. */
export function runTerms(
  { config, recording, setup }: Pick<ResearchInput, 'config' | 'recording' | 'setup'>,
  { runId, startAt, endAt }: { readonly runId: string; readonly startAt: Millis; readonly endAt: Millis },
): RunTerms {
  const amount = (mint: Mint, value: bigint): string => {
    const token = config.tokens.byMint(mint);
    return token === undefined ? `${value} of ${mint}` : `${formatDecimal(value, token.decimals)} ${token.symbol}`;
  };
  const simulation = Object.entries(recordSimulation(setup.model)).filter(([name]) => name !== 'setting');
  return {
    run_id: runId, recording: basename(recording.directory), data: recordingIdentity(recording),
    from: new Date(startAt).toISOString(), to: new Date(endAt).toISOString(),
    currency: setup.currency.symbol, setting: setup.model.setting,
    costs: Object.fromEntries(simulation.map(([name, value]) => [name, canonicalJson(value)])),
    money: [
      ...[...setup.balances].map(([mint, value]) => `balance ${amount(mint, value)}`),
      ...config.strategies.map(({ name, budget }) =>
        `budget of ${name} ${budget === undefined ? 'none' : amount(budget.mint, budget.amount)}`),
    ],
  };
}
