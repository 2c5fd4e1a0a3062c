/** A question as it stood in a request. */
export interface Asked {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** Returns a false result in the place of a true one; the memory lasts as long as the lie. */
type Falsify = (result: unknown, asked: Asked, memory: Map<string, unknown>) => unknown;

/** One way in which a node lies about one thing. */
export interface Lie {
  /** What it is about. */
  readonly about: string;
  readonly name: string;
  readonly methods: readonly string[];
  readonly falsify: Falsify;
  /** By how much its answers are late, of the fixture's own time. */
  readonly lateMs?: number | undefined;
}

interface AtSlot { readonly context: { readonly slot: number }; readonly value: unknown }
interface Status { readonly slot: number; readonly err: unknown; readonly confirmationStatus: string }
interface TokenBalance { readonly uiTokenAmount: { readonly amount: string } }
interface Transaction {
  readonly slot: number;
  readonly blockTime: number | null;
  readonly meta: {
    readonly err: unknown; readonly fee: number; readonly preBalances: readonly number[];
    readonly preTokenBalances: readonly unknown[]; readonly postTokenBalances: readonly TokenBalance[];
  };
  readonly transaction: { readonly signatures: readonly string[] };
}
interface TokenAccount { readonly account: { readonly data: readonly [string, string] } }
interface Epoch { readonly absoluteSlot: number; readonly blockHeight: number }
interface Entry { readonly signature: string; readonly err: unknown; readonly blockTime: number | null }

/** As a swap fails whose price moved too far: the kind of failure after which there is another attempt. */
const SLIPPAGE = { InstructionError: [3, { Custom: 6_001 }] };
const FAR = 15_000;
const LEAP = 900;
const NEAR = 250;
const LAG = 200;
const DAY_SECONDS = 86_400;
const LATE_MS = 4_000;

const keyOf = ({ method, params }: Asked): string => {
  const { mint, programId } = (params[1] ?? {}) as { mint?: string; programId?: string };
  return JSON.stringify([method, params[0], mint, programId]);
};
/** The first answer to a question, again and again. */
const first: Falsify = (result, asked, memory) => {
  const key = keyOf(asked);
  if (!memory.has(key)) memory.set(key, result);
  return memory.get(key);
};
const atSlotOf = (offset: number): Falsify => (result) => {
  const { context, value } = result as AtSlot;
  return { context: { ...context, slot: context.slot + offset }, value };
};
const status = (change: (status: Status, slot: number) => unknown): Falsify => (result) => {
  const { context, value: [found] } = result as AtSlot & { readonly value: readonly (Status | null)[] };
  return found === null || found === undefined ? result : { context, value: [change(found, context.slot)] };
};
const statusMoved = (offset: number): Falsify => (result, asked, memory) =>
  status((found) => ({ ...found, slot: found.slot + offset }))(atSlotOf(offset)(result, asked, memory), asked, memory);
const transaction = (change: (landed: Transaction) => unknown): Falsify =>
  (result) => (result === null ? null : change(result as Transaction));
const balance = (factor: (amount: bigint) => bigint): Falsify => (result, { method }) => {
  const { context, value } = result as AtSlot;
  if (method === 'getBalance') return { context, value: Number(factor(BigInt(value as number))) };
  return { context, value: (value as readonly TokenAccount[]).map((entry) =>
    ({ ...entry, account: { ...entry.account, data: [amountIn(entry.account.data[0], factor), 'base64'] } })) };
};

/** Changes the amount in the bytes of a token account. */
function amountIn(base64: string, factor: (amount: bigint) => bigint): string {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length >= 72) bytes.writeBigUInt64LE(factor(bytes.readBigUInt64LE(64)), 64);
  return bytes.toString('base64');
}

/** What failed costs the fee and moves nothing else: a consistent lie within one answer. */
const asFailed = (landed: Transaction): unknown => ({
  ...landed,
  meta: {
    ...landed.meta, err: SLIPPAGE, postTokenBalances: landed.meta.preTokenBalances,
    postBalances: landed.meta.preBalances.map((lamports, index) =>
      (index === 0 ? lamports - landed.meta.fee : lamports)),
  },
});

