import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { LogLevel } from '../../../src/daemon/reporting/log-levels.ts';
import { temporaryFolder } from '../../store/fixtures.ts';

const WRITER = fileURLToPath(new URL('logging-child.ts', import.meta.url));

/**
 * Returns what a log of this level shows on a terminal and keeps in its file; a process of its own, for its standard
 * error.
 */
function logged(level: LogLevel, what = 'two'): { readonly shown: string; readonly kept: string[] } {
  const stateDir = temporaryFolder();
  const { stderr } = spawnSync(
    process.execPath, ['--disable-warning=ExperimentalWarning', WRITER, level, stateDir, what], { encoding: 'utf8' },
  );
  const lines = readFileSync(join(stateDir, 'logs', 'run.log'), 'utf8').trimEnd().split('\n');
  return { shown: stderr, kept: lines.map((line) => (JSON.parse(line) as { message: string }).message) };
}

describe('the log', () => {
  it('writes lines of the reporter to its file without showing them a second time', () => {
    expect(logged('warn')).toEqual({ shown: 'warn  odd port=7\n', kept: ['told elsewhere', 'odd'] });
  });

  describe('issue 13.28: the log file has the lines of the reporter', () => {
    it('writes lines for the file alone at every level', () => {
      const { shown, kept } = logged('debug', 'kept');
      expect(kept).toEqual(['told elsewhere', 'odd', 'decision']);
      expect(shown).toBe('info  told elsewhere state=halted\nwarn  odd port=7\n');
    });

    it('creates no file without a line', () => {
      const stateDir = temporaryFolder();
      spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', WRITER, 'info', stateDir, 'nothing']);
      expect(existsSync(join(stateDir, 'logs', 'run.log'))).toBe(false);
    });
  });

  it('shows more at a higher level, and leaves out undefined details', () => {
    expect(logged('info').shown).toBe('info  told elsewhere state=halted\nwarn  odd port=7\n');
  });
});
