import type { Pool } from 'undici';
import type { SandboxAddresses } from '../../src/sandbox/sandbox.ts';
import type { Dialect } from '../../src/service/wire/dialect.ts';
import { createWallet, type TestWallet } from '../sandbox/service/sandbox-client.ts';

/** What requests are made of: everything in a sandbox that has a name. */
export interface FuzzFixture {
  readonly addresses: SandboxAddresses;
  readonly dialect: Dialect;
  readonly key: string;
  /** Signs some of the requests; the sandbox's own wallet signs none. */
  readonly wallet: TestWallet;
  readonly mints: readonly string[];
  readonly labels: readonly string[];
  readonly markets: readonly string[];
  readonly events: readonly string[];
  readonly owners: readonly string[];
  readonly positions: readonly string[];
  readonly vaults: readonly string[];
  /** Bodies for /execute, signed. */
  readonly executions: readonly object[];
  /** A quote of the superseded swap API. */
  readonly quote: unknown;
  /** Transactions that are valid, in base64. */
  readonly transactions: readonly string[];
  readonly prices: readonly { readonly mint: string; readonly usd: number }[];
}

const KEY = 'campaign';
const EXECUTIONS = 6;

/**
 * Explores a sandbox and creates a wallet of its own there. Throws when an ordinary request is not answered as it
 * should be.
 */
export async function exploreFixture(
  options: { readonly addresses: SandboxAddresses; readonly dialect: Dialect; readonly pool: Pool },
): Promise<FuzzFixture> {
  const { addresses, dialect, pool } = options;
  const { toWire, fromWire } = dialect;
  const call = async (path: string, query: Readonly<Record<string, string>> = {}, body?: object): Promise<unknown> => {
    const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [toWire.queryName(name), value]))
      .toString();
    const response = await pool.request({
      method: body === undefined ? 'GET' : 'POST', path: `${toWire.path(path)}${search === '' ? '' : `?${search}`}`,
      headers: { 'x-api-key': KEY, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.body.text();
    if (response.statusCode !== 200)
      throw new Error(`expected ${path} to answer, got ${response.statusCode} ${text.slice(0, 200)}`);
    return fromWire.json(JSON.parse(text));
  };

  const [sol, usdc] = ['SOL', 'USDC']
    .map((symbol) => addresses.tokens.find((token) => token.symbol === symbol)!.mint) as [string, string];
  const wallet = createWallet('the campaign’s own wallet');
  await call('/sandbox/fund', {}, { owner: wallet.address, mint: sol, amount: '50000000000' });
  await call('/sandbox/fund', {}, { owner: wallet.address, mint: usdc, amount: '5000000000' });
  const state = await call('/sandbox/state') as {
    pools: { label: string }[]; prediction_markets: { market_id: string }[]; prediction_events: { event_id: string }[];
    prediction_owners: { address: string }[];
    lend_positions: { position: string }[]; prices: { mint: string; usd: number }[];
  };
  const positions = await call('/prediction/v1/positions') as { data: { pubkey: string }[] };
  const executions: { signedTransaction: string; requestId: string }[] = [];
  for (let i = 0; i < EXECUTIONS; i++) {
    const order = await call('/swap/v2/order', {
      inputMint: usdc, outputMint: sol, amount: String(20_000_000 + i), taker: wallet.address,
    }) as { transaction: string; requestId: string };
    executions.push({ signedTransaction: wallet.sign(order.transaction), requestId: order.requestId });
  }
  return {
    addresses, dialect, key: KEY, wallet, executions,
    mints: addresses.tokens.map(({ mint }) => mint),
    labels: [...new Set(state.pools.map(({ label }) => label))],
    markets: state.prediction_markets.map(({ market_id: id }) => id),
    events: state.prediction_events.map(({ event_id: id }) => id),
    owners: [addresses.wallet.address, ...state.prediction_owners.map(({ address }) => address)],
    positions: positions.data.map(({ pubkey }) => pubkey),
    vaults: state.lend_positions.map(({ position }) => position),
    quote: await call('/swap/v1/quote', { inputMint: usdc, outputMint: sol, amount: '20000000' }),
    transactions: executions.map(({ signedTransaction }) => signedTransaction),
    prices: state.prices.map(({ mint, usd }) => ({ mint, usd })),
  };
}
