import { asyncScheduler } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Amount, Bps } from '../../../src/core/amount.ts';
import { GannetError } from '../../../src/core/errors.ts';
import { readTokenFacts, watchTokens } from '../../../src/daemon/watch/token-watch.ts';
import type { Connections } from '../../../src/daemon/run/connections.ts';
import { openConnections } from '../../../src/daemon/run/connections.ts';
import { VirtualClock } from '../../../src/engine/virtual-clock.ts';
import type { Mint } from '../../../src/market/token.ts';
import { USDC_MINT } from '../../../src/market/token.ts';
import { GENESIS_TOKENS } from '../../../src/sandbox/genesis.ts';
import type { JudgeToken } from '../../../src/trading/engine-command.ts';
import type { TokenSafetyLimits } from '../../../src/trading/limits.ts';
import { judgeToken } from '../../../src/trading/token-safety.ts';
import { advance } from '../../service/virtual-time.ts';

const LIMITS: TokenSafetyLimits = {
  trusted: new Set(), minLiquidityUsd: 10_000, minOrganicScore: 20, minHolders: 500, maxTopHoldersPct: 60,
  maxTransferFeeBps: 0 as Bps, allowedExtensions: new Set(), validForMs: 600_000,
};
const named = (name: string): Mint => GENESIS_TOKENS.find((token) => token.name === name)!.mint as Mint;
const PEARL = named('Pearl');

let connections: Connections;
beforeAll(async () => {
  connections = await openConnections({
    baseUrl: 'embedded', rpcUrl: 'embedded', apiKey: undefined, dialect: 'neutral', plan: { requestsPerSecond: 1_000 },
    seed: 7, clock: asyncScheduler,
  });
});
afterAll(async () => { await connections.close(); });

const check = async (mint: Mint, { withChain } = { withChain: true }): Promise<string[]> =>
  judgeToken(await readTokenFacts({
    service: connections.service, chain: withChain ? connections.chain : undefined,
    trade: { mint: USDC_MINT, amount: 200_000_000n as Amount },
  }, mint), LIMITS);

describe('a token check on the embedded market', () => {
  it('accepts the honest token and finds the faults of the others', async () => {
    expect(await check(PEARL)).toStrictEqual([]);
    expect(await check(named('Pearl (Official)')))
      .toEqual(expect.arrayContaining(['TOKEN_SCORE_LOW', 'TOKEN_HOLDERS_FEW', 'TOKEN_HOLDERS_CONCENTRATED']));
    expect(await check(named('Barnacle')))
      .toEqual(expect.arrayContaining(['TOKEN_SUSPICIOUS', 'TOKEN_MINT_AUTHORITY', 'TOKEN_FREEZE_AUTHORITY']));
  });

  it('finds all facts missing for an address without a mint', async () => {
    expect(await check('Nowhere9wvTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfi' as Mint))
      .toStrictEqual(['TOKEN_RECORD_MISSING', 'TOKEN_ACCOUNT_UNREAD', 'TOKEN_UNSELLABLE']);
  });

  it('does not trust the service alone: without a chain no token passes', async () => {
    expect(await check(PEARL, { withChain: false })).toStrictEqual(['TOKEN_ACCOUNT_UNREAD']);
  });
});

describe('the token watch', () => {
  const GOOD = {
    record: {
      mintAuthorityDisabled: true, freezeAuthorityDisabled: true, topHoldersPct: 1, liquidityUsd: 1e6, organicScore: 90,
      holders: 1e5,
    }, account: { mint: PEARL, tokenProgram: 'program', decimals: 6, supply: 1n, extensions: [] }, canBeSold: true,
  } as const;

  function watch(facts: (mint: Mint, check: number) => Promise<typeof GOOD>): {
    readonly clock: VirtualClock; readonly told: JudgeToken[]; readonly checks: number[]; readonly faults: string[];
  } {
    const clock = new VirtualClock(0);
    const seen = { clock, told: [] as JudgeToken[], checks: [] as number[], faults: [] as string[] };
    watchTokens({
      mints: [PEARL, USDC_MINT], limits: LIMITS, clock,
      facts: (mint) => {
        if (mint === PEARL) seen.checks.push(clock.now());
        return facts(mint, seen.checks.length);
      },
      onFault: (mint, error) => { seen.faults.push(`${mint === PEARL ? 'PEARL' : 'USDC'} ${error.message}`); },
    }).subscribe((command) => { seen.told.push(command); });
    return seen;
  }

  it('checks each token at once, and again well before the result expires', async () => {
    const { clock, told, checks } = watch(() => Promise.resolve(GOOD));
    await advance(clock, 600_000);
    expect(checks).toStrictEqual([0, 240_000, 480_000]);
    expect(told.map(({ mint }) => mint)).toStrictEqual([PEARL, USDC_MINT, PEARL, USDC_MINT, PEARL, USDC_MINT]);
    expect(told[0]).toStrictEqual({
      kind: 'command', name: 'judge-token', mint: PEARL, findings: [], reason: 'nothing was found against it',
    });
  });

  it('emits nothing for a check without an answer, and tries again soon', async () => {
    const { clock, told, checks, faults } = watch((mint, check) => (mint === PEARL && check < 3
      ? Promise.reject(new GannetError('SERVICE_TIMEOUT', 'no answer')) : Promise.resolve(GOOD)));
    await advance(clock, 30_000);
    expect(checks).toStrictEqual([0, 10_000, 20_000]);
    expect(faults).toStrictEqual(['PEARL no answer', 'PEARL no answer']);
    expect(told.map(({ mint }) => mint)).toStrictEqual([USDC_MINT, PEARL]);
  });

  it('checks tokens that are not configured while they are watched, and more of them', async () => {
    const watched: Mint[] = [];
    const clock = new VirtualClock(0);
    const told: JudgeToken[] = [];
    watchTokens({
      mints: [USDC_MINT], limits: LIMITS, clock, onFault: () => undefined, facts: () => Promise.resolve(GOOD),
      discovered: {
        limits: {
          perToken: { mint: USDC_MINT, amount: 1n as Amount }, total: { mint: USDC_MINT, amount: 1n as Amount },
          minAgeMs: 1, mustBeVerified: true,
        },
        mints: () => watched,
      },
    }).subscribe((command) => { told.push(command); });
    await advance(clock, 5_000);
    expect(told.map(({ mint, findings }) => [mint, findings])).toEqual([[USDC_MINT, []]]);
    watched.push(PEARL, USDC_MINT);
    await advance(clock, 10_000);
    expect(told.slice(1).map(({ mint, findings }) => [mint, findings]))
      .toEqual([[PEARL, ['TOKEN_DECIMALS_DIFFER', 'TOKEN_UNVERIFIED', 'TOKEN_TOO_YOUNG']]]);
    watched.splice(0);
    await advance(clock, 600_000);
    expect(told.slice(2).every(({ mint }) => mint === USDC_MINT)).toBe(true);
  });

  it('names the findings in words', async () => {
    const { clock, told } = watch(() => Promise.resolve({ ...GOOD, canBeSold: false as never }));
    await advance(clock, 1);
    expect(told[0]).toMatchObject({
      findings: ['TOKEN_UNSELLABLE'], reason: 'the service has no quote for selling it',
    });
  });
});
