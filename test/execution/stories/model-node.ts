import type { ErrorCode } from '../../../src/core/errors.ts';
import { GannetError } from '../../../src/core/errors.ts';
import type { Amount, Lamports } from '../../../src/core/amount.ts';
import { createAddresses } from '../../../src/solana/addresses.ts';
import { createFinality } from '../../../src/chain/finality.ts';
import { createSignerSearch } from '../../../src/chain/signer-search.ts';
import { createBalances } from '../../../src/chain/balances.ts';
import type { RpcClient } from '../../../src/chain/rpc-client.ts';
import type { BalanceChange, Chain } from '../../../src/execution/ports.ts';
import type { Clock } from '../../../src/core/time.ts';
import type { Mint } from '../../../src/market/token.ts';
import { SOL_MINT } from '../../../src/market/token.ts';
import type { Life } from './life.ts';
import type { Landing, ModelChain, ModelMessage } from './model-chain.ts';
import { LIFE_BLOCKS, SLOT_MS, heightOf, readMessage } from './model-chain.ts';
import type { Wire } from './weather.ts';

const FAULTS: readonly ErrorCode[] = ['CHAIN_UNREACHABLE', 'CHAIN_RPC_ERROR', 'CHAIN_RESPONSE_INVALID'];
const CONFIRMED_AFTER = 2;
const FINALIZED_AFTER = 32;
/** As a real node keeps statuses at hand without its history. */
const RECENT_SLOTS = 300;
/** By how far a slot of the future is off. */
const LEAP = 1_000_000;
const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';

/** What is asked beside the subject, of whatever question. */
interface Config {
  readonly minContextSlot?: number | undefined;
  readonly searchTransactionHistory?: boolean | undefined;
  readonly mint?: Mint | undefined;
}

/** One of the nodes behind the address. */
interface View {
  readonly processed: number;
  readonly confirmed: number;
  readonly finalized: number;
}

/**
 * Returns the chain as a process sees it: nodes that lag, lose answers and find things late, below the proof's real
 * parts.
 */
