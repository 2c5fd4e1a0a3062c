import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { CommandContext, CommandModule } from '../../command.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { EXIT } from '../../exit-codes.ts';
import { openConfigured } from '../../input/service-request.ts';
import { readTransactionInput } from '../../input/transaction-input.ts';
import { snakeCased } from '../../output/answer-json.ts';
import { facts } from '../../output/table.ts';
import { GannetError, messageOf } from '../../../core/errors.ts';
import { printable } from '../../../core/text.ts';
import type { ChainReader } from '../../../signer/chain/chain-reader.ts';
import { createChainReader } from '../../../signer/chain/chain-reader.ts';
import { createJsonRpc, createJsonRpcOf } from '../../../signer/chain/json-rpc.ts';
import { judgeWithChain, tablesOf } from '../../../signer/policy-check.ts';
import type { Expectation } from '../../../signer/policy/expectation.ts';
import { USUAL_MAX_FEE_LAMPORTS } from '../../../signer/policy/expectation.ts';
import type { PolicyTools } from '../../../signer/policy/policy.ts';
import { createPolicy, inferExpectation } from '../../../signer/policy/policy.ts';
import type { LookupTables } from '../../../signer/policy/lookup-tables.ts';
import type { Summary, Verdict } from '../../../signer/policy/verdict.ts';
import { configInWords, sol, verdictOf } from '../../../signer/policy/verdict.ts';
import type { SignerSettings } from '../../../signer/settings.ts';
import { readSignerSettings } from '../../../signer/settings.ts';
import { isAddress } from '../../../solana/addresses.ts';

interface Flags {
  readonly wallet: string;
  readonly expect?: string;
}

/** The source of the terms that a transaction is checked against. */
type TermsFrom = 'expected' | 'transaction' | 'nowhere';

export const inspectTransactionCommand: CommandModule = (program, run) => {
  program.command('inspect-transaction [base64]')
    .description('checks a transaction as the signer does, and says whether it would be signed (default: read from '
      + 'standard input)')
    .requiredOption('--wallet <address>', 'the wallet that would sign')
    .option(
      '--expect <file>',
      'JSON with input_mint, output_mint, amount_in, minimum_out, and optionally maker, fee_payer, receiver and limits',
    )
    .action(run(inspect));
};

async function inspect(
  context: CommandContext, text: string | undefined, { wallet, expect }: Flags,
): Promise<ExitCode> {
  if (!isAddress(wallet)) throw new GannetError('USAGE', '--wallet: expected an address, the base58 of 32 bytes');
  const expected = expect === undefined ? undefined : await readExpectFile(expect, wallet);
  const bytes = await readTransactionInput(text);
  const settings = settingsOf(context);
  const policy = createPolicy(settings.programs);
  const chain = chainWhenNeeded(context, settings);
  let verdict: Verdict;
  let from: TermsFrom;
  try {
    const tables = await tablesOf(bytes, { policy, chain });
    const given = termsOf(expected, { bytes, wallet, tables, tools: policy });
    const { maxTipLamports = settings.allowances.maxTipLamports } = given.expectation;
    const terms = { ...given, expectation: { ...given.expectation, maxTipLamports } };
    const receivers = expected?.receiver === undefined ? [undefined, ...settings.destinations] : [expected.receiver];
    from = terms.from;
    verdict = from === 'nowhere'
      ? withoutTerms(policy.judge(bytes, terms.expectation, { tables }))
      : await judgeWithChain(bytes, terms.expectation, { policy, chain, receivers });
  } finally {
    await chain.end();
  }
  context.terminal.result(asJson(verdict, from), () => asText(verdict, { wallet, from }));
  return verdict.verdict === 'allow' ? EXIT.done : EXIT.failed;
}

/** Without terms, findings about missing terms mean nothing: one finding replaces them. */
function withoutTerms({ findings, summary }: Verdict): Verdict {
  if (summary === undefined) return verdictOf(findings, summary);
  const message = 'the transaction holds no readable swap; say with --expect what it should do';
  return verdictOf([
    { code: 'SWAP_MISSING', instruction: undefined, message },
    ...findings.filter(({ code }) => code !== 'SWAP_MISSING'),
  ], { ...summary });
}

