import { Option } from 'commander';
import type { Chain } from '../chain/chain.ts';
import type { KeptAccount } from '../chain/close-accounts.ts';
import { CLOSES_PER_TRANSACTION, closableAccounts } from '../chain/close-accounts.ts';
import type { WalletTokenAccount } from '../chain/wallet-contents.ts';
import { GannetError } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import { closeAccounts } from '../daemon/close-accounts.ts';
import { systemClock } from '../daemon/system-clock.ts';
import { openJournalReader } from '../store/journal-reader.ts';
import { lockState, lockWallet } from '../store/locks.ts';
import { OPEN_STATES } from '../trading/intent.ts';
import type { ClosingLine, ShownClosings } from './closing-text.ts';
import { closingsJson, closingsText, planText } from './closing-text.ts';
import type { CommandModule } from './command.ts';
import { confirmed, expectPerson } from './confirm.ts';
import type { ExitCode } from './exit-codes.ts';
import { EXIT } from './exit-codes.ts';
import { looking, type Look } from './look.ts';
import { chainOf, ownWallet, type OwnWallet } from './own-wallet.ts';
import { journalPath } from './run-directories.ts';
import { LIVE_FLAG, noteIdleLive } from './run.ts';

interface Flags {
  readonly unwrap?: boolean;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly live?: boolean;
}

export const closeEmptyCommand: CommandModule = (wallet, run) => {
  wallet.command('close-empty')
    .description('closes the wallet’s empty token accounts and brings their deposits back; nothing that holds a token is touched')
    .option('--unwrap', 'wrapped SOL too: what is in it becomes SOL')
    .addOption(new Option('--yes', 'without asking').conflicts('dryRun'))
    .option('--dry-run', 'only says what would be closed')
    .option(...LIVE_FLAG)
    .action(run(looking(async (look, flags: Flags) => {
      const own = ownWallet(look);
      try {
        return await closeEmpty(look, own, flags);
      } finally {
        own.close();
      }
    })));
};

/** The accounts that the word given was about. */
interface Plan {
  readonly address: string;
  readonly closable: readonly WalletTokenAccount[];
  readonly kept: readonly KeptAccount<WalletTokenAccount>[];
}

/** The plan, and with what it is carried out. */
interface Task {
  readonly chain: Chain;
  readonly own: OwnWallet;
  readonly plan: Plan;
  readonly flags: Flags;
}

async function closeEmpty(look: Look, own: OwnWallet, flags: Flags): Promise<ExitCode> {
  const { terminal, interrupt, loaded: { config: { tokens } } } = look;
  const dryRun = flags.dryRun === true;
  if (!dryRun) refuseUnlessLive(look, flags);
  const chain = chainOf(look);
  const plan = await planOf(chain, await own.address(), flags);
  const shown = await done(look, { chain, own, plan, flags, dryRun });
  if (shown === undefined) return EXIT.failed;
  terminal.result(closingsJson(shown, tokens), () => closingsText(shown, tokens));
  if (interrupt.aborted) return EXIT.interrupted;
  return shown.lines.every(({ state }) => state === 'closed' || state === 'closable') ? EXIT.done : EXIT.failed;
}

/** Undefined where a person said no. */
async function done(look: Look, { chain, own, plan, flags, dryRun }: Task & { readonly dryRun: boolean }): Promise<ShownClosings | undefined> {
  const base = { address: plan.address, dryRun, kept: plan.kept };
  if (plan.closable.length === 0) return { ...base, lines: [], feeLamports: 0n };
  if (dryRun) return { ...base, ...await tried(chain, plan) };
  if (flags.yes !== true) {
    expectPerson(look, 'add --yes to close them, or --dry-run to see what would be closed');
    look.terminal.out(planText(plan.closable, look.loaded.config.tokens));
    if (!await confirmed(look, 'close them?')) return undefined;
  }
  return { ...base, ...await closed(look, { chain, own, plan, flags }) };
}

