import { styleText } from 'node:util';
import type { FeedInterval } from '../../config/request-rate.ts';
import { formatDecimal } from '../../core/amount.ts';
import { assertNever } from '../../core/assert.ts';
import { formatCounts, pluralize, printable } from '../../core/text.ts';
import { formatDuration, roughDuration } from '../../core/time.ts';
import { feedKey, originOf } from '../../market/feed.ts';
import { describeFeedKey, showAmount, withTokenNames } from '../../market/market-text.ts';
import type { Mint, TokenTable } from '../../market/token.ts';
import { causeText } from './alert-text.ts';
import type { IntentRecord, RunSummary } from './counters.ts';
import type { Reporter, RunStart, Stamp } from './reporter.ts';
import { describeSwap } from './swap-text.ts';
import { describeProtectionChange, describeTradingChange, endOfTrading, raisesAlert } from './trading-text.ts';
import { SOL_DECIMALS } from '../../solana/constants.ts';

type Style = Parameters<typeof styleText>[0];

type Paint = (style: Style, text: string) => string;

const SUBJECT_WIDTH = 18;
/**
 * A strategy may repeat a denied proposal again and again. Equal denials are shown once in this span, with their count.
 */
const SAME_DENIAL_MS = 60_000;

/** Returns the reporter for people: one aligned line for each event with its reason, in colour on request. */
export function createTerminalReporter({ write, colour, tokens, isTerminal = false }: {
  readonly write: (text: string) => void;
  readonly colour: boolean;
  readonly tokens: TokenTable;
  /** Whether a person reads it at once. A file or a pipe keeps what is written, so no login is written there. */
  readonly isTerminal?: boolean;
}): Reporter {
  const paint: Paint = (style, text) => (colour ? styleText(style, text, { validateStream: false }) : text);
  const line = (stamp: Stamp, subject: string, words: string, style?: Style): void => {
    const text = printable(withTokenNames(tokens, words), 400);
    write(`${paint('dim', clockTime(stamp.at))}  ${paint('bold', subject.padEnd(SUBJECT_WIDTH))} `
      + `${style === undefined ? text : paint(style, text)}\n`);
  };
  const denials = new DenialFilter();

  return {
    started: (_stamp, start) => { write(describeStart(start, tokens, { paint, isTerminal })); },
    decided: (decision, intent) => {
      const { proposal, strategy } = decision;
      if (proposal.kind === 'alert') return;
      denials.clear(strategy);
      const swap = describeSwap(tokens, proposal, intent?.amountIn);
      line(decision, strategy, `${swap}: ${proposal.reason} → ${intent?.id ?? 'approved'}`);
    },
    denied: (decision, { code, reason }) => {
      const { proposal, strategy } = decision;
      const what = proposal.kind === 'swap' ? describeSwap(tokens, proposal, undefined) : proposal.message;
      const text = denials.text(decision, `${what}: denied, ${code}`, reason);
      if (text !== undefined) line(decision, strategy, text, 'yellow');
    },
    intent: (stamp, record) => {
      const shown = describeIntent(record, (mint, amount) => showAmount(tokens, mint, amount));
      if (shown !== undefined) line(stamp, record.intent.id, shown.words, shown.style);
    },
    alert: (stamp, strategy, { level, message }) => {
      line(stamp, strategy ?? 'gannet', `${level === 'info' ? 'alert' : level}: ${message}`, ALERT_STYLES[level]);
    },
    feed: (stamp, health) => {
      const name = describeFeedKey(tokens, health.feed);
      if (health.status === 'healthy') line(stamp, 'feed', `${name} is back`, 'green');
      else line(stamp, 'feed', `${name} is ${health.status}: ${health.code ?? ''} ${health.message ?? ''}`, 'yellow');
    },
    state: (stamp, state, message) => { line(stamp, state, message); },
    trading: (stamp, change) => {
      const style = change.state === 'active' ? 'green' : 'yellow';
      line(stamp, change.strategy ?? 'trading', describeTradingChange(change), style);
    },
    protection: (stamp, change) => {
      // An alert already has the same words.
      if (raisesAlert(change)) return;
      line(stamp, 'protection', describeProtectionChange(tokens, change), change.change === 'fired'
        ? 'yellow' : 'green');
    },
    summary: (_stamp, summary) => { write(describeSummary(summary, paint)); },
  };
}

