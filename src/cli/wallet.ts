import { closeEmptyCommand } from './close-empty.ts';
import type { CommandModule } from './command.ts';
import type { ExitCode } from './exit-codes.ts';
import { EXIT } from './exit-codes.ts';
import { looking, type Look } from './look.ts';
import { chainOf, ownWallet } from './own-wallet.ts';
import { walletJson, walletText } from './wallet-text.ts';

export const walletCommand: CommandModule = (program, run) => {
  const wallet = program.command('wallet').description('what the wallet has on the chain, and the deposits in its token accounts');
  wallet.command('show', { isDefault: true })
    .description('SOL, native and wrapped, every token account with its deposit, and the SOL that no strategy may spend')
    .action(run(looking(show)));
  closeEmptyCommand(wallet, run);
};

async function show(look: Look): Promise<ExitCode> {
  const { loaded: { config: { tokens, wallet: { solReserve } } }, terminal } = look;
  const wallet = ownWallet(look);
  try {
    const address = await wallet.address();
    const shown = { address, contents: await chainOf(look).wallet(address), tokens, solReserve };
    terminal.result(walletJson(shown), () => walletText(shown, terminal));
    return EXIT.done;
  } finally {
    wallet.close();
  }
}
