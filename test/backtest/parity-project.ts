import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { openRecording } from '../../src/recording/reader.ts';
import type { RecordingWriter } from '../../src/recording/writer.ts';
import { createRecordingWriter } from '../../src/recording/writer.ts';
import type { Input } from '../../src/trading/step.ts';
import type { Ended, Playground } from '../e2e/gannet.ts';
import { PROJECT } from '../e2e/gannet.ts';
import { stillClock } from '../recording/temporary.ts';

/** Environments with different time zones, calendars and number formats. */
export const PLACES = {
  newfoundland: { TZ: 'America/St_Johns', LC_ALL: 'ar_EG.UTF-8', LANG: 'ar_EG.UTF-8' },
  chatham: { TZ: 'Pacific/Chatham', LC_ALL: 'tr_TR.UTF-8', LANG: 'tr_TR.UTF-8', NODE_ICU_DATA: '/nowhere' },
  nowhere: { TZ: 'UTC', LC_ALL: 'C', LANG: 'C' },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;

/** A copy of the project in which a test may change files. */
export interface ProjectCopy {
  readonly dir: string;
  /** Runs a command of the copy until it ends. */
  run(args: readonly string[], environment?: Readonly<Record<string, string>>): Promise<Ended>;
}

/** Returns a copy of the project without its packages. */
export function copyOfProject(playground: Playground): ProjectCopy {
  const dir = playground.path('project');
  mkdirSync(dir);
  for (const name of ['bin', 'src', 'strategies', 'config', 'package.json'])
    cpSync(join(PROJECT, name), join(dir, name), { recursive: true });
  for (const name of ['node_modules', 'vendor'])
    if (existsSync(join(PROJECT, name))) symlinkSync(join(PROJECT, name), join(dir, name));
  const surroundings = {
    PATH: process.env['PATH'] ?? '', TMPDIR: playground.path('tmp'), NODE_COMPILE_CACHE: playground.path('compiled'),
  };
  return {
    dir,
    run: (args, environment = {}) => new Promise((resolve) => {
      execFile(join(dir, 'bin', 'gannet'), args, { cwd: playground.dir, env: { ...surroundings, ...environment } },
        (error, stdout, stderr) => {
          resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
        });
    }),
  };
}

/**
 * Rewrites a recording, each row as `change` returns it, without the rows for which it returns nothing. Digests match
 * the new rows. One that is not to be closed has the state of one whose writer was killed.
 */
export async function rewriteRecording(
  dir: string, name: string, change: (input: Input, seq: number) => Input | undefined, { close = true } = {},
): Promise<void> {
  const old = openRecording(join(dir, name));
  const rows: { seq: number; at: number; input: Input }[] = [];
  const cursor = old.cursor();
  while (cursor.next()) {
    const { seq, at, input } = cursor;
    const changed =
      change('toJSON' in input && typeof input.toJSON === 'function' ? input.toJSON() as Input : input, seq);
    if (changed !== undefined) rows.push({ seq, at, input: changed });
  }
  rmSync(join(dir, name), { recursive: true });
  const writer: RecordingWriter = createRecordingWriter({
    dir, name, clock: stillClock(), tokens: old.manifest.tokens, onError: (error) => { throw error; },
  });
  for (const { seq, at, input } of rows) writer.append(seq, at, input);
  writer.flush();
  if (close) await writer.close();
}
