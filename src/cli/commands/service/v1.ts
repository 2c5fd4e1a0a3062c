import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import type { CommandModule, RunCommand } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { readInput } from '../../input/files.ts';
import type { RequestFlags } from '../../input/request-flags.ts';
import { addFlags } from '../../input/request-flags.ts';
import { serviceRequest } from '../../input/service-request.ts';
import type { TokenNames } from '../../input/token-argument.ts';
import { findToken, nameTokens } from '../../input/token-argument.ts';
import { readAmount } from '../../../market/named-token.ts';
import { asTheService } from '../../output/answer-json.ts';
import { impactText, mintsOf, prices, routeText } from '../../output/quote-text.ts';
import { facts, table } from '../../output/table.ts';
import { formatDecimal } from '../../../core/amount.ts';
import { GannetError, isGannetError, messageOf } from '../../../core/errors.ts';
import { parseJson } from '../../../core/json.ts';
import { printable, printableJson } from '../../../core/text.ts';
import type { Token } from '../../../market/token.ts';
import type {
  PrioritizationFee, QuoteAnswer, QuoteRequest, QuoteSwapRequest, SwapV1,
} from '../../../service/endpoints/swap-v1.ts';
import { quoteToKeep } from '../../../service/endpoints/swap-v1.ts';
import type { QuoteInstructionsAnswer, QuoteSwapAnswer } from '../../../service/wire/v1-answers.ts';

const QUOTE_FLAGS: RequestFlags<QuoteRequest, 'inputMint' | 'outputMint' | 'amount'> = {
  slippageBps: ['number', 'maximum slippage (default: 50)'],
  swapMode: ['text', 'ExactIn, or ExactOut: the amount is the output'],
  dexes: ['list', 'the only markets to use'],
  excludeDexes: ['list', 'markets not to use'],
  restrictIntermediateTokens: ['flag', 'only liquid intermediate tokens (default: true)'],
  onlyDirectRoutes: ['flag', 'routes over one market only'],
  asLegacyTransaction: ['flag', 'a transaction without lookup tables'],
  platformFeeBps: ['number', 'your own fee; the swap then needs --fee-account'],
  maxAccounts: ['amount', 'maximum accounts (default: 64)'],
  instructionVersion: ['text', 'V1 or V2'],
  dynamicSlippage: ['flag', 'obsolete; see the swap'],
  forBundle: ['flag', 'only markets that fit into a bundle'],
};

const SWAP_FLAGS: RequestFlags<QuoteSwapRequest, 'quoteResponse' | 'prioritizationFeeLamports'> = {
  userPublicKey: ['text', 'the wallet that swaps'],
  payer: ['text', 'pays fees and rent'],
  wrapAndUnwrapSol: ['flag', 'wraps and unwraps SOL (default: true)'],
  useSharedAccounts: ['flag', 'shared accounts (default: the service chooses)'],
  feeAccount: ['text', 'the token account of your fee'],
  trackingAccount: ['text', 'any public key, to track your swaps'],
  asLegacyTransaction: ['flag', 'as in the quote'],
  destinationTokenAccount: ['text', 'the token account of the output'],
  nativeDestinationAccount: ['text', 'the wallet of the output, for output in SOL'],
  dynamicComputeUnitLimit: ['flag', 'simulates to find the compute-unit limit'],
  skipUserAccountsRpcCalls: ['flag', 'skips the check of your accounts'],
  dynamicSlippage: ['flag', 'the service estimates the slippage'],
  computeUnitPriceMicroLamports: ['amount', 'the exact price of a compute unit'],
  blockhashSlotsToExpiry: ['number', '0 to 255'],
};

interface SwapFlags extends Omit<QuoteSwapRequest, 'quoteResponse' | 'prioritizationFeeLamports'> {
  readonly quote: string;
  readonly prioritizationFeeLamports?: PrioritizationFee;
}

export const v1Command: CommandModule = (program, run) => {
  const v1 = program.command('v1').description('the first version of the swap API, which order and build supersede');
  addQuote(v1, run);
  addSwap(
    v1, run, 'swap', 'a quote’s transaction; nothing is signed', (api, request) => api.swap(request), showTransaction,
  );
  addSwap(
    v1, run, 'swap-instructions', 'a quote’s instructions', (api, request) => api.swapInstructions(request),
    showInstructions,
  );
  v1.command('program-id-to-label')
    .description('the names of markets, as --dexes and --exclude-dexes take them')
    .action(run(serviceRequest(async ({ terminal, connections }) => {
      const labels = await connections.service.swapV1.programIdToLabel({ priority: 'watch' });
      terminal.result(asTheService(labels), () =>
        table([['market', 'program'], ...[...labels].map(([program_, label]) => [printable(label, 60), program_])], {
          colour: terminal.colour,
        }));
      return EXIT.done;
    })));
};

function addQuote(v1: Command, run: RunCommand): void {
  const command = v1.command('quote <in> <out> <amount>')
    .description('a quote; its JSON is what "v1 swap --quote" takes');
  addFlags(command, QUOTE_FLAGS).action(run(serviceRequest(async (
    { terminal, loaded, connections }, input: string, output: string, amount: string,
    flags: Omit<QuoteRequest, 'inputMint' | 'outputMint' | 'amount'>,
  ) => {
    const from = await findToken(input, loaded.config.tokens, connections);
    const to = await findToken(output, loaded.config.tokens, connections);
    const quote = await connections.service.swapV1.quote({
      ...flags, inputMint: from.mint, outputMint: to.mint,
      amount: readAmount(amount, flags.swapMode === 'ExactOut' ? to : from),
    }, { priority: 'watch' });
    const names =
      await nameTokens([from.mint, to.mint, ...mintsOf(quote.routePlan)], loaded.config.tokens, connections);
    // The quote must be sent back unchanged, so its text is kept, with the request before it. Only control characters
    // become JSON escapes.
    if (terminal.json) terminal.out(`${printableJson(quoteToKeep(quote))}\n`);
    else terminal.out(quoteText(quote, { from, to, names }));
    return EXIT.done;
  })));
}

