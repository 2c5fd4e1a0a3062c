import type { Choose } from './choose.ts';
import type { FuzzFixture } from './fuzz-fixture.ts';

/** A request to the service in neutral words, before anybody spoils it. */
export interface ServiceRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly body?: unknown;
}

/** Makes valid requests to one endpoint. */
export interface Template {
  readonly name: string;
  make(choose: Choose, fixture: FuzzFixture): ServiceRequest;
}

type Fields = Readonly<Record<string, string | undefined>>;

/** Every endpoint of the service, and of the sandbox's own control. */
export const TEMPLATES: readonly Template[] = [
  get('/swap/v2/order', (choose, fixture) => ({ ...pair(choose, fixture), ...orderExtras(choose, fixture) })),
  get('/swap/v2/build', (choose, fixture) =>
    ({ ...pair(choose, fixture), taker: fixture.wallet.address, ...buildExtras(choose, fixture) })),
  post('/swap/v2/execute', (choose, fixture) => choose.pick(fixture.executions)),
  get('/swap/v1/quote', (choose, fixture) => ({ ...pair(choose, fixture), ...quoteExtras(choose, fixture) })),
  post('/swap/v1/swap', (choose, fixture) => swapBody(choose, fixture)),
  post('/swap/v1/swap-instructions', (choose, fixture) => swapBody(choose, fixture)),
  get('/swap/v1/program-id-to-label', () => ({})),
  get('/ultra/v1/search', (choose, fixture) =>
    ({ query: choose.pick(['SOL', 'usd', fixture.mints.join(','), choose.pick(fixture.mints), '']) })),
  get('/tokens/v2/search', (choose, fixture) => ({ query: choose.pick(['SOL', choose.pick(fixture.mints)]) })),
  get('/tokens/v2/tag', (choose) => ({ query: choose.pick(['lst', 'verified', 'stocks']) })),
  get(['/tokens/v2', ['toporganicscore', 'toptraded', 'toptrending'], ['5m', '1h', '6h', '24h']], (choose) =>
    ({ limit: maybe(choose, String(choose.integer(1, 100))) })),
  get('/tokens/v2/recent', () => ({})),
  get('/tokens/v2/content', (choose, fixture) => ({ mints: fixture.mints.slice(0, choose.integer(1, 12)).join(',') })),
  get('/tokens/v2/content/cooking', () => ({})),
  get('/tokens/v2/content/feed', (choose, fixture) =>
    ({ mint: choose.pick(fixture.mints), page: maybe(choose, '2'), limit: maybe(choose, '5') })),
  get('/prediction/v1/history', (choose, fixture) => ({
    ...range(choose), ownerPubkey: choose.pick(fixture.owners),
    positionPubkey: maybe(choose, choose.pick(fixture.positions)),
  })),
  get('/prediction/v1/positions', (choose, fixture) => ({
    ...range(choose), ownerPubkey: maybe(choose, choose.pick(fixture.owners)),
    isYes: maybe(choose, choose.pick(['true', 'false'])),
  })),
  get(['/prediction/v1/positions', (fixture) => fixture.positions], () => ({})),
  get(['/prediction/v1/events/suggested', (fixture) => fixture.owners], (choose) =>
    ({ provider: maybe(choose, choose.pick(['provider_a', 'provider_b'])) })),
  get('/prediction/v1/events/search', (choose) =>
    ({ query: choose.pick(['a', 'will', 'SOL']), limit: maybe(choose, '5'), provider: maybe(choose, 'provider_a') })),
  get(['/prediction/v1/events', (fixture) => fixture.events, ['markets']], (choose) => range(choose)),
  get(['/prediction/v1/orderbook', (fixture) => fixture.markets], () => ({})),
  get('/lend/v1/earn/earnings', (_choose, fixture) =>
    ({ user: fixture.wallet.address, positions: fixture.vaults.join(',') })),
  get('/sandbox/state', () => ({})),
  post('/sandbox/price', (choose, fixture) => choose.pick(fixture.prices)),
  post('/sandbox/time', (choose) => ({ advance_slots: choose.integer(1, 3) })),
  post('/sandbox/fund', (choose, fixture) =>
    ({ owner: fixture.wallet.address, mint: choose.pick(fixture.mints), amount: '1000000000' })),
  post('/sandbox/faults', (choose) => ({ match: { method: 'GET', path: '/campaign/*' }, fault: choose.pick([
    { kind: 'delay', ms: 5 }, { kind: 'status', status: 503 }, { kind: 'malformed', body: 'x' },
  ]), times: 2 })),
  { name: 'DELETE /sandbox/faults', make: () => ({ method: 'DELETE', path: '/sandbox/faults', query: [] }) },
  post('/sandbox/book', (choose, fixture) =>
    ({ market_id: choose.pick(fixture.markets), yes: [[40, 100], [39, 10]], no: [] })),
  { name: 'DELETE /sandbox/book', make: () => ({ method: 'DELETE', path: '/sandbox/book', query: [] }) },
];

