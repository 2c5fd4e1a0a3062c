import { amount } from '../../../src/core/amount.ts';
import { seededRandom, type Random } from '../../../src/core/random.ts';
import { createChain, type Chain } from '../../../src/chain/chain.ts';
import { associatedTokenAddress } from '../../../src/sandbox/chain/addresses.ts';
import { GENESIS_TOKENS, MAKER_MINTS } from '../../../src/sandbox/genesis.ts';
import {
  computeUnitLimit, computeUnitPrice, type Instruction,
} from '../../../src/sandbox/service/build/instructions.ts';
import { PROFILES, type Profile } from '../../../src/sandbox/service/context.ts';
import { compileMessage, lookupTable, unsignedTransaction } from '../../../src/sandbox/chain/message.ts';
import { readSwapBuild } from '../../../src/service/wire/build-answer.ts';
import type { Expectation } from '../../../src/signer/policy/expectation.ts';
import type { LookupTables } from '../../../src/signer/policy/lookup-tables.ts';
import { systemClock } from '../../../src/daemon/watch/system-clock.ts';
import {
  SOL, startTestSandbox, USDC, type TestSandbox, type TestWallet,
} from '../../sandbox/service/sandbox-client.ts';
import { integer, pick } from '../random-transaction.ts';

/** A transaction as the service makes it for a caller, and the terms that it must meet. */
export interface Golden {
  /** Which way it was made: router, receivers, who pays. */
  readonly kind: string;
  readonly bytes: Uint8Array;
  readonly expectation: Expectation;
  readonly tables: LookupTables;
}

interface Fixture {
  readonly profile: Profile;
  readonly sandbox: TestSandbox;
  readonly chain: Chain;
  readonly taker: TestWallet;
  /** Hardly any SOL. */
  readonly poor: TestWallet;
  readonly payer: TestWallet;
  /** Has accounts of every token. */
  readonly referrer: TestWallet;
  /** Has none. */
  readonly stranger: TestWallet;
  readonly tables: LookupTables;
}

type Query = Record<string, string | number>;

const USUAL_USD = [0.5, 12, 90, 400, 2_500];
const MAKER_USD = [200, 1_000, 5_000];

/**
 * Returns `count` transactions of every kind that the embedded service makes, the same kinds for the same seed: those
 * of one profile, or by default those of both that call no other swap program than the sandbox's own.
 */
export async function collectGoldens(
  { count, seed, profile }: {
    readonly count: number; readonly seed: number; readonly profile?: Profile;
  },
): Promise<readonly Golden[]> {
  const random = seededRandom(`goldens ${seed}`);
  const fixtures = await Promise.all((profile === undefined ? PROFILES : [profile]).map(openFixture));
  try {
    const goldens: Golden[] = [];
    for (let asked = 0; goldens.length < count; asked++) {
      if (asked > 20 * count + 200)
        throw new Error(`only ${goldens.length} of ${count} goldens after ${asked} questions`);
      const fixture = fixtures[asked % fixtures.length]!;
      const golden = await KINDS[Math.floor(asked / fixtures.length) % KINDS.length]!(fixture, random);
      const isForeign = profile === undefined && fixture.profile === 'live' && golden?.kind.includes('rfqz') === false;
      if (golden !== undefined && !isForeign) goldens.push(golden);
    }
    return goldens;
  } finally {
    await Promise.all(fixtures.map(async ({ sandbox, chain }) => { await chain.close(); await sandbox.close(); }));
  }
}

async function openFixture(profile: Profile): Promise<Fixture> {
  const sandbox = await startTestSandbox({ speed: 0, profile });
  const [taker, poor, payer, referrer, stranger] = await Promise.all([
    sandbox.newWallet({ [SOL]: '900000000000000' }), sandbox.newWallet({ [SOL]: '3000000' }),
    sandbox.newWallet({ [SOL]: '90000000000' }), sandbox.newWallet({ [SOL]: '90000000000' }), sandbox.newWallet(),
  ]);
  for (const { mint } of GENESIS_TOKENS) {
    for (const { address } of [taker, poor]) sandbox.chain.fundToken({ owner: address, mint, amount: 10n ** 15n });
    sandbox.chain.fundToken({ owner: referrer.address, mint, amount: 1n });
  }
  const { body } =
    await sandbox.get('/swap/v2/build', { inputMint: SOL, outputMint: USDC, amount: '1000000', taker: taker.address });
  const tables = new Map(Object.entries(body.addressesByLookupTableAddress as Record<string, string[]>));
  return {
    profile, sandbox, chain: createChain({ rpcUrl: sandbox.addresses.rpc_url, clock: systemClock }), taker, poor, payer,
    referrer, stranger, tables,
  };
}

