import { styleText } from 'node:util';
import { formatDecimal } from '../core/amount.ts';
import { assertNever } from '../core/assert.ts';
import { counted } from '../core/counted.ts';
import { printable } from '../core/text.ts';
import { formatDuration } from '../core/time.ts';
import type { Mint, TokenTable } from '../market/token.ts';
import type { SwapProposal } from '../trading/proposal.ts';
import { formatCounts } from './counts-text.ts';
import { describeFeed } from './market-text.ts';
import { describeFeedKey, showAmount, spoken, symbolOf } from '../market/market-text.ts';
import { describeProtectionChange, raisesAlert } from './protection-change-text.ts';
import type { Reporter, RunSummary, Stamp } from './reporter.ts';
import type { IntentRecord } from './tally.ts';
import { describeTradingChange, endOfTrading } from './trading-text.ts';
import { whyText } from './why-text.ts';

type Style = Parameters<typeof styleText>[0];

const SUBJECT_WIDTH = 18;
const SOL_DECIMALS = 9;
/** A strategy that tries again and again is denied again and again: the same is told once in this time, with how often. */
const SAME_DENIAL_MS = 60_000;

/** Returns the reporter for people: a line for what happened and why, aligned; coloured only where colour is shown. */
export function createHumanReporter(options: {
  readonly write: (text: string) => void;
  readonly colour: boolean;
  readonly tokens: TokenTable;
}): Reporter {
  const { write, tokens } = options;
  const paint = (style: Style, text: string): string => (options.colour ? styleText(style, text, { validateStream: false }) : text);
  const line = (stamp: Stamp, subject: string, words: string, style?: Style): void => {
    const text = printable(spoken(tokens, words), 400);
    write(`${paint('dim', clockTime(stamp.at))}  ${paint('bold', subject.padEnd(SUBJECT_WIDTH))} ${style === undefined ? text : paint(style, text)}\n`);
  };
  const amountOf = (mint: Mint, amount: bigint): string => showAmount(tokens, mint, amount);
  const denials = new Map<string, { readonly told: string; readonly at: number; untold: number }>();

  return {
    started: (_stamp, start) => {
      const rows: [string, readonly string[]][] = [
        ['run', [`${start.runId}, ${start.mode} on ${start.service}`]],
        ['wallet', [start.wallet ?? 'none: paper money', ...(start.balances.length > 0 ? [start.balances.join(' · ')] : [])]],
        ...(start.signer === undefined ? [] : [['signer', start.signer.words] as [string, readonly string[]]]),
        ['strategies', start.strategies.map(({ name, summary, budget }) => `${name}: ${summary}${budget === undefined ? '' : ` Budget ${budget}.`}`)],
        ['watching', start.feeds.length === 0 ? ['nothing: no strategy asks for data'] : start.feeds.map((feed) => describeFeed(tokens, feed))],
        ['limits', start.limits],
        ['protections', start.protections],
        ...(start.controlUrl === undefined ? [] : [['control', controlText(start.controlUrl, start.controlPortTaken)] as [string, readonly string[]]]),
      ];
      write('\n');
      if (start.isRealMoney) write(`  ${paint(['bold', 'red'], 'REAL MONEY')}  swaps of this run are signed and sent with the wallet’s own money\n\n`);
      for (const [title, texts] of rows) {
        texts.forEach((text, index) => { write(`  ${paint('bold', (index === 0 ? title : '').padEnd(13))}${printable(text, 300)}\n`); });
      }
      write('\n');
    },
    decided: (decision, intent) => {
      const { proposal } = decision;
      if (proposal.kind === 'alert') return;
      denials.delete(decision.strategy);
      const words = `${describeSwap(tokens, proposal, intent?.amountIn)}: ${proposal.reason}`;
      line(decision, decision.strategy, `${words} → ${intent?.id ?? 'approved'}`);
    },
    denied: (decision, denial) => {
      const what = decision.proposal.kind === 'swap' ? describeSwap(tokens, decision.proposal, undefined) : decision.proposal.message;
      const told = `${what}: denied, ${denial.code}`;
      const before = denials.get(decision.strategy);
      const isSame = before?.told === told;
      if (isSame && decision.at - before.at < SAME_DENIAL_MS) {
        before.untold += 1;
        return;
      }
      denials.set(decision.strategy, { told, at: decision.at, untold: 0 });
      const again = isSame && before.untold > 0 ? `; the same ${before.untold} ${before.untold === 1 ? 'time' : 'times'} more since ${clockTime(before.at)}` : '';
      line(decision, decision.strategy, `${told} (${denial.reason})${again}`, 'yellow');
    },
    intent: (stamp, record) => {
      const told = describeIntent(record, amountOf);
      if (told !== undefined) line(stamp, record.intent.id, told.words, told.style);
    },
    alert: (stamp, strategy, { level, message }) => {
      line(stamp, strategy ?? 'gannet', `${level === 'info' ? 'alert' : level}: ${message}`, level === 'info' ? 'cyan' : level === 'warning' ? 'yellow' : 'red');
    },
    feed: (stamp, health) => {
      const name = describeFeedKey(tokens, health.feed);
      if (health.status === 'healthy') line(stamp, 'feed', `${name} is back`, 'green');
      else line(stamp, 'feed', `${name} is ${health.status}: ${health.code ?? ''} ${health.message ?? ''}`, 'yellow');
    },
    state: (stamp, state, message) => { line(stamp, state, message); },
    trading: (stamp, change) => { line(stamp, change.strategy ?? 'trading', describeTradingChange(change), change.state === 'active' ? 'green' : 'yellow'); },
    protection: (stamp, change) => {
      // An alert says the same in the same words.
      if (!raisesAlert(change)) line(stamp, 'protection', describeProtectionChange(tokens, change), change.change === 'fired' ? 'yellow' : 'green');
    },
    summary: (_stamp, summary) => { write(describeSummary(summary, paint)); },
  };
}

