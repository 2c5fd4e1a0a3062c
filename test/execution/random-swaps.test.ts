import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Amount, Bps } from '../../src/core/amount.ts';
import { seededRandom } from '../../src/core/random.ts';
import { createLiveExecutor } from '../../src/execution/live-executor.ts';
import type { ExecutorPorts } from '../../src/execution/ports.ts';
import type { Mint } from '../../src/market/token.ts';
import { SOL_MINT } from '../../src/market/token.ts';
import type { PoolReserves } from '../../src/sandbox/chain/chain.ts';
import { GENESIS_TOKENS } from '../../src/sandbox/genesis.ts';
import type { Attempt } from '../../src/trading/attempt.ts';
import type { Intent } from '../../src/trading/intent.ts';
import { makeDearer } from '../contract/sandbox-market.ts';
import type { ExecutionFixture } from './execution-fixture.ts';
import { executionFixtures, outcomesOf } from './execution-fixture.ts';

const startExecutionFixture = executionFixtures();

const SWAPS = 250;
const MOVED_SWAPS = 60;
const SWAPS_PER_REFILL = 10;
const WEALTH_USD = 4_000_000;
/** No cap but the one under test. */
const NO_CAP = 10_000 as Bps;

const random = seededRandom('random swaps');
const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;

let fixture: ExecutionFixture;
let attempts: Map<string, Attempt>;
let reserves: ReadonlyMap<string, PoolReserves>;
let executor: ReturnType<typeof createLiveExecutor>;

beforeAll(async () => {
  // Nothing but these swaps moves this market, and a slot passes with each, so that no one waits for one.
  fixture = await startExecutionFixture({ sandbox: { seed: 23, slotMs: 3_000_000 } });
  attempts = new Map();
  const chain: ExecutorPorts['chain'] = {
    ...fixture.chain,
    send: async (transaction) => {
      const answer = await fixture.chain.send(transaction);
      fixture.sandbox.chain.advanceSlots(1);
      return answer;
    },
  };
  const journal: ExecutorPorts['journal'] = {
    intentApproved: (intent) => { fixture.journal.intentApproved(intent); },
    attemptSigned: (attempt) => {
      attempts.set(attempt.intentId, attempt);
      fixture.journal.attemptSigned(attempt);
    },
    transition: (outcome) => { fixture.journal.transition(outcome); },
    openIntents: () => fixture.journal.openIntents(),
    isSigned: (signature) => fixture.journal.isSigned(signature),
    movesSince: (attempt, mint) => fixture.journal.movesSince(attempt, mint),
    proofOf: (attempt) => fixture.journal.proofOf(attempt),
    keepProof: (attempt, progress) => { fixture.journal.keepProof(attempt, progress); },
  };
  executor = createLiveExecutor({ ...fixture, chain, journal });
  reserves = new Map(fixture.sandbox.chain.pools().map(({ address }) =>
    [address, fixture.sandbox.chain.readPool(address)]));
  for (const { mint } of GENESIS_TOKENS) {
    const amount = unitsOf(mint, WEALTH_USD);
    if (mint === SOL_MINT) fixture.sandbox.chain.airdrop(fixture.signer.address, amount);
    else fixture.sandbox.chain.fundToken({ owner: fixture.signer.address, mint, amount });
  }
});
afterAll(() => fixture.close());

/** Sets every pool back to where it began: hundreds of swaps would empty the small ones. */
function refillPools(): void {
  for (const [address, { reserveA, reserveB }] of reserves)
    fixture.sandbox.chain.writeReserves(address, { reserveA, reserveB });
}

/** Returns about what so many dollars are in a token's smallest units, at the first slot's prices. */
function unitsOf(mint: string, usd: number): Amount {
  const { decimals, usdPrice, peg } = tokenOf(mint);
  const price = peg === undefined ? usdPrice : usdPrice * tokenOf(peg).usdPrice;
  return BigInt(Math.max(1, Math.round((usd / price) * 10 ** decimals))) as Amount;
}

function tokenOf(mint: string): (typeof GENESIS_TOKENS)[number] {
  return GENESIS_TOKENS.find((token) => token.mint === mint)!;
}

/** Any pair, either route, from a few cents to a thousand dollars: pools and maker, one hop to three, all decimals. */
function randomIntent(overrides: Partial<Intent> = {}): Intent {
  const input = pick(GENESIS_TOKENS);
  const output = pick(GENESIS_TOKENS.filter((token) => token !== input));
  return fixture.intent({
    inputMint: input.mint as Mint, outputMint: output.mint as Mint,
    amountIn: unitsOf(input.mint, 10 ** (random() * 4 - 1)), route: pick(['order', 'build']),
    purpose: 'entry', maxSlippageBps: pick([0, 1, 30, 100, 500]) as Bps, maxPriceImpactBps: NO_CAP, maxFeeBps: NO_CAP,
    ...overrides,
  });
}

