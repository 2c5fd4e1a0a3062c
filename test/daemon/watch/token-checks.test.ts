import { asyncScheduler, firstValueFrom } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkTokens } from '../../../src/daemon/watch/token-watch.ts';
import { TokenAlerts } from '../../../src/daemon/reporting/alert-text.ts';
import type { Connections } from '../../../src/daemon/run/connections.ts';
import { openConnections } from '../../../src/daemon/run/connections.ts';
import type { JudgeToken } from '../../../src/trading/engine-command.ts';
import type { RunConfig } from '../../../src/config/run-config.ts';
import { configOf } from '../../config/load-text.ts';
import { FISH, TOKENS } from '../../market/tokens.ts';

let connections: Connections;
beforeAll(async () => {
  connections = await openConnections({
    baseUrl: 'embedded', rpcUrl: 'embedded', apiKey: undefined, dialect: 'neutral', plan: { requestsPerSecond: 1_000 },
    seed: 7, clock: asyncScheduler,
  });
});
afterAll(async () => { await connections.close(); });

const PEARL = 'Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij';
const withRisk = (risk: string): Promise<RunConfig> => configOf(`
mode: paper
service: { base_url: embedded }
tokens: { SOL: So11111111111111111111111111111111111111112, USDC: EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v,
    PEARL: ${PEARL} }
risk: ${risk}
strategies:
  - { use: dca, budget: "100 USDC", params: { buy: SOL, spend: "1 USDC", every: 1m } }
`, { decimalsOf: async (mints) => new Map(mints.map((mint) => [mint, 6])) });

describe('the tokens that a run checks', () => {
  it('are all that can be bought and are not trusted, at once, for the amount that the budget buys', async () => {
    const config = await withRisk('{}');
    const check =
      await firstValueFrom(checkTokens({
        config, connections, clock: asyncScheduler, log: () => undefined, watched: () => [],
      }));
    expect(check).toMatchObject({ name: 'judge-token', mint: PEARL, findings: [] });
  });

  it.each([
    ['where tokens are bought unseen', '{ token_safety: { enabled: false } }'],
    ['where all are trusted', '{ token_safety: { trusted: [SOL, USDC, PEARL] } }'],
  ])('is none %s', async (_name, risk) => {
    const checks: unknown[] = [];
    const watching = checkTokens({
      config: await withRisk(risk), connections, clock: asyncScheduler, log: () => undefined, watched: () => [],
    })
      .subscribe((check) => { checks.push(check); });
    const asked = connections.service.stats().main;
    await new Promise((resolve) => { setTimeout(resolve, 50); });
    watching.unsubscribe();
    expect([checks, connections.service.stats().main]).toEqual([[], asked]);
  });
});

const check = (findings: readonly string[]): JudgeToken =>
  ({ kind: 'command', name: 'judge-token', mint: FISH.mint, findings, reason: findings.join('; ') });
const told = (news: TokenAlerts, findings: readonly string[]): unknown => news.alert(TOKENS, check(findings))?.message;

describe('alerts of token checks', () => {
  it('report each change once', () => {
    const news = new TokenAlerts();
    expect(told(news, [])).toBeUndefined();
    expect(told(news, ['TOKEN_UNSELLABLE', 'TOKEN_SCORE_LOW']))
      .toMatch(/^FISH is not bought: TOKEN_UNSELLABLE; TOKEN_SCORE_LOW\. Holdings of it can be sold/);
    expect(told(news, ['TOKEN_SCORE_LOW', 'TOKEN_UNSELLABLE'])).toBeUndefined();
    expect(told(news, ['TOKEN_SCORE_LOW'])).toMatch(/not bought/);
    expect(told(news, [])).toMatch(/^FISH may be bought again/);
    expect(told(news, [])).toBeUndefined();
  });

  it('report findings of the first check', () => {
    expect(told(new TokenAlerts(), ['TOKEN_SUSPICIOUS'])).toMatch(/not bought/);
  });
});
