import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DIALECTS_DIR } from '../../src/core/code-files.ts';
import { seededRandom, type Random } from '../../src/core/random.ts';
import type { Profile } from '../../src/sandbox/sandbox.ts';
import { readSwapPrograms } from '../../src/signer/dialect-programs.ts';
import { createPolicy } from '../../src/signer/policy/policy.ts';
import { swapPrograms, type SwapProgram } from '../../src/signer/policy/swap-programs.ts';
import { collectGoldens, type Golden } from '../signer/policy/goldens.ts';
import { MUTANT_KINDS, mutantsOf, type Mutant } from '../signer/policy/mutants.ts';
import { withV1 } from '../signer/policy/v1-goldens.ts';
import { pick } from '../signer/random-transaction.ts';
import { PROFILE_FLAG, campaignName, profileOf } from './profile-flag.ts';
import { addResult, endCampaign, resultsFile } from './results.ts';
import { codeVersion } from './tested-code.ts';

export interface HostileTransactionsOptions {
  readonly goldens: number;
  readonly mutants: number;
  readonly seed: number;
  /** Of the sandbox; by default the transactions of both that call no foreign program. */
  readonly profile?: Profile | undefined;
}

export interface HostileTransactionsReport {
  /** Those of version 1 are twins of others. */
  readonly goldens: {
    readonly judged: number; readonly denied: number; readonly kinds: number; readonly version1: number;
  };
  readonly mutants: {
    readonly judged: number;
    readonly version1: number;
    readonly allowed: number;
    /** Denied, but without the code that the mutation deserves among the findings. */
    readonly wrongCode: number;
    /** Where the deserved code is the first that is named. */
    readonly namedFirst: number;
    readonly kinds: number;
    readonly codes: Readonly<Record<string, number>>;
  };
  readonly seconds: number;
  readonly violations: readonly string[];
}

/** What a golden of the profile `live` may be refused for: it wants a simulation, or carries a tip of the service. */
const LIVE_CODES: ReadonlySet<string> = new Set(['SWAP_UNREADABLE', 'TRANSFER_DESTINATION']);
/** The goldens of that profile that mutants are made of: those that call the sandbox's own program, or none. */
const OWN_PROGRAM = /rfqz|routerB/;

/** The share of a golden's mutants that is judged, so that many goldens have theirs. */
const TAKEN = 0.1;

/**
 * Has the policy judge transactions as the service makes them, and mutants of them; a golden denied or a mutant let
 * through is a violation.
 */
export async function judgeHostileTransactions(
  options: HostileTransactionsOptions,
): Promise<HostileTransactionsReport> {
  const startedMs = performance.now();
  const policy = createPolicy(options.profile === undefined ? undefined : neutralPrograms());
  const violations: string[] = [];
  const goldens = withV1(await collectGoldens({
    count: options.goldens, seed: options.seed, ...(options.profile === undefined ? {} : { profile: options.profile }),
  }), { every: 1 });
  let denied = 0;
  for (const { kind, bytes, expectation, tables } of goldens) {
    const { verdict, findings } = policy.judge(bytes, expectation, { tables });
    if (verdict === 'allow' || (options.profile === 'live' && findings.every(({ code }) => LIVE_CODES.has(code))))
      continue;
    denied += 1;
    violations.push(`golden denied: ${kind}: ${JSON.stringify(findings)}`);
  }

  const random = seededRandom(`hostile ${options.seed}`);
  const codes: Record<string, number> = {};
  const kinds = new Set<string>();
  const count = { judged: 0, version1: 0, allowed: 0, wrongCode: 0, namedFirst: 0 };
  for (const { golden, mutant: { kind, code, bytes, tables } } of manyMutants(
    goldens.filter(({ kind }) => options.profile !== 'live' || OWN_PROGRAM.test(kind)), options.mutants, random,
  )) {
    const verdict = policy.judge(bytes, golden.expectation, { tables });
    count.judged += 1;
    if (isV1(golden)) count.version1 += 1;
    codes[code] = (codes[code] ?? 0) + 1;
    kinds.add(MUTANT_KINDS.find((known) => kind === known || kind.startsWith(`${known},`)) ?? kind);
    if (verdict.code === code) count.namedFirst += 1;
    if (verdict.verdict === 'allow') count.allowed += 1;
    else if (verdict.findings.some((finding) => finding.code === code)) continue;
    else count.wrongCode += 1;
    violations.push(
      `${golden.kind}: ${kind}: expected ${code}, got ${verdict.verdict} ${JSON.stringify(verdict.findings)}`,
    );
  }
  return {
    goldens: {
      judged: goldens.length, denied, kinds: new Set(goldens.map(({ kind }) => kind)).size,
      version1: goldens.filter(isV1).length,
    },
    mutants: { ...count, kinds: kinds.size, codes },
    seconds: (performance.now() - startedMs) / 1_000,
    violations,
  };
}

function isV1({ bytes }: Golden): boolean {
  return bytes[0] === 0x81;
}

/**
 * Yields mutants of goldens in no order, so that every way of making a transaction has its share however few they are.
 */
function* manyMutants(
  goldens: readonly Golden[], count: number, random: Random,
): Generator<{ readonly golden: Golden; readonly mutant: Mutant }> {
  let made = 0;
  while (made < count) {
    const golden = pick(random, goldens);
    for (const mutant of mutantsOf(golden, random)) {
      if (made >= count) return;
      if (random() >= TAKEN) continue;
      made += 1;
      yield { golden, mutant };
    }
  }
}

function neutralPrograms(): readonly SwapProgram[] {
  const file = join(DIALECTS_DIR, 'neutral.yaml');
  return [...swapPrograms(), ...readSwapPrograms(file, readFileSync(file, 'utf8'))];
}

/** `node test/campaign/transactions.ts --mutants 10000 --goldens 2000 --seed 1 [--profile live] [--out FILE]` */
async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      mutants: { type: 'string', default: '10000' }, goldens: { type: 'string', default: '2000' },
      seed: { type: 'string', default: '1' },
      out: { type: 'string' }, ...PROFILE_FLAG,
    },
  });
  const seed = Number(values.seed);
  const profile = profileOf(values);
  const out = values.out ?? resultsFile(campaignName('transactions', profile));
  const { violations, ...figures } =
    await judgeHostileTransactions({ mutants: Number(values.mutants), goldens: Number(values.goldens), seed, profile });
  addResult(out, {
    type: 'transactions', at: new Date().toISOString(), ...codeVersion('daemon'), seed, ...figures,
    violations: violations.length,
  });
  return endCampaign(out, violations, figures);
}

if (import.meta.main) process.exitCode = await main();
