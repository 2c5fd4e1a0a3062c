import type { CommandModule, ExitCode } from '../../command.ts';
import { EXIT } from '../../command.ts';
import { closeEmptyCommand } from './close-empty.ts';
import { chainOf, configuredWallet } from '../../input/configured-wallet.ts';
import type { ServiceRequest } from '../../input/service-request.ts';
import { serviceRequest } from '../../input/service-request.ts';
import { walletJson, walletText } from '../../output/wallet-text.ts';

export const walletCommand: CommandModule = (program, run) => {
  const wallet = program.command('wallet')
    .description('the wallet’s balances on the chain, and the deposits in its token accounts');
  wallet.command('show', { isDefault: true })
    .description(
      'SOL, native and wrapped, the token accounts with their deposits, and the SOL reserve',
    )
    .action(run(serviceRequest(show)));
  closeEmptyCommand(wallet, run);
};

async function show(request: ServiceRequest): Promise<ExitCode> {
  const { loaded: { config: { tokens, wallet: { solReserve } } }, terminal } = request;
  const wallet = configuredWallet(request);
  try {
    const address = await wallet.address();
    const shown = { address, contents: await chainOf(request).wallet(address), tokens, solReserve };
    terminal.result(walletJson(shown), () => walletText(shown, terminal));
    return EXIT.done;
  } finally {
    wallet.close();
  }
}
