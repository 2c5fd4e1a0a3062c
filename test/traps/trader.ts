import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { expect, onTestFinished } from 'vitest';
import { readTransactionFacts } from '../../src/solana/transaction.ts';
import type { Amount, Bps } from '../../src/core/amount.ts';
import type { ExecutorPorts } from '../../src/execution/ports.ts';
import { createLiveExecutor } from '../../src/execution/live-executor.ts';
import type { Mint } from '../../src/market/token.ts';
import { parseSecretKey } from '../../src/signer/key.ts';
import type { SignedTransaction } from '../../src/signer/sign.ts';
import { createSigner } from '../../src/signer/sign.ts';
import type { JournalStore } from '../../src/store/journal.ts';
import { openJournal } from '../../src/store/journal.ts';
import type { Intent, Outcome } from '../../src/trading/intent.ts';
import { isTerminal } from '../../src/trading/intent.ts';
import { outcomesOf } from '../execution/execution-fixture.ts';
import { bookedWallet } from '../execution/ledger.ts';
import { memoryFolder } from '../execution/memory-folder.ts';
import type { SentRequest } from './wire.ts';
import type { TrapFixture } from './trap-fixture.ts';
import { EXECUTE, ORDER, SOL, USDC } from './trap-fixture.ts';

/** The outcomes of one intent with its requests. */
export interface SwapTrace {
  readonly intent: Intent;
  readonly outcomes: readonly Outcome[];
  readonly states: readonly Outcome['state'][];
  readonly last: Outcome;
  /** Everything asked of the service on the way. */
  readonly orders: readonly SentRequest[];
  readonly executes: readonly SentRequest[];
  /** Orders asked for after signed bytes had left: there may never be one. */
  readonly requoted: number;
  /** The wallet's transactions that the chain took. */
  readonly landed: readonly string[];
  readonly signatures: number;
}

interface CarryOutOptions {
  readonly parts?: Partial<ExecutorPorts>;
  readonly onOutcome?: (outcome: Outcome) => void;
}

/** A wallet of its own with the live executor around it, as the daemon would make it. */
export interface Trader {
  readonly address: string;
  /** Signs all bytes without a check; for tests only. */
  signUnread(transaction: Uint8Array): Promise<SignedTransaction>;
  readonly parts: ExecutorPorts & { readonly journal: JournalStore };
  /** Twenty dollars for SOL by default. */
  intent(overrides?: Partial<Intent>): Intent;
  /**
   * Carries one intent out and checks what must hold in any trap: one end, at most one landing, and a ledger that is
   * the chain.
   */
  carryOut(intent?: Intent, options?: CarryOutOptions): Promise<SwapTrace>;
  /** Carries one out that must be refused before anything is signed. */
  refused(code: RegExp, intent?: Intent, options?: CarryOutOptions): Promise<SwapTrace>;
}

/** Enough for every swap of the suite. */
const USUAL_FUNDS: readonly (readonly [Mint, bigint])[] = [[SOL, 1_000_000_000n], [USDC, 2_000_000_000n]];

let intents = 0;

/** Returns a trader with the given balances; it is closed at the end of the case. */
export async function newTrader(
  fixture: TrapFixture, funds: readonly (readonly [Mint, bigint])[] = USUAL_FUNDS,
): Promise<Trader> {
  const { sandbox, chain, clock, wire } = fixture;
  const signer = createSigner(parseSecretKey(bs58.encode(Keypair.generate().secretKey)));
  const { address } = signer;
  for (const [mint, units] of funds) await fixture.fund(address, mint, units);
  const folder = memoryFolder('gannet-traps-');
  const journal = openJournal({ path: join(folder, 'journal.sqlite'), clock });
  const landed: { readonly signature: string; readonly succeeded: boolean }[] = [];
  const deafen = sandbox.chain.onLanded(({ signature, error }) => {
    const transaction = sandbox.chain.transaction(signature);
    if (transaction !== undefined && readTransactionFacts(transaction.bytes).signers.includes(address))
      landed.push({ signature, succeeded: error === null });
  });
  onTestFinished(() => {
    deafen();
    journal.close();
    rmSync(folder, { recursive: true, force: true });
  });
  let signatures = 0;
  const parts: Trader['parts'] = {
    service: fixture.service.swap, chain, journal, clock,
    // One attempt, unless a play is of several.
    mayTryAgain: () => ({ code: 'TRAP', reason: 'this play is of one attempt' }),
    signer: {
      address,
      sign: (transaction) => {
        signatures += 1;
        return signer.sign(transaction);
      },
    },
  };
  const walletNow = async (): Promise<Map<Mint, Amount>> => {
    // Balances are read at "confirmed", a slot behind.
    await fixture.passSlots(2);
    return chain.balances(address);
  };
  const intent: Trader['intent'] = (overrides = {}) => {
    intents += 1;
    return {
      id: `trap-${intents}`, strategy: 'trap', createdAt: clock.now(), inputMint: USDC, outputMint: SOL,
      amountIn: 20_000_000n as Amount, purpose: 'entry', maxSlippageBps: 50 as Bps, maxPriceImpactBps: 100 as Bps,
      maxFeeBps: 30 as Bps, route: 'order', reason: 'a trap', ...overrides,
    };
  };
  const carryOut: Trader['carryOut'] = async (wanted = intent(), options = {}) => {
    const before = { wallet: await walletNow(), landed: landed.length, sent: wire.sent.length, signatures };
    const outcomes = await outcomesOf(createLiveExecutor({ ...parts, ...options.parts }), wanted, options.onOutcome);
    const last = outcomes.at(-1)!;
    const landings = landed.slice(before.landed);
    expect(outcomes.filter(({ state }) => isTerminal(state))).toStrictEqual([last]);
    expect(landings.filter(({ succeeded }) => succeeded)).toHaveLength(last.state === 'confirmed' ? 1 : 0);
    expect(landings).toHaveLength(last.state === 'confirmed' || last.state === 'failed' ? 1 : 0);
    expect(await walletNow()).toStrictEqual(bookedWallet(before.wallet, [wanted], outcomes));
    expect(journal.openIntents()).toStrictEqual([]);
    const asked = wire.sent.slice(before.sent).map(({ path }) => path);
    const firstExecute = asked.indexOf(EXECUTE);
    return {
      intent: wanted, outcomes, last,
      states: outcomes.map(({ state }) => state),
      orders: wire.to(ORDER, before.sent), executes: wire.to(EXECUTE, before.sent),
      requoted: firstExecute < 0 ? 0 : asked.slice(firstExecute).filter((path) => path === ORDER).length,
      landed: landings.map(({ signature }) => signature),
      signatures: signatures - before.signatures,
    };
  };
  return {
    signUnread: (transaction) => signer.sign(transaction),
    address, parts, intent, carryOut,
    async refused(code, wanted, options) {
      const trace = await carryOut(wanted, options);
      expect(trace.states, trace.last.reason).toStrictEqual(['building', 'abandoned']);
      expect(trace.last.code).toMatch(code);
      expect(trace.last.reason).toBeTruthy();
      expect([trace.signatures, trace.executes.length]).toEqual([0, 0]);
      return trace;
    },
  };
}

/** Returns the bytes that were handed to /execute, each once, in base64. */
export function bytesPosted({ executes }: SwapTrace): string[] {
  return [...new Set(executes.map(({ body }) =>
    (JSON.parse(body!) as { signedTransaction: string }).signedTransaction))];
}
