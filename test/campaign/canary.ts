import { parseArgs } from 'node:util';
import { createChoose } from './choose.ts';
import { walkErrorPaths } from './canary/error-paths.ts';
import { traceProcesses } from './canary/processes.ts';
import { createMemorySearch, createSearch, newCanaries, type Leak } from './canary/secrets.ts';
import { addResult, packResults, resultsFile } from './results.ts';
import { codeVersion } from './tested-code.ts';

export interface CanaryReport {
  /** Errors in this process, by where they came from. */
  readonly paths: Readonly<Record<string, number>>;
  /** Outputs, files, answers, environments and stretches of memory of processes that were searched. */
  readonly traces: number;
  readonly bytes: number;
  readonly leaks: readonly (Leak & { readonly where: string })[];
}

/**
 * Walks error paths with invented secrets, in this process and with the real commands, and searches them in
 * whatever comes out.
 */
export async function huntCanaries(
  { paths, processes, seed }: { readonly paths: number; readonly processes: boolean; readonly seed: number },
): Promise<CanaryReport> {
  const canaries = newCanaries();
  const search = createSearch(canaries);
  const searchMemory = createMemorySearch(canaries);
  const counts: Record<string, number> = {};
  const leaks: (Leak & { where: string })[] = [];
  let [traces, bytes] = [0, 0];
  for await (const {
    path, told,
  } of walkErrorPaths(canaries, { count: paths, chooseFor: (number) => createChoose(`${seed}:${number}`) })) {
    if (told === undefined) continue;
    const kind = path.replace(/ \d+$/, '');
    counts[kind] = (counts[kind] ?? 0) + 1;
    leaks.push(...search(Buffer.from(told)).map((leak) => ({ ...leak, where: path })));
  }
  if (processes) {
    for await (const { where, bytes: seen, isMemory } of traceProcesses(canaries)) {
      traces += 1;
      bytes += seen.length;
      leaks.push(...(isMemory === true ? searchMemory : search)(seen).map((leak) => ({ ...leak, where })));
    }
  }
  return { paths: counts, traces, bytes, leaks };
}

/** `node test/campaign/canary.ts --paths 1000 --seed 1 [--out FILE]` */
async function main(): Promise<number> {
  const { values } = parseArgs({ options: {
    paths: { type: 'string', default: '1000' }, seed: { type: 'string', default: '1' },
    out: { type: 'string', default: resultsFile('canary') },
  } });
  const seed = Number(values.seed);
  const { leaks, ...figures } = await huntCanaries({ paths: Number(values.paths), processes: true, seed });
  addResult(values.out, {
    type: 'canary', at: new Date().toISOString(), ...codeVersion('everything'), seed, ...figures,
    violations: leaks.length,
  });
  packResults(values.out);
  const list = leaks.map(({ where, secret, around }) => `${where}: ${secret} in ${JSON.stringify(around)}\n`).join('');
  process.stdout.write(`${JSON.stringify(figures, null, 2)}\n${list}\n${leaks.length} leaks\n`);
  return leaks.length === 0 ? 0 : 1;
}

if (import.meta.main) process.exitCode = await main();
