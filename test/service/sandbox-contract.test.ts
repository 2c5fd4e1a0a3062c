import { asyncScheduler } from 'rxjs';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { amount } from '../../src/core/amount.ts';
import { seededRandom } from '../../src/core/random.ts';
import type { MarketEvent } from '../../src/market/event.ts';
import type { Mint } from '../../src/market/token.ts';
import { bookTop } from '../../src/market/order-book.ts';
import { SOL_MINT, USDC_MINT } from '../../src/market/token.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { loadDialect } from '../../src/service/wire/dialect.ts';
import { createFeeds } from '../../src/service/feeds/feeds.ts';
import type { Service } from '../../src/service/service.ts';
import { createService } from '../../src/service/service.ts';
import { parseSecretKey } from '../../src/signer/key.ts';
import type { Signer } from '../../src/signer/sign.ts';
import { createSigner } from '../../src/signer/sign.ts';

const SWAP = { inputMint: SOL_MINT, outputMint: USDC_MINT, amount: amount(100_000_000n) };
const MARKET = 'SPRINGTIDE-26DEC31';

let sandbox: Sandbox;
let service: Service;
let signer: Signer;

beforeAll(async () => {
  sandbox = await startSandbox({ seed: 3, speed: 0, apiKeys: ['contract-key'] });
  service = connect('contract-key');
  signer = createSigner(parseSecretKey(sandbox.addresses.wallet.private_key));
});

afterAll(async () => {
  await service.close();
  await sandbox.close();
});

function connect(apiKey: string): Service {
  return createService({ baseUrl: sandbox.addresses.base_url, apiKey, clock: asyncScheduler, plan: { requestsPerSecond: 1_000 }, dialect: loadDialect('neutral') });
}

async function setFault(fault?: object): Promise<void> {
  const { base_url: baseUrl } = sandbox.addresses;
  const answer = await request(`${baseUrl}/sandbox/faults`, fault === undefined
    ? { method: 'DELETE' }
    : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(fault) });
  await answer.body.dump();
  expect(answer.statusCode).toBeLessThan(300);
}

describe('the embedded service, through the client', () => {
  test('quotes', async () => {
    const quote = await service.swap.order(SWAP);
    expect(quote.outAmount).toBeGreaterThan(0n);
    expect(quote.threshold).toBeLessThanOrEqual(quote.outAmount);
    expect(quote.transaction).toBeUndefined();
  });

  test('gives an order that lands once it is signed, and says the same when asked again', async () => {
    const answer = await service.swap.order({ ...SWAP, taker: signer.address, slippageBps: 100, excludeRouters: ['rfqz'] });
    expect(answer.buildError).toBeUndefined();
    const { transaction } = await signer.sign(answer.transaction!);
    const execution = { signedTransaction: transaction, requestId: answer.requestId!, lastValidBlockHeight: answer.lastValidBlockHeight };
    const first = await service.swap.execute(execution);
    expect(first.status).toBe('success');
    expect(await service.swap.execute(execution)).toEqual(first);
  });

  test('gives a build with everything a transaction needs', async () => {
    const build = await service.swap.build({ ...SWAP, taker: signer.address, slippageBps: 50 });
    expect(build.swapInstruction.accounts.length).toBeGreaterThan(0);
    expect(build.lastValidBlockHeight).toBeGreaterThan(0n);
    expect(build.threshold).toBeLessThanOrEqual(build.outAmount);
  });

  test('knows its tokens by mint and by symbol', async () => {
    const mints = sandbox.addresses.tokens.map(({ mint }) => mint);
    const { records, rejected } = await service.tokens.search(mints);
    expect(rejected).toEqual([]);
    expect(new Map(records.map(({ id, decimals }) => [id as string, decimals]))).toEqual(new Map(sandbox.addresses.tokens.map(({ mint, decimals }) => [mint, decimals])));
    expect((await service.tokens.search(['SOL'])).records.map(({ id }) => id)).toContain(SOL_MINT);
  });

  test('has books whose cents and dollars agree, and none for a market it does not know', async () => {
    const book = await service.prediction.orderBook(MARKET);
    const { bestBid, bestAsk } = bookTop(book!, 'yes');
    expect(bestBid!).toBeLessThan(bestAsk!);
    await expect(service.prediction.orderBook('NO-SUCH-MARKET')).rejects.toMatchObject({ code: 'SERVICE_STATUS', details: { status: 404 } });
  });

  test('refuses a wrong key', async () => {
    const stranger = connect('another-key');
    await expect(stranger.swap.order(SWAP)).rejects.toMatchObject({ code: 'SERVICE_UNAUTHORIZED' });
    await stranger.close();
  });

  test('refuses what it does not trade with a typed fault', async () => {
    const unknown = 'Unknown1111111111111111111111111111111111111' as Mint;
    await expect(service.swap.order({ ...SWAP, outputMint: unknown })).rejects.toMatchObject({ code: 'SERVICE_STATUS' });
  });

  test('in trouble is trouble of the right kind', async () => {
    for (const [fault, code] of [
      [{ kind: 'status', status: 429 }, 'SERVICE_RATE_LIMITED'], [{ kind: 'status', status: 503 }, 'SERVICE_STATUS'],
      [{ kind: 'drop_before' }, 'SERVICE_UNREACHABLE'], [{ kind: 'malformed' }, 'SERVICE_MALFORMED'],
    ] as const) {
      const troubled = connect('contract-key');
      await setFault({ match: { path: '/swap/v2/order' }, fault, times: 1 });
      await expect(troubled.swap.order(SWAP)).rejects.toMatchObject({ code });
      await troubled.close();
    }
    await setFault();
  });

  test('feeds quotes, books and statistics', async () => {
    const feed = createFeeds({
      service, clock: asyncScheduler, random: seededRandom(1),
      specs: [
        { kind: 'quote', ...SWAP, everyMs: 50 }, { kind: 'order-book', marketId: MARKET, everyMs: 50 }, { kind: 'token-stats', mint: SOL_MINT, everyMs: 50 },
      ],
    });
    const events: MarketEvent[] = [];
    const subscription = feed.events$.subscribe((event) => events.push(event));
    await expect.poll(() => feed.stats().every(({ answers }) => answers >= 3), { timeout: 10_000 }).toBe(true);
    subscription.unsubscribe();
    expect(new Set(events.map(({ kind }) => kind))).toEqual(new Set(['quote', 'order-book', 'token-stats']));
  });
});
