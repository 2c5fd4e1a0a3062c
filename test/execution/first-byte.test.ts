import { asyncScheduler } from 'rxjs';
import { Agent } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createChain } from '../../src/chain/chain.ts';
import { httpTransport } from '../../src/chain/rpc-client.ts';
import { createLiveExecutor } from '../../src/execution/live-executor.ts';
import { createService } from '../../src/service/service.ts';
import { loadDialect } from '../../src/service/wire/dialect.ts';
import { openJournal } from '../../src/store/journal.ts';
import type { ExecutionFixture } from './execution-fixture.ts';
import { executionFixtures, outcomesOf } from './execution-fixture.ts';

const startExecutionFixture = executionFixtures();

/** The journal as another process would find it at the moment when bytes are handed to the socket. */
interface OnDisk { readonly state: string; readonly bytes: string | undefined; readonly signature: string | undefined }

let fixture: ExecutionFixture;
beforeEach(async () => { fixture = await startExecutionFixture(); });
afterEach(() => fixture.close());

/** Reads what is committed, through a connection of its own. */
function onDisk(): OnDisk {
  const journal = openJournal({ path: fixture.journalPath, clock: fixture.clock });
  const [open] = journal.openIntents();
  const attempt = open!.attempts.at(-1);
  journal.close();
  return {
    state: open!.state,
    bytes: attempt === undefined ? undefined : Buffer.from(attempt.signedTransaction).toString('base64'),
    signature: attempt?.signature,
  };
}

/**
 * Transports that read the journal before each request leaves, and keep what was in those that carry signed bytes.
 */
function instrumented() {
  const seen: { readonly path: string; readonly sent: string; readonly journal: OnDisk }[] = [];
  const all: string[] = [];
  const { rpc_url: rpcUrl } = fixture.sandbox.addresses;
  const node = httpTransport({ rpcUrl });
  const chain = createChain({
    rpcUrl, clock: asyncScheduler,
    transport: {
      post(body, signal) {
        const { method, params } = JSON.parse(body) as { method: string; params: readonly string[] };
        all.push(body);
        if (method === 'sendTransaction') seen.push({ path: method, sent: params[0]!, journal: onDisk() });
        return node.post(body, signal);
      },
      close: () => node.close(),
    },
  });
  const agent = new Agent();
  const dispatcher = agent.compose((dispatch) => (options, handler) => {
    const body = typeof options.body === 'string' ? options.body : '';
    all.push(`${options.path} ${body}`);
    if (options.path.includes('/execute')) {
      seen.push({
        path: '/execute', sent: (JSON.parse(body) as { signedTransaction: string }).signedTransaction,
        journal: onDisk(),
      });
    }
    return dispatch(options, handler);
  });
  const service = createService({
    baseUrl: fixture.baseUrl, apiKey: 'first-byte', clock: asyncScheduler, plan: { requestsPerSecond: 100_000 },
    dialect: loadDialect('neutral'), dispatcher,
  });
  const close = async (): Promise<void> => { await Promise.all([service.close(), chain.close(), agent.destroy()]); };
  return { parts: { service: service.swap, chain }, seen, all, close };
}

describe('the first byte of a transaction', () => {
  it.each(['order', 'build'] as const)('is sent after the journal has the signed bytes on disk (%s)', async (route) => {
    const { parts, seen, all, close } = instrumented();
    const outcomes = await outcomesOf(createLiveExecutor({ ...fixture, ...parts }), fixture.intent({ route }));
    expect(outcomes.at(-1)!.state).toBe('confirmed');
    expect(seen.length).toBeGreaterThan(0);
    const { path, sent, journal } = seen[0]!;
    expect(path).toBe(route === 'order' ? '/execute' : 'sendTransaction');
    expect(journal).toStrictEqual({ state: 'signed', bytes: sent, signature: outcomes.at(-1)!.signature });
    // In no request before that one was our signature, in whatever form.
    const signature = Buffer.from(sent, 'base64').subarray(1, 65).toString('base64').slice(4, 80);
    const first = all.findIndex((request) => request.includes(sent));
    expect(first).toBeGreaterThanOrEqual(0);
    expect(all.slice(0, first).some((request) => request.includes(signature) || request.includes(journal.signature!)))
      .toBe(false);
    await close();
  });

  it('is never sent where the journal cannot be written', async () => {
    const { parts, seen, close } = instrumented();
    const { journal } = fixture;
    const full = new Error('the disk is full');
    const failing = {
      intentApproved: journal.intentApproved.bind(journal), transition: journal.transition.bind(journal),
      openIntents: journal.openIntents.bind(journal), isSigned: journal.isSigned.bind(journal),
      movesSince: journal.movesSince.bind(journal),
      proofOf: journal.proofOf.bind(journal), keepProof: journal.keepProof.bind(journal),
      attemptSigned: () => { throw full; },
    };
    await expect(outcomesOf(createLiveExecutor({ ...fixture, ...parts, journal: failing }), fixture.intent()))
      .rejects.toBe(full);
    expect(seen).toStrictEqual([]);
    expect(fixture.landed).toStrictEqual([]);
    await close();
  });
});