/** Returns what the wallet has on the chain, read without the code under test; SOL native and wrapped together. */
function held(mint: string): bigint {
  const { chain } = fixture.sandbox;
  const { address } = fixture.signer;
  const tokens = chain.tokenBalance({ owner: address, mint });
  return mint === SOL_MINT ? chain.balance(address) + tokens : tokens;
}

describe('random swaps on the embedded chain', () => {
  it(`pays the quote to the unit in each of ${SWAPS} where nothing moved in between`, async () => {
    const seen = { routes: new Set<string>(), routers: new Set<string>(), mints: new Set<string>() };
    for (let swap = 0; swap < SWAPS; swap++) {
      if (swap % SWAPS_PER_REFILL === 0) refillPools();
      const intent = randomIntent();
      const { inputMint, outputMint, amountIn } = intent;
      const before = { input: held(inputMint), output: held(outputMint), sol: held(SOL_MINT) };
      const outcomes = await outcomesOf(executor, intent);
      const { state, fill, code, reason } = outcomes.at(-1)!;
      expect(
        `${state} ${code ?? ''} ${reason ?? ''}`.trim(),
        `${amountIn} of ${inputMint} to ${outputMint} by ${intent.route}`,
      ).toBe('confirmed');
      const { quotedOut, threshold, router } = attempts.get(intent.id)!;
      // What SOL costs beside the swap is told apart here by arithmetic, not by the reader of transactions.
      const costs = fill!.feeLamports + fill!.rentLamports;
      const costOf = (mint: string): bigint => (mint === SOL_MINT ? costs : 0n);
      expect(held(outputMint) - before.output + costOf(outputMint)).toBe(quotedOut);
      expect(before.input - held(inputMint) - costOf(inputMint)).toBe(amountIn);
      if (inputMint !== SOL_MINT && outputMint !== SOL_MINT) expect(before.sol - held(SOL_MINT)).toBe(costs);
      expect(fill).toMatchObject({ amountIn, amountOut: quotedOut });
      expect(quotedOut).toBeGreaterThanOrEqual(threshold);
      seen.routes.add(intent.route);
      seen.routers.add(router);
      seen.mints.add(inputMint).add(outputMint);
    }
    expect(seen.routes).toStrictEqual(new Set(['order', 'build']));
    expect([...seen.routers]).toEqual(expect.arrayContaining(['iris', 'rfqz']));
    expect(seen.mints.size).toBe(GENESIS_TOKENS.length);
    expect(fixture.landed).toHaveLength(SWAPS);
  }, 180_000);

  it('never pays less than the threshold where the price moved in between: 6001 instead', async () => {
    const ends = { confirmed: 0, failed: 0 };
    for (let swap = 0; swap < MOVED_SWAPS; swap++) {
      refillPools();
      // Below what the maker serves: a firm price does not move.
      const drawn = randomIntent({ maxSlippageBps: pick([10, 100, 300]) as Bps });
      const intent = { ...drawn, amountIn: unitsOf(drawn.inputMint, 1 + random() * 20) };
      const percent = pick([0n, 1n, 2n, 5n]);
      const before = held(intent.outputMint);
      const finalized: Promise<void>[] = [];
      const outcomes = await outcomesOf(executor, intent, ({ state }) => {
        if (state === 'signed') makeDearer(fixture.sandbox.chain, { mint: intent.outputMint, percent });
        // A failure is told once it is finalized.
        if (state === 'submitted') finalized.push(fixture.passSlots(40));
      });
      await Promise.all(finalized);
      const { state, code, fill, feeLamports } = outcomes.at(-1)!;
      const { threshold } = attempts.get(intent.id)!;
      if (state === 'confirmed') {
        const costs = intent.outputMint === SOL_MINT ? fill!.feeLamports + fill!.rentLamports : 0n;
        expect(held(intent.outputMint) - before + costs).toBe(fill!.amountOut);
        expect(fill!.amountOut).toBeGreaterThanOrEqual(threshold);
        ends.confirmed += 1;
      } else {
        expect({ state, code }).toStrictEqual({ state: 'failed', code: '6001' });
        expect(held(intent.outputMint) - before).toBe(intent.outputMint === SOL_MINT ? -feeLamports! : 0n);
        ends.failed += 1;
      }
    }
    expect(ends.confirmed).toBeGreaterThan(10);
    expect(ends.failed).toBeGreaterThan(10);
  });
});