function termsOf(
  expected: Expectation | undefined,
  { bytes, wallet, tables, tools }: { bytes: Uint8Array; wallet: string; tables: LookupTables; tools: PolicyTools },
): { readonly expectation: Expectation; readonly from: TermsFrom } {
  if (expected !== undefined) return { expectation: expected, from: 'expected' };
  const inferred = inferExpectation(bytes, wallet, { tables, tools });
  if (inferred !== undefined) return { expectation: inferred, from: 'transaction' };
  const nothing: Expectation = {
    wallet, inputMint: '', outputMint: '', amountIn: 0n, minimumOut: 0n, maxFeeLamports: USUAL_MAX_FEE_LAMPORTS,
    route: 'order',
  };
  return { expectation: nothing, from: 'nowhere' };
}

/** Returns the settings as the signer reads them from the same command line. */
function settingsOf({ options, environment }: CommandContext): SignerSettings {
  const given = [
    ['--config', options.config], ['--base-url', options.baseUrl], ['--rpc-url', options.rpcUrl],
    ['--state-dir', options.stateDir],
  ] as const;
  return readSignerSettings({
    args: given.flatMap(([name, value]) => (value === undefined ? [] : [name, value])), environment,
    workingDir: process.cwd(),
  });
}

/**
 * Returns the signer's reader of the configured chain. The embedded chain starts only for a transaction that uses
 * tables or must be simulated.
 */
function chainWhenNeeded(
  context: CommandContext, { rpcUrl, furtherRpcUrls = [] }: SignerSettings,
): ChainReader & { readonly end: () => Promise<void> } {
  let opening: Promise<{ readonly reader: ChainReader; readonly close: () => Promise<void> }> | undefined;
  const open = async (): Promise<{ readonly reader: ChainReader; readonly close: () => Promise<void> }> => {
    if (rpcUrl !== undefined) {
      const rpc = createJsonRpcOf([rpcUrl, ...furtherRpcUrls]);
      return { reader: createChainReader(rpc), close: async () => undefined };
    }
    const { connections } = await openConfigured(context, 'read');
    return { reader: createChainReader(createJsonRpc(connections.sandbox!.addresses.rpc_url)), close: () =>
      connections.close() };
  };
  const reader = async (): Promise<ChainReader> => (await (opening ??= open())).reader;
  return {
    lookupTables: async (places) => (await reader()).lookupTables(places),
    decimalsOf: async (mint) => (await reader()).decimalsOf(mint),
    simulate: async (transaction, options) => (await reader()).simulate(transaction, options),
    close: () => undefined,
    end: async () => {
      const opened = await opening?.catch(() => undefined);
      opened?.reader.close();
      await opened?.close();
    },
  };
}

function asJson({ verdict, code, findings, summary }: Verdict, from: TermsFrom): unknown {
  return {
    verdict,
    code: code ?? null,
    findings: findings.map((finding) =>
      ({ code: finding.code, instruction: finding.instruction ?? null, message: finding.message })),
    summary: summary === undefined ? null : { terms: from, ...(snakeCased(summary) as object) },
  };
}

function asText({ verdict, code, findings, summary }: Verdict, { wallet, from }: {
  readonly wallet: string; readonly from: TermsFrom;
}): string {
  return facts([
    ['verdict', code === undefined ? verdict : `${verdict}, ${code}`],
    ['why', findings.map(({ code: found, instruction, message }) => (
      `${found}${instruction === undefined ? '' : `, instruction ${instruction}`}: ${message}`))],
    ['terms', summary === undefined ? undefined : TERMS[from]],
    ...(summary === undefined ? [] : summaryFacts(summary, wallet, from)),
  ]);
}

const TERMS: Readonly<Record<TermsFrom, string>> = {
  expected: 'from the file of --expect',
  transaction: 'from the transaction itself, because --expect is missing: they may be good or bad',
  nowhere: 'none, because --expect is missing',
};

