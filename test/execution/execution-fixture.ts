import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { asyncScheduler } from 'rxjs';
import { request } from 'undici';
import { afterAll, expect } from 'vitest';
import type { Chain } from '../../src/chain/chain.ts';
import { createChain } from '../../src/chain/chain.ts';
import { readTransactionFacts } from '../../src/solana/transaction.ts';
import type { Amount, Bps } from '../../src/core/amount.ts';
import type { ExecutorPorts } from '../../src/execution/ports.ts';
import type { Mint } from '../../src/market/token.ts';
import { SOL_MINT, USDC_MINT } from '../../src/market/token.ts';
import type { PoolReserves } from '../../src/sandbox/chain/chain.ts';
import { GENESIS_WALLET } from '../../src/sandbox/genesis.ts';
import type { Sandbox, SandboxOptions } from '../../src/sandbox/sandbox.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { loadDialect } from '../../src/service/wire/dialect.ts';
import type { Service } from '../../src/service/service.ts';
import { createService } from '../../src/service/service.ts';
import { parseSecretKey } from '../../src/signer/key.ts';
import { createSigner } from '../../src/signer/sign.ts';
import type { JournalStore } from '../../src/store/journal.ts';
import { openJournal } from '../../src/store/journal.ts';
import type { Executor } from '../../src/trading/executor.ts';
import type { Intent, Outcome } from '../../src/trading/intent.ts';
import { impatientClock } from './impatient-clock.ts';
import { memoryFolder } from './memory-folder.ts';

/** The executor waits 400 ms between two questions; no test needs to. */
const CLOCK_FACTOR = 200;
/** Two seconds, for which a client waits after a refusal, are less than a transaction lives. */
const SLOT_MS = 20;
/** Short, so that a client gives up while the sandbox still ponders. */
export const EXECUTE_TIMEOUT_MS = 400;

/** A transaction of the wallet that the chain executed. */
export interface LandedTransaction {
  readonly signature: string;
  readonly succeeded: boolean;
}

/** The real parts around an executor: sandbox, clients, key and journal, each as the daemon would make it. */
export interface ExecutionFixture extends ExecutorPorts {
  readonly sandbox: Sandbox;
  readonly service: Service['swap'];
  readonly chain: Chain;
  readonly journal: JournalStore;
  readonly journalPath: string;
  readonly baseUrl: string;
  /** Everything that the wallet signed and the chain took, in order. */
  readonly landed: readonly LandedTransaction[];
  fault(
    rule: { readonly path: string; readonly fault: Readonly<Record<string, unknown>>; readonly times?: number },
  ): Promise<void>;
  clearFaults(): Promise<void>;
  passSlots(count: number): Promise<void>;
  /** Sets a price by multiplying it; takes effect at once, in all pools of the token. */
  scalePrice(mint: Mint, factor: number): Promise<void>;
  intent(overrides?: Partial<Intent>): Intent;
  /** Returns the wallet on the chain as it is now, all that was sent included. */
  wallet(): Promise<Map<Mint, Amount>>;
  close(): Promise<void>;
}

interface ExecutionFixtureOptions {
  /** A sandbox of the fixture's own. */
  readonly sandbox?: SandboxOptions;
  readonly slotMs?: number;
  /**
   * How late the executor is woken (see `impatientClock`): where that does not matter, fewer calls are made until an
   * expiry is believed.
   */
  readonly late?: number;
  readonly triesAgain?: boolean;
}

/** A sandbox with the pools that it began with. */
interface Stage {
  readonly sandbox: Sandbox;
  readonly reserves: ReadonlyMap<string, PoolReserves>;
}

type ShareStage = (slotMs?: number) => Promise<Stage>;

/**
 * Returns a function that starts the fixtures of a test file, and closes what they share when the file is through:
 * those that ask for no sandbox of their own live in one, one after the other. Files share their modules, so that each
 * has to ask for itself.
 */
export function executionFixtures(): (options?: ExecutionFixtureOptions) => Promise<ExecutionFixture> {
  const stages = new Map<number, Promise<Stage>>();
  afterAll(async () => {
    for (const stage of stages.values()) await (await stage).sandbox.close();
  });
  return (options = {}) => startFixture(options, (slotMs = SLOT_MS) => {
    const stage = stages.get(slotMs) ?? openStage({ slotMs });
    stages.set(slotMs, stage);
    return stage;
  });
}

async function openStage(options: SandboxOptions): Promise<Stage> {
  const sandbox = await startSandbox({ speed: 0, slotMs: SLOT_MS, ...options });
  return {
    sandbox, reserves: new Map(sandbox.chain.pools().map(({ address }) => [address, sandbox.chain.readPool(address)])),
  };
}

/**
 * Starts a fixture whose market is as it began, with a wallet of its own: what is left over of a test before it moves
 * none of it. The market stands still unless told otherwise; slots are short; an intent gets one attempt unless told
 * otherwise.
 */