function quoteText(
  quote: QuoteAnswer, { from, to, names }: { readonly from: Token; readonly to: Token; readonly names: TokenNames },
): string {
  const bound = quote.swapMode === 'ExactOut'
    ? [
      'at most',
      `${formatDecimal(quote.threshold, from.decimals)} ${from.symbol}, after ${quote.slippageBps} bps of slippage`,
    ] as const
    : [
      'at least',
      `${formatDecimal(quote.threshold, to.decimals)} ${to.symbol}, after ${quote.slippageBps} bps of slippage`,
    ] as const;
  return facts([
    ['you pay', `${formatDecimal(quote.inAmount, from.decimals)} ${from.symbol}`],
    ['you get', `${formatDecimal(quote.outAmount, to.decimals)} ${to.symbol}`],
    bound,
    ['price', prices(quote, from, to)],
    ['impact', impactText(quote.priceImpact)],
    ['route', routeText(quote.routePlan, names)],
    ['tokens', [names.full(from.mint), names.full(to.mint)]],
  ]);
}

function addSwap<Answer>(
  v1: Command, run: RunCommand, name: string, description: string,
  ask: (api: SwapV1, request: QuoteSwapRequest) => Promise<Answer>,
  show: (answer: Answer) => { readonly json: unknown; readonly text: string; readonly ok: boolean },
): void {
  const command = v1.command(name).description(description)
    .requiredOption('--quote <file>', 'the JSON of "v1 quote", unchanged; "-" reads standard input (required)')
    .option(
      '--prioritization-fee-lamports <fee>', 'lamports, auto, or one of the service’s JSON forms', prioritizationFee,
    );
  addFlags(command, SWAP_FLAGS, ['userPublicKey'])
    .action(run(serviceRequest(async ({ terminal, connections, interrupt }, { quote, ...flags }: SwapFlags) => {
      const api = connections.service.swapV1;
      const shown = show(await ask(api, { ...flags, quoteResponse: await readQuote(api, quote, interrupt) }));
      terminal.result(shown.json, () => shown.text);
      return shown.ok ? EXIT.done : EXIT.failed;
    })));
}

function showTransaction(
  { transaction, ...answer }: QuoteSwapAnswer,
): { readonly json: unknown; readonly text: string; readonly ok: boolean } {
  const { simulationError } = answer;
  return {
    ok: simulationError === undefined,
    json: asTheService({ swapTransaction: transaction, ...answer }),
    text: facts([
      ['transaction', `${transaction.length} bytes to sign, valid up to block height ${answer.lastValidBlockHeight}`],
      ['priority', answer.prioritizationFeeLamports === undefined ? undefined
        : `${formatDecimal(answer.prioritizationFeeLamports, 9)} SOL`],
      ['simulation', simulationError === undefined ? undefined : `it would fail: ${simulationError.message}`],
    ]),
  };
}

function showInstructions(
  answer: QuoteInstructionsAnswer,
): { readonly json: unknown; readonly text: string; readonly ok: boolean } {
  const {
    computeBudgetInstructions, setupInstructions, swapInstruction, cleanupInstruction, otherInstructions,
    lookupTableAddresses, lookupTables, ...others
  } = answer;
  return {
    ok: answer.simulationError === undefined,
    json: asTheService({
      ...others, computeBudgetInstructions, setupInstructions, swapInstruction,
      cleanupInstruction: cleanupInstruction ?? null, otherInstructions,
      addressLookupTableAddresses: lookupTableAddresses, addressesByLookupTableAddress: lookupTables,
    }),
    text: table([['part', 'program', 'accounts', 'bytes'], ...([
      ...computeBudgetInstructions.map((one) => ['compute budget', one] as const),
      ...setupInstructions.map((one) => ['setup', one] as const), ['swap', swapInstruction] as const,
      ...(cleanupInstruction === undefined ? [] : [['cleanup', cleanupInstruction] as const]),
      ...otherInstructions.map((one) => ['other', one] as const),
    ]).map(([part, { programId, accounts, data }]) => [part, programId, String(accounts.length), String(data.length)])],
      { right: [2, 3] }),
  };
}

/** Returns the quote in a file. Throws USAGE when it holds none. */
async function readQuote(api: SwapV1, file: string, interrupt: AbortSignal): Promise<QuoteAnswer> {
  try {
    return api.readQuote((await readInput(file, interrupt)).trim());
  } catch (cause) {
    if (!isGannetError(cause) || cause.code === 'INTERRUPTED') throw cause;
    throw new GannetError(
      'USAGE',
      `--quote ${printable(file, 100)}: expected the JSON that "gannet v1 quote --json" printed: ${cause.message}`,
      { cause },
    );
  }
}

/** Returns the fee as the client takes it, which checks its form. */
function prioritizationFee(text: string): PrioritizationFee {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  try {
    return (text.startsWith('{') ? parseJson(text) : text) as PrioritizationFee;
  } catch (error) {
    throw new InvalidArgumentError(`${messageOf(error)}.`);
  }
}