function summaryFacts(
  summary: Summary, wallet: string, from: TermsFrom,
): [string, string | readonly string[] | undefined][] {
  const { costs, swap, signers, feePayer, instructions, lookupTables, version, config, bytes, blockhash } = summary;
  const who = (address: string): string =>
    `${address}${address === wallet ? ', the wallet' : ''}${address === feePayer ? ', pays the fee' : ''}`;
  return [
    ['signs', signers.map(who)],
    ['swap', from === 'nowhere' ? undefined : `${swap.amountIn} units of `
      + `${swap.inputMint}${swap.inputFee === 0n ? '' : `, of which ${swap.inputFee} are a fee`}, for at least `
      + `${swap.minimumOut} of ${swap.outputMint}`],
    ['fee', `${sol(costs.feeLamports)}, of which ${sol(costs.priorityFeeLamports)} for `
      + `priority${costs.paidByWallet ? '' : '; the wallet pays none of it'}`],
    ['tips', costs.tipLamports === 0n ? undefined : sol(costs.tipLamports)],
    ['rent', costs.rentLamports === 0n ? undefined : `at most ${sol(costs.rentLamports)} for new accounts`],
    ['budget', config === undefined ? undefined : configInWords(config)],
    ['does', instructions.map(({ index, program, text }) => `${index}  ${program}: ${text}`)],
    ['tables', lookupTables],
    ['form', `${version === 'legacy' ? version : `version ${version}`}, ${bytes} bytes, blockhash ${blockhash}`],
  ];
}

const U64_MAX = 2n ** 64n - 1n;
const WHOLE_NUMBER = 'expected a whole number in smallest units, as a string';

const address = z.string().refine(isAddress, { message: 'expected an address, the base58 of 32 bytes' });
/** A string, as everywhere; whole numbers that a double holds exactly are accepted too. */
const amount = z.union([z.string(), z.int().min(0)], { error: WHOLE_NUMBER })
  .refine((value) => /^\d{1,20}$/.test(String(value)), { error: WHOLE_NUMBER, abort: true })
  .transform(BigInt).refine((value) => value <= U64_MAX, { message: `expected at most ${U64_MAX}` });

const expectFile = z.strictObject({
  input_mint: address,
  output_mint: address,
  amount_in: amount,
  minimum_out: amount,
  maker: address.optional(),
  fee_payer: address.optional(),
  receiver: address.optional(),
  max_fee_lamports: amount.optional(),
  max_tip_lamports: amount.optional(),
  tip_accounts: z.array(address).optional(),
  max_platform_fee_bps: z.int().min(0).max(10_000).optional(),
  fee_accounts: z.array(address).optional(),
  route: z.enum(['order', 'build']).default('order'),
});

/**
 * Returns the expectation in the file of `--expect` for a transaction of `wallet`. Throws USAGE when it cannot be read
 * or is inconsistent.
 */
export async function readExpectFile(path: string, wallet: string): Promise<Expectation> {
  const parsed = expectFile.safeParse(await readDocument(path));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw usage(
      path, `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not the expected form'}`.replace(/^: /, ''),
    );
  }
  const file = parsed.data;
  if (file.input_mint === file.output_mint) throw usage(path, 'output_mint: expected another mint than input_mint');
  return {
    wallet,
    inputMint: file.input_mint,
    outputMint: file.output_mint,
    amountIn: file.amount_in,
    minimumOut: file.minimum_out,
    maker: file.maker,
    feePayer: file.fee_payer,
    receiver: file.receiver,
    maxFeeLamports: file.max_fee_lamports ?? USUAL_MAX_FEE_LAMPORTS,
    maxTipLamports: file.max_tip_lamports,
    tipAccounts: file.tip_accounts,
    maxPlatformFeeBps: file.max_platform_fee_bps,
    feeAccounts: file.fee_accounts,
    route: file.route,
  };
}

async function readDocument(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as unknown;
  } catch (cause) {
    throw usage(path, `expected a JSON document, ${messageOf(cause)}`);
  }
}

function usage(path: string, what: string): GannetError {
  return new GannetError('USAGE', `--expect ${printable(path)}: ${printable(what, 300)}`);
}