function controlText(url: string, taken: number | undefined): string[] {
  return taken === undefined ? [url] : [`${url}, the next free port: ${taken} is in use`, 'commands find it through the state directory'];
}

function clockTime(at: number): string {
  return new Date(at).toISOString().slice(11, 19);
}

function describeSwap(tokens: TokenTable, proposal: SwapProposal, amountIn: bigint | undefined): string {
  const size = amountIn ?? (typeof proposal.amount === 'bigint' ? proposal.amount : undefined);
  const input = size !== undefined ? showAmount(tokens, proposal.inputMint, size)
    : proposal.amount === 'all' ? `all ${symbolOf(tokens, proposal.inputMint)}` : `a part of its ${symbolOf(tokens, proposal.inputMint)}`;
  return `swap ${input} to ${symbolOf(tokens, proposal.outputMint)}`;
}

function describeIntent({ intent, state, router, quotedOut, signature, code, reason, fill }: IntentRecord, amountOf: (mint: Mint, amount: bigint) => string): { words: string; style?: Style } | undefined {
  const why = whyText(code, reason);
  switch (state) {
    case 'approved':
    case 'building':
    case 'submitted':
      return undefined;
    case 'signed':
      return { words: `quoted ${quotedOut === undefined ? '' : amountOf(intent.outputMint, quotedOut)} by ${router ?? intent.route}${signature === undefined ? '' : `, signed ${shorten(signature)}`}` };
    case 'unknown':
      // An alert says why, and what is done.
      return { words: `no answer yet, the outcome is unknown${code === undefined ? '' : ` (${code})`}`, style: 'yellow' };
    case 'confirmed': {
      if (fill === undefined) return { words: 'landed', style: 'green' };
      const rent = fill.rentLamports > 0n ? `, deposit ${formatDecimal(fill.rentLamports, SOL_DECIMALS)} SOL` : '';
      // Paper signs nothing, so it has no signature to show.
      const how = signature === undefined ? 'filled on paper' : `landed by ${intent.route === 'order' ? '/order and /execute' : '/build and RPC'}`;
      return {
        words: `${how}: ${amountOf(intent.inputMint, fill.amountIn)} → ${amountOf(intent.outputMint, fill.amountOut)}, `
          + `fee ${formatDecimal(fill.feeLamports, SOL_DECIMALS)} SOL${rent}`,
        style: 'green',
      };
    }
    case 'failed':
      return { words: `failed on chain (${why}); nothing was swapped, the fee is paid`, style: 'red' };
    case 'expired':
      return { words: `never landed and never can: ${reason ?? why}`, style: 'yellow' };
    case 'abandoned':
      return { words: `given up before signing (${why})`, style: 'yellow' };
    default:
      return assertNever(state, 'intent state');
  }
}

function shorten(signature: string | undefined): string {
  return signature === undefined ? '' : `${signature.slice(0, 8)}…`;
}

function describeSummary(summary: RunSummary, paint: (style: Style, text: string) => string): string {
  const cost = `${formatDecimal(summary.feesLamports, SOL_DECIMALS)} SOL in fees`
    + (summary.rentLamports > 0n ? `, ${formatDecimal(summary.rentLamports, SOL_DECIMALS)} SOL in deposits (back when the accounts are closed)` : '');
  const rows: [string, string][] = [
    ['run', `${summary.runId}, ${formatDuration(Math.round(summary.durationMs / 1000) * 1000)}, ${counted(summary.events, 'event')}`],
    ['decisions', `${summary.decisions}, denied: ${formatCounts(summary.denials)}`],
    ['swaps', formatCounts(summary.intents)],
    ...(summary.open.length > 0 ? [['open', `${summary.open.join(', ')}: resolved at the next start`] as [string, string]] : []),
    ['cost', cost],
    ...summary.strategies.map(({ name, swaps, holds, running }): [string, string] => [
      name, `${holds.length === 0 ? 'watches only' : `${counted(swaps, 'swap')}, holds ${holds.join(', ')}`}${running ? '' : ' (stopped by an error)'}`,
    ]),
    ...(summary.trading === 'active' ? [] : [['trading', endOfTrading(summary.trading)] as [string, string]]),
    ...(summary.recording === undefined ? [] : [['again', `npx gannet replay ${summary.runDir}`] as [string, string]]),
  ];
  // A column of its own: on 80 columns the hash stands on one line.
  const hash = `  ${paint('bold', 'hash')}  ${summary.decisions === 0 ? 'none: nothing was decided' : summary.decisionHash}\n`;
  return `\n${rows.map(([title, text]) => `  ${paint('bold', title.padEnd(SUBJECT_WIDTH))} ${printable(text, 300)}\n`).join('')}${hash}\n`;
}
