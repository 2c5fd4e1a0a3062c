import { GannetError } from '../core/errors.ts';
import { createChainReader, type ChainReader } from '../signer/chain-reader.ts';
import { createJsonRpc } from '../signer/json-rpc.ts';
import { judgeWithChain, tablesOf } from '../signer/judge.ts';
import { USUAL_MAX_FEE_LAMPORTS, type Expectation } from '../signer/policy/expectation.ts';
import { inferExpectation } from '../signer/policy/infer.ts';
import { createPolicy, type PolicyTools } from '../signer/policy/policy.ts';
import type { LookupTables } from '../signer/policy/resolve.ts';
import { verdictOf, type Summary, type Verdict } from '../signer/policy/verdict.ts';
import { sol } from '../signer/policy/words.ts';
import { readSignerSettings, type SignerSettings } from '../signer/settings.ts';
import { MAX_TRANSACTION_BYTES } from '../signer/transaction-reader.ts';
import { snakeCased } from './answer-json.ts';
import type { CommandContext, CommandModule } from './command.ts';
import { openConfigured } from './configured.ts';
import type { ExitCode } from './exit-codes.ts';
import { EXIT } from './exit-codes.ts';
import { isAddress, readExpectFile } from './expect-file.ts';
import { facts } from './table.ts';

interface Flags {
  readonly wallet: string;
  readonly expect?: string;
}

/** Where the terms come from that a transaction is held against. */
type TermsFrom = 'expected' | 'transaction' | 'nowhere';

/** Base64 of the longest transaction; white space around it apart, nothing longer is even decoded. */
const MAX_BASE64_CHARACTERS = 4 * Math.ceil(MAX_TRANSACTION_BYTES / 3);
const MAX_INPUT_CHARACTERS = 65_536;

export const inspectTransactionCommand: CommandModule = (program, run) => {
  program.command('inspect-transaction [base64]')
    .description('reads a transaction as the signer would and says whether it would be signed; from standard input where it is left out')
    .requiredOption('--wallet <address>', 'the wallet that would sign')
    .option('--expect <file>', 'JSON: input_mint, output_mint, amount_in, minimum_out; maker, fee_payer, receiver and limits where there are any')
    .action(run(inspect));
};

