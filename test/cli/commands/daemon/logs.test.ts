import { appendFileSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { logsCommand } from '../../../../src/cli/commands/daemon/logs.ts';
import type { Answer } from '../../in-process.ts';
import { runCommand } from '../../in-process.ts';
import { temporaryFolder } from '../../../store/fixtures.ts';

const [FIRST, SECOND, THIRD] = ['20261121T101112-0a1b2c', '20261122T101112-0a1b2c', '20261123T101112-0a1b2c'] as const;

function line(message: string, rest: object = {}): string {
  return `${JSON.stringify({ level: 'info', message, timestamp: '2026-11-22T10:11:12.345Z', ...rest })}\n`;
}

/** A state directory with the logs of runs. */
function logged(files: Readonly<Record<string, string | Buffer>>): string {
  const stateDir = temporaryFolder();
  mkdirSync(join(stateDir, 'logs'));
  for (const [run, content] of Object.entries(files)) writeFileSync(pathOf(stateDir, run), content);
  return stateDir;
}

function pathOf(stateDir: string, run: string): string {
  return join(stateDir, 'logs', `${run}.log`);
}

function messages({ printed }: Answer): unknown[] {
  return printed.trimEnd().split('\n').filter((text) => text !== '')
    .map((text) => (JSON.parse(text) as { message: unknown }).message);
}

async function shown(stateDir: string, ...flags: readonly string[]): Promise<unknown[]> {
  return messages(await runCommand(logsCommand, ['logs', ...flags], { stateDir }));
}

describe('gannet logs', () => {
  const stateDir = (): string => logged({
    [FIRST]: line('one') + line('two', { level: 'error', strategy: 'dip' }),
    [SECOND]: line('three', { level: 'warn', strategy: 'dca' }) + line('four', { level: 'debug', strategy: 'dip' }),
  });

  it.each([
    [[], ['one', 'two', 'three', 'four']],
    [['-n', '3'], ['two', 'three', 'four']],
    [['-n', '1', '--run', FIRST], ['two']],
    [['--level', 'warn'], ['two', 'three']],
    [['--strategy', 'dip'], ['two', 'four']],
    [['--strategy', 'dip', '--level', 'error'], ['two']],
    [['-n', '0'], []],
  ])('shows with %j the lines %j, across runs', async (flags, expected) => {
    expect(await shown(stateDir(), ...flags)).toEqual(expected);
  });

  it('shows with --since what is not older, and stops reading there', async () => {
    const hourAgo = new Date(Date.now() - 3_600_000).toISOString();
    const now = new Date().toISOString();
    const recent = line('an hour old', { timestamp: hourAgo }) + line('new', { timestamp: now });
    const dir = logged({ [FIRST]: line('old') + recent });
    expect(await shown(dir, '--since', '2h')).toEqual(['an hour old', 'new']);
    expect(await shown(dir, '--since', '30m')).toEqual(['new']);
  });

  it('prints time, level, message and details for people, with hostile bytes as escapes', async () => {
    const details = { strategy: 'dip', error: { message: 'a\nforged line' } };
    const dir = logged({ [FIRST]: line('a \u001b[31mred\u202e name', details) });
    const { printed } = await runCommand(logsCommand, ['logs'], { stateDir: dir, json: false });
    expect(printed).toBe('2026-11-22 10:11:12  info  a \\u001b[31mred\\u202e name strategy=dip '
      + 'error=a\\u000aforged line\n');
  });

  it('prints of an event who, what and why, without addresses', async () => {
    const event = {
      at: 1, seq: 13, h: 'ab'.repeat(32), strategy: 'dca', code: null, verdict: 'approved', intent_id: 'dca-1',
      proposal: { kind: 'swap', inputMint: 'a'.repeat(44), reason: 'it is time' }, signature: 's'.repeat(88),
    };
    const dir = logged({ [FIRST]: line('decision', event) });
    const { printed } = await runCommand(logsCommand, ['logs'], { stateDir: dir, json: false });
    expect(printed).toBe('2026-11-22 10:11:12  info  decision strategy=dca intent_id=dca-1 verdict=approved '
      + 'reason=it is time\n');
  });

  it('shows lines that are no JSON, and long ones in part, but not a torn last one', async () => {
    const long = 'x'.repeat(700_000);
    const whole = `${line('before')}torn by a crash\n${line(long)}${line('after')}`;
    const dir = logged({ [FIRST]: `${whole}{"message":"unfini` });
    const { printed } = await runCommand(logsCommand, ['logs'], { stateDir: dir, json: false });
    const lines = printed.trimEnd().split('\n');
    expect(lines).toHaveLength(4);
    expect([lines[0], lines[1], lines[3]]).toEqual([
      expect.stringContaining('info  before'), 'torn by a crash', expect.stringContaining('info  after'),
    ]);
    expect(lines[2]!.length).toBeLessThan(500);
  });

  it('reads a large file from its end, in little memory', async () => {
    const dir = logged({ [FIRST]: Buffer.from(line('many').repeat(1_500_000)) });
    appendFileSync(pathOf(dir, FIRST), line('the last'));
    const before = process.memoryUsage().rss;
    const startedAt = performance.now();
    expect(await shown(dir, '-n', '2')).toEqual(['many', 'the last']);
    expect(process.memoryUsage().rss - before).toBeLessThan(40 * 1024 * 1024);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });

  it('follows a log as it grows, over a file of the same name, into the next runs, until an interrupt', async () => {
    const dir = logged({ [FIRST]: line('one') });
    const stop = new AbortController();
    const steps = [
      () => {
        appendFileSync(pathOf(dir, FIRST), '{"level":"info","mess');
        setTimeout(() => { appendFileSync(pathOf(dir, FIRST), 'age":"two"}\n'); }, 400);
      },
      () => {
        renameSync(pathOf(dir, FIRST), join(dir, 'rotated'));
        writeFileSync(pathOf(dir, FIRST), line('three'));
      },
      () => {
        appendFileSync(pathOf(dir, FIRST), line('four'));
        writeFileSync(pathOf(dir, SECOND), line('five'));
        writeFileSync(pathOf(dir, THIRD), line('six'));
      },
      () => undefined, () => undefined,
      () => { stop.abort(); },
    ];
    const answer = await runCommand(logsCommand, ['logs', '-f'], {
      stateDir: dir, interrupt: stop.signal, onPrint: () => { steps.shift()?.(); },
    });
    expect(messages(answer)).toEqual(['one', 'two', 'three', 'four', 'five', 'six']);
    expect(answer.code).toBe(0);
  });

  it('waits with -f for the first log', async () => {
    const dir = temporaryFolder();
    const stop = new AbortController();
    setTimeout(() => {
      mkdirSync(join(dir, 'logs'));
      writeFileSync(pathOf(dir, FIRST), line('the first'));
    }, 50);
    const answer = await runCommand(logsCommand, ['logs', '-f'], {
      stateDir: dir, interrupt: stop.signal, onPrint: () => { stop.abort(); },
    });
    expect(messages(answer)).toEqual(['the first']);
  });

  it.each([
    [[], {}, /holds no log yet: start the daemon/],
    [['--run', 'nonsense'], { [FIRST]: '' }, new RegExp(`no log of the run nonsense: the newest are ${FIRST}`)],
    [['--since', 'soon'], { [FIRST]: '' }, /expected a duration/],
    [['-n', '-3'], { [FIRST]: '' }, /expected a whole number/],
    [['--level', 'loud'], { [FIRST]: '' }, /Allowed choices are error, warn, info, debug/],
  ])('refuses %j', async (flags, files, message) => {
    await expect(shown(logged(files), ...flags)).rejects.toThrow(message);
  });
});
