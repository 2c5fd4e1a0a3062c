import type { CommandModule } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { takerAddress } from '../../input/configured-wallet.ts';
import type { RequestFlags } from '../../input/request-flags.ts';
import { addFlags } from '../../input/request-flags.ts';
import { serviceRequest } from '../../input/service-request.ts';
import type { TokenNames } from '../../input/token-argument.ts';
import { findToken, nameTokens } from '../../input/token-argument.ts';
import { readAmount } from '../../../market/named-token.ts';
import { snakeCased } from '../../output/answer-json.ts';
import { feeText, mintsOf, prices, routeText } from '../../output/quote-text.ts';
import { facts } from '../../output/table.ts';
import { formatDecimal } from '../../../core/amount.ts';
import type { Token } from '../../../market/token.ts';
import type { BuildRequest } from '../../../service/endpoints/swap-v2.ts';
import type { BuildAnswer } from '../../../service/wire/build-answer.ts';

type Flags = Partial<Omit<BuildRequest, 'inputMint' | 'outputMint' | 'amount'>>;

const FLAGS: RequestFlags<BuildRequest, 'inputMint' | 'outputMint' | 'amount'> = {
  taker: ['text', 'the wallet that swaps (default: the configured one)'],
  slippageBps: ['number', 'maximum slippage, 0 to 10000 (default: 50)'],
  mode: ['text', '"fast": a faster answer with a worse route'],
  dexes: ['list', 'the only markets to use'],
  excludeDexes: ['list', 'markets not to use'],
  platformFeeBps: ['number', 'your own fee, 0 to 10000; needs --fee-account'],
  feeAccount: ['text', 'the token account of your fee'],
  maxAccounts: ['number', '1 to 64 (default: 64)'],
  payer: ['text', 'pays fees and rent instead of the taker'],
  wrapAndUnwrapSol: ['flag', 'wraps and unwraps SOL (default: true)'],
  destinationTokenAccount: ['text', 'the token account of the output'],
  nativeDestinationAccount: ['text', 'the wallet of the output, for output in SOL'],
  blockhashSlotsToExpiry: ['number', '1 to 300 (default: 150)'],
};

export const buildCommand: CommandModule = (program, run) => {
  const command = program.command('build <in> <out> <amount>')
    .description('the instructions of a swap, for a transaction of your own; nothing is signed');
  addFlags(command, FLAGS)
    .action(run(serviceRequest(async (request, input: string, output: string, amount: string, flags: Flags) => {
      const { terminal, loaded, connections } = request;
      const from = await findToken(input, loaded.config.tokens, connections);
      const to = await findToken(output, loaded.config.tokens, connections);
      const build = await connections.service.swap.build({
        ...flags, taker: flags.taker ?? await takerAddress(request, '--taker'), inputMint: from.mint,
        outputMint: to.mint, amount: readAmount(amount, from),
      }, { priority: 'watch' });
      const names =
        await nameTokens([from.mint, to.mint, ...mintsOf(build.routePlan)], loaded.config.tokens, connections);
      terminal.result(snakeCased(build), () => asText(build, { from, to, names }));
      return EXIT.done;
    })));
};

function asText(
  build: BuildAnswer, { from, to, names }: { readonly from: Token; readonly to: Token; readonly names: TokenNames },
): string {
  const tables = Object.keys(build.lookupTables).length;
  return facts([
    ['you pay', `${formatDecimal(build.inAmount, from.decimals)} ${from.symbol}`],
    ['you get', `${formatDecimal(build.outAmount, to.decimals)} ${to.symbol}`],
    ['at least', `${formatDecimal(build.threshold, to.decimals)} `
      + `${to.symbol}${build.slippageBps === undefined ? '' : `, after ${build.slippageBps} bps of slippage`}`],
    ['price', prices(build, from, to)],
    ['route', routeText(build.routePlan, names)],
    ['fee', feeText(build, names)],
    ['instructions', [
      countOf(build.computeBudgetInstructions, 'for the compute budget'),
      countOf(build.setupInstructions, 'before the swap'), '1 swap',
      build.cleanupInstruction === undefined ? undefined : '1 after it', countOf(build.otherInstructions, 'others'),
    ].filter((part) => part !== undefined).join(', ')],
    ['programs', [...new Set([...build.setupInstructions, build.swapInstruction].map(({ programId }) => programId))]],
    ['tables', tables === 0 ? undefined
      : `${tables}, with ${Object.values(build.lookupTables).flat().length} addresses`],
    ['blockhash', `${build.blockhash}, valid up to block height ${build.lastValidBlockHeight}`],
    ['tokens', [names.full(from.mint), names.full(to.mint)]],
  ]);
}

function countOf(list: readonly unknown[], what: string): string | undefined {
  return list.length === 0 ? undefined : `${list.length} ${what}`;
}
