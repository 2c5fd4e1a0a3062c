import {
  appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { describe, expect, it } from 'vitest';
import { GannetError } from '../../../src/core/errors.ts';
import { openOrderAudit } from '../../../src/daemon/control/order-audit.ts';
import { CLIENT_HEADER, clientHeader } from '../../../src/daemon/control/order-origin.ts';
import { temporaryFolder } from '../../store/fixtures.ts';
import { wallClock } from '../../store/sample-intents.ts';
import { ORIGIN, startControl } from '../control-fixture.ts';

type Line = Readonly<Record<string, unknown>>;

const orderAuditPath = (stateDir: string, earlier = 0): string =>
  `${stateDir}/orders${earlier === 0 ? '' : `.${earlier}`}.ndjson`;

const linesOf = (stateDir: string): Line[] => (existsSync(orderAuditPath(stateDir))
  ? readFileSync(orderAuditPath(stateDir), 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line) as Line) : []);
const auditOf = (stateDir: string): ReturnType<typeof openOrderAudit> =>
  openOrderAudit({ stateDir, runId: 'a-run', clock: wallClock, log: () => undefined });
const DEAD_MAN = {
  trigger: { kind: 'dead-man', afterMs: 60_000 }, scope: 'global', action: 'reduce-only', release: { kind: 'cleared' },
} as const;
const WIDENS =
  /^warning gannet: the order "([\w-]+)" by the operator’s token \(from 127\.0\.0\.1:\d+, user id \d+\) allows/;

