import { formatDecimal } from '../core/amount.ts';
import type { Token } from '../market/token.ts';
import type { BuildRequest } from '../service/swap-v2.ts';
import type { BuildAnswer } from '../service/wire/swap-build.ts';
import { snakeCased } from './answer-json.ts';
import type { CommandModule } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { looking } from './look.ts';
import type { TokenNames } from './named-tokens.ts';
import { findToken, nameTokens } from './named-tokens.ts';
import { ownAddress } from './own-wallet.ts';
import { prices, readAmount } from './quote.ts';
import type { RequestFlags } from './request-flags.ts';
import { addFlags } from './request-flags.ts';
import { feeText, mintsOf, routeText } from './route-text.ts';
import { facts } from './table.ts';

type Flags = Partial<Omit<BuildRequest, 'inputMint' | 'outputMint' | 'amount'>>;

const FLAGS: RequestFlags<BuildRequest, 'inputMint' | 'outputMint' | 'amount'> = {
  taker: ['text', 'the wallet that swaps; left out, the configured one'],
  slippageBps: ['number', 'the most slippage, 0 to 10000; left out, 50'],
  mode: ['text', 'fast: a quicker answer with a worse route'],
  dexes: ['list', 'the only markets to use'],
  excludeDexes: ['list', 'markets that must not be used'],
  platformFeeBps: ['number', 'a fee of your own, 0 to 10000, together with --fee-account'],
  feeAccount: ['text', 'the token account that gets your fee'],
  maxAccounts: ['number', '1 to 64; left out, 64'],
  payer: ['text', 'pays fees and rent in the taker’s place'],
  wrapAndUnwrapSol: ['flag', 'left out, true'],
  destinationTokenAccount: ['text', 'a token account that gets the output'],
  nativeDestinationAccount: ['text', 'a wallet that gets the output, where that is SOL'],
  blockhashSlotsToExpiry: ['number', '1 to 300; left out, 150'],
};

export const buildCommand: CommandModule = (program, run) => {
  const command = program.command('build <in> <out> <amount>')
    .description('the instructions of a swap, to make a transaction of your own; nothing is signed');
  addFlags(command, FLAGS).action(run(looking(async (look, input: string, output: string, amount: string, flags: Flags) => {
    const { terminal, loaded, world } = look;
    const from = await findToken(input, loaded.config.tokens, world);
    const to = await findToken(output, loaded.config.tokens, world);
    const build = await world.service.swap.build({ ...flags, taker: flags.taker ?? await ownAddress(look, '--taker'), inputMint: from.mint, outputMint: to.mint, amount: readAmount(amount, from) }, { priority: 'watch' });
    const names = await nameTokens([from.mint, to.mint, ...mintsOf(build.routePlan)], loaded.config.tokens, world);
    terminal.result(snakeCased(build), () => asText(build, { from, to, names }));
    return EXIT.done;
  })));
};

function asText(build: BuildAnswer, { from, to, names }: { readonly from: Token; readonly to: Token; readonly names: TokenNames }): string {
  const tables = Object.keys(build.lookupTables).length;
  return facts([
    ['you pay', `${formatDecimal(build.inAmount, from.decimals)} ${from.symbol}`],
    ['you get', `${formatDecimal(build.outAmount, to.decimals)} ${to.symbol}`],
    ['at least', `${formatDecimal(build.threshold, to.decimals)} ${to.symbol}${build.slippageBps === undefined ? '' : `, after ${build.slippageBps} bps of slippage`}`],
    ['price', prices(build, from, to)],
    ['route', routeText(build.routePlan, names)],
    ['fee', feeText(build, names)],
    ['instructions', [
      counted(build.computeBudgetInstructions, 'for the compute budget'), counted(build.setupInstructions, 'before the swap'), '1 swap',
      build.cleanupInstruction === undefined ? undefined : '1 after it', counted(build.otherInstructions, 'others'),
    ].filter((part) => part !== undefined).join(', ')],
    ['programs', [...new Set([...build.setupInstructions, build.swapInstruction].map(({ programId }) => programId))]],
    ['tables', tables === 0 ? undefined : `${tables}, with ${Object.values(build.lookupTables).flat().length} addresses`],
    ['blockhash', `${build.blockhash}, good up to block height ${build.lastValidBlockHeight}`],
    ['tokens', [names.full(from.mint), names.full(to.mint)]],
  ]);
}

function counted(list: readonly unknown[], what: string): string | undefined {
  return list.length === 0 ? undefined : `${list.length} ${what}`;
}