const ALERT_STYLES = { info: 'cyan', warning: 'yellow', critical: 'red' } as const;

/** Holds back equal denials of a strategy for a while, and counts them. */
class DenialFilter {
  readonly #shown = new Map<string, { readonly words: string; readonly at: number; heldBack: number }>();

  /** Returns the line to show, undefined where the denial is held back. */
  text(
    { strategy, at }: { readonly strategy: string; readonly at: number }, words: string, reason: string,
  ): string | undefined {
    const before = this.#shown.get(strategy);
    const isSame = before?.words === words;
    if (isSame && at - before.at < SAME_DENIAL_MS) {
      before.heldBack += 1;
      return undefined;
    }
    this.#shown.set(strategy, { words, at, heldBack: 0 });
    const again = isSame && before.heldBack > 0
      ? `; the same ${pluralize(before.heldBack, 'time')} more since ${clockTime(before.at)}` : '';
    return `${words} (${reason})${again}`;
  }

  clear(strategy: string): void {
    this.#shown.delete(strategy);
  }
}

function describeStart(
  start: RunStart, tokens: TokenTable, { paint, isTerminal }: { readonly paint: Paint; readonly isTerminal: boolean },
): string {
  const { wallet, balances, signer, feeds, controlUrl } = start;
  const rows: readonly (readonly [title: string, texts: readonly string[]])[] = [
    ['run', [`${start.runId}, ${start.mode} on ${start.service}`]],
    ['wallet', [wallet ?? 'none: paper money', ...(balances.length > 0 ? [balances.join(' · ')] : [])]],
    ['signer', signer?.words ?? []],
    ['strategies', start.strategies.map(({ name, summary, budget }) =>
      `${name}: ${summary}${budget === undefined ? '' : ` Budget ${budget}.`}`)],
    ['watching', feeds.length === 0 ? ['nothing: no strategy asks for data']
      : feeds.map((feed) => describeFeed(tokens, feed))],
    ['limits', start.limits],
    ['protections', start.protections],
    ['control', controlUrl === undefined ? [] : controlText(controlUrl, start.controlPortTaken)],
    ['page', controlUrl === undefined ? [] : pageText(controlUrl, isTerminal ? start.loginLink : undefined)],
  ];
  const lines = rows.flatMap(([title, texts]) => texts.map((text, index) =>
    `  ${paint('bold', (index === 0 ? title : '').padEnd(13))}${printable(text, 300)}\n`));
  const realMoney = start.isRealMoney
    ? `  ${paint(['bold', 'red'], 'REAL MONEY')}  `
      + 'swaps of this run are signed and sent with the wallet’s own money\n\n'
    : '';
  return `\n${realMoney}${lines.join('')}\n`;
}

function describeFeed(tokens: TokenTable, { spec, expectedMs }: FeedInterval): string {
  if (originOf(spec) === 'webhook') return describeFeedKey(tokens, feedKey(spec));
  const instead = expectedMs > spec.everyMs ? `, with this plan every ${roughDuration(expectedMs)}` : '';
  return `${describeFeedKey(tokens, feedKey(spec))}, every ${formatDuration(spec.everyMs)}${instead}`;
}

function controlText(url: string, taken: number | undefined): string[] {
  return taken === undefined ? [url]
    : [`${url}, the next free port: ${taken} is in use`, 'commands find it through the state directory'];
}

function pageText(url: string, loginLink: (() => string) | undefined): string[] {
  return loginLink === undefined ? [`${url}/ (a link that logs in: "gannet page")`]
    : [loginLink(), 'this link logs in once, within ten minutes; "gannet page" makes another'];
}

function clockTime(at: number): string {
  return new Date(at).toISOString().slice(11, 19);
}

