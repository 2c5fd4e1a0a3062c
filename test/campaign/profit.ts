import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { parse } from 'csv-parse/sync';
import { createChainReader } from '../crash/chain-reader.ts';
import type { Playground, Running } from '../e2e/gannet.ts';
import { createPlayground, daemonOf, jsonLines, startSandbox } from '../e2e/gannet.ts';

const SOL = 'So11111111111111111111111111111111111111112';
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const PEARL = 'Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij';
const DECIMALS = new Map([[SOL, 9], [USDC, 6], [PEARL, 6]]);

/** What a wallet's transaction did on the chain, by mint; native and wrapped SOL together. */
type Changes = ReadonlyMap<string, bigint>;
type TaxRow = Readonly<Record<string, string>>;

interface ProfitAnswer {
  readonly total: {
    readonly all: readonly { readonly currency: string; readonly realised: { readonly units: string } }[];
  };
  readonly positions: readonly { readonly mint: string; readonly quantity: { readonly units: string } }[];
}

/** What was compared, and what does not agree. */
interface ProfitCheck {
  readonly swaps: number;
  readonly trades: number;
  readonly lives: number;
  readonly violations: readonly string[];
}

/**
 * Runs several strategies on a sandbox's chain over some lives of the daemon, the first of which is killed. Compares
 * every figure of profit, trades and the file for a tax return with the balances and fees of the chain.
 */
async function checkProfit({ swaps, lives, seed }: {
  readonly swaps: number; readonly lives: number; readonly seed: number;
}): Promise<ProfitCheck> {
  const playground = createPlayground();
  try {
    const service = await startSandbox(playground, seed, '--speed', '60');
    const { address } = service.wallet;
    const reader = createChainReader(service.rpc_url);
    const before = await reader.balances(address);
    const state = playground.path('state');
    const config = playground.write('gannet.yaml', configOf(service));
    const environment = { GANNET_API_KEY: 'a-key-of-my-own', GANNET_WALLET_KEY: service.wallet.private_key };
    const args = ['run', '--live', '--json', '--accept-new-journal', '--accept-new-counters', '--config', config,
      '--state-dir', state];
    let count = 0;
    for (let life = 1; life <= lives; life++) {
      count += await live(playground.start(args, { environment }), {
        swaps: Math.ceil((swaps - count) / (lives - life + 1)), isKilled: life === 1 && lives > 1,
      });
    }
    return await compare({ playground, state, reader, address, before, rpcUrl: service.rpc_url, lives });
  } finally {
    await playground.close();
  }
}

/** Lets a daemon trade until so many swaps have landed, and ends it. */
async function live(
  daemon: Running, { swaps, isKilled }: { readonly swaps: number; readonly isKilled: boolean },
): Promise<number> {
  await daemon.until((stdout) => landed(stdout) >= swaps);
  if (isKilled) process.kill(await daemonOf(daemon), 'SIGKILL');
  else daemon.signal('SIGINT');
  return landed((await daemon.ended).stdout);
}

function landed(stdout: string): number {
  return stdout.split('"state":"confirmed"').length - 1;
}

