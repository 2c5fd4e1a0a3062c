import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dialectNames, loadDialect } from '../../../../src/service/wire/dialect.ts';
import { SOL, startTestSandbox, USDC, type Answer, type TestSandbox } from '../sandbox-client.ts';

const SEARCH = '/ultra/v1/search';
const foreign = dialectNames().filter((name) => name !== 'neutral');

it('there is a dialect that is not neutral, or this suite checks nothing', () => {
  expect(foreign).not.toEqual([]);
});

describe.each(foreign)('a sandbox that speaks %s', (name) => {
  const { toWire } = loadDialect(name);
  // A router and a parameter that this host calls otherwise.
  const router = ['rfqz', 'routerA', 'routerB'].find((word) => toWire.router(word) !== word)!;
  const tip = toWire.queryName('bundleTipLamports');
  let sandbox: TestSandbox;
  beforeAll(async () => {
    sandbox = await startTestSandbox({ dialect: name });
  });
  afterAll(() => sandbox.close());

  const order = (query: Record<string, string> = {}): Promise<Answer> =>
    sandbox.order({ inputMint: USDC, outputMint: SOL, amount: '25000000', taker: sandbox.wallet.address, ...query });

  it('names routers as its host does', async () => {
    expect(toWire.router('iris')).not.toBe('iris');
    const pooled = await order();
    expect([pooled.status, pooled.body.router]).toEqual([200, toWire.router('iris')]);
    const firm = await order({ amount: '900000000' });
    expect([firm.status, firm.body.router]).toEqual([200, toWire.router('rfqz')]);
    const excluded = await order({ amount: '900000000', excludeRouters: toWire.router('rfqz') });
    expect([excluded.status, excluded.body.router]).toEqual([200, toWire.router('iris')]);
  });

  it('does not know the neutral names, and answers with its own', async () => {
    const answer = await order({ excludeRouters: `${toWire.router('iris')},${router}` });
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining(`got "${router}"`)]);
    for (const neutral of ['rfqz', 'routerA', 'routerB']) expect(answer.body.error).toContain(toWire.router(neutral));
    expect(answer.body.error).not.toContain(`${router},`);
  });

  it('ignores parameters by their neutral name', async () => {
    expect(tip).not.toBe('bundleTipLamports');
    const ignored = await order({ bundleTipLamports: 'much' });
    expect([ignored.status, ignored.body.mode]).toEqual([200, 'ultra']);
    const heard = await order({ [tip]: '7000' });
    expect([heard.status, heard.body.mode]).toEqual([200, 'manual']);
    const refused = await order({ [tip]: 'much' });
    expect([refused.status, refused.body.error]).toEqual([400, expect.stringMatching(new RegExp(`^${tip}: expected`))]);
  });

  it('lands what it ordered', async () => {
    const executed = await sandbox.execute(await order());
    expect(executed.body).toMatchObject({ status: 'Success', code: 0 });
  });

  it('listens where its host does, and nowhere else', async () => {
    expect(toWire.path(SEARCH)).not.toBe(SEARCH);
    const found = await sandbox.get(toWire.path(SEARCH), { query: SOL });
    expect([found.status, found.body[0].symbol]).toEqual([200, 'SOL']);
    const lost = await sandbox.get(SEARCH, { query: SOL });
    expect(lost.status).toBe(404);
    expect(lost.body.error).toMatch(new RegExp(`^No endpoint GET ${SEARCH}`));
    expect((await sandbox.get('/ultra%2fv1/search', { query: SOL })).status).toBe(404);
    expect((await sandbox.get('/ultra/v1/%73earch', { query: SOL })).status).toBe(404);
  });

  it('reads bodies in its own words, and a quote as it gave it', async () => {
    const pair = { inputMint: USDC, outputMint: SOL, amount: '25000000' };
    const quote = await sandbox.get('/swap/v1/quote', pair);
    expect(quote.status).toBe(200);
    const swap = (fee: object): Promise<Answer> =>
      sandbox.post('/swap/v1/swap', {
        userPublicKey: sandbox.wallet.address, quoteResponse: quote.body, prioritizationFeeLamports: fee,
      });
    const heard = await swap({ [tip]: 7_000 });
    expect([heard.status, heard.body.swapTransaction]).toEqual([200, expect.any(String)]);
    const unheard = await swap({ bundleTipLamports: 7_000 });
    expect(unheard.status).toBe(400);
    // What is missing is named as its host names it.
    expect(unheard.body.error).toContain(tip);
  });

  it('names providers and members as its host does', async () => {
    const provider = toWire.queryValue('provider', 'provider_a');
    expect(provider).not.toBe('provider_a');
    expect((await sandbox.get('/prediction/v1/events/search', { query: 'a', provider })).status).toBe(200);
    const refused = await sandbox.get('/prediction/v1/events/search', { query: 'a', provider: 'provider_a' });
    expect([refused.status, refused.body.param, refused.body.message])
      .toEqual([400, 'provider', expect.stringContaining(provider)]);
    expect(refused.body.message).toContain('got "provider_a"');
    const records =
      await sandbox.get(toWire.path(SEARCH), { query: sandbox.addresses.tokens.map(({ mint }) => mint).join(',') });
    const [member] = Object.keys(toWire.json({ platformEarn: 1 }) as object);
    expect(records.text).toContain(`"apy":{"${member}":`);
    expect(records.text).not.toContain('platformEarn');
  });

  it('takes faults in neutral words, and answers them in its own', async () => {
    const body = { error: 'No route with rfqz: set bundleTipLamports', router: 'rfqz', note: 'rfqz' };
    const rule = { match: { path: SEARCH }, fault: { kind: 'status', status: 503, body }, times: 1 };
    expect((await sandbox.post('/sandbox/faults', rule)).body.faults).toEqual([rule]);
    const answer = await sandbox.get(toWire.path(SEARCH), { query: SOL });
    expect(answer.status).toBe(503);
    expect(answer.body).toEqual({
      error: `No route with ${toWire.router('rfqz')}: set ${tip}`, router: toWire.router('rfqz'), note: 'rfqz',
    });
  });

  it('does not touch a body that a fault put there', async () => {
    await sandbox.post('/sandbox/faults', {
      match: { path: SEARCH }, fault: { kind: 'malformed', body: '{"router":"rfqz"}' }, times: 1,
    });
    expect((await sandbox.get(toWire.path(SEARCH), { query: SOL })).text).toBe('{"router":"rfqz"}');
  });
});

describe('a sandbox that speaks the neutral words', () => {
  it('is what one is by default', async () => {
    const [named, unnamed] = [await startTestSandbox({ dialect: 'neutral' }), await startTestSandbox()];
    try {
      const query = { query: 'SOL' };
      const [a, b] = await Promise.all([named, unnamed].map(async (sandbox) =>
        (await sandbox.get(SEARCH, query)).body.map(({ id }: { id: string }) => id)));
      expect(a).toEqual(b);
      expect((
        await named.order({ inputMint: USDC, outputMint: SOL, amount: '25000000', excludeRouters: 'rfqz' })
      ).body.router).toBe('iris');
    } finally {
      await Promise.all([named.close(), unnamed.close()]);
    }
  });
});
