import { Option } from 'commander';
import type { WalletTokenAccount } from '../../../chain/wallet-contents.ts';
import type { Chain } from '../../../chain/chain.ts';
import type { KeptAccount } from '../../../chain/close-accounts.ts';
import { closableAccounts, CLOSES_PER_TRANSACTION } from '../../../chain/close-accounts.ts';
import type { CommandModule } from '../../command.ts';
import { LIVE_FLAG, noteIdleLive } from './run.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { EXIT } from '../../exit-codes.ts';
import type { ConfiguredWallet } from '../../input/configured-wallet.ts';
import { chainOf, configuredWallet } from '../../input/configured-wallet.ts';
import { confirmed, expectPerson } from '../../input/confirm.ts';
import type { ServiceRequest } from '../../input/service-request.ts';
import { serviceRequest } from '../../input/service-request.ts';
import type { ClosingLine, ShownClosings } from '../../output/wallet-text.ts';
import { closingsJson, closingsText, planText, walletJson, walletText } from '../../output/wallet-text.ts';
import { GannetError } from '../../../core/errors.ts';
import { printable } from '../../../core/text.ts';
import { journalPath } from '../../../daemon/files/find-run.ts';
import { closeAccounts } from '../../../daemon/run/account-closing.ts';
import { systemClock } from '../../../daemon/watch/system-clock.ts';
import { openJournalReader } from '../../../store/journal-reader.ts';
import { lockState, lockWallet } from '../../../store/locks.ts';
import { OPEN_STATES } from '../../../trading/intent.ts';

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

interface Flags {
  readonly unwrap?: boolean;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly live?: boolean;
}

const closeEmptyCommand: CommandModule = (wallet, run) => {
  wallet.command('close-empty')
    .description(
      'closes the wallet’s empty token accounts, which returns their deposits; accounts that hold a token stay',
    )
    .option('--unwrap', 'also closes the wrapped-SOL account, which unwraps its SOL')
    .addOption(new Option('--yes', 'closes them without asking').conflicts('dryRun'))
    .option('--dry-run', 'only shows what would be closed')
    .option(...LIVE_FLAG)
    .action(run(serviceRequest(async (request, flags: Flags) => {
      const own = configuredWallet(request);
      try {
        return await closeEmpty(request, own, flags);
      } finally {
        own.close();
      }
    })));
};

/** The accounts that the operator has agreed to close. */
interface Plan {
  readonly address: string;
  readonly closable: readonly WalletTokenAccount[];
  readonly kept: readonly KeptAccount<WalletTokenAccount>[];
}

/** The plan, and what executes it. */
interface Task {
  readonly chain: Chain;
  readonly own: ConfiguredWallet;
  readonly plan: Plan;
  readonly flags: Flags;
}

async function closeEmpty(request: ServiceRequest, own: ConfiguredWallet, flags: Flags): Promise<ExitCode> {
  const { terminal, interrupt, loaded: { config: { tokens } } } = request;
  const dryRun = flags.dryRun === true;
  if (!dryRun) refuseUnlessLive(request, flags);
  const chain = chainOf(request);
  const plan = await planOf(chain, await own.address(), flags);
  const shown = await closings(request, { chain, own, plan, flags, dryRun });
  if (shown === undefined) return EXIT.failed;
  terminal.result(closingsJson(shown, tokens), () => closingsText(shown, tokens));
  if (interrupt.aborted) return EXIT.interrupted;
  return shown.lines.every(({ state }) => state === 'closed' || state === 'closable') ? EXIT.done : EXIT.failed;
}

/** Returns the closings; undefined when the operator declined. */
async function closings(
  request: ServiceRequest, { chain, own, plan, flags, dryRun }: Task & { readonly dryRun: boolean },
): Promise<ShownClosings | undefined> {
  const base = { address: plan.address, dryRun, kept: plan.kept };
  if (plan.closable.length === 0) return { ...base, lines: [], feeLamports: 0n };
  if (dryRun) return { ...base, ...await tried(chain, plan) };
  if (flags.yes !== true) {
    expectPerson(request, 'add --yes to close them, or --dry-run to see what would be closed');
    request.terminal.out(planText(plan.closable, request.loaded.config.tokens));
    if (!await confirmed(request, 'close them?')) return undefined;
  }
  return { ...base, ...await closed(request, { chain, own, plan, flags }) };
}

