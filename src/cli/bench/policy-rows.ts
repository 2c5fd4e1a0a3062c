import { systemClock } from '../../daemon/system-clock.ts';
import { openWorld } from '../../daemon/world.ts';
import { EMBEDDED_PLAN } from '../../config/resolve-connections.ts';
import type { Amount } from '../../core/amount.ts';
import { SOL_MINT, USDC_MINT, type Mint } from '../../market/token.ts';
import { createChainReader } from '../../signer/chain-reader.ts';
import { createJsonRpc } from '../../signer/json-rpc.ts';
import { tablesOf } from '../../signer/judge.ts';
import { USUAL_MAX_FEE_LAMPORTS, type Expectation } from '../../signer/policy/expectation.ts';
import { createPolicy, type Policy } from '../../signer/policy/policy.ts';
import type { LookupTables } from '../../signer/policy/resolve.ts';
import type { BenchRow, Measurement } from './measurement.ts';
import { measured, percentile, stopwatch } from './measurement.ts';

const RUNS = 5;
const ROUNDS = 40;
/** A process that is asked for the first time has compiled nothing yet; that is the start's cost, not each swap's. */
const WARM_UP_ROUNDS = 20;
const PEARL = 'Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij' as Mint;
const PAIRS: readonly (readonly [input: Mint, output: Mint, amount: bigint])[] = [
  [USDC_MINT, SOL_MINT, 20_000_000n], [SOL_MINT, USDC_MINT, 100_000_000n], [USDC_MINT, PEARL, 20_000_000n], [USDC_MINT, SOL_MINT, 500_000_000n],
];

interface Case {
  readonly bytes: Uint8Array;
  readonly expectation: Expectation;
  readonly tables: LookupTables;
}

/** What it takes to judge a transaction, without what is asked of the chain: the 99th percentile, half of it with every address derived anew. */
export const POLICY_ROWS: readonly BenchRow[] = [{ name: 'policy', measure: policy }];

async function policy(): Promise<Measurement> {
  const cases = await collectCases();
  const known = createPolicy();
  for (let round = 0; round < WARM_UP_ROUNDS; round++) for (const each of cases) timed(createPolicy(), each);
  const values: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      for (const each of cases) times.push(timed(known, each), timed(createPolicy(), each));
    }
    values.push(percentile(times.sort((a, b) => a - b), 0.99));
  }
  return measured('policy', 'ms', values);
}

function timed(judge: Policy, { bytes, expectation, tables }: Case): number {
  const startedAt = stopwatch();
  const { verdict, findings } = judge.judge(bytes, expectation, { tables });
  const took = stopwatch() - startedAt;
  if (verdict === 'deny') throw new Error(`a transaction of the benchmark is denied: ${findings[0]?.code}`);
  return took;
}

async function collectCases(): Promise<readonly Case[]> {
  const world = await openWorld({
    baseUrl: 'embedded', rpcUrl: 'embedded', apiKey: undefined, dialect: 'neutral', plan: EMBEDDED_PLAN, seed: 7, clock: systemClock,
  });
  const chain = createChainReader(createJsonRpc(world.sandbox!.addresses.rpc_url));
  try {
    const cases: Case[] = [];
    const wallet = world.sandbox!.addresses.wallet.address;
    for (const [inputMint, outputMint, amountIn] of PAIRS) {
      const order = await world.service.swap.order({ inputMint, outputMint, amount: amountIn as Amount, taker: wallet, slippageBps: 50 });
      const bytes = order.transaction!;
      cases.push({
        bytes, tables: await tablesOf(bytes, { policy: createPolicy(), chain }),
        expectation: {
          wallet, inputMint, outputMint, amountIn, minimumOut: order.threshold, maker: order.maker, feePayer: order.signatureFeePayer,
          maxFeeLamports: USUAL_MAX_FEE_LAMPORTS, maxPlatformFeeBps: order.feeBps, route: 'order',
        },
      });
    }
    return cases;
  } finally {
    chain.close();
    await world.close();
  }
}
