import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { importsOf } from '../../src/core/source-imports.ts';
import { PROJECT } from '../e2e/gannet.ts';

/**
 * What a campaign tests. The daemon is what `gannet run` can come to load, with the signer and the sandbox that it
 * starts: research commands and reports do not change what it does. The policy is what reads a transaction before it is
 * signed, and judges it. Everything is all of it.
 */
export type TestedPart = 'daemon' | 'policy' | 'everything';

/** Which results speak of the code as it is: those of another digest say nothing of it. */
export interface CodeVersion {
  /** For people. */
  readonly commit: string;
  readonly digest: string;
}

const COMMANDS_FILE = join(PROJECT, 'src/cli/command-list.ts');
/** The embedded service and chain are a command of their own, which a run starts. */
const DAEMON_COMMANDS: readonly string[] = ['./commands/trading/run.ts', './commands/sandbox.ts'];
/** What bin/gannet starts first, what that starts beside itself, and what strategies import by the package's name. */
const DAEMON_ENTRIES = [
  'src/signer/main.ts', 'src/cli/main.ts', 'src/strategy/index.ts', 'src/daemon/hosts/host-main.ts',
  'src/recording/compression/packing-thread.ts', 'src/sandbox/main.ts',
];
/** Loaded by research commands alone. */
const RESEARCH_FILE = join(PROJECT, 'src/cli/boxed/run-boxed.ts');
const POLICY_ENTRIES = ['src/signer/policy/policy.ts'];
/** Taken whole: none of it is found by following imports. */
const FOLDERS = ['bin', 'config/dialects', 'strategies'];

/** Returns what names the code that is tested: the commit, and a digest of the files as they are. */
export function codeVersion(part: TestedPart): CodeVersion {
  const digest = createHash('sha256');
  for (const path of filesOf(part)) digest.update(`${path}\0`).update(readFileSync(join(PROJECT, path))).update('\0');
  return { commit: commitOf(PROJECT), digest: digest.digest('hex').slice(0, 12) };
}

/** Returns the files that a part is made of, sorted. */
export function filesOf(part: TestedPart): string[] {
  if (part === 'policy') return loadedFrom(POLICY_ENTRIES).sort();
  const source = part === 'everything' ? filesIn('src')
    : [...loadedFrom(DAEMON_ENTRIES), ...filesIn('src').filter((path) => !path.endsWith('.ts'))];
  return [...FOLDERS.flatMap(filesIn), ...source].sort();
}

/** Returns what some files can come to load, themselves included; of the commands those of the daemon alone. */
function loadedFrom(entries: readonly string[]): string[] {
  const found = new Set<string>();
  const follow = (file: string): void => {
    if (found.has(file) || file === RESEARCH_FILE) return;
    found.add(file);
    for (const { specifier, typeOnly } of importsOf(readFileSync(file, 'utf8'))) {
      if (typeOnly || specifier?.startsWith('.') !== true
          || (file === COMMANDS_FILE && !DAEMON_COMMANDS.includes(specifier))) continue;
      follow(resolve(dirname(file), specifier));
    }
  };
  for (const entry of entries) follow(join(PROJECT, entry));
  return [...found].map((file) => relative(PROJECT, file));
}

function filesIn(folder: string): string[] {
  return readdirSync(join(PROJECT, folder), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(PROJECT, join(parentPath, name)));
}

function commitOf(folder: string): string {
  try {
    return execFileSync('git', ['-C', folder, 'rev-parse', '--short', 'HEAD'], {
      encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    // A copy without its history.
    return 'none';
  }
}