describe('an order that allows more than before', () => {
  it('raises an alert that names its origin, in the state too, while an order that narrows raises none', async () => {
    const { post, get, reported, stateDir } = await startControl();
    const widened = async (path: string, body?: object): Promise<string[]> => {
      const before = reported.length;
      expect((await post(path, body)).status, path).toBe(200);
      return reported.slice(before).map((line) => WIDENS.exec(line)?.[1] ?? line);
    };
    expect(await widened('/api/resume')).toEqual([]);
    expect(await widened('/api/reduce-only')).toEqual([]);
    expect(await widened('/api/halt', { reason: 'lunch' })).toEqual([]);
    expect((await get('/api/state')).body).toMatchObject({ last_widening: null });
    expect(await widened('/api/reduce-only')).toEqual(['reduce-only']);
    expect(await widened('/api/reduce-only')).toEqual([]);
    expect(await widened('/api/resume', { reason: 'all is well' })).toEqual(['resume']);
    expect((await get('/api/state')).body).toMatchObject({ last_error: null, last_widening: {
      action: 'resume', widens: 'every strategy may trade again', reason: 'all is well',
      origin: expect.stringMatching(/^the operator’s token \(from 127\.0\.0\.1:\d+/),
    } });
    expect(await widened('/api/strategies/diver/stop')).toEqual([]);
    expect(await widened('/api/reduce-only', { strategy: 'diver' })).toEqual(['reduce-only']);
    expect(await widened('/api/strategies/diver/start')).toEqual(['resume']);
    expect(await widened('/api/flatten')).toEqual([]);
    expect(await widened('/api/halt')).toEqual([]);
    expect(await widened('/api/flatten')).toEqual(['flatten']);
    expect(await widened('/api/stop')).toEqual([]);
    expect(linesOf(stateDir).map(({ action, strategy, widens }) => [action, strategy, widens !== null])).toEqual([
      ['resume', null, false], ['reduce-only', null, false], ['halt', null, false], ['reduce-only', null, true],
      ['reduce-only', null, false], ['resume', null, true], ['halt', 'diver', false], ['reduce-only', 'diver', true],
      ['resume', 'diver', true], ['flatten', null, false], ['halt', null, false], ['flatten', null, true],
      ['stop', null, false],
    ]);
  });

  it('is written before it is carried out, with the origin that the system and the client name', async () => {
    const { post, url, stateDir } = await startControl();
    await post('/api/halt');
    await post('/api/resume', { reason: 'line\n\u001b[31mbreak' }, { [CLIENT_HEADER]: clientHeader() });
    const [, resumed] = linesOf(stateDir);
    expect(resumed).toEqual({
      version: 1, at: 1_000, time: '1970-01-01T00:00:01.000Z', run_id: 'a-run', action: 'resume', strategy: null,
      intent_id: null, reason: 'line\n\u001b[31mbreak', widens: 'every strategy may trade again', refused: null,
      origin: {
        role: 'operator', address: new URL(url).hostname, port: expect.any(Number), uid: process.getuid!(),
        says: { pid: process.pid, user: userInfo().username },
      },
    });
    expect(readFileSync(orderAuditPath(stateDir), 'utf8')).not.toContain('\u001b');
    expect(statSync(orderAuditPath(stateDir)).mode & 0o777).toBe(0o600);
  });

  it('takes no origin from a header that is not one', async () => {
    const { post, stateDir } = await startControl();
    for (const value of ['', 'x', '7', '7 %', '7 %1b%5b31m', `7 ${'a'.repeat(700)}`, '99999999999 anna'])
      await post('/api/halt', {}, { [CLIENT_HEADER]: value });
    expect(linesOf(stateDir).map(({ origin }) => (origin as Line)['says'])).toEqual([
      null, null, null, null, { pid: 7, user: '\\u001b[31m' }, null, null,
    ]);
  });

  it('is refused where it cannot be written, while halts and sales go on', async () => {
    const { post, get, stateDir, state, logs } = await startControl();
    await post('/api/halt');
    rmSync(orderAuditPath(stateDir));
    mkdirSync(orderAuditPath(stateDir));
    for (const path of ['/api/resume', '/api/reduce-only']) {
      expect(await post(path), path).toMatchObject({
        status: 503, body: { error: { code: 'AUDIT_FAILED', message: expect.stringContaining('orders.ndjson') } },
      });
    }
    expect(state.trading).toBe('halted');
    expect((await post('/api/flatten')).body).toMatchObject({ trading: 'reduce-only' });
    expect((await post('/api/halt')).body).toMatchObject({ trading: 'halted' });
    expect(logs.filter((line) => line.includes('is missing from the file of orders'))).toHaveLength(2);
    expect((await get('/api/state')).body).toMatchObject({ last_widening: { action: 'flatten' } });
  });

  it('may be a mere request, where a dead man’s switch has restricted trading', async () => {
    const { get, engine, reported, stateDir, controlPort } =
      await startControl({ limits: { protections: [DEAD_MAN] } });
    engine.accept({ kind: 'command', name: 'report-presence', reason: 'the start' }, 1_000);
    engine.advanceTo(61_001);
    engine.accept({ kind: 'command', name: 'set-service-access', access: 'silent', reason: 'a test' }, 61_002);
    engine.accept({ kind: 'command', name: 'adjust-wallet', mint: 'x' as never, change: '1', cause: 'deposit',
      reason: 'a test' }, 61_003);
    expect(controlPort.state()).toMatchObject({ protections: [{ kind: 'dead-man' }] });
    const before = reported.length;
    await get('/api/state');
    expect(controlPort.state()).toMatchObject({ protections: [] });
    expect(reported.slice(before).map((line) => WIDENS.exec(line)?.[1] ?? line))
      .toEqual([expect.stringMatching(/^released/), 'presence']);
    expect(linesOf(stateDir)).toMatchObject([{ action: 'presence', widens: expect.stringMatching(/dead man/) }]);
  });

  it('may close a swap of unknown outcome as never landed; one that landed is booked from the chain', async () => {
    const outcome = { kind: 'outcome', intentId: 'diver-1', state: 'expired' } as never;
    const refused = new GannetError('RESOLVE_REFUSED', 'the chain contradicts');
    const answers = [async () => outcome, async () => outcome, async () => { throw refused; }];
    const { post, reported, stateDir } = await startControl({ resolve: () => answers.shift()!() });
    const resolve = (body: object): ReturnType<typeof post> => post('/api/intents/diver-1/resolve', body);
    const signature = '5'.repeat(88);
    expect((await resolve({ as: 'landed', signature, reason: 'the explorer shows it' })).status).toBe(200);
    expect(reported).toEqual([]);
    expect((await resolve({ as: 'expired', reason: 'it has nothing' })).status).toBe(200);
    expect(reported.map((line) => WIDENS.exec(line)?.[1])).toEqual(['resolve']);
    expect((await resolve({ as: 'failed', reason: 'it has nothing', despite: 'balance' })).status).toBe(409);
    expect(reported).toHaveLength(1);
    expect(linesOf(stateDir)).toMatchObject([
      { action: 'resolve', intent_id: 'diver-1', as: 'landed', signature, widens: null },
      { action: 'resolve', as: 'expired', widens: expect.stringMatching(/^diver-1 counts as expired/), refused: null },
      { action: 'resolve', as: 'failed', despite: 'balance', refused: null },
      { action: 'resolve', as: 'failed', refused: 'RESOLVE_REFUSED' },
    ]);
  });

  it('is written with its refusal where the run refuses it', async () => {
    const { post, reported, stateDir } = await startControl();
    writeFileSync(`${stateDir}/STOP`, 'no more');
    await post('/api/resume', { strategy: 'heron' });
    await post('/api/resume');
    expect(linesOf(stateDir)).toMatchObject([
      { action: 'resume', strategy: 'heron', refused: 'STRATEGY_UNKNOWN' }, { action: 'resume', refused: 'STOP_FILE' },
    ]);
    expect(reported).toEqual([]);
  });
});

describe('the file of orders', () => {
  it('outlives runs, and completes a line that a power cut left', () => {
    const stateDir = temporaryFolder();
    auditOf(stateDir).write({ action: 'halt', origin: ORIGIN });
    appendFileSync(orderAuditPath(stateDir), '{"version":1,"at":17');
    chmodSync(orderAuditPath(stateDir), 0o644);
    auditOf(stateDir).write({ action: 'resume', origin: ORIGIN, widens: 'everything' });
    const lines = readFileSync(orderAuditPath(stateDir), 'utf8').split('\n');
    expect(lines[1]).toBe('{"version":1,"at":17');
    expect([lines[0]!, lines[2]!].map((line) => JSON.parse(line) as Line)).toMatchObject([
      { action: 'halt', origin: { role: 'command', command: 'a test', pid: process.pid } }, { action: 'resume' },
    ]);
    expect(statSync(orderAuditPath(stateDir)).mode & 0o777).toBe(0o600);
  });

  it('tells a run which orders were given without a daemon since the last run', () => {
    const stateDir = temporaryFolder();
    const command = openOrderAudit({ stateDir, runId: null, clock: wallClock, log: () => undefined });
    expect(command.givenSince()).toEqual([]);
    command.write({ action: 'resolve', origin: ORIGIN, widens: 'before the run' });
    auditOf(stateDir).write({ action: 'run', origin: ORIGIN });
    expect(command.givenSince()).toEqual([]);
    command.write({ action: 'resolve', origin: ORIGIN, widens: 'one', reason: 'because' });
    command.write({ action: 'resolve', origin: ORIGIN });
    command.write({ action: 'resolve', origin: ORIGIN, widens: 'two' });
    command.write({ action: 'resolve', origin: ORIGIN, widens: 'two', refused: 'RESOLVE_REFUSED' });
    command.write({ action: 'resolve', origin: ORIGIN, widens: 'three' });
    expect(command.givenSince()).toEqual([
      { action: 'resolve', origin: ORIGIN, widens: 'one', reason: 'because' },
      { action: 'resolve', origin: ORIGIN, widens: 'three', reason: undefined },
    ]);
  });

  it('holds five files of one MiB at most', () => {
    const stateDir = temporaryFolder();
    for (let round = 0; round < 7; round += 1) {
      writeFileSync(orderAuditPath(stateDir), `${'x'.repeat(1_048_500)}\n`);
      auditOf(stateDir).write({ action: `order-${round}`, origin: ORIGIN });
    }
    const files = [0, 1, 2, 3, 4, 5].map((earlier) => orderAuditPath(stateDir, earlier));
    expect(files.map((file) => (existsSync(file) ? statSync(file).size <= 1_048_576 : 'none')))
      .toEqual([true, true, true, true, true, 'none']);
    expect(linesOf(stateDir)).toMatchObject([{ action: 'order-6' }]);
  });

  it('is not a link to another place', () => {
    const stateDir = temporaryFolder();
    writeFileSync(`${stateDir}/target`, '');
    symlinkSync(`${stateDir}/target`, orderAuditPath(stateDir));
    expect(() => { auditOf(stateDir).write({ action: 'resume', origin: ORIGIN }); })
      .toThrow(expect.objectContaining({ code: 'AUDIT_FAILED' }));
    expect(readFileSync(`${stateDir}/target`, 'utf8')).toBe('');
    expect(auditOf(stateDir).givenSince()).toEqual([]);
  });
});