async function planOf(chain: Chain, address: string, { unwrap = false }: Flags): Promise<Plan> {
  return { address, ...closableAccounts((await chain.wallet(address)).accounts, { owner: address, unwrap }) };
}

/** Only a fee is spent, so limits and caps on swaps do not apply; but a signature needs consent. */
function refuseUnlessLive(request: ServiceRequest, flags: Flags): void {
  const { config } = request.loaded;
  if (config.mode === 'paper') {
    throw new GannetError(
      'LIVE_REFUSED',
      `${config.file}: the configuration says mode: paper, so nothing is signed: write mode: live, or add --dry-run`,
    );
  }
  if (config.chain.rpcUrl === 'embedded') noteIdleLive(request, flags, config);
  else if (flags.live !== true) {
    throw new GannetError(
      'LIVE_REFUSED',
      'on a real chain this command signs with the wallet’s key and pays a fee: add --live to allow it, or --dry-run',
    );
  }
}

/** Returns what the chain would accept, and changes nothing. */
async function tried(chain: Chain, { address, closable }: Plan): Promise<Pick<ShownClosings, 'lines' | 'feeLamports'>> {
  const lines: ClosingLine[] = [];
  let feeLamports = 0n;
  for (let at = 0; at < closable.length; at += CLOSES_PER_TRANSACTION) {
    const { accounts, composed, refused } =
      await chain.composeClosing(address, closable.slice(at, at + CLOSES_PER_TRANSACTION));
    lines.push(...accounts.map((account) => ({
      account, state: 'closable' as const, backLamports: account.lamports, signature: undefined, reason: undefined,
    })));
    lines.push(...refused.map(({ account, message }) =>
      ({ account, state: 'refused' as const, backLamports: 0n, signature: undefined, reason: message })));
    feeLamports += composed?.feeLamports ?? 0n;
  }
  return { lines, feeLamports };
}

/** Closes the planned accounts that are still closable, with the locks of the state directory and the wallet held. */
async function closed(
  request: ServiceRequest, { chain, own, plan, flags }: Task,
): Promise<Pick<ShownClosings, 'lines' | 'feeLamports'>> {
  const { options, loaded: { config }, interrupt, terminal } = request;
  const isReal = config.chain.rpcUrl !== 'embedded';
  const stateLock = lockState(options.stateDir, systemClock);
  let walletLock: { release(): void } | undefined;
  try {
    const signer = await own.signer();
    const { address } = signer;
    if (address !== plan.address)
      throw new GannetError('KEY_INVALID', `the wallet is ${plan.address}, but the signer holds the key of ${address}`);
    if (isReal) {
      walletLock = await lockWallet({ address, clock: systemClock });
      refuseWithOpenSwaps(options.stateDir);
    }
    const meant = new Set(plan.closable.map((account) => account.address));
    const { closable } = await planOf(chain, address, flags);
    const troubles = new Set<string>();
    const { reports, feeLamports } = await closeAccounts({
      chain, clock: systemClock, signer,
      isCancelled: () => interrupt.aborted,
      onFault: (fault) => {
        if (troubles.has(fault.code)) return;
        troubles.add(fault.code);
        terminal.err(`${printable(fault.message, 500)}; the chain is asked again until the outcome is known\n`);
      },
    }, closable.filter((account) => meant.has(account.address)));
    return { lines: reports, feeLamports };
  } finally {
    walletLock?.release();
    stateLock.release();
  }
}

/** An open swap may still need the account that it pays into, and its proof uses the balances. */
function refuseWithOpenSwaps(stateDir: string): void {
  const reader = openJournalReader(journalPath(stateDir, 'live'));
  try {
    const [open] = OPEN_STATES.flatMap((state) => reader?.list({ state, limit: 1 }) ?? []);
    if (open === undefined) return;
    throw new GannetError(
      'STATE_LOCKED',
      `the swap ${printable(open.intent_id, 100)} is still open (${open.state}): "gannet run" completes it, or "gannet `
        + 'resolve" closes it; then close the accounts',
      { details: { intentId: open.intent_id } },
    );
  } finally {
    reader?.close();
  }
}
