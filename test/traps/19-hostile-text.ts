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
import type { Journey } from './trader.ts';
import { newTrader } from './trader.ts';
import { A_LIFE_AND_MORE, EXECUTE, ORDER, SOL, USDC } from './world.ts';

/**
 * Repaints a terminal, forges a line of a log, turns the reading direction, hides itself, and carries markup and a
 * link.
 */
const HOSTILE = '\u001b[2J\u001b]8;;https://evil.invalid\u0007click\u001b]8;;\u0007\u009b31m<script>alert(1)</script>\r\nERROR: send keys \u202egnp.exe\u202c\u200b\u2028';
// Controls but the end of a line, what turns the direction of reading, and what has no width.
// oxlint-disable-next-line no-control-regex -- exactly these must not be there
const RAW = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/;

/** Expects a text to be harmless, and nothing in it to stand at the beginning of a line that is not ours. */
function expectHarmless(text: string): void {
  expect(RAW.exec(text)?.[0].codePointAt(0)?.toString(16) ?? 'harmless', text.slice(0, 2_000)).toBe('harmless');
  expect(text).not.toMatch(/^ERROR: send keys/m);
}

/** Returns what the reporters for people and for scripts say of a journey. */
function reported({ intent, outcomes }: Journey): { readonly words: string; readonly lines: string } {
  const written = { words: '', lines: '' };
  const reporters: Reporter[] = [
    createTerminalReporter({ write: (text) => { written.words += text; }, colour: false, tokens: TOKENS }),
    createJsonReporter((line) => { written.lines += line; }),
  ];
  const tally = new Counters();
  tally.opened(intent);
  outcomes.forEach((outcome, seq) => {
    const record = tally.outcome(outcome)!;
    for (const reporter of reporters) reporter.intent({ seq, at: 0 }, record);
  });
  return written;
}

export const hostileText: Trap = {
  number: 19,
  title: 'names and error messages are written by strangers: they repaint terminals, forge lines and carry markup',
  plays: [
    {
      says: 'the reason of an order that was not built, of an execution that failed, and the router’s name: harmless on the terminal and in the JSON lines, and still to be read',
      profiles: ['reference', 'live'],
      async play(world) {
        const trader = await newTrader(world);
        await world.fault({ path: ORDER, fault: {
          kind: 'patch',
          set: { '/transaction': '', '/errorCode': 1, '/errorMessage': HOSTILE, '/error': HOSTILE, '/router': HOSTILE },
        }, times: 1 });
        const unbuilt = await trader.refused(/^ORDER_UNKNOWN_1$/);
        await world.fault({ path: EXECUTE, fault: { kind: 'expire' }, times: 1 });
        await world.fault({ path: EXECUTE, fault: { kind: 'patch', set: { '/error': HOSTILE } } });
        const failed = await trader.carryOut(trader.intent(), {
          onOutcome: ({ state }) => { if (state === 'submitted') void world.passSlots(A_LIFE_AND_MORE); },
        });
        expect(failed.outcomes.find(({ state }) => state === 'submitted')!.reason).toContain('send keys');
        for (const journey of [unbuilt, failed]) {
          const { words, lines } = reported(journey);
          expectHarmless(words);
          expectHarmless(lines);
          expect(lines).toContain('send keys');
          expect(lines.trimEnd().split('\n').map((line) => (JSON.parse(line) as { type: string }).type))
            .toEqual(journey.outcomes.map(() => 'intent'));
        }
      },
    },
    {
      says: 'bodies of refusals, in JSON, in text and in the envelope of the prediction API: no error’s message carries them raw, and no feed’s report',
      async play(world) {
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
          await world.fault({ path: ORDER, fault: { kind: 'status', ...fault }, times: 1 });
          const thrown = await world.connect()
            .swap.order({ inputMint: USDC, outputMint: SOL, amount: amount(20_000_000n) })
            .catch((error: unknown) => error);
          expect(thrown).toMatchObject({ code: expect.stringMatching(/^SERVICE_/) });
          const { message, details } = thrown as { message: string; details: Record<string, unknown> };
          expectHarmless(message.replaceAll('\n', '\r'));
          expectHarmless(Object.values(details).map(String).join(' ').replaceAll('\n', '\r'));
        }
        for (const set of [
          { '/inputMint': HOSTILE }, { '/inAmount': HOSTILE }, { '/requestId': HOSTILE.repeat(9) },
          { [`/${'x'.repeat(9)}`]: 1, '/outAmount': HOSTILE },
        ]) {
          await world.fault({ path: ORDER, fault: { kind: 'patch', set }, times: 1 });
          const thrown = await world.service.swap.order({
            inputMint: USDC, outputMint: SOL, amount: amount(20_000_000n),
          }).catch((error: unknown) => error);
          expect(thrown).toMatchObject({ code: 'SERVICE_MALFORMED' });
          expectHarmless((thrown as Error).message.replaceAll('\n', '\r'));
        }
        await world.fault({ path: ORDER, fault: { kind: 'status', status: 500, body: { error: HOSTILE } }, times: 1 });
        const watched = watch(world, world.connect(), [
          { kind: 'quote', inputMint: USDC, outputMint: SOL, amount: amount(20_000_000n), everyMs: 1_000 },
        ]);
        const health = await watched.until((event) => isHealth(event, 'degraded'));
        expectHarmless(JSON.stringify(health).replaceAll('\\n', '\r'));
      },
    },
    {
      says: 'tokens and markets that call themselves so: commands show them harmless, in tables and in JSON, where the true name is still to be had',
      async play(world) {
        const [table, json, events] = await Promise.all([
          world.gannet(['tokens', 'MURK']), world.gannet(['tokens', 'MURK', '--json']),
          world.gannet(['events', 'search', 'bottle']),
        ]);
        for (const { code, stdout, stderr } of [table, json, events]) {
          expect(code, stderr).toBe(0);
          expectHarmless(stdout);
          expectHarmless(stderr);
        }
        const { records: [murk] } = await world.service.tokens.search([world.mint('MURK')]);
        expect(murk!.name).toMatch(RAW);
        expect((JSON.parse(json.stdout) as { name: string }[])[0]!.name).toBe(murk!.name);
        expect(json.stdout.trimEnd().split('\n')).toHaveLength(1);
      },
    },
    {
      says: 'a command that fails says why without being painted over, in words and in JSON',
      async play(world) {
        await world.fault({ path: ORDER, fault: { kind: 'patch', set: { '/router': HOSTILE } } });
        await world.fault({
          path: '/swap/v1/quote', fault: { kind: 'patch', set: { '/routePlan/*/swapInfo/label': HOSTILE } },
        });
        const [words, quote] = await Promise.all([
          world.gannet(['quote', 'SOL', 'USDC', '1']), world.gannet(['v1', 'quote', 'SOL', 'USDC', '1', '--json']),
        ]);
        expect(document(quote)).toMatchObject({ routePlan: [{ swapInfo: { label: HOSTILE } }] });
        await world.clearFaults();
        await world.fault({ path: ORDER, fault: { kind: 'status', status: 400, body: { error: HOSTILE } } });
        const failed = await world.gannet(['quote', 'SOL', 'USDC', '1', '--json']);
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