function describeIntent(
  { intent, state, router, quotedOut, signature, code, reason, gatewayRequestId, fill }: IntentRecord,
  amountOf: (mint: Mint, amount: bigint) => string,
): { readonly words: string; readonly style?: Style } | undefined {
  const why = causeText(code, reason);
  const request = gatewayRequestId === undefined ? '' : ` (request ${gatewayRequestId})`;
  switch (state) {
    case 'approved':
    case 'building':
    case 'submitted':
      return undefined;
    case 'signed':
      return {
        words: `quoted ${quotedOut === undefined ? '' : amountOf(intent.outputMint, quotedOut)} by `
          + `${router ?? intent.route}${signature === undefined ? '' : `, signed ${signature.slice(0, 8)}…`}`,
      };
    case 'unknown':
      // An alert has the reason and what is done.
      return {
        words: `no answer yet, the outcome is unknown${code === undefined ? '' : ` (${code})`}`, style: 'yellow',
      };
    case 'confirmed': {
      if (fill === undefined) return { words: 'landed', style: 'green' };
      const rent = fill.rentLamports > 0n ? `, deposit ${formatDecimal(fill.rentLamports, SOL_DECIMALS)} SOL` : '';
      // Paper signs nothing, so it has no signature to show.
      const how = signature === undefined ? 'filled on paper'
        : `landed by ${intent.route === 'order' ? '/order and /execute' : '/build and RPC'}`;
      return {
        words: `${how}: ${amountOf(intent.inputMint, fill.amountIn)} → `
          + `${amountOf(intent.outputMint, fill.amountOut)}, `
          + `fee ${formatDecimal(fill.feeLamports, SOL_DECIMALS)} SOL${rent}`,
        style: 'green',
      };
    }
    case 'failed':
      return { words: `failed on chain (${why}); nothing was swapped, the fee is paid${request}`, style: 'red' };
    case 'expired':
      return { words: `never landed and never can: ${reason ?? why}${request}`, style: 'yellow' };
    case 'abandoned':
      return { words: `given up before signing (${why})`, style: 'yellow' };
    default:
      return assertNever(state, 'intent state');
  }
}

function describeSummary(summary: RunSummary, paint: Paint): string {
  const cost = `${formatDecimal(summary.feesLamports, SOL_DECIMALS)} SOL in fees`
    + (summary.rentLamports > 0n
      ? `, ${formatDecimal(summary.rentLamports, SOL_DECIMALS)} SOL in deposits (back when the accounts are closed)`
      : '');
  const duration = formatDuration(Math.round(summary.durationMs / 1000) * 1000);
  const rows: [string, string][] = [
    ['run', `${summary.runId}, ${duration}, ${pluralize(summary.events, 'event')}`],
    ['decisions', `${summary.decisions}, denied: ${formatCounts(summary.denials)}`],
    ['swaps', formatCounts(summary.intents)],
    ...(summary.open.length > 0
      ? [['open', `${summary.open.join(', ')}: resolved at the next start`] as [string, string]] : []),
    ['cost', cost],
    ...summary.strategies.map(({ name, swaps, holds, running }): [string, string] => {
      const did = holds.length === 0 ? 'watches only' : `${pluralize(swaps, 'swap')}, holds ${holds.join(', ')}`;
      return [name, `${did}${running ? '' : ' (stopped by an error)'}`];
    }),
    ...(summary.trading === 'active' ? [] : [['trading', endOfTrading(summary.trading)] as [string, string]]),
    ...(summary.recording === undefined ? [] : [['again', `npx gannet replay ${summary.runDir}`] as [string, string]]),
  ];
  const lines = rows.map(([title, text]) =>
    `  ${paint('bold', title.padEnd(SUBJECT_WIDTH))} ${printable(text, 300)}\n`);
  const hash = summary.decisions === 0 ? 'none: nothing was decided' : summary.decisionHash;
  // Without the wide column the hash fits on one line of 80 columns.
  return `\n${lines.join('')}  ${paint('bold', 'hash')}  ${hash}\n\n`;
}