/** A fixed path, or its beginning and the choices for each segment that follows. */
type Path = string
  | readonly [start: string, ...segments: (readonly string[] | ((fixture: FuzzFixture) => readonly string[]))[]];

function get(path: Path, query: (choose: Choose, fixture: FuzzFixture) => Fields): Template {
  const name = typeof path === 'string' ? path : `${path[0]}${'/…'.repeat(path.length - 1)}`;
  return {
    name: `GET ${name}`,
    make: (choose, fixture) => ({
      method: 'GET', path: pathOf(path, choose, fixture),
      query: Object.entries(query(choose, fixture))
        .flatMap(([parameter, value]) => (value === undefined ? [] : [[parameter, value] as const])),
    }),
  };
}

function post(path: string, body: (choose: Choose, fixture: FuzzFixture) => unknown): Template {
  return {
    name: `POST ${path}`, make: (choose, fixture) => ({ method: 'POST', path, query: [], body: body(choose, fixture) }),
  };
}

function pathOf(path: Path, choose: Choose, fixture: FuzzFixture): string {
  if (typeof path === 'string') return path;
  const [start, ...segments] = path;
  return [start, ...segments.map((choices) =>
    encodeURIComponent(choose.pick(typeof choices === 'function' ? choices(fixture) : choices)))]
    .join('/');
}

function maybe<Value>(choose: Choose, value: Value): Value | undefined {
  return choose.chance(0.3) ? value : undefined;
}

function range(choose: Choose): Fields {
  const start = choose.integer(0, 5);
  return choose.chance(0.5) ? {} : { start: String(start), end: String(start + choose.integer(1, 30)) };
}

/** Two of the tokens that any router knows; small amounts that every pool can bear. */
function pair(choose: Choose, { addresses }: FuzzFixture): Fields {
  const [sol, usdc] = ['SOL', 'USDC'].map((symbol) => addresses.tokens.find((token) => token.symbol === symbol)!.mint);
  const amount = String(choose.integer(20_000_000, 90_000_000));
  return choose.chance(0.5) ? { inputMint: sol, outputMint: usdc, amount }
    : { inputMint: usdc, outputMint: sol, amount };
}

function orderExtras(choose: Choose, fixture: FuzzFixture): Fields {
  return {
    taker: maybe(choose, fixture.wallet.address),
    slippageBps: maybe(choose, String(choose.integer(0, 10_000))),
    priorityFeeLamports: maybe(choose, '5000'), bundleTipLamports: maybe(choose, '1000'),
    broadcastFeeType: maybe(choose, choose.pick(['maxCap', 'exactFee'])),
    excludeRouters: maybe(choose, choose.pick(['rfqz', 'routerA', 'rfqz,routerB'])),
    excludeDexes: maybe(choose, fixture.labels.at(-1)),
  };
}

function buildExtras(choose: Choose, fixture: FuzzFixture): Fields {
  return {
    slippageBps: maybe(choose, '100'), mode: maybe(choose, 'fast'), excludeDexes: maybe(choose, fixture.labels.at(-1)),
    maxAccounts: maybe(choose, '64'), wrapAndUnwrapSol: maybe(choose, 'true'),
    blockhashSlotsToExpiry: maybe(choose, String(choose.integer(1, 300))),
  };
}

function quoteExtras(choose: Choose, fixture: FuzzFixture): Fields {
  return {
    slippageBps: maybe(choose, '100'), swapMode: maybe(choose, 'ExactIn'),
    excludeDexes: maybe(choose, fixture.labels.at(-1)), onlyDirectRoutes: maybe(choose, 'false'),
    restrictIntermediateTokens: maybe(choose, 'true'), asLegacyTransaction: maybe(choose, 'false'),
    maxAccounts: maybe(choose, '64'), instructionVersion: maybe(choose, choose.pick(['V1', 'V2'])),
    forBundle: maybe(choose, 'false'),
  };
}

function swapBody(choose: Choose, { wallet, quote }: FuzzFixture): object {
  return {
    userPublicKey: wallet.address, quoteResponse: quote,
    ...(choose.chance(0.3) ? {
      prioritizationFeeLamports: { priorityLevelWithMaxLamports: { priorityLevel: 'veryHigh', maxLamports: 10_000 } },
    } : {}), ...(choose.chance(0.3) ? { dynamicComputeUnitLimit: true } : {}),
    ...(choose.chance(0.3) ? { wrapAndUnwrapSol: true } : {}),
  };
}
