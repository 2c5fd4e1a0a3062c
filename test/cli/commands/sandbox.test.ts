import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, parseDocument } from 'yaml';
import { sandboxCommand } from '../../../src/cli/commands/sandbox.ts';
import { linesWrapped } from '../../../src/cli/output/terminal.ts';
import { isGannetError } from '../../../src/core/errors.ts';
import { HOST_PROFILE } from '../../sandbox/service/live/host-profile-fixture.ts';
import { runCommand, type Answer } from '../in-process.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'gannet-profile-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

/** Starts a sandbox and stops it as soon as it has printed its addresses. */
function started(args: readonly string[], json = false): Promise<Answer> {
  const stop = new AbortController();
  return runCommand(sandboxCommand, ['sandbox', '--speed', '0', ...args], {
    stateDir: dir, json, interrupt: stop.signal, onPrint: () => stop.abort(),
  });
}

function written(name: string, text: string): string {
  const file = join(dir, name);
  writeFileSync(file, text);
  return file;
}

function changed(name: string, change: object): string {
  return written(name, JSON.stringify({ ...HOST_PROFILE, ...change }));
}

describe('gannet sandbox --profile', () => {
  test.each([
    ['reference', 'answers as the reference describes'], ['live', 'answers as the live service was observed'],
  ])('%s is a profile of its own', async (name, words) => {
    const { text } = await started(['--profile', name]);
    expect(text).toContain(words);
  });

  test('says in 80 columns what a host’s profile changes, and speaks its dialect', async () => {
    const file = written('host.json', JSON.stringify(HOST_PROFILE));
    const { text } = await started(['--profile', file]);
    for (const words of [
      `answers as ${HOST_PROFILE.host} did`, 'least output: order up, build down; tips: up to 4000 lamports',
      'shares: absent; impact: fraction; members left out: order 2, build 1', 'limit: 3 requests in 10000 ms',
      'delays: order 30 ms, build not measured, node 20 ms', 'transactions up to version 0, no websocket',
      `in the dialect "${HOST_PROFILE.dialect}"`,
    ]) expect(text).toContain(words);
    const told = text.slice(0, text.indexOf('  rpc ')).split('\n').filter((line) => !line.includes(dir));
    expect(told.filter((line) => line.length > 80)).toEqual([]);
    expect((await started(['--profile', file, '--dialect', 'neutral'])).text).toContain('in the dialect "neutral"');
  });

  test('prints a configuration that is still YAML after a terminal of 80 columns has wrapped it', async () => {
    for (const args of [[], ['--plan', 'keyless'], ['--plan', 'free']]) {
      const lines = linesWrapped((await started(args)).text, 80).split('\n');
      const told = lines.slice(lines.indexOf('    service:'), lines.indexOf('  Ctrl-C ends it.'));
      const { errors } = parseDocument(told.join('\n'));
      expect(errors, told.join('\n')).toEqual([]);
      expect((parse(told.join('\n')) as { readonly service: unknown }).service)
        .toMatchObject({ base_url: expect.stringMatching(/^http/) as string, dialect: 'neutral' });
    }
  });

  test('of a host whose dialect is not known here speaks neutral words', async () => {
    const file = written('other.json', JSON.stringify({
      ...HOST_PROFILE, dialect: 'elsewhere', host: 'https://other.example',
    }));
    expect((await started(['--profile', file])).text).toContain('in the dialect "neutral"');
  });

  test.each([
    ['is not there', () => join(dir, 'nowhere.json'), 'CONFIG_NOT_FOUND', /expected reference, live, or the file/],
    ['is a folder', () => dir, 'CONFIG_INVALID', /expected a file with a host profile/],
    ['is no JSON', () => written('a.json', '{"format": 1,'), 'CONFIG_INVALID', /expected a host profile in JSON/],
    ['is empty', () => written('b.json', ''), 'CONFIG_INVALID', /expected a host profile in JSON/],
    ['is of another format', () => changed('c.json', { format: 2 }), 'CONFIG_INVALID', /of format 1: format/],
    ['has an unknown member', () => changed('d.json', { secret: 'x' }), 'CONFIG_INVALID', /format 1/],
    ['lacks a member', () => changed('e.json', { rounding: { order: 'up' } }), 'CONFIG_INVALID', /rounding\.build/],
    ['is far too deep', () => written('f.json', '['.repeat(200_000)), 'CONFIG_INVALID', /host profile/],
    ['is far too large', () => written('g.json', ' '.repeat(1_048_577)), 'CONFIG_INVALID', /at most 1048576 bytes/],
    [
      'has a tip beyond u64', () => changed('h.json', { tip: { lamports: '9'.repeat(40), receivers: [] } }),
      'CONFIG_INVALID', /tip\.lamports/,
    ],
    ['is a device without end', () => '/dev/zero', 'CONFIG_INVALID', /expected a file/],
  ])('a file that %s is a fault of the configuration', async (_, file, code, words) => {
    const error: unknown = await started(['--profile', file()]).then(() => undefined, (thrown: unknown) => thrown);
    expect(isGannetError(error) ? error.code : error).toBe(code);
    expect((error as Error).message).toMatch(words);
  });
});