const ABOUT: Readonly<Record<string, {
  readonly methods: readonly string[]; readonly ways: Readonly<Record<string, Falsify>>;
}>> = {
  'statuses': {
    methods: ['getSignatureStatuses'],
    ways: {
      'hidden': (result) => ({ ...(result as AtSlot), value: [null] }),
      'failed': status((found) => ({ ...found, err: SLIPPAGE, confirmationStatus: 'finalized' })),
      'succeeded': status((found) => ({ ...found, err: null, confirmationStatus: 'finalized' })),
      'invented': (result) => {
        const { context, value: [found] } = result as AtSlot & { readonly value: readonly unknown[] };
        return { context, value: [found
          ?? { slot: context.slot, err: null, confirmations: null, confirmationStatus: 'finalized' }] };
      },
      'never confirmed': status((found) => ({ ...found, confirmationStatus: 'processed' })),
      'far ahead': statusMoved(FAR),
      'ahead': statusMoved(LEAP),
      'behind': (result, asked, memory) => ({ ...(atSlotOf(-LAG)(result, asked, memory) as AtSlot), value: [null] }),
      'repeated': first,
    },
  },
  'transactions': {
    methods: ['getTransaction'],
    ways: {
      'hidden': () => null,
      'of a later version': transaction((landed) => ({ ...landed, version: 7 })),
      'of no version': transaction((landed) => ({ ...landed, version: 'none' })),
      'failed': transaction(asFailed),
      'failed, with the balances of a success': transaction((landed) =>
        ({ ...landed, meta: { ...landed.meta, err: SLIPPAGE } })),
      'succeeded': transaction((landed) => ({ ...landed, meta: { ...landed.meta, err: null } })),
      'far ahead': transaction((landed) => ({ ...landed, slot: landed.slot + FAR })),
      'ahead': transaction((landed) => ({ ...landed, slot: landed.slot + LEAP })),
      'of other amounts': transaction((landed) => ({
        ...landed,
        meta: { ...landed.meta, postTokenBalances: landed.meta.postTokenBalances.map((entry) => ({
          ...entry, uiTokenAmount: { ...entry.uiTokenAmount, amount: String(BigInt(entry.uiTokenAmount.amount) * 2n) },
        })) },
      })),
      'of fewer signatures': transaction((landed) =>
        ({ ...landed, transaction: { ...landed.transaction, signatures: landed.transaction.signatures.slice(0, 1) } })),
    },
  },
  'balances': {
    methods: ['getBalance', 'getTokenAccountsByOwner'],
    ways: {
      'of before': (result, asked, memory) =>
        ({ ...(first(result, asked, memory) as AtSlot), context: (result as AtSlot).context }),
      'repeated': first,
      'doubled': balance((amount) => amount * 2n),
      'halved': balance((amount) => amount / 2n),
      'gone': (result, { method }) => ({ ...(result as AtSlot), value: method === 'getBalance' ? 0 : [] }),
      'far ahead': atSlotOf(FAR),
      'ahead': atSlotOf(NEAR),
      'behind': atSlotOf(-LAG),
    },
  },
  'heights': {
    methods: ['getEpochInfo'],
    ways: {
      'far ahead': (result) => moved(result, { slots: FAR, blocks: FAR }),
      'ahead': (result) => moved(result, { slots: LEAP, blocks: LEAP }),
      'too high': (result) => moved(result, { slots: 0, blocks: FAR }),
      'too low': (result) => moved(result, { slots: 0, blocks: -140 }),
      'behind': (result) => moved(result, { slots: -LAG, blocks: -LAG }),
      'past its life': (result) => moved(result, { slots: 160, blocks: 160 }),
      'repeated': first,
    },
  },
  'blockhash validity': {
    methods: ['isBlockhashValid'],
    ways: {
      'invalid': (result) => ({ ...(result as AtSlot), value: false }),
      'valid': (result) => ({ ...(result as AtSlot), value: true }),
      'invalid, far ahead': (result, asked, memory) =>
        ({ ...(atSlotOf(FAR)(result, asked, memory) as AtSlot), value: false }),
      'invalid, behind': (result, asked, memory) =>
        ({ ...(atSlotOf(-LAG)(result, asked, memory) as AtSlot), value: false }),
    },
  },
  'signatures of the wallet': {
    methods: ['getSignaturesForAddress'],
    ways: {
      'none': () => [],
      'without the newest': (result) => (result as readonly Entry[]).slice(5),
      'repeated': first,
      'failed': (result) => (result as readonly Entry[]).map((entry) => ({ ...entry, err: SLIPPAGE })),
    },
  },
  'block times': {
    methods: ['getTransaction', 'getSignaturesForAddress', 'getBlockTime'],
    ways: {
      'of tomorrow': (result) => timed(result, DAY_SECONDS),
      'of yesterday': (result) => timed(result, -DAY_SECONDS),
    },
  },
};

function moved(result: unknown, { slots, blocks }: { readonly slots: number; readonly blocks: number }): unknown {
  const epoch = result as Epoch;
  return { ...epoch, absoluteSlot: epoch.absoluteSlot + slots, blockHeight: epoch.blockHeight + blocks };
}

function timed(result: unknown, seconds: number): unknown {
  if (typeof result === 'number') return result + seconds;
  if (Array.isArray(result))
    return (result as readonly Entry[]).map((entry) => ({ ...entry, blockTime: (entry.blockTime ?? 0) + seconds }));
  return result === null ? null
    : { ...(result as Transaction), blockTime: ((result as Transaction).blockTime ?? 0) + seconds };
}

/** Every lie, each about one thing; of each thing also the truth, too late. */
export const LIES: readonly Lie[] = Object.entries(ABOUT).flatMap(([about, { methods, ways }]) => [
  ...Object.entries(ways).map(([name, falsify]) => ({ about, name, methods, falsify })),
  { about, name: 'late', methods, falsify: (result: unknown) => result, lateMs: LATE_MS },
]);

/** Every lie alone, then every two that are about different things. */
export const PLANS: readonly (readonly Lie[])[] = [
  ...LIES.map((lie) => [lie]),
  ...LIES.flatMap((one, index) =>
    LIES.slice(index + 1).filter(({ about }) => about !== one.about).map((other) => [one, other])),
];

/** Returns a plan for people: "statuses failed + balances repeated". */
export function planName(plan: readonly Lie[]): string {
  return plan.map(({ about, name }) => `${about} ${name}`).join(' + ');
}
