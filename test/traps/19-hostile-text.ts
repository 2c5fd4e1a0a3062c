import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { amount } from '../../src/core/amount.ts';
import { createTerminalReporter } from '../../src/daemon/reporting/terminal-reporter.ts';
import { createJsonReporter } from '../../src/daemon/reporting/json-reporter.ts';
import { createLog } from '../../src/daemon/reporting/log.ts';
import type { Reporter } from '../../src/daemon/reporting/reporter.ts';
import { Counters } from '../../src/daemon/reporting/counters.ts';
import { document } from '../e2e/gannet.ts';
import { TOKENS } from '../market/tokens.ts';
import { isHealth, watch } from './feeds.ts';
import type { Trap } from './trap.ts';
import type { SwapTrace } from './trader.ts';
import { newTrader } from './trader.ts';
import { PAST_EXPIRY_BLOCKS, EXECUTE, ORDER, SOL, USDC } from './trap-fixture.ts';

/**
 * Repaints a terminal, forges a line of a log, turns the reading direction, hides itself, and carries markup and a
 * link.
 */
const HOSTILE = '\u001b[2J\u001b]8;;https://evil.invalid\u0007click\u001b]8;;\u0007\u009b31m<script>alert(1)</script>'
  + '\r\nERROR: send keys \u202egnp.exe\u202c\u200b\u2028';
// Controls but the end of a line, what turns the direction of reading, and what has no width.
// oxlint-disable-next-line no-control-regex -- exactly these must not be there
const RAW = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/;

/** Expects a text to be harmless, and nothing in it to stand at the beginning of a line that is not ours. */
function expectHarmless(text: string): void {
  expect(RAW.exec(text)?.[0].codePointAt(0)?.toString(16) ?? 'harmless', text.slice(0, 2_000)).toBe('harmless');
  expect(text).not.toMatch(/^ERROR: send keys/m);
}

/** Returns what the reporters for people and for scripts say of a trace. */
function reported({ intent, outcomes }: SwapTrace): { readonly words: string; readonly lines: string } {
  const written = { words: '', lines: '' };
  const reporters: Reporter[] = [
    createTerminalReporter({ write: (text) => { written.words += text; }, colour: false, tokens: TOKENS }),
    createJsonReporter((line) => { written.lines += line; }),
  ];
  const counters = new Counters();
  counters.opened(intent);
  outcomes.forEach((outcome, seq) => {
    const record = counters.outcome(outcome)!;
    for (const reporter of reporters) reporter.intent({ seq, at: 0 }, record);
  });
  return written;
}

