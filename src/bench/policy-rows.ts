import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchRow, Measurement } from './measurement.ts';
import { measured, percentile } from './measurement.ts';
import { EMBEDDED_PLAN } from '../config/resolve-connections.ts';
import type { Amount, Bps } from '../core/amount.ts';
import { openConnections } from '../daemon/run/connections.ts';
import { systemClock } from '../daemon/watch/system-clock.ts';
import type { Mint } from '../market/token.ts';
import { SOL_MINT, USDC_MINT } from '../market/token.ts';
import { stopwatch } from '../research/stopwatch.ts';
import { createChainReader } from '../signer/chain/chain-reader.ts';
import { createJsonRpc } from '../signer/chain/json-rpc.ts';
import { tablesOf } from '../signer/policy-check.ts';
import type { Expectation } from '../signer/policy/expectation.ts';
import { USUAL_MAX_FEE_LAMPORTS } from '../signer/policy/expectation.ts';
import type { Policy } from '../signer/policy/policy.ts';
import { createPolicy } from '../signer/policy/policy.ts';
import type { LookupTables } from '../signer/policy/lookup-tables.ts';
import type { JournalStore } from '../store/journal.ts';
import { openJournal } from '../store/journal.ts';

const RUNS = 5;
const ROUNDS = 40;
/** Not counted: the first requests of a process include its compilation, which is a cost of the start. */
const WARM_UP_ROUNDS = 20;
const PEARL = 'Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij' as Mint;
const PAIRS: readonly (readonly [input: Mint, output: Mint, amount: bigint])[] = [
  [USDC_MINT, SOL_MINT, 20_000_000n], [SOL_MINT, USDC_MINT, 100_000_000n], [USDC_MINT, PEARL, 20_000_000n],
  [USDC_MINT, SOL_MINT, 500_000_000n],
];

interface Case {
  readonly bytes: Uint8Array;
  readonly expectation: Expectation;
  readonly tables: LookupTables;
}

/**
 * The time to check a transaction without chain requests: the 99th percentile. Half of the checks derive every address
 * again.
 */
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
  const connections = await openConnections({
    baseUrl: 'embedded', rpcUrl: 'embedded', apiKey: undefined, dialect: 'neutral', plan: EMBEDDED_PLAN, seed: 7,
    clock: systemClock,
  });
  const chain = createChainReader(createJsonRpc(connections.sandbox!.addresses.rpc_url));
  try {
    const cases: Case[] = [];
    const wallet = connections.sandbox!.addresses.wallet.address;
    for (const [inputMint, outputMint, amountIn] of PAIRS) {
      const order = await connections.service.swap.order({
        inputMint, outputMint, amount: amountIn as Amount, taker: wallet, slippageBps: 50,
      });
      const bytes = order.transaction!;
      cases.push({
        bytes, tables: await tablesOf(bytes, { policy: createPolicy(), chain }),
        expectation: {
          wallet, inputMint, outputMint, amountIn, minimumOut: order.threshold, maker: order.maker,
          feePayer: order.signatureFeePayer,
          maxFeeLamports: USUAL_MAX_FEE_LAMPORTS, maxPlatformFeeBps: order.feeBps, route: 'order',
        },
      });
    }
    return cases;
  } finally {
    chain.close();
    await connections.close();
  }
}

const JOURNAL_RUNS = 5;
const INTENTS_PER_RUN = 200;

/**
 * The time to journal an approved intent before any service request: two rows in a real file, each on disk when its
 * call returns.
 */
export const JOURNAL_ROWS: readonly BenchRow[] = [{ name: 'journal-intent', measure: journalIntent }];

async function journalIntent(): Promise<Measurement> {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-bench-'));
  const journal = openJournal({ path: join(folder, 'journal.sqlite'), clock: systemClock });
  try {
    const medians: number[] = [];
    for (let run = 0; run < JOURNAL_RUNS; run++) {
      const times = Array.from({ length: INTENTS_PER_RUN }, (_, index) =>
        journalOnce(journal, `bench-${run * INTENTS_PER_RUN + index + 1}`));
      medians.push(percentile(times.sort((a, b) => a - b), 0.5));
    }
    return measured('journal-intent', 'ms', medians);
  } finally {
    journal.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function journalOnce(journal: JournalStore, id: string): number {
  const startedAt = stopwatch();
  journal.intentApproved({
    id, strategy: 'bench', createdAt: systemClock.now(), purpose: 'entry', inputMint: USDC_MINT, outputMint: SOL_MINT,
    amountIn: 20_000_000n as Amount, maxSlippageBps: 50 as Bps, maxPriceImpactBps: 100 as Bps, maxFeeBps: 30 as Bps,
    minimumOut: 1_000_000n as Amount, route: 'order', reason: 'a benchmark',
  });
  journal.transition({ kind: 'outcome', intentId: id, attempt: 1, state: 'building' });
  return stopwatch() - startedAt;
}