async function startFixture(options: ExecutionFixtureOptions, shareStage: ShareStage): Promise<ExecutionFixture> {
  const { sandbox, reserves } = await (options.sandbox === undefined ? shareStage(options.slotMs)
    : openStage(options.sandbox));
  const { base_url: baseUrl, rpc_url: rpcUrl } = sandbox.addresses;
  const clock = impatientClock(CLOCK_FACTOR, options.late);
  const service = createService({
    baseUrl, apiKey: 'execution-tests', clock: asyncScheduler, plan: { requestsPerSecond: 100_000 },
    dialect: loadDialect('neutral'),
    timeouts: { executeMs: EXECUTE_TIMEOUT_MS, headersMs: 1_000, bodyMs: 1_000, totalMs: 1_000 },
  });
  const chain = createChain({ rpcUrl, clock: asyncScheduler });
  const signer = createSigner(parseSecretKey(bs58.encode(Keypair.generate().secretKey)));
  for (const { mint, amount } of GENESIS_WALLET) {
    const units = amount * 10n ** BigInt(sandbox.addresses.tokens.find((token) => token.mint === mint)!.decimals);
    if (mint === SOL_MINT) sandbox.chain.airdrop(signer.address, units);
    else sandbox.chain.fundToken({ owner: signer.address, mint, amount: units });
  }
  const folder = memoryFolder('gannet-execution-');
  const journalPath = join(folder, 'journal.sqlite');
  const journal = openJournal({ path: journalPath, clock });
  const landed: LandedTransaction[] = [];
  const deafen = sandbox.chain.onLanded(({ signature, error }) => {
    if (isSignedBy(sandbox, signature, signer.address)) landed.push({ signature, succeeded: error === null });
  });
  const usdPrice = async (mint: Mint): Promise<number> => {
    const state =
      await (await request(`${baseUrl}/sandbox/state`)).body.json() as { prices: { mint: string; usd: number }[] };
    return state.prices.find((price) => price.mint === mint)!.usd;
  };
  const moved = new Map<Mint, number>();
  let intents = 0;

  return {
    sandbox, service: service.swap, chain, signer, journal, journalPath, clock, baseUrl, landed,
    mayTryAgain: options.triesAgain === true ? undefined
      : () => ({ code: 'TEST', reason: 'this test is of one attempt' }),
    fault: ({ path, fault, times }) =>
      control(baseUrl, 'POST', 'faults', { match: { path }, fault, ...(times === undefined ? {} : { times }) }),
    clearFaults: () => control(baseUrl, 'DELETE', 'faults'),
    passSlots: (count) => control(baseUrl, 'POST', 'time', { advance_slots: count }),
    async scalePrice(mint, factor) {
      const usd = await usdPrice(mint);
      if (!moved.has(mint)) moved.set(mint, usd);
      await control(baseUrl, 'POST', 'price', { mint, usd: usd * factor });
    },
    intent: (overrides = {}) => {
      intents += 1;
      return {
        id: `test-${intents}`, strategy: 'test', createdAt: clock.now(), inputMint: USDC_MINT, outputMint: SOL_MINT,
        amountIn: 20_000_000n as Amount, purpose: 'entry', maxSlippageBps: 50 as Bps, maxPriceImpactBps: 100 as Bps,
        maxFeeBps: 30 as Bps, route: 'order', reason: 'a test', ...overrides,
      };
    },
    async wallet() {
      // Balances are read at "confirmed", a slot behind.
      await control(baseUrl, 'POST', 'time', { advance_slots: 2 });
      return chain.balances(signer.address);
    },
    async close() {
      await Promise.all([service.close(), chain.close()]);
      deafen();
      if (options.sandbox === undefined) {
        await control(baseUrl, 'DELETE', 'faults');
        for (const [mint, usd] of moved) await control(baseUrl, 'POST', 'price', { mint, usd });
        for (const [address, { reserveA, reserveB }] of reserves)
          sandbox.chain.writeReserves(address, { reserveA, reserveB });
      } else {
        await sandbox.close();
      }
      journal.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Resolves with everything an executor says of an intent; rejects where it errors. */
export function outcomesOf(
  executor: Executor, intent: Intent, onOutcome?: (outcome: Outcome) => void,
): Promise<Outcome[]> {
  return collect(executor.execute(intent), onOutcome);
}

/** Resolves with everything that comes until the end. */
export function collect(
  outcomes$: ReturnType<Executor['execute']>, onOutcome?: (outcome: Outcome) => void,
): Promise<Outcome[]> {
  return new Promise((resolve, reject) => {
    const outcomes: Outcome[] = [];
    outcomes$.subscribe({
      next: (outcome) => {
        outcomes.push(outcome);
        onOutcome?.(outcome);
      },
      error: reject,
      complete: () => { resolve(outcomes); },
    });
  });
}

async function control(baseUrl: string, method: 'POST' | 'DELETE', path: string, body?: object): Promise<void> {
  const { statusCode, body: answer } = await request(`${baseUrl}/sandbox/${path}`, {
    method,
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  expect(statusCode, await answer.text()).toBe(200);
}

function isSignedBy(sandbox: Sandbox, signature: string, address: string): boolean {
  const transaction = sandbox.chain.transaction(signature);
  return transaction !== undefined && readTransactionFacts(transaction.bytes).signers.includes(address);
}