export const hostileText: Trap = {
  number: 19,
  title: 'names and error messages are written by strangers: they repaint terminals, forge lines and carry markup',
  plays: [
    {
      says: 'reasons of orders and executions, and router names, are escaped and readable in terminal and JSON lines',
      profiles: ['reference', 'live'],
      async play(fixture) {
        const trader = await newTrader(fixture);
        await fixture.fault({ path: ORDER, fault: {
          kind: 'patch',
          set: { '/transaction': '', '/errorCode': 1, '/errorMessage': HOSTILE, '/error': HOSTILE, '/router': HOSTILE },
        }, times: 1 });
        const unbuilt = await trader.refused(/^ORDER_UNKNOWN_1$/);
        await fixture.fault({ path: EXECUTE, fault: { kind: 'expire' }, times: 1 });
        await fixture.fault({ path: EXECUTE, fault: { kind: 'patch', set: { '/error': HOSTILE } } });
        const failed = await trader.carryOut(trader.intent(), {
          onOutcome: ({ state }) => { if (state === 'submitted') void fixture.passSlots(PAST_EXPIRY_BLOCKS); },
        });
        expect(failed.outcomes.find(({ state }) => state === 'submitted')!.reason).toContain('send keys');
        for (const trace of [unbuilt, failed]) {
          const { words, lines } = reported(trace);
          expectHarmless(words);
          expectHarmless(lines);
          expect(lines).toContain('send keys');
          expect(lines.trimEnd().split('\n').map((line) => (JSON.parse(line) as { type: string }).type))
            .toEqual(trace.outcomes.map(() => 'intent'));
        }
      },
    },
    {
      says: 'bodies of refusals, as JSON, text or prediction envelope, are never raw in errors and feed reports',
      async play(fixture) {
        const bodies = [
          { status: 400, body: { requestId: HOSTILE, error: HOSTILE } },
          { status: 500, body: HOSTILE, content_type: 'text/plain' },
          { status: 429, body: { code: 429, message: HOSTILE } },
          { status: 403, body: { code: 403, message: HOSTILE } }, { status: 410, body: { error: HOSTILE } },
          {
            status: 502, body: { type: HOSTILE, message: HOSTILE, code: HOSTILE, param: HOSTILE, request_id: HOSTILE },
          },
        ];
        for (const fault of bodies) {
          await fixture.fault({ path: ORDER, fault: { kind: 'status', ...fault }, times: 1 });
          const thrown = await fixture.connect()
            .swap.order({ inputMint: USDC, outputMint: SOL, amount: amount(20_000_000n) })
            .catch((error: unknown) => error);
          expect(thrown).toMatchObject({ code: expect.stringMatching(/^SERVICE_/) });
          const { message, details } = thrown as { message: string; details: Record<string, unknown> };
          expectHarmless(message.replaceAll('\n', '\r'));
          expectHarmless(Object.values(details).map(String).join(' ').replaceAll('\n', '\r'));
        }
        for (const set of [
          { '/inputMint': HOSTILE }, { '/inAmount': HOSTILE },
          { [`/${'x'.repeat(9)}`]: 1, '/outAmount': HOSTILE },
        ]) {
          await fixture.fault({ path: ORDER, fault: { kind: 'patch', set }, times: 1 });
          const thrown = await fixture.service.swap.order({
            inputMint: USDC, outputMint: SOL, amount: amount(20_000_000n),
          }).catch((error: unknown) => error);
          expect(thrown).toMatchObject({ code: 'SERVICE_MALFORMED' });
          expectHarmless((thrown as Error).message.replaceAll('\n', '\r'));
        }
        // A quote needs no id; an order of a wallet with this one would be refused.
        await fixture.fault({
          path: ORDER, fault: { kind: 'patch', set: { '/requestId': HOSTILE.repeat(9) } }, times: 1,
        });
        expect(await fixture.service.swap.order({ inputMint: USDC, outputMint: SOL, amount: amount(20_000_000n) }))
          .toMatchObject({ requestId: undefined });
        await fixture.fault({
          path: ORDER, fault: { kind: 'status', status: 500, body: { error: HOSTILE } }, times: 1,
        });
        const watched = watch(fixture, fixture.connect(), [
          { kind: 'quote', inputMint: USDC, outputMint: SOL, amount: amount(20_000_000n), everyMs: 1_000 },
        ]);
        const health = await watched.until((event) => isHealth(event, 'degraded'));
        expectHarmless(JSON.stringify(health).replaceAll('\\n', '\r'));
      },
    },
    {
      says: 'hostile names of tokens and markets are escaped in tables and JSON, which keeps the true name',
      async play(fixture) {
        const [table, json, events] = await Promise.all([
          fixture.gannet(['tokens', 'MURK']), fixture.gannet(['tokens', 'MURK', '--json']),
          fixture.gannet(['events', 'search', 'bottle']),
        ]);
        for (const { code, stdout, stderr } of [table, json, events]) {
          expect(code, stderr).toBe(0);
          expectHarmless(stdout);
          expectHarmless(stderr);
        }
        const { records: [murk] } = await fixture.service.tokens.search([fixture.mint('MURK')]);
        expect(murk!.name).toMatch(RAW);
        expect((JSON.parse(json.stdout) as { name: string }[])[0]!.name).toBe(murk!.name);
        expect(json.stdout.trimEnd().split('\n')).toHaveLength(1);
      },
    },
    {
      says: 'a command that fails says why without being painted over, in words and in JSON',
      async play(fixture) {
        await fixture.fault({ path: ORDER, fault: { kind: 'patch', set: { '/router': HOSTILE } } });
        await fixture.fault({
          path: '/swap/v1/quote', fault: { kind: 'patch', set: { '/routePlan/*/swapInfo/label': HOSTILE } },
        });
        const [words, quote] = await Promise.all([
          fixture.gannet(['quote', 'SOL', 'USDC', '1']), fixture.gannet(['v1', 'quote', 'SOL', 'USDC', '1', '--json']),
        ]);
        expect(document(quote)).toMatchObject({ routePlan: [{ swapInfo: { label: HOSTILE } }] });
        await fixture.clearFaults();
        await fixture.fault({ path: ORDER, fault: { kind: 'status', status: 400, body: { error: HOSTILE } } });
        const failed = await fixture.gannet(['quote', 'SOL', 'USDC', '1', '--json']);
        expect(failed.code).toBe(1);
        for (const { stdout, stderr } of [words, quote, failed]) {
          expectHarmless(stdout);
          expectHarmless(stderr);
        }
      },
    },
    {
      says: 'a log keeps one line a message, whatever stands in it',
      async play() {
        const stateDir = mkdtempSync(join(tmpdir(), 'gannet-traps-log-'));
        onTestFinished(() => { rmSync(stateDir, { recursive: true, force: true }); });
        const { log, close } =
          createLog({ level: 'error', secrets: [], terminal: false, file: { stateDir, name: 'trap' } });
        log('error', `the feed said ${HOSTILE}`, { name: HOSTILE });
        await close();
        const [name] = readdirSync(join(stateDir, 'logs'));
        const text = readFileSync(join(stateDir, 'logs', name!), 'utf8');
        expectHarmless(text);
        expect(text.trimEnd().split('\n')).toHaveLength(1);
        expect(JSON.parse(text)).toMatchObject({ level: 'error', name: HOSTILE });
      },
    },
  ],
};
