import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DoneTrial } from '../../../src/research/trials/trial.ts';
import type { FinishedTrials } from '../../../src/research/sweep/finished-trials.ts';
import { openFinishedTrials } from '../../../src/research/sweep/finished-trials.ts';
import { row } from './rows.ts';
import { temporaryFolder } from '../../recording/temporary.ts';

const BASIS: Parameters<typeof openFinishedTrials>[1] = {
  key: '0123456789abcdef', recording: 'r', configuration: 'c', strategies: 's', engine: 'e', packages: 'p', node: 'n',
};

function done(id: string): DoneTrial {
  return {
    ...row([], [], 1).result, id, metrics: { total_return: 1e19, sharpe: null } as unknown as DoneTrial['metrics'],
  };
}

function opened(dir: string, fresh = false): FinishedTrials {
  return openFinishedTrials(dir, BASIS, { fresh });
}

describe('finished trials', () => {
  it('are read back exactly', () => {
    const dir = temporaryFolder();
    const first = opened(dir);
    first.keep(done('a'));
    first.keep(done('b'));
    first.close();
    const second = opened(dir);
    expect([...second.known.values()]).toStrictEqual([done('a'), done('b')]);
    second.keep(done('c'));
    second.close();
    expect([...opened(dir).known.keys()]).toStrictEqual(['a', 'b', 'c']);
  });

  it('are kept beside those of another process, also when one starts fresh', () => {
    const dir = temporaryFolder();
    const [one, other] = [opened(dir, true), opened(dir, true)];
    for (const id of ['a', 'b']) one.keep(done(id));
    for (const id of ['c', 'd']) other.keep(done(id));
    one.keep(done('e'));
    one.close();
    other.close();
    expect([...opened(dir).known.keys()]).toStrictEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('lose only the damaged line', () => {
    const dir = temporaryFolder();
    const first = opened(dir);
    for (const id of ['a', 'b', 'c']) first.keep(done(id));
    first.close();
    const text = readFileSync(first.file, 'utf8');
    writeFileSync(first.file, text.replace('"id":"b"', '"id":"x"'));
    appendFileSync(first.file, text.split('\n')[1]!.slice(0, 40));
    const second = opened(dir);
    expect([...second.known.keys()]).toStrictEqual(['a', 'c']);
    second.keep(done('d'));
    second.close();
    expect([...opened(dir).known.keys()]).toStrictEqual(['a', 'c', 'd']);
  });

  it('are discarded on request', () => {
    const dir = temporaryFolder();
    const first = opened(dir);
    first.keep(done('a'));
    first.close();
    expect(opened(dir, true).known.size).toBe(0);
    expect(opened(dir).known.size).toBe(0);
  });

  it('belong to one basis: another basis has none of them', () => {
    const dir = temporaryFolder();
    const first = opened(dir);
    first.keep(done('a'));
    first.close();
    expect(openFinishedTrials(dir, { ...BASIS, key: 'fedcba9876543210' }, { fresh: false }).known.size).toBe(0);
  });

  it('are refused for a folder that cannot be written, before any run', () => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    expect(() => opened(file)).toThrow(expect.objectContaining(
      { code: 'USAGE', message: expect.stringContaining('give another folder with --state-dir') as string },
    ));
  });
});
