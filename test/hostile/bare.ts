import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { map } from 'rxjs';
import type { Strategy } from '../../src/strategy/index.ts';
import { withTokens } from '../../src/strategy/params.ts';
import { start, strategy } from '../engine/runs.ts';
import { buyingSol, PURCHASE } from '../market/events.ts';
import { SOL_USDC, TOKENS, USDC } from '../market/tokens.ts';

// Runs a hostile strategy in the same process as the engine and risk, as a process without hosts would: the control of
// the suite. What an attack gains here shows that it would work, if nothing stopped it.

/** What to run, and where to write the answer. */
export interface BareTask {
  readonly file: string;
  readonly params: object;
  /** The descriptor that takes the answer. */
  readonly answer: number;
}

/** What a strategy did. */
export interface BareAnswer {
  readonly alerts: readonly string[];
  /** Approved swaps. No limit of the suite allows one. */
  readonly approved: number;
  readonly logs: readonly string[];
  /** Whether a swap of the other strategy is not the one that it proposed. */
  readonly isNeighbourDisturbed: boolean;
}

/** The most that risk allows in one swap, in smallest units: 100 USDC. */
const MAX_TRADE = { mint: USDC.mint, amount: 100_000_000n } as never;
const LATE_MS = 600;

// Taken before an attack changes them.
const { stringify } = JSON;
const encoder = new TextEncoder();
const exit = (Reflect.get(process, 'reallyExit') as (code: number) => never).bind(process);
const write = writeSync;
const task = JSON.parse(process.argv[2]!) as BareTask;
process.on('uncaughtException', () => undefined);

const { default: hostile } = await import(pathToFileURL(task.file).href) as { readonly default: Strategy };
const params: unknown = withTokens(TOKENS, () => hostile.params.parse(task.params));
const run = start([
  { name: 'hostile', strategy: hostile, params },
  strategy('neighbour', ({ price }, context) => price!.pipe(map(() =>
    context.buy(SOL_USDC, { token: USDC, amount: PURCHASE }, 'each price')))),
], { limits: { maxTrade: MAX_TRADE } });
for (const at of [10, 20]) run.engine.accept(buyingSol(150_000, at), at);
await sleep(LATE_MS);
run.engine.accept(buyingSol(150_000, 30), 30);

// Plain loops over plain lists: everything else may be changed by now.
const answer = {
  alerts: [] as string[], approved: 0, logs: run.logs, isNeighbourDisturbed: false as boolean,
} satisfies BareAnswer;
for (let n = 0; n < run.logged.length; n++) {
  const { strategy: name, proposal, verdict } = run.logged[n]!;
  if (name !== 'hostile') {
    if (proposal.kind === 'swap' && proposal.amount !== PURCHASE) answer.isNeighbourDisturbed = true;
    continue;
  }
  if (proposal.kind === 'alert') answer.alerts[answer.alerts.length] = proposal.message;
  else if (verdict === 'approved') answer.approved += 1;
}
const texts = (list: readonly string[]): string => {
  let all = '';
  for (let n = 0; n < list.length; n++) all += `${n === 0 ? '' : ','}${stringify(list[n])}`;
  return `[${all}]`;
};
write(task.answer, encoder.encode(
  `{"alerts":${texts(answer.alerts)},"approved":${answer.approved},"logs":${texts(answer.logs)},`
  + `"isNeighbourDisturbed":${answer.isNeighbourDisturbed}}\n`,
));
exit(0);
