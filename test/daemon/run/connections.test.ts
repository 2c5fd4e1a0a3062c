import { statSync } from 'node:fs';
import { join } from 'node:path';
import { asyncScheduler, firstValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { amount } from '../../../src/core/amount.ts';
import { openConnections } from '../../../src/daemon/run/connections.ts';
import { SOL_MINT, USDC_MINT } from '../../../src/market/token.ts';
import { dialectNames, loadDialect } from '../../../src/service/wire/dialect.ts';
import { filesIn } from '../../e2e/gannet.ts';
import { temporaryFolder } from '../../store/fixtures.ts';

const UNLIMITED = { requestsPerSecond: 1_000 };

describe('embedded connections', () => {
  it.each(
    dialectNames(),
  )('speaks the dialect %s on both sides, and nothing outside remembers what was asked of it', async (dialect) => {
    const stateDir = temporaryFolder();
    const connections = await openConnections({
      baseUrl: 'embedded', rpcUrl: 'embedded', apiKey: undefined, dialect, plan: UNLIMITED, seed: 7,
      clock: asyncScheduler,
      rateMemory: { stateDir, onFault: (message) => { throw new Error(message); } },
    });
    try {
      // Every router but one by its neutral name: a service of other words would refuse them.
      const [only, ...excludeRouters] = loadDialect(dialect).routers;
      const { router } = await connections.service.swap.order(
        { inputMint: SOL_MINT, outputMint: USDC_MINT, amount: amount(1_000_000n), excludeRouters },
        { priority: 'watch' },
      );
      expect(router).toBe(only);
    } finally {
      await connections.close();
    }
    expect(filesIn(stateDir)).toEqual([]);
  });
});

describe('the websocket of the chain', () => {
  it.each([
    ['of the embedded chain', {}], ['"off"', { wsUrl: 'off' }],
  ])('%s gives hints about the wallet accordingly', async (_what, given) => {
    const connections = await openConnections({
      baseUrl: 'embedded', rpcUrl: 'embedded', apiKey: undefined, dialect: 'neutral', plan: UNLIMITED, seed: 7,
      clock: asyncScheduler, ...given,
    });
    const { chain, sandbox } = connections;
    const { address } = sandbox!.addresses.wallet;
    const fund = async (): Promise<void> => {
      const body = JSON.stringify({ owner: address, mint: SOL_MINT, amount: '1000000000' });
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${sandbox!.addresses.base_url}/sandbox/fund`, { method: 'POST', headers, body });
      expect(answer.status).toBe(200);
    };
    try {
      const hinted = firstValueFrom(chain!.walletHints$(address));
      const opened = firstValueFrom(chain!.transactionHints$('5'.repeat(88)));
      hinted.catch(() => undefined);
      opened.catch(() => undefined);
      if ('wsUrl' in given) {
        await fund();
        expect(await Promise.race([hinted, opened, chain!.version()])).toBe(await chain!.version());
      } else {
        // The node answers in order: the wallet's subscriptions are open too.
        expect(await opened).toStrictEqual({ isReliable: false });
        await fund();
        expect(await hinted).toBe('notified');
      }
    } finally {
      await connections.close();
    }
  });
});

describe('connections with a service elsewhere', () => {
  it('store the request rate in a file that only the owner can read, and create its folder', async () => {
    const stateDir = join(temporaryFolder(), 'a', 'state');
    const connections = await openConnections({
      baseUrl: 'http://127.0.0.1:9', rpcUrl: undefined, apiKey: undefined, dialect: 'neutral', plan: UNLIMITED, seed: 7,
      clock: asyncScheduler,
      rateMemory: { stateDir, onFault: (message) => { throw new Error(message); } },
    });
    await expect(connections.ensureReachable()).rejects.toMatchObject({ code: 'SERVICE_UNREACHABLE' });
    await connections.close();
    expect(filesIn(stateDir)).toEqual(['service-rate.json']);
    expect(statSync(join(stateDir, 'service-rate.json')).mode & 0o777).toBe(0o600);
  });

  it('go on without the store where it cannot be created, with one warning', async () => {
    const faults: string[] = [];
    const connections = await openConnections({
      baseUrl: 'http://127.0.0.1:9', rpcUrl: undefined, apiKey: undefined, dialect: 'neutral', plan: UNLIMITED, seed: 7,
      clock: asyncScheduler,
      rateMemory: { stateDir: '/dev/null/state', onFault: (message) => { faults.push(message); } },
    });
    await expect(connections.ensureReachable()).rejects.toMatchObject({ code: 'SERVICE_UNREACHABLE' });
    await connections.close();
    expect(faults).toEqual([expect.stringMatching(/^the state directory \/dev\/null\/state cannot be created: /)]);
  });
});
