import { readFileSync } from 'node:fs';
import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Subscription } from 'rxjs';
import { z } from 'zod';
import type { DailyReportConfig } from '../../config/operations/alerts-config.ts';
import { formatDecimal } from '../../core/amount.ts';
import { messageOf } from '../../core/errors.ts';
import { stringifyJson } from '../../core/json.ts';
import { formatCounts } from '../../core/text.ts';
import type { Clock, Millis } from '../../core/time.ts';
import { shortDuration } from '../../core/time.ts';
import { isTerminal } from '../../trading/intent.ts';
import type { Figures } from '../../profit/figures.ts';
import type { ProfitStatement } from '../../profit/statement.ts';
import { replaceFile } from '../../recording/files/durable-write.ts';
import type { ControlPort } from '../control/control-port.ts';
import type { Log } from '../reporting/log.ts';
import type { Reporter } from '../reporting/reporter.ts';
import { IDLE_REPORTER } from '../reporting/reporter.ts';
import { guardedInterval } from '../watch/guarded-interval.ts';
import type { Notifier } from './notification.ts';

type ReportedRun = Pick<ControlPort, 'state' | 'profit'>;

interface DailyReportOptions {
  readonly config: DailyReportConfig;
  readonly stateDir: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly notifier: Notifier;
}

const FILE = 'daily-report.json';
const CHECK_MS: Millis = 15_000;
/** A report that is sent later says so. */
const LATE_MINUTES = 10;
const SOL_DECIMALS = 9;
/** More codes than there are; the bound keeps the codes of strategies from filling memory. */
const CODES_MAX = 100;

const lastReport = z.object({ version: z.literal(1), day: z.string().regex(/^\d{4}-\d{2}-\d{2}$/) });

/** What has happened since the last report. */
interface Happened {
  since: Millis;
  readonly swaps: Record<string, number>;
  readonly denials: Record<string, number>;
  readonly alerts: Record<string, number>;
  feeLamports: bigint;
}

/** Sends a report of the run once a day, also over restarts: the day of the last one is in the state directory. */
export class DailyReport {
  readonly #options: DailyReportOptions;
  readonly #format: Intl.DateTimeFormat;
  #happened: Happened;
  #day: string | undefined;
  #run: ReportedRun | undefined;
  #timer: Subscription | undefined;
  /** Whether a report is being made. */
  isSending = false;
  readonly reporter: Reporter;

  constructor(options: DailyReportOptions) {
    const { clock, config: { zone } } = options;
    this.#options = options;
    this.#happened = nothingSince(clock.now());
    this.#format = new Intl.DateTimeFormat('en-GB', {
      timeZone: zone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit',
      minute: '2-digit',
    });
    this.reporter = {
      ...IDLE_REPORTER,
      denied: (_decision, { code }) => { count(this.#happened.denials, code); },
      intent: (_stamp, { state, feeLamports }) => {
        if (!isTerminal(state)) return;
        count(this.#happened.swaps, state);
        this.#happened.feeLamports += feeLamports ?? 0n;
      },
      alert: (_stamp, strategy, { level, data = {} }) => {
        if (level === 'info') return;
        const code = 'code' in data && typeof data['code'] === 'string' ? data['code'] : level;
        count(this.#happened.alerts, strategy === undefined ? code : 'of strategies');
      },
    };
  }

  attach(run: ReportedRun): void {
    this.#run = run;
    this.#day = this.#read();
    this.#timer = guardedInterval({ ...this.#options, name: 'the daily report', everyMs: CHECK_MS }, () => {
      this.#check();
    });
  }

  close(): void {
    this.#timer?.unsubscribe();
    this.#run = undefined;
  }

  #check(): void {
    const run = this.#run;
    if (run === undefined || this.isSending) return;
    const { config: { at }, clock } = this.#options;
    const now = clock.now();
    const local = this.#local(now);
    const due = local.time >= at ? local.day : dayBefore(local.day);
    // The first report follows at its time, not at the first start. A day far ahead comes from a clock that was wrong.
    if (this.#day === undefined || this.#day > local.day) this.#keep(due);
    else if (this.#day < due && run.state().phase === 'trading') {
      const isLate = local.day !== due || minutesOf(local.time) - minutesOf(at) >= LATE_MINUTES;
      this.isSending = true;
      void this.#send(run, { due, isLate }).catch((error: unknown) => {
        this.#options.log('error', `the daily report of ${due} failed: ${messageOf(error)}`, { error });
        this.#keep(due);
      }).finally(() => { this.isSending = false; });
    }
  }

  async #send(run: ReportedRun, { due, isLate }: { readonly due: string; readonly isLate: boolean }): Promise<void> {
    const { config: { at, zone }, clock, notifier } = this.#options;
    const profit = await run.profit();
    const disk = await this.#diskText();
    const now = clock.now();
    const text = [...runLines(run), ...profitLines(profit), ...happenedLines(this.#happened), disk].join('\n');
    this.#happened = nothingSince(now);
    // Kept first: a report is sent once, whatever ends the process now.
    this.#keep(due);
    notifier.notify({
      topic: 'reports', level: 'info', at: now, key: `daily-report:${due}`,
      title: `daily report of ${due}${isLate ? ` (late: it was due at ${at} ${zone})` : ''}`, text,
    });
  }

  /** Returns the day and the time of day of an instant by the clocks of the zone. */
  #local(at: Millis): { readonly day: string; readonly time: string } {
    const parts = new Map(this.#format.formatToParts(at).map(({ type, value }) => [type, value]));
    const of = (type: Intl.DateTimeFormatPartTypes): string => parts.get(type) ?? '';
    return { day: `${of('year')}-${of('month')}-${of('day')}`, time: `${of('hour')}:${of('minute')}` };
  }

  #read(): string | undefined {
    const { stateDir, log } = this.#options;
    try {
      return lastReport.parse(JSON.parse(readFileSync(join(stateDir, FILE), 'utf8'))).day;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT'))
        log('warn', `${FILE} cannot be read, so the next daily report is that of tomorrow`, { error });
      return undefined;
    }
  }

  /** A disk that takes nothing must not repeat the report in this run. */
  #keep(day: string): void {
    const { stateDir, log } = this.#options;
    this.#day = day;
    try {
      replaceFile(stateDir, FILE, `${stringifyJson({ version: 1, day })}\n`);
    } catch (error) {
      log('warn', `${FILE} cannot be written, so a restart may send the daily report again`, { error });
    }
  }

  async #diskText(): Promise<string> {
    const { stateDir } = this.#options;
    try {
      const { bavail, bsize } = await statfs(stateDir);
      return `disk: ${sizeText(await bytesIn(stateDir))} in the state directory, ${sizeText(bavail * bsize)} free`;
    } catch (error) {
      return `disk: not known (${messageOf(error)})`;
    }
  }
}

