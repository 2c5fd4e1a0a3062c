import { EMPTY, Observable } from 'rxjs';
import type { Bps, Lamports } from '../core/amount.ts';
import { afterSlippage } from '../core/amount.ts';
import { isGannetError } from '../core/errors.ts';
import type { Random } from '../core/random.ts';
import type { Clock, Millis } from '../core/time.ts';
import type { Executor } from '../trading/executor.ts';
import type { Intent, Outcome } from '../trading/intent.ts';
import type { SimulationSetting } from '../trading/simulation-model.ts';
import { landSimulated } from '../trading/simulation-model.ts';
import type { OrderOptions, SwapOptions } from '../trading/swap-options.ts';
import { ownFeeBps, receiverOf } from '../trading/swap-options.ts';
import type { SwapOrder } from '../trading/swap-terms.ts';
import { refuseTerms } from '../trading/swap-terms.ts';
import type { ExecutorPorts, Progress, SwapService } from './ports.ts';
import { wait } from './monotonic-time.ts';
import { requestedOf, withMinimumOutput } from './prepare.ts';

const ARRIVAL_RETRY_MS = 1_000;

/** The model of the chain in paper trading. */
interface PaperModel {
  readonly setting: SimulationSetting;
  readonly landLatencyMs: Millis;
  /** Returns the network's costs of a swap with these options. */
  readonly feeLamports: (order: OrderOptions) => Lamports;
  /** The share of transactions that never land: no swap, no fee, and the money locked until they have expired. */
  readonly dropProbability: number;
  readonly expiryMs: Millis;
}

/**
 * Returns the paper executor: it takes a fresh quote at the decision and another one on arrival, and books the fill
 * that the chain would have made.
 */
export function createPaperExecutor(options: {
  readonly service: Pick<SwapService, 'order'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly model: PaperModel;
  /** Returns the configured options of a strategy's swaps; absent for none. */
  readonly swapOptions?: ExecutorPorts['swapOptions'];
}): Executor {
  return {
    execute: (intent) => new Observable<Outcome>((subscriber) => {
      const report = (
        progress: Progress,
      ): void => { subscriber.next({ kind: 'outcome', intentId: intent.id, attempt: 1, ...progress }); };
      carryOut(options, intent, report)
        .then(() => { subscriber.complete(); }, (error: unknown) => { subscriber.error(error); });
    }),
    // An open paper intent has moved nothing when the process ends.
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
  { service, clock, random, model, swapOptions }: Parameters<typeof createPaperExecutor>[0], given: Intent,
  report: (progress: Progress) => void,
): Promise<void> {
  const { intent, options } = requestedOf({ swapOptions }, given);
  const quote = (): Promise<SwapOrder | Error> => quoteFor(service, intent, options);
  report({ state: 'building' });
  const accepted = await quote();
  if (accepted instanceof Error) {
    report({ state: 'abandoned', ...faultOf(accepted) });
    return;
  }
  const refusal = refuseTerms(intent, accepted);
  if (refusal !== undefined) {
    report({ state: 'abandoned', router: accepted.router, ...refusal });
    return;
  }
  report({ state: 'signed', router: accepted.router, quotedOut: accepted.outAmount });
  report({ state: 'submitted' });
  if (random() < model.dropProbability) {
    await wait(clock, model.expiryMs);
    report({ state: 'expired', code: 'EXPIRED', reason: 'dropped at random by the paper model' });
    return;
  }
  const optimistic = model.setting === 'optimistic';
  if (!optimistic) await wait(clock, model.landLatencyMs);
  const arrival = optimistic ? accepted : await quoteOnArrival({ quote, clock, withinMs: model.expiryMs, report });
  if (arrival instanceof Error) {
    report({ state: 'expired', ...faultOf(arrival) });
    return;
  }
  const { outAmount } = arrival;
  const { kind: _kind, intentId: _intentId, attempt: _attempt, ...landing } = landSimulated({
    intent, accepted, outAmount, setting: model.setting,
    feeLamports: model.feeLamports(intent.route === 'order' ? options.order : {}),
  });
  const receiver = receiverOf(options, intent.route);
  report(landing.fill === undefined || receiver === undefined ? landing
    : { ...landing, fill: { ...landing.fill, receiver } });
}

/**
 * Requests the price on arrival until there is one, as long as a transaction could land: a failed request says nothing
 * about slippage. Returns the last fault where none came in time.
 */
async function quoteOnArrival({ quote, clock, withinMs, report }: {
  readonly quote: () => Promise<SwapOrder | Error>;
  readonly clock: Clock;
  readonly withinMs: Millis;
  readonly report: (progress: Progress) => void;
}): Promise<SwapOrder | Error> {
  const endsAt = clock.now() + withinMs;
  let isReported = false;
  for (;;) {
    const arrival = await quote();
    if (!(arrival instanceof Error) || clock.now() >= endsAt) return arrival;
    if (!isReported) report({ state: 'unknown', ...faultOf(arrival) });
    isReported = true;
    await wait(clock, ARRIVAL_RETRY_MS);
  }
}

function faultOf(error: Error): Pick<Progress, 'code' | 'reason'> {
  return { code: isGannetError(error) ? error.code : undefined, reason: error.message.slice(0, 300) };
}

/** A quote names no wallet, so that who pays and who receives are not part of it. A build's own fee is taken off. */
async function quoteFor(
  service: Pick<SwapService, 'order'>, intent: Intent, options: SwapOptions,
): Promise<SwapOrder | Error> {
  const { excludeRouters, excludeDexes, referralAccount, referralFee } = options.order;
  const asked = intent.route === 'order' ? { excludeRouters, excludeDexes, referralAccount, referralFee } : {};
  try {
    const order = await withMinimumOutput(intent, (slippageBps) => service.order({
      inputMint: intent.inputMint, outputMint: intent.outputMint, amount: intent.amountIn, slippageBps, ...asked,
    }, { priority: intent.purpose }), options);
    const ownBps = intent.route === 'build' ? ownFeeBps(options, 'build') : 0 as Bps;
    return ownBps === 0 ? order : {
      ...order, outAmount: afterSlippage(order.outAmount, ownBps), threshold: afterSlippage(order.threshold, ownBps),
    };
  } catch (error) {
    if (isGannetError(error)) return error;
    throw error;
  }
}
