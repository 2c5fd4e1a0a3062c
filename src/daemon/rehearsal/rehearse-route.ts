import type { WalletContents } from '../../chain/wallet-contents.ts';
import type { Chain } from '../../chain/chain.ts';
import type { RunConfig } from '../../config/run-config.ts';
import { GannetError, isGannetError } from '../../core/errors.ts';
import { printable } from '../../core/text.ts';
import type { Clock } from '../../core/time.ts';
import type { SwapService } from '../../execution/ports.ts';
import { prepareAttempt } from '../../execution/prepare.ts';
import type { JudgedTransaction } from '../../signer/channel/channel-protocol.ts';
import type { SignerClient } from '../../signer/channel/client.ts';
import { signingError } from '../../signer/channel/client.ts';
import type { Service } from '../../service/service.ts';
import type { Intent } from '../../trading/intent.ts';
import { answerOrFault } from '../doctor/check.ts';
import type { HostRecord } from './host-record.ts';
import type { RouteRefusal } from './refusal-settings.ts';
import { refusalOf } from './refusal-settings.ts';
import type { RehearsedSwap } from './rehearsed-swaps.ts';
import { LEAST_COSTS, walletRefusal } from './wallet-refusal.ts';

/** What judges transactions; nothing of it can sign. */
export type RouteJudge = Pick<SignerClient, 'judge' | 'expectSwap'>;

/** What rehearsing a route uses: nothing that signs or sends. */
interface RouteScope {
  readonly config: RunConfig;
  readonly service: Pick<Service, 'swap' | 'takeTurn'>;
  readonly chain: Chain;
  readonly clock: Clock;
  /** The wallet that quotes are for. */
  readonly address: string;
  /** Undefined with its fault where there is no key. */
  readonly judge: RouteJudge | GannetError;
  /** Undefined where it could not be read. */
  readonly wallet: WalletContents | undefined;
  readonly record: HostRecord;
  /** Whether the dialect has a word for a router. */
  readonly isKnownRouter: (router: string) => boolean;
}

/** What a route came to. */
export interface RouteResult {
  /** Undefined where the signer would sign. */
  readonly refusal: RouteRefusal | undefined;
  readonly router?: string | undefined;
  /** The signer's own reading, where it read the transaction. */
  readonly reading?: JudgedTransaction['reading'];
}

/**
 * Prepares a swap as the executor of a run does, up to the signature, and has the signer judge it. What the wallet
 * lacks is refused with its own reason, whatever the service says of it.
 */
export async function rehearseRoute(scope: RouteScope, swap: RehearsedSwap): Promise<RouteResult> {
  const { config, wallet, judge } = scope;
  const short = wallet === undefined ? undefined : walletRefusal(config, swap, wallet, LEAST_COSTS);
  const { refusal, router, judged } = await prepare(scope, swap);
  const { reading } = judged ?? {};
  const found = { router, reading };
  if (short !== undefined || refusal !== undefined) return { refusal: short ?? refusal, ...found };
  if (judge instanceof GannetError) return { refusal: refusalOf(judge.code, judge.message), ...found };
  const costs = reading === undefined ? LEAST_COSTS
    : { feeLamports: BigInt(reading.feeLamports), tipLamports: BigInt(reading.tipLamports) };
  return { refusal: wallet === undefined ? undefined : walletRefusal(config, swap, wallet, costs), ...found };
}

interface Prepared {
  readonly refusal: RouteRefusal | undefined;
  readonly router: string | undefined;
  readonly judged: JudgedTransaction | undefined;
}

