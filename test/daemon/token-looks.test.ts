import { asyncScheduler, firstValueFrom } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tokenLooks, TokenNews } from '../../src/daemon/token-looks.ts';
import type { World } from '../../src/daemon/world.ts';
import { openWorld } from '../../src/daemon/world.ts';
import type { JudgeToken } from '../../src/trading/command.ts';
import type { RunConfig } from '../../src/config/run-config.ts';
import { configOf } from '../config/load-text.ts';
import { FISH, TOKENS } from '../market/tokens.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld({ baseUrl: 'embedded', rpcUrl: 'embedded', apiKey: undefined, dialect: 'neutral', plan: { requestsPerSecond: 1_000 }, seed: 7, clock: asyncScheduler });
});
afterAll(async () => { await world.close(); });

const PEARL = 'Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij';
const withRisk = (risk: string): Promise<RunConfig> => configOf(`
mode: paper
service: { base_url: embedded }
tokens: { SOL: So11111111111111111111111111111111111111112, USDC: EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v, PEARL: ${PEARL} }
risk: ${risk}
strategies:
  - { use: dca, budget: "100 USDC", params: { buy: SOL, spend: "1 USDC", every: 1m } }
`, { decimalsOf: async (mints) => new Map(mints.map((mint) => [mint, 6])) });

describe('which tokens a run looks at', () => {
  it('is every one that is not trusted and can be bought, at once, for as much as the budget buys', async () => {
    const config = await withRisk('{}');
    const look = await firstValueFrom(tokenLooks({ config, world, clock: asyncScheduler, log: () => undefined }));
    expect(look).toMatchObject({ name: 'judge-token', mint: PEARL, findings: [] });
  });

  it.each([['where tokens are bought unseen', '{ token_safety: { enabled: false } }'], ['where all are trusted', '{ token_safety: { trusted: [SOL, USDC, PEARL] } }']])('is none %s', async (_name, risk) => {
    const looks: unknown[] = [];
    const watching = tokenLooks({ config: await withRisk(risk), world, clock: asyncScheduler, log: () => undefined }).subscribe((look) => { looks.push(look); });
    const asked = world.service.stats().main;
    await new Promise((resolve) => { setTimeout(resolve, 50); });
    watching.unsubscribe();
    expect([looks, world.service.stats().main]).toEqual([[], asked]);
  });
});

const look = (findings: readonly string[]): JudgeToken => ({ kind: 'command', name: 'judge-token', mint: FISH.mint, findings, reason: findings.join('; ') });
const told = (news: TokenNews, findings: readonly string[]): unknown => news.alert(TOKENS, look(findings))?.message;

describe('what is told of looks', () => {
  it('is each change, once', () => {
    const news = new TokenNews();
    expect(told(news, [])).toBeUndefined();
    expect(told(news, ['TOKEN_UNSELLABLE', 'TOKEN_SCORE_LOW'])).toMatch(/^FISH is not bought: TOKEN_UNSELLABLE; TOKEN_SCORE_LOW\. What is held of it can be sold/);
    expect(told(news, ['TOKEN_SCORE_LOW', 'TOKEN_UNSELLABLE'])).toBeUndefined();
    expect(told(news, ['TOKEN_SCORE_LOW'])).toMatch(/not bought/);
    expect(told(news, [])).toMatch(/^FISH may be bought again/);
    expect(told(news, [])).toBeUndefined();
  });

  it('is what speaks against a token at the very first look', () => {
    expect(told(new TokenNews(), ['TOKEN_SUSPICIOUS'])).toMatch(/not bought/);
  });
});