const KINDS: readonly ((fixture: Fixture, random: Random) => Promise<Golden | undefined>)[] = [
  (fixture, random) => plainOrder(fixture, random, {}),
  (fixture, random) => plainOrder(fixture, random, { excludeRouters: 'rfqz,iris' }),
  (fixture, random) => plainOrder(fixture, random, { excludeRouters: 'rfqz,routerA,routerB' }),
  (fixture, random) => makerOrder(fixture, random, {}),
  (fixture, random) => makerOrder(fixture, random, { receiver: fixture.stranger.address }),
  (fixture, random) => makerOrder(fixture, random, { referralAccount: fixture.referrer.address, referralFee: 100 }),
  (fixture, random) => plainOrder(fixture, random, { receiver: fixture.stranger.address }),
  (fixture, random) =>
    order(fixture, {
      ...pair(random, { outputMint: SOL }), receiver: fixture.stranger.address, excludeRouters: 'rfqz',
    }),
  (fixture, random) =>
    plainOrder(fixture, random, { referralAccount: fixture.referrer.address, referralFee: integer(random, 50, 255) }),
  (fixture, random) => plainOrder(fixture, random, { payer: fixture.payer.address }),
  (fixture, random) => order(fixture, {
    ...pair(random, { outputMint: SOL }), payer: fixture.payer.address, receiver: fixture.stranger.address,
  }),
  (fixture, random) => plainOrder(fixture, random, {
    bundleTipLamports: integer(random, 1, 900_000), priorityFeeLamports: integer(random, 0, 900_000),
  }),
  (fixture, random) => order(fixture, pair(random, { usd: [25, 90, 400] }), fixture.poor),
  (fixture, random) =>
    order(fixture, pair(random, { inputMint: USDC, outputMint: SOL, usd: [25, 90, 400] }), fixture.poor),
  (fixture, random) => build(fixture, pair(random), {}),
  (fixture, random) => build(fixture, pair(random, { outputMint: SOL }), {}),
  (fixture, random) => build(fixture, pair(random, { inputMint: SOL }), { mode: 'fast' }),
  (fixture, random) => build(fixture, pair(random), { wrapAndUnwrapSol: 'false' }),
  (fixture, random) => build(fixture, pair(random), { destination: 'token account' }),
  (fixture, random) => build(fixture, pair(random, { outputMint: SOL, usd: [12, 90, 400] }), { destination: 'native' }),
  (fixture, random) => build(fixture, pair(random), { feeBps: integer(random, 1, 200) }),
  (fixture, random) => build(fixture, pair(random), { payer: fixture.payer.address }),
];

function plainOrder(fixture: Fixture, random: Random, extra: Query): Promise<Golden | undefined> {
  return order(fixture, {
    ...pair(random), ...(random() < 0.5 ? { slippageBps: integer(random, 0, 300) } : {}), ...extra,
  });
}

function makerOrder(fixture: Fixture, random: Random, extra: Query): Promise<Golden | undefined> {
  const [inputMint, outputMint] = twoOf(random, MAKER_MINTS);
  return order(fixture, {
    ...pair(random, { inputMint, outputMint, usd: MAKER_USD }), excludeRouters: 'iris,routerA,routerB', ...extra,
  });
}

interface Pair extends Query {
  inputMint: string;
  outputMint: string;
  amount: string;
}

function pair(random: Random, fixed: { inputMint?: string; outputMint?: string; usd?: readonly number[] } = {}): Pair {
  const mints = GENESIS_TOKENS.map(({ mint }) => mint)
    .filter((mint) => mint !== fixed.inputMint && mint !== fixed.outputMint);
  const [first, second] = twoOf(random, mints);
  const inputMint = fixed.inputMint ?? first;
  const { usdPrice, peg, decimals } = GENESIS_TOKENS.find(({ mint }) => mint === inputMint)!;
  const usd = usdPrice * (peg === undefined ? 1 : GENESIS_TOKENS.find(({ mint }) => mint === peg)!.usdPrice);
  const units = Math.floor((pick(random, fixed.usd ?? USUAL_USD) * (0.5 + random()) / usd) * 10 ** decimals);
  return { inputMint, outputMint: fixed.outputMint ?? second, amount: String(Math.max(1, units)) };
}

function twoOf(random: Random, mints: readonly string[]): [string, string] {
  const first = pick(random, mints);
  return [first, pick(random, mints.filter((mint) => mint !== first))];
}