async function prepare(scope: RouteScope, swap: RehearsedSwap): Promise<Prepared> {
  const { config: { limits }, chain, clock, address, service, record } = scope;
  const seen: { transaction?: Uint8Array; judged?: JudgedTransaction; fault?: GannetError } = {};
  const result = await prepareAttempt({
    clock, chain, maxQuoteAgeMs: limits.maxQuoteAgeMs, maxQuoteAgeSlots: limits.maxQuoteAgeSlots,
    service: keepingFaults(service.swap, (fault) => { seen.fault = fault; }),
    swapOptions: () => swap.options,
    journal: { isSigned: () => false },
    signer: {
      address,
      expectSwap: (expected, priority) => {
        const { judge } = scope;
        if (judge instanceof GannetError) return;
        service.takeTurn(priority).then(() => { judge.expectSwap(expected); }, () => undefined);
      },
      // Its bytes stay unsigned: the answer of the signer holds no signature.
      sign: async (transaction, terms) => {
        seen.transaction = transaction;
        const { judge } = scope;
        if (judge instanceof GannetError) throw judge;
        const judged = await judge.judge(transaction, terms);
        seen.judged = judged;
        if (judged.refusal !== undefined) throw signingError(judged.refusal);
        return { transaction, signature: '', messageHash: judged.messageHash ?? '' };
      },
    },
  }, intentOf(scope, swap), 1);
  const { transaction, judged, fault } = seen;
  if (transaction !== undefined) keep(record, transaction, { swap, address, judged });
  const isSigned = result.kind === 'signed';
  const router = isSigned ? result.attempt.router : result.router;
  if (!isSigned) {
    const refusal = refusalOf(result.code, messageOf(result, fault), statusOf(result, fault));
    return { refusal: ofForeignHost(refusal, scope, router), router, judged };
  }
  return { refusal: swap.route === 'build' ? undefined : await simulated(chain, transaction!), router, judged };
}

/** A program that is unknown beside a router that is: the words are those of another host. */
function ofForeignHost(
  refusal: RouteRefusal, { isKnownRouter }: RouteScope, router: string | undefined,
): RouteRefusal {
  if (refusal.setting?.endsWith('signer.programs') !== true || router === undefined || isKnownRouter(router))
    return refusal;
  const message = `${refusal.message}; the dialect has no word for the router ${printable(router, 40)} either`;
  return { ...refusal, setting: 'service.dialect', message };
}

/** The last fault of the service says which status it had. */
function keepingFaults(
  { order, build }: Pick<SwapService, 'order' | 'build'>, keep: (fault: GannetError) => void,
): Pick<SwapService, 'order' | 'build'> {
  const kept = async <T>(asked: Promise<T>): Promise<T> => {
    try {
      return await asked;
    } catch (error) {
      if (isGannetError(error)) keep(error);
      throw error;
    }
  };
  return {
    order: (request, urgency) => kept(order(request, urgency)),
    build: (request, urgency) => kept(build(request, urgency)),
  };
}

function statusOf({ code }: { readonly code: string }, fault: GannetError | undefined): unknown {
  return fault?.code === code ? fault.details['status'] : undefined;
}

function messageOf(
  { code, reason }: { readonly code: string; readonly reason: string }, fault: GannetError | undefined,
): string {
  // No rehearsal signs, and the code stands before the message.
  const told = reason.replace(`nothing was signed: ${code}, `, '');
  return statusOf({ code }, fault) === 403
    ? `${told}; your region, address or key is not allowed to use this path` : told;
}

/** A transaction that cannot be read is refused, and says nothing about the host. */
function keep(record: HostRecord, transaction: Uint8Array, { swap: { route }, address, judged }: {
  readonly swap: RehearsedSwap; readonly address: string; readonly judged: JudgedTransaction | undefined;
}): void {
  const read = new Set(judged?.reading?.instructions.filter(({ text }) => text.startsWith('swaps '))
    .map(({ program }) => program));
  try {
    record.saw(transaction, { route, wallet: address, isRead: (program) => read.has(program) });
  } catch (error) {
    if (!isGannetError(error)) throw error;
  }
}

/** A build was simulated when it was composed. */
async function simulated(chain: Chain, transaction: Uint8Array): Promise<RouteRefusal | undefined> {
  const simulation = await answerOrFault(chain.simulate(transaction));
  if (simulation instanceof GannetError) return refusalOf(simulation.code, simulation.message);
  return simulation.error === undefined ? undefined
    : refusalOf('SIMULATION_FAILED', `the node says that the swap would fail: ${simulation.error.message}`);
}

function intentOf(
  { config: { limits }, clock }: RouteScope,
  { inputMint, outputMint, amount, route, purpose, slippageBps }: RehearsedSwap,
): Intent {
  return {
    id: 'rehearsal-1', strategy: 'rehearsal', createdAt: clock.now(), purpose, inputMint, outputMint, amountIn: amount,
    maxSlippageBps: slippageBps ?? limits.maxSlippageBps, maxPriceImpactBps: limits.maxPriceImpactBps,
    maxFeeBps: limits.maxFeeBps, route, reason: 'a rehearsal',
  };
}