async function compare({ playground, state, reader, address, before, rpcUrl, lives }: {
  readonly playground: Playground; readonly state: string; readonly reader: ReturnType<typeof createChainReader>;
  readonly address: string; readonly before: Changes; readonly rpcUrl: string; readonly lives: number;
}): Promise<ProfitCheck> {
  const csv = playground.path('tax.csv');
  const ask = async (...args: readonly string[]): Promise<unknown> => {
    const { code, stdout, stderr } = await playground.run([...args, '--json', '--state-dir', state]);
    if (code !== 0) throw new Error(`${args.join(' ')}: ${stdout}${stderr}`);
    return jsonLines(stdout)[0];
  };
  const profit = await ask('profit', '--csv', csv) as ProfitAnswer;
  const { trades } = await ask('trades', '--limit', '999999') as { trades: readonly Record<string, never>[] };
  const rows = parse(readFileSync(csv), { columns: true }) as TaxRow[];
  const transactions = new Map<string, Changes>();
  for (const { id } of await reader.landed(address)) transactions.set(id, await changesOf(rpcUrl, id, address));
  const violations: string[] = [];
  const expectSame = (what: string, said: bigint, chain: bigint): void => {
    if (said !== chain) violations.push(`${what}: said ${said}, by the chain ${chain}`);
  };

  const bySwap = Map.groupBy(rows.filter(({ signature }) => signature !== ''), ({ signature }) => signature!);
  for (const [signature, own] of bySwap) {
    const chain = transactions.get(signature);
    if (chain === undefined) violations.push(`${signature} is not on the chain`);
    for (const mint of DECIMALS.keys())
      expectSame(`${signature} ${mint}`, changeOf(own, mint), chain?.get(mint) ?? 0n);
  }
  for (const id of transactions.keys()) if (!bySwap.has(id)) violations.push(`${id} is in no row`);
  const after = await reader.balances(address);
  for (const mint of DECIMALS.keys())
    expectSame(`balance of ${mint}`, changeOf(rows, mint), (after.get(mint) ?? 0n) - (before.get(mint) ?? 0n));

  const fifo = recomputed(rows, transactions);
  for (const [currency, name] of [[USDC, 'USDC'], [SOL, 'SOL']] as const) {
    const said = profit.total.all.find((own) => own.currency === name)?.realised.units ?? '0';
    expectSame(`realised in ${name}`, BigInt(said), fifo.realised.get(currency) ?? 0n);
    const ofTrades = trades.filter((trade) => trade['proceeds']!['symbol'] === name)
      .reduce((sum, trade) => sum + BigInt(trade['profit']!['units']), 0n);
    expectSame(`trades in ${name}`, ofTrades, fifo.realised.get(currency) ?? 0n);
  }
  const held = profit.positions.reduce((sums, { mint, quantity }) =>
    sums.set(mint, (sums.get(mint) ?? 0n) + BigInt(quantity.units)), new Map<string, bigint>());
  for (const mint of [SOL, PEARL]) expectSame(`lots of ${mint}`, held.get(mint) ?? 0n, fifo.held.get(mint) ?? 0n);
  // Strategies in USDC: a gain in dollars is one in USDC, to the unit.
  const gains = rows.filter(({ type, strategy }) => type === 'disposal' && strategy !== 'sol-book')
    .reduce((sum, { gain_usd: gain }) => sum + unitsOf(gain!, 6), 0n);
  expectSame('gains of the tax file', gains, fifo.realised.get(USDC) ?? 0n);
  return { swaps: bySwap.size, trades: trades.length, lives, violations };
}

/** What rows of the tax file say that a balance changed by. */
function changeOf(rows: readonly TaxRow[], mint: string): bigint {
  return rows.filter((row) => row['mint'] === mint).reduce((sum, { type, quantity }) => {
    const units = unitsOf(quantity!, DECIMALS.get(mint)!);
    return ['acquisition', 'rent returned', 'deposit', 'mismatch in'].includes(type!) ? sum + units : sum - units;
  }, 0n);
}

function unitsOf(text: string, decimals: number): bigint {
  const [whole = '', places = ''] = text.split('.');
  return BigInt(whole + places.padEnd(decimals, '0'));
}

/** FIFO from what each swap moved on the chain, by the strategy of its row: realised by currency, and what is left. */
function recomputed(rows: readonly TaxRow[], transactions: ReadonlyMap<string, Changes>): {
  readonly realised: ReadonlyMap<string, bigint>; readonly held: ReadonlyMap<string, bigint>;
} {
  const realised = new Map<string, bigint>();
  const lots: ChainLot[] = [];
  for (const fee of rows.filter(({ type }) => type === 'fee')) {
    const strategy = fee['strategy']!;
    const own = rows.filter(({ signature, type }) => signature === fee['signature'] && type !== 'fee');
    const costs = own.filter(({ type }) => type?.startsWith('rent'));
    const currency = strategy === 'sol-book' ? SOL : USDC;
    const chain = transactions.get(fee['signature']!)!;
    const swapped = own.find(({ type, mint }) => (type === 'disposal' || type === 'acquisition') && mint !== currency);
    if (swapped === undefined) continue;
    const mint = swapped['mint']!;
    // Fees and rents are in the chain's change of SOL, and in no price.
    const moved = (of: string): bigint => (chain.get(of) ?? 0n) - (of === SOL ? changeOf([fee, ...costs], SOL) : 0n);
    const [token, money] = [moved(mint), moved(currency)];
    if (token > 0n) lots.push({ of: strategy, mint, quantity: token, cost: -money, sold: 0n });
    else {
      let left = -token;
      let cost = 0n;
      for (const lot of lots.filter(({ of, mint: held }) => of === strategy && held === mint)) {
        const taken = lot.quantity - lot.sold < left ? lot.quantity - lot.sold : left;
        cost += (lot.cost * (lot.sold + taken)) / lot.quantity - (lot.cost * lot.sold) / lot.quantity;
        lot.sold += taken;
        left -= taken;
      }
      realised.set(currency, (realised.get(currency) ?? 0n) + money - cost);
    }
  }
  const held = new Map<string, bigint>();
  for (const { mint, quantity, sold } of lots) held.set(mint, (held.get(mint) ?? 0n) + quantity - sold);
  return { realised, held };
}