async function order(
  { sandbox, taker, tables }: Fixture, query: Pair & Query, wallet = taker,
): Promise<Golden | undefined> {
  const { body } = await sandbox.order({ ...query, taker: wallet.address });
  if (typeof body.transaction !== 'string' || body.transaction === '') return undefined;
  const tip = BigInt(query['bundleTipLamports'] ?? 0);
  const payers = new Map([[wallet.address, 'the taker'], [query['payer'], 'another'], [body.maker, 'the maker']]);
  return {
    kind: [
      'order', body.router, `paid by ${payers.get(body.signatureFeePayer) ?? 'the service'}`,
      tip > 0n ? 'tip' : undefined, query['receiver'] === undefined ? undefined : 'receiver',
      query['referralAccount'] === undefined ? undefined : 'referral',
    ]
      .filter((part) => part !== undefined).join(', '),
    bytes: Buffer.from(body.transaction, 'base64'),
    tables,
    expectation: {
      wallet: wallet.address,
      inputMint: query.inputMint,
      outputMint: query.outputMint,
      amountIn: BigInt(query.amount),
      minimumOut: BigInt(body.otherAmountThreshold),
      maker: body.maker ?? undefined,
      feePayer: body.signatureFeePayer,
      receiver: query['receiver'] as string | undefined,
      maxFeeLamports: BigInt(body.signatureFeeLamports + body.prioritizationFeeLamports) - tip,
      maxTipLamports: tip,
      maxPlatformFeeBps: body.feeBps,
      route: 'order',
    },
  };
}

interface BuildOptions {
  readonly mode?: 'fast';
  readonly wrapAndUnwrapSol?: 'false';
  readonly destination?: 'token account' | 'native';
  readonly feeBps?: number;
  readonly payer?: string;
}

async function build(
  { sandbox, chain, taker, referrer, stranger, tables }: Fixture, query: Pair, options: BuildOptions,
): Promise<Golden | undefined> {
  const { destination, feeBps, payer, ...passed } = options;
  const { tokenProgram } = GENESIS_TOKENS.find(({ mint }) => mint === query.outputMint)!;
  const accountOf = (owner: string): string => associatedTokenAddress(owner, query.outputMint, tokenProgram);
  const receiver = destination === 'native' ? stranger.address
    : destination === 'token account' ? accountOf(referrer.address) : undefined;
  const { status, body } = await sandbox.get('/swap/v2/build', {
    ...query, ...passed, taker: taker.address,
    ...(receiver === undefined ? {}
      : { [destination === 'native' ? 'nativeDestinationAccount' : 'destinationTokenAccount']: receiver }),
    ...(feeBps === undefined ? {} : { platformFeeBps: feeBps, feeAccount: accountOf(referrer.address) }),
    ...(payer === undefined ? {} : { payer }),
  });
  if (status !== 200) return undefined;
  const read = readSwapBuild(body, {
    inputMint: query.inputMint as never, outputMint: query.outputMint as never, amount: amount(BigInt(query.amount)),
  });
  const expectation: Expectation = {
    wallet: taker.address, inputMint: query.inputMint, outputMint: query.outputMint, amountIn: BigInt(query.amount),
    minimumOut: read.threshold,
    feePayer: payer, receiver, maxFeeLamports: 5_000n, maxPlatformFeeBps: feeBps, route: 'build',
  };
  const kind = [
    'build', destination, feeBps === undefined ? undefined : 'fee', payer === undefined ? undefined : 'payer',
    passed.wrapAndUnwrapSol === undefined ? undefined : 'wrapped',
  ]
    .filter((part) => part !== undefined).join(', ');
  if (payer === undefined) {
    const composed = await chain.compose(read, taker.address);
    return {
      kind, bytes: composed.transaction, tables,
      expectation: { ...expectation, maxFeeLamports: 5_000n + composed.priorityFeeLamports },
    };
  }
  const instructions: Instruction[] = [
    computeUnitLimit(300_000), computeUnitPrice(1_000n), ...read.setupInstructions, read.swapInstruction,
    ...(read.cleanupInstruction === undefined ? [] : [read.cleanupInstruction]), ...read.otherInstructions,
  ];
  const [[address, held] = []] = Object.entries(read.lookupTables);
  const message = compileMessage({ payer, instructions, blockhash: read.blockhash, table: address === undefined
    ? undefined : lookupTable(address, held!) });
  return { kind, bytes: unsignedTransaction(message), tables, expectation };
}