function nothingSince(since: Millis): Happened {
  return { since, swaps: {}, denials: {}, alerts: {}, feeLamports: 0n };
}

function count(counts: Record<string, number>, name: string): void {
  const key = Object.keys(counts).length >= CODES_MAX && counts[name] === undefined ? 'others' : name;
  counts[key] = (counts[key] ?? 0) + 1;
}

function runLines(run: ReportedRun): string[] {
  const { standing, standing_reasons: reasons, mode, uptime_ms: uptime, equity, strategies } = run.state();
  const holds = strategies.map(({ name, holds: held }) =>
    `${name} ${held.length === 0 ? 'holds nothing' : held.join(', ')}`);
  return [
    `state: ${standing} (${mode}), up ${shortDuration(uptime)}${reasons.length === 0 ? '' : `; ${reasons.join('; ')}`}`,
    `equity: ${equity === null ? 'not known' : `${equity.text.value}, today ${equity.text.today}`
      + (equity.is_known ? '' : ' (prices missing)')}`,
    `holdings: ${holds.join('; ')}`,
  ];
}

/** Returns the profit of each period in each currency, for people. Days are those of UTC. */
export function profitLines({ total, yesterday, unrealised }: ProfitStatement): string[] {
  const periods = [
    ['today', total.today], ['yesterday', yesterday], ['7 days', total.week], ['30 days', total.month],
    ['all', total.all],
  ] as const;
  return total.all.length === 0 ? ['profit: no swap yet'] : total.all.map(({ currency }) => {
    const of = (own: readonly Figures[]): string => own.find((each) => each.currency === currency)?.net.text ?? '0';
    const open = unrealised.find((each) => each.currency === currency);
    return `profit in ${currency} after fees (days of UTC): ${periods.map(([name, own]) => `${name} ${of(own)}`)
      .join(', ')}${open === undefined ? '' : `; not realised ${open.amount?.text ?? 'not known'}`}`;
  });
}

function happenedLines({ since, swaps, denials, alerts, feeLamports }: Happened): string[] {
  return [
    `since ${new Date(since).toISOString().slice(0, 16).replace('T', ' ')} UTC:`,
    `swaps: ${formatCounts(swaps)}; network fees ${formatDecimal(feeLamports, SOL_DECIMALS)} SOL`,
    `refused proposals: ${formatCounts(denials)}`,
    `alerts: ${formatCounts(alerts)}`,
  ];
}

function dayBefore(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) - 86_400_000).toISOString().slice(0, 10);
}

function minutesOf(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
}

/** Files may go while they are counted. */
async function bytesIn(dir: string): Promise<number> {
  let sum = 0;
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) sum += await bytesIn(path);
    else if (entry.isFile()) sum += await sizeOf(path);
  }
  return sum;
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch {
    return 0;
  }
}

function sizeText(bytes: number): string {
  return bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
