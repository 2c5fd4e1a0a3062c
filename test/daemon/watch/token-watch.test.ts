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
import type { JudgeToken } from '../../../src/trading/command.ts';
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

const look = async (mint: Mint, { withChain } = { withChain: true }): Promise<string[]> =>
  judgeToken(await readTokenFacts({
    service: connections.service, chain: withChain ? connections.chain : undefined,
    trade: { mint: USDC_MINT, amount: 200_000_000n as Amount },
  }, mint), LIMITS);

describe('a look at a token of the embedded market', () => {
  it('lets the honest one pass and finds what is wrong with the others', async () => {
    expect(await look(PEARL)).toStrictEqual([]);
    expect(await look(named('Pearl (Official)')))
      .toEqual(expect.arrayContaining(['TOKEN_SCORE_LOW', 'TOKEN_HOLDERS_FEW', 'TOKEN_HOLDERS_CONCENTRATED']));
    expect(await look(named('Barnacle')))
      .toEqual(expect.arrayContaining(['TOKEN_SUSPICIOUS', 'TOKEN_MINT_AUTHORITY', 'TOKEN_FREEZE_AUTHORITY']));
  });

  it('finds everything missing where the mint is none', async () => {
    expect(await look('Nowhere9wvTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfi' as Mint))
      .toStrictEqual(['TOKEN_RECORD_MISSING', 'TOKEN_ACCOUNT_UNREAD', 'TOKEN_UNSELLABLE']);
  });

  it('does not take the service’s word alone: without a chain no token passes', async () => {
    expect(await look(PEARL, { withChain: false })).toStrictEqual(['TOKEN_ACCOUNT_UNREAD']);
  });
});

describe('the watch over tokens', () => {
  const GOOD = {
    record: {
      mintAuthorityDisabled: true, freezeAuthorityDisabled: true, topHoldersPct: 1, liquidityUsd: 1e6, organicScore: 90,
      holders: 1e5,
    }, account: { mint: PEARL, tokenProgram: 'program', decimals: 6, supply: 1n, extensions: [] }, canBeSold: true,
  } as const;

  function watch(facts: (mint: Mint, look: number) => Promise<typeof GOOD>): {
    readonly clock: VirtualClock; readonly told: JudgeToken[]; readonly looks: number[]; readonly faults: string[];
  } {
    const clock = new VirtualClock(0);
    const seen = { clock, told: [] as JudgeToken[], looks: [] as number[], faults: [] as string[] };
    watchTokens({
      mints: [PEARL, USDC_MINT], limits: LIMITS, clock,
      facts: (mint) => {
        if (mint === PEARL) seen.looks.push(clock.now());
        return facts(mint, seen.looks.length);
      },
      onFault: (mint, error) => { seen.faults.push(`${mint === PEARL ? 'PEARL' : 'USDC'} ${error.message}`); },
    }).subscribe((command) => { seen.told.push(command); });
    return seen;
  }

  it('looks at each at once, and again well before the look is too old', async () => {
    const { clock, told, looks } = watch(() => Promise.resolve(GOOD));
    await advance(clock, 600_000);
    expect(looks).toStrictEqual([0, 240_000, 480_000]);
    expect(told.map(({ mint }) => mint)).toStrictEqual([PEARL, USDC_MINT, PEARL, USDC_MINT, PEARL, USDC_MINT]);
    expect(told[0]).toStrictEqual({
      kind: 'command', name: 'judge-token', mint: PEARL, findings: [], reason: 'nothing was found against it',
    });
  });

  it('tells nothing of a look without an answer, and tries again soon', async () => {
    const { clock, told, looks, faults } = watch((mint, look) => (mint === PEARL && look < 3
      ? Promise.reject(new GannetError('SERVICE_TIMEOUT', 'no answer')) : Promise.resolve(GOOD)));
    await advance(clock, 30_000);
    expect(looks).toStrictEqual([0, 10_000, 20_000]);
    expect(faults).toStrictEqual(['PEARL no answer', 'PEARL no answer']);
    expect(told.map(({ mint }) => mint)).toStrictEqual([USDC_MINT, PEARL]);
  });

  it('says in words what is wrong', async () => {
    const { clock, told } = watch(() => Promise.resolve({ ...GOOD, canBeSold: false as never }));
    await advance(clock, 1);
    expect(told[0]).toMatchObject({ findings: ['TOKEN_UNSELLABLE'], reason: 'nobody quotes for selling it' });
  });
});