/** What one purchase brought, and how much of it has been sold. */
interface ChainLot {
  readonly of: string;
  readonly mint: string;
  readonly quantity: bigint;
  readonly cost: bigint;
  sold: bigint;
}

async function changesOf(rpcUrl: string, id: string, wallet: string): Promise<Changes> {
  const response = await fetch(rpcUrl, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({
      jsonrpc: '2.0', id: 1, method: 'getTransaction',
      params: [id, { encoding: 'json', commitment: 'confirmed', maxSupportedTransactionVersion: 1 }],
    }),
  });
  const { result: { transaction, meta } } = await response.json() as { readonly result: Transaction };
  const index = transaction.message.accountKeys.indexOf(wallet);
  const lamports = BigInt(meta.postBalances[index]!) - BigInt(meta.preBalances[index]!);
  const changes = new Map<string, bigint>([[SOL, lamports]]);
  for (const [sign, balances] of [[-1n, meta.preTokenBalances], [1n, meta.postTokenBalances]] as const) {
    for (const { owner, mint, uiTokenAmount } of balances)
      if (owner === wallet) changes.set(mint, (changes.get(mint) ?? 0n) + sign * BigInt(uiTokenAmount.amount));
  }
  return changes;
}

interface Transaction {
  readonly transaction: { readonly message: { readonly accountKeys: readonly string[] } };
  readonly meta: {
    readonly preBalances: readonly number[]; readonly postBalances: readonly number[];
    readonly preTokenBalances: readonly TokenBalance[]; readonly postTokenBalances: readonly TokenBalance[];
  };
}

interface TokenBalance {
  readonly owner: string;
  readonly mint: string;
  readonly uiTokenAmount: { readonly amount: string };
}

/** Trend followers that trade all the time, in two tokens and two currencies, and purchases that are never sold. */
function configOf(service: {
  readonly base_url: string; readonly rpc_url: string; readonly wallet: { readonly address: string };
}): string {
  const wide = 'per_trade: "2000", per_hour: "100000", per_day: "1000000"';
  return `
mode: live
service: { base_url: "${service.base_url}", api_key: "\${GANNET_API_KEY}", plan: pro }
chain: { rpc_url: "${service.rpc_url}" }
wallet: { key_from: env:GANNET_WALLET_KEY, address: ${service.wallet.address} }
tokens: { SOL: ${SOL}, USDC: ${USDC}, PEARL: ${PEARL} }
risk:
  max_trade: "200 USDC"
  max_open_intents: 4
  max_price_impact_bps: 500
  max_slippage_bps: 300
  max_swaps: { per_minute: 600, per_hour: 9000, per_day: 90000 }
  protections: [{ kind: daily_loss, limit: "5000 USDC", action: halt }]
  token_safety: { trusted: [SOL, USDC, PEARL] }
signer: { caps: { USDC: { ${wide} }, SOL: { ${wide} }, PEARL: { ${wide} } } }
control: { port: 0 }
strategies:
  - { use: sma-crossover, name: sol-trend, budget: "500 USDC",
      params: { pair: SOL/USDC, size: "20 USDC", every: 300ms, fast: 2, slow: 3 } }
  - { use: sma-crossover, name: pearl-trend, budget: "500 USDC",
      params: { pair: PEARL/USDC, size: "15 USDC", every: 300ms, fast: 2, slow: 4 } }
  - { use: sma-crossover, name: sol-book, budget: "2 SOL",
      params: { pair: PEARL/SOL, size: "0.1 SOL", every: 300ms, fast: 2, slow: 4 } }
  - { use: dca, name: saver, budget: "300 USDC", params: { buy: PEARL, spend: "1 USDC", every: 2s, watch: 1s } }
`;
}

const { values } = parseArgs({ options: {
  swaps: { type: 'string', default: '300' }, lives: { type: 'string', default: '4' },
  seed: { type: 'string', default: '1' },
} });
const [swaps, lives, seed] = [values.swaps, values.lives, values.seed].map(Number);
const result = await checkProfit({ swaps: swaps!, lives: lives!, seed: seed! });
process.stdout.write(`${JSON.stringify(result, undefined, 2)}\n`);
process.exitCode = result.violations.length === 0 ? 0 : 1;