async function planOf(chain: Chain, address: string, { unwrap = false }: Flags): Promise<Plan> {
  return { address, ...closableAccounts((await chain.wallet(address)).accounts, { owner: address, unwrap }) };
}

/** Nothing is spent but a fee, so limits and caps on swaps are no question; a signature is one. */
function refuseUnlessLive(look: Look, flags: Flags): void {
  const { config } = look.loaded;
  if (config.mode === 'paper') {
    throw new GannetError('LIVE_REFUSED', `${config.file}: the configuration says mode: paper, so nothing is signed: write mode: live, or look with --dry-run`);
  }
  if (config.chain.rpcUrl === 'embedded') noteIdleLive(look, flags, config);
  else if (flags.live !== true) {
    throw new GannetError('LIVE_REFUSED', 'on a real chain this signs with the wallet’s key and pays a fee, which the command line has to say too: add --live, or look with --dry-run');
  }
}

/** Says what the chain would make of it, and changes nothing. */
async function tried(chain: Chain, { address, closable }: Plan): Promise<Pick<ShownClosings, 'lines' | 'feeLamports'>> {
  const lines: ClosingLine[] = [];
  let feeLamports = 0n;
  for (let at = 0; at < closable.length; at += CLOSES_PER_TRANSACTION) {
    const { accounts, composed, refused } = await chain.composeClosing(address, closable.slice(at, at + CLOSES_PER_TRANSACTION));
    lines.push(...accounts.map((account) => ({ account, state: 'closable' as const, backLamports: account.lamports, signature: undefined, reason: undefined })));
    lines.push(...refused.map(({ account, message }) => ({ account, state: 'refused' as const, backLamports: 0n, signature: undefined, reason: message })));
    feeLamports += composed?.feeLamports ?? 0n;
  }
  return { lines, feeLamports };
}

/** Closes what the plan names and what is still so, while nobody else has wallet or state directory. */
async function closed(look: Look, { chain, own, plan, flags }: Task): Promise<Pick<ShownClosings, 'lines' | 'feeLamports'>> {
  const { options, loaded: { config }, interrupt, terminal } = look;
  const isReal = config.chain.rpcUrl !== 'embedded';
  const stateLock = lockState(options.stateDir, systemClock);
  let walletLock: { release(): void } | undefined;
  try {
    const signer = await own.signer();
    const { address } = signer;
    if (address !== plan.address) throw new GannetError('KEY_INVALID', `the wallet is ${plan.address}, but the signer holds the key of ${address}`);
    if (isReal) {
      walletLock = await lockWallet({ address, clock: systemClock });
      refuseWithOpenSwaps(options.stateDir);
    }
    const meant = new Set(plan.closable.map((account) => account.address));
    const { closable } = await planOf(chain, address, flags);
    const troubles = new Set<string>();
    const { reports, feeLamports } = await closeAccounts({
      chain, clock: systemClock, signer,
      isOver: () => interrupt.aborted,
      onTrouble: (fault) => {
        if (troubles.has(fault.code)) return;
        troubles.add(fault.code);
        terminal.err(`${printable(fault.message, 500)}; it is asked again until it is known what became of it\n`);
      },
    }, closable.filter((account) => meant.has(account.address)));
    return { lines: reports, feeLamports };
  } finally {
    walletLock?.release();
    stateLock.release();
  }
}

/** A swap that may still land could lose the account that it pays into, and its proof counts on the balances. */
function refuseWithOpenSwaps(stateDir: string): void {
  const reader = openJournalReader(journalPath(stateDir, 'live'));
  try {
    const [open] = OPEN_STATES.flatMap((state) => reader?.list({ state, limit: 1 }) ?? []);
    if (open === undefined) return;
    throw new GannetError('STATE_LOCKED', `the swap ${printable(open.intent_id, 100)} is still open (${open.state}): "gannet run" sees it through, or close it with "gannet resolve"; then close accounts`, { details: { intentId: open.intent_id } });
  } finally {
    reader?.close();
  }
}