export function createModelNode({ chain, wire, life, clock, onReceived }: {
  readonly chain: ModelChain;
  readonly wire: Wire;
  readonly life: Life;
  readonly clock: Clock;
  readonly onReceived: (message: ModelMessage) => void;
}): Chain {
  const ask = <T>(work: (view: View) => T): Promise<T> => wire.ask(life, FAULTS, () => {
    const { lags } = wire.weather;
    const processed = chain.tip - lags[Math.floor(wire.random() * lags.length)]!;
    return work({ processed, confirmed: processed - CONFIRMED_AFTER, finalized: processed - FINALIZED_AFTER });
  });

  // What failed moved nothing: its fee is lost on the ledger where it is not found, and that is all.
  const kept = (landing: Landing | undefined): Landing | undefined =>
    (wire.weather.holes && landing?.error === undefined && (landing?.slot ?? 0) % 2 === 1 ? undefined : landing);

  const methods: Readonly<Record<string, (subject: string, config: Config, view: View) => unknown>> = {
    getEpochInfo: (_subject, _config, { finalized }) => {
      const { wrongHeights, leaps } = wire.weather;
      const ahead = wire.chance(leaps) ? LEAP : 0;
      return {
        absoluteSlot: BigInt(finalized + ahead),
        blockHeight: BigInt((wire.chance(wrongHeights) ? finalized : chain.heightAt(finalized)) + ahead),
      };
    },
    isBlockhashValid: (blockhash, config, view) => {
      const height = heightOf(blockhash);
      const at = chain.heightAt(view.finalized);
      return atSlot(view.finalized, config, height <= at && at <= height + LIFE_BLOCKS);
    },
    getSignatureStatuses: (id, { searchTransactionHistory }, view) => {
      const landing = indexed(kept(chain.find(id, view.processed)), view);
      const isKnown = landing !== undefined
        && (searchTransactionHistory === true || view.processed - landing.slot < RECENT_SLOTS);
      const status = isKnown
        ? {
          slot: BigInt(landing.slot), err: landing.error === undefined ? null : { InstructionError: [0, 'Custom'] },
          confirmationStatus: confirmation(landing.slot, view),
        }
        : null;
      return atSlot(view.processed, {}, [status]);
    },
    getBalance: (_owner, config, { confirmed }) => atSlot(confirmed, config, chain.balanceAt(confirmed, SOL_MINT)),
    getTokenAccountsByOwner: (_owner, config, { confirmed }) => {
      const { mint } = config;
      const accounts = mint === undefined || mint === SOL_MINT ? [] : [{
        pubkey: 'account', account: { owner: TOKEN_PROGRAM, data: accountData(mint, chain.balanceAt(confirmed, mint)) },
      }];
      return atSlot(confirmed, config, accounts);
    },
  };
  const rpc: RpcClient = {
    call: (method, params) => ask((view) => {
      const [subject, ...configs] = params as readonly [string | readonly string[], ...Config[]];
      return methods[method]!(String(subject), Object.assign({}, ...configs) as Config, view) as never;
    }),
    close: () => Promise.resolve(),
  };
  const { floor, ...finality } = createFinality(rpc, clock);

  const confirmedLanding = (id: string, view: View): Landing | undefined => {
    const landing = kept(chain.findForGood(id, view.confirmed));
    return landing !== undefined && (view.processed - landing.slot) * SLOT_MS >= landing.fate.givenLateMs
      ? landing : undefined;
  };
  const signaturesOf = (id: string): Promise<readonly string[] | undefined> => ask((view) => {
    const landing = confirmedLanding(id, view);
    if (landing === undefined) return undefined;
    return landing.message.payer === 'us' ? [id] : [id, `us/${landing.message.id}`];
  });

  return {
    ...finality,
    tokenBalance: createBalances({
      rpc, floor, finalizedBlockHeight: () => finality.finalizedBlockHeight(),
    }).tokenBalance,
    signaturesOf,
    findBySigner: createSignerSearch({
      idCheck: (transaction) => (id) => chain.landings.some(({ transactionId, message }) =>
        transactionId === id && message.id === readMessage(transaction).id),
      history: (_owner, { before }) => ask((view) => {
        atSlot(view.confirmed, { minContextSlot: Number(floor.finalized) }, undefined);
        if (before !== undefined) return [];
        return chain.landings.filter(({ transactionId, slot }) =>
          indexed(kept(chain.findForGood(transactionId, view.confirmed)), view)?.slot === slot)
          .map(({ transactionId, slot }) => ({ signature: transactionId, slot: BigInt(slot) })).reverse();
      }),
    }),
    // Who sends us tokens does not stand in the list of the wallet; who sends lamports does.
    balanceHistory: ({ mint }) => ask((view) => {
      atSlot(view.confirmed, { minContextSlot: Number(floor.finalized) }, undefined);
      const native = { lamports: chain.balanceAt(view.confirmed, SOL_MINT), slot: BigInt(view.confirmed) };
      const steps = chain.movements.filter(({ slot, transactionId, before, after }) => (transactionId === undefined
        ? slot <= view.confirmed && before.get(SOL_MINT) !== after.get(SOL_MINT)
        : indexed(kept(chain.findForGood(transactionId, view.confirmed)), view)?.slot === slot))
          .map(({ transactionId, slot, before, after }) => {
          const change = (of: Mint): BalanceChange => ({ before: before.get(of) ?? 0n, after: after.get(of) ?? 0n });
          const landing = transactionId === undefined ? undefined : chain.findForGood(transactionId, view.confirmed);
          const isTouched = mint !== SOL_MINT && landing !== undefined
            && (landing.message.inputMint === mint || landing.message.outputMint === mint);
          return {
            signatures: landing === undefined ? ['stranger'] : landing.message.payer === 'us' ? [landing.transactionId]
              : [landing.transactionId, `us/${landing.message.id}`],
            slot: BigInt(slot), hasFailed: landing?.error !== undefined, native: change(SOL_MINT),
            accounts: new Map(isTouched ? [['account', change(mint)]] : []),
          };
        });
      return { native, steps, unreadable: [] };
    }),
    compose: (build) =>
      ask(() => ({ transaction: build.swapInstruction.data, unitLimit: 200_000, priorityFeeLamports: 0n as Lamports })),
    send: (transaction) => ask(() => {
      onReceived(readMessage(transaction));
      return wire.chance(wire.weather.lies) ? { kind: 'rejected', code: 'BlockhashNotFound', message: 'no' } as const
        : { kind: 'accepted' } as const;
    }),
    landedSwap: ({ signature, inputMint, outputMint }) => ask((view) => {
      const landing = confirmedLanding(signature, view);
      if (landing === undefined) return undefined;
      const { message, error, slot, feeLamports, rentLamports } = landing;
      const isIt = error === undefined && message.inputMint === inputMint && message.outputMint === outputMint;
      return {
        signature, slot: BigInt(slot), error: error === undefined ? undefined : { code: error, message: 'it failed' },
        feeLamports: feeLamports as Lamports, rentLamports: rentLamports as Lamports,
        amountIn: (isIt ? message.amountIn : 0n) as Amount, amountOut: (isIt ? message.amountOut : 0n) as Amount,
      };
    }),
    readTransaction: (transaction) => {
      const { payer, blockhash } = readMessage(transaction);
      return {
        blockhash, feePayer: payer === 'us' ? 'us' : 'sponsor', signers: payer === 'us' ? ['us'] : ['sponsor', 'us'],
        durableNonce: false, isWhole: true,
      };
    },
  };
}

/** A node that is not as far as it was asked to be says so. */
function atSlot(slot: number, { minContextSlot = 0 }: Pick<Config, 'minContextSlot'>, value: unknown): unknown {
  if (slot < minContextSlot) throw new GannetError('CHAIN_RPC_ERROR', 'Minimum context slot has not been reached');
  return { context: { slot: BigInt(slot) }, value };
}

/** Nodes find what landed a while after its block. */
function indexed(landing: Landing | undefined, { processed }: View): Landing | undefined {
  return landing !== undefined && (processed - landing.slot) * SLOT_MS >= landing.fate.indexLateMs
    ? landing : undefined;
}

function confirmation(slot: number, { confirmed, finalized }: View): string {
  if (slot <= finalized) return 'finalized';
  return slot <= confirmed ? 'confirmed' : 'processed';
}

/** Decoded once: every reading of a balance has one. */
const addresses = createAddresses();

function accountData(mint: Mint, amount: bigint): Buffer {
  const data = Buffer.alloc(165);
  data[108] = 1;
  data.set(addresses.bytesOf(mint)!);
  data.writeBigUInt64LE(amount, 64);
  return data;
}