async function inspect(context: CommandContext, text: string | undefined, { wallet, expect }: Flags): Promise<ExitCode> {
  if (!isAddress(wallet)) throw new GannetError('USAGE', '--wallet: expected an address, the base58 of 32 bytes');
  const expected = expect === undefined ? undefined : await readExpectFile(expect, wallet);
  const bytes = decodeBase64(text ?? await readStandardInput());
  const settings = settingsOf(context);
  const policy = createPolicy(settings.programs);
  const chain = chainWhenNeeded(context, settings);
  let verdict: Verdict;
  let from: TermsFrom;
  try {
    const tables = await tablesOf(bytes, { policy, chain });
    const terms = termsOf(expected, { bytes, wallet, tables, tools: policy });
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

/** What the terms of nothing break says nothing: one finding stands for them. */
function withoutTerms({ findings, summary }: Verdict): Verdict {
  if (summary === undefined) return verdictOf(findings, summary);
  const message = 'nothing in it swaps in a way that can be read; say with --expect what it should do';
  return verdictOf([{ code: 'SWAP_MISSING', instruction: undefined, message }, ...findings.filter(({ code }) => code !== 'SWAP_MISSING')], { ...summary });
}

function termsOf(
  expected: Expectation | undefined, { bytes, wallet, tables, tools }: { bytes: Uint8Array; wallet: string; tables: LookupTables; tools: PolicyTools },
): { readonly expectation: Expectation; readonly from: TermsFrom } {
  if (expected !== undefined) return { expectation: expected, from: 'expected' };
  const inferred = inferExpectation(bytes, wallet, { tables, tools });
  if (inferred !== undefined) return { expectation: inferred, from: 'transaction' };
  const nothing: Expectation = {
    wallet, inputMint: '', outputMint: '', amountIn: 0n, minimumOut: 0n, maxFeeLamports: USUAL_MAX_FEE_LAMPORTS, route: 'order',
  };
  return { expectation: nothing, from: 'nowhere' };
}

/** As the signer reads them of the same command line. */
function settingsOf({ options, environment }: CommandContext): SignerSettings {
  const given = [['--config', options.config], ['--base-url', options.baseUrl], ['--rpc-url', options.rpcUrl], ['--state-dir', options.stateDir]] as const;
  return readSignerSettings({ args: given.flatMap(([name, value]) => (value === undefined ? [] : [name, value])), environment, workingDir: process.cwd() });
}

/** The signer's reader of the chain that is configured: only a transaction that uses tables, or must be simulated, has the embedded one started. */
function chainWhenNeeded(context: CommandContext, { rpcUrl }: SignerSettings): ChainReader & { readonly end: () => Promise<void> } {
  let opening: Promise<{ readonly reader: ChainReader; readonly close: () => Promise<void> }> | undefined;
  const open = async (): Promise<{ readonly reader: ChainReader; readonly close: () => Promise<void> }> => {
    if (rpcUrl !== undefined) return { reader: createChainReader(createJsonRpc(rpcUrl)), close: async () => undefined };
    const { world } = await openConfigured(context, 'look');
    return { reader: createChainReader(createJsonRpc(world.sandbox!.addresses.rpc_url)), close: () => world.close() };
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

function decodeBase64(text: string): Uint8Array {
  const trimmed = text.trim();
  if (trimmed === '') throw new GannetError('USAGE', 'expected a transaction in base64, as an argument or on standard input, got nothing');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(trimmed)) throw new GannetError('USAGE', 'expected a transaction in base64, got other characters');
  // The policy refuses by length alone what is too long: it need not be decoded for that.
  return trimmed.length > MAX_BASE64_CHARACTERS ? new Uint8Array(MAX_TRANSACTION_BYTES + 1) : Buffer.from(trimmed, 'base64');
}

async function readStandardInput(): Promise<string> {
  let text = '';
  for await (const chunk of process.stdin) {
    text += String(chunk);
    if (text.length > MAX_INPUT_CHARACTERS) break;
  }
  return text;
}

function asJson({ verdict, code, findings, summary }: Verdict, from: TermsFrom): unknown {
  return {
    verdict,
    code: code ?? null,
    findings: findings.map((finding) => ({ code: finding.code, instruction: finding.instruction ?? null, message: finding.message })),
    summary: summary === undefined ? null : { terms: from, ...(snakeCased(summary) as object) },
  };
}

function asText({ verdict, code, findings, summary }: Verdict, { wallet, from }: { readonly wallet: string; readonly from: TermsFrom }): string {
  return facts([
    ['verdict', code === undefined ? verdict : `${verdict}, ${code}`],
    ['why', findings.map((finding) => `${finding.code}${finding.instruction === undefined ? '' : `, instruction ${finding.instruction}`}: ${finding.message}`)],
    ['terms', summary === undefined ? undefined : TERMS[from]],
    ...(summary === undefined ? [] : summaryFacts(summary, wallet, from)),
  ]);
}

const TERMS: Readonly<Record<TermsFrom, string>> = {
  expected: 'as the file of --expect has them',
  transaction: 'none were given with --expect: the transaction’s own were taken, whether they are good or not',
  nowhere: 'none were given with --expect',
};

function summaryFacts(summary: Summary, wallet: string, from: TermsFrom): [string, string | readonly string[] | undefined][] {
  const { costs, swap, signers, feePayer, instructions, lookupTables, version, bytes, blockhash } = summary;
  const who = (address: string): string => `${address}${address === wallet ? ', the wallet' : ''}${address === feePayer ? ', pays the fee' : ''}`;
  return [
    ['signs', signers.map(who)],
    ['swap', from === 'nowhere' ? undefined : `${swap.amountIn} units of ${swap.inputMint}${swap.inputFee === 0n ? '' : `, of which ${swap.inputFee} are a fee`}, for at least ${swap.minimumOut} of ${swap.outputMint}`],
    ['fee', `${sol(costs.feeLamports)}, of which ${sol(costs.priorityFeeLamports)} for priority${costs.paidByWallet ? '' : '; the wallet pays none of it'}`],
    ['tips', costs.tipLamports === 0n ? undefined : sol(costs.tipLamports)],
    ['rent', costs.rentLamports === 0n ? undefined : `at most ${sol(costs.rentLamports)} for new accounts`],
    ['does', instructions.map(({ index, program, text }) => `${index}  ${program}: ${text}`)],
    ['tables', lookupTables],
    ['form', `${version === 0 ? 'version 0' : 'legacy'}, ${bytes} bytes, blockhash ${blockhash}`],
  ];
}
