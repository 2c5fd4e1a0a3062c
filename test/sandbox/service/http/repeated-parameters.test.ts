import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dialectNames, loadDialect } from '../../../../src/service/wire/dialect.ts';
import { SOL, startTestSandbox, USDC, type Answer, type TestSandbox } from '../sandbox-client.ts';

const PAIR = `inputMint=${USDC}&outputMint=${SOL}&amount=20000000`;

describe.each(dialectNames())('in the dialect "%s"', (dialect) => {
  let sandbox: TestSandbox;
  beforeAll(async () => {
    sandbox = await startTestSandbox({ speed: 0, dialect });
  });
  afterAll(() => sandbox.close());

  /** Returns the labels of the answer's route, or the refusal. */
  async function labels(path: string): Promise<string[] | string> {
    const { body }: Answer = await sandbox.get(path);
    return body.error ?? body.routePlan.map((step: Answer['body']) => step.swapInfo.label);
  }

  test.each(['/swap/v2/build', '/swap/v1/quote'])('%s reads a repeated list like one with commas', async (path) => {
    const query = `${path}?${PAIR}&taker=${sandbox.wallet.address}`;
    const [both, repeated, mixed] = [
      await labels(`${query}&dexes=Lagoon,Tidepool`), await labels(`${query}&dexes=Lagoon&dexes=Tidepool`),
      await labels(`${query}&dexes=Estuary,Lagoon&dexes=Tidepool`),
    ];
    expect(repeated).toEqual(both);
    expect(mixed).toEqual(both);
    expect(await labels(`${query}&excludeDexes=Lagoon&excludeDexes=Tidepool`))
      .toEqual(await labels(`${query}&excludeDexes=Lagoon,Tidepool`));
    expect(await labels(`${query}&dexes=Lagoon&dexes=`)).toMatch(/dexes: expected a value, got an empty one/);
    expect(await labels(`${query}&dexes=Lagoon&excludeDexes=Tidepool`)).toMatch(/expected one of them, got both/);
  });

  test('an order excludes the routers of all its lists', async () => {
    const { toWire } = loadDialect(dialect);
    const [first, second, third] = ['iris', 'routerA', 'rfqz'].map((router) => toWire.router(router));
    const path = `/swap/v2/order?${PAIR}&excludeRouters=${first},${second}&excludeRouters=${third}`;
    expect((await sandbox.get(path)).body.router).toBe(toWire.router('routerB'));
  });

  test.each([
    'amount=1&amount=2', 'inputMint=a&inputMint=a', 'slippageBps=1&slippageBps=1', 'taker=a&taker=b',
    'mode=fast&mode=fast',
  ])('a scalar that stands there twice is a 400: %s', async (twice) => {
    const name = twice.split('=', 1)[0]!;
    const rest = `${PAIR}&taker=${sandbox.wallet.address}`.split('&').filter((part) => !part.startsWith(`${name}=`));
    const { status, body } = await sandbox.get(`/swap/v2/build?${[...rest, twice].join('&')}`);
    expect([status, body.error]).toEqual([400, `${name}: expected one value, got several`]);
  });
});
