import { EMPTY, Observable } from 'rxjs';
import type { Lamports } from '../core/amount.ts';
import { isGannetError } from '../core/errors.ts';
import type { Random } from '../core/random.ts';
import type { Clock, Millis } from '../core/time.ts';
import type { Executor } from '../trading/executor.ts';
import type { Intent, Outcome } from '../trading/intent.ts';
import { landSimulated } from '../trading/simulated-landing.ts';
import type { SimulationSetting } from '../trading/simulated-landing.ts';
import type { SwapOrder } from '../trading/swap-order.ts';
import { refuseTerms } from '../trading/terms.ts';
import type { Progress } from './journey.ts';
import type { SwapService } from './ports.ts';
import { wait } from './wait.ts';
import { withinFloor } from './within-floor.ts';

const ARRIVAL_RETRY_MS = 1_000;

/** How paper imitates the chain. */
export interface PaperModel {
  readonly setting: SimulationSetting;
  readonly landLatencyMs: Millis;
  readonly feeLamports: Lamports;
  /** The share of transactions that never land: no swap, no fee, and the money locked until they have expired. */
  readonly dropProbability: number;
  readonly expiryMs: Millis;
}

/**
 * Returns the executor that trades nothing: it takes a fresh quote at the decision, and another one on arrival, and
 * books what the chain would have done between the two.
 */
export function createPaperExecutor(options: {
  readonly service: Pick<SwapService, 'order'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly model: PaperModel;
}): Executor {
  return {
    execute: (intent) => new Observable<Outcome>((subscriber) => {
      const tell = (
        progress: Progress,
      ): void => { subscriber.next({ kind: 'outcome', intentId: intent.id, attempt: 1, ...progress }); };
      carryOut(options, intent, tell)
        .then(() => { subscriber.complete(); }, (error: unknown) => { subscriber.error(error); });
    }),
    // Paper money that was in flight when the process ended was never anywhere.
    reconcile: (open) => open.length === 0 ? EMPTY : new Observable<Outcome>((subscriber) => {
      for (const { intent, state } of open) {
        const left = state === 'approved' || state === 'building' ? 'abandoned' : 'expired';
        subscriber.next({
          kind: 'outcome', intentId: intent.id, attempt: 1, state: left, code: 'RESTARTED', reason: 'the process ended',
        });
      }
      subscriber.complete();
    }),
  };
}

async function carryOut(
  { service, clock, random, model }: Parameters<typeof createPaperExecutor>[0], intent: Intent,
  tell: (progress: Progress) => void,
): Promise<void> {
  const quote = (): Promise<SwapOrder | Error> => quoteFor(service, intent);
  tell({ state: 'building' });
  const accepted = await quote();
  if (accepted instanceof Error) {
    tell({ state: 'abandoned', ...faultOf(accepted) });
    return;
  }
  const refusal = refuseTerms(intent, accepted);
  if (refusal !== undefined) {
    tell({ state: 'abandoned', router: accepted.router, ...refusal });
    return;
  }
  tell({ state: 'signed', router: accepted.router, quotedOut: accepted.outAmount });
  tell({ state: 'submitted' });
  if (random() < model.dropProbability) {
    await wait(clock, model.expiryMs);
    tell({ state: 'expired', code: 'EXPIRED', reason: 'dropped, as the model has it now and then' });
    return;
  }
  const optimistic = model.setting === 'optimistic';
  if (!optimistic) await wait(clock, model.landLatencyMs);
  const arrival = optimistic ? accepted : await quoteOnArrival({ quote, clock, withinMs: model.expiryMs, tell });
  if (arrival instanceof Error) {
    tell({ state: 'expired', ...faultOf(arrival) });
    return;
  }
  const { outAmount } = arrival;
  const { kind: _kind, intentId: _intentId, attempt: _attempt, ...landing } = landSimulated({
    intent, accepted, outAmount, setting: model.setting, feeLamports: model.feeLamports,
  });
  tell(landing);
}

/**
 * Asks for the price on arrival until there is one, as long as a transaction could land: a service that does not answer
 * says nothing of slippage. Returns the last fault where none came in time.
 */
async function quoteOnArrival({ quote, clock, withinMs, tell }: {
  readonly quote: () => Promise<SwapOrder | Error>;
  readonly clock: Clock;
  readonly withinMs: Millis;
  readonly tell: (progress: Progress) => void;
}): Promise<SwapOrder | Error> {
  const giveUpAt = clock.now() + withinMs;
  let told = false;
  for (;;) {
    const arrival = await quote();
    if (!(arrival instanceof Error) || clock.now() >= giveUpAt) return arrival;
    if (!told) tell({ state: 'unknown', ...faultOf(arrival) });
    told = true;
    await wait(clock, ARRIVAL_RETRY_MS);
  }
}

function faultOf(error: Error): Pick<Progress, 'code' | 'reason'> {
  return { code: isGannetError(error) ? error.code : undefined, reason: error.message.slice(0, 300) };
}

async function quoteFor(service: Pick<SwapService, 'order'>, intent: Intent): Promise<SwapOrder | Error> {
  try {
    return await withinFloor(intent, (slippageBps) => service.order({
      inputMint: intent.inputMint, outputMint: intent.outputMint, amount: intent.amountIn, slippageBps,
    }, { priority: intent.purpose }));
  } catch (error) {
    if (isGannetError(error)) return error;
    throw error;
  }
}
