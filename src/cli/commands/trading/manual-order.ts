import { randomUUID } from 'node:crypto';
import type { CommandContext } from '../../command.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { EXIT } from '../../exit-codes.ts';
import { clockTime } from '../../output/figures.ts';
import { GannetError, isGannetError } from '../../../core/errors.ts';
import { printable } from '../../../core/text.ts';
import { daemonClient } from '../../../daemon/control/control-client.ts';
import type { OrderView } from '../../../daemon/manual/manual-orders.ts';
import { systemClock } from '../../../daemon/watch/system-clock.ts';
import { wait } from '../../../execution/monotonic-time.ts';

const POLL_MS = 300;
const TIME_LENGTH = 'hh:mm:ss'.length;
const SIGNATURE_SHOWN = 8;
/** How long a daemon may be away while an order is followed: it starts again within this. */
const AWAY_MAX_MS = 60_000;
/** The daemon asks the service for a price before it answers. */
const ANSWER_MS = 60_000;

/** Returns whether a daemon runs with the state directory. Throws CONTROL_UNAUTHORIZED where it refuses the token. */
export async function daemonOf(context: CommandContext): Promise<boolean> {
  try {
    await daemonClient(context).get('/api/state');
    return true;
  } catch (error) {
    if (isGannetError(error) && error.code === 'CONTROL_UNREACHABLE') return false;
    throw error;
  }
}

/** Returns the key of a new order, or the given one. Throws USAGE for one that no order can have. */
export function orderKey(given: string | undefined): string {
  if (given === undefined) return randomUUID();
  if (/^[A-Za-z0-9-]{8,64}$/.test(given)) return given;
  throw new GannetError('USAGE', `expected a key of 8 to 64 letters, digits and dashes, got "${printable(given, 70)}"`);
}

/** An order as it is sent. */
interface Order {
  readonly path: '/api/swap' | '/api/sell';
  readonly body: object;
  readonly key: string;
  /** The command that asks again for it. */
  readonly again: string;
}

/**
 * Gives an order to the daemon and follows it to its end. An answer that is lost is asked for again with the same key,
 * so the order is carried out once.
 */
export async function followOrder(context: CommandContext, { path, body, key, again }: Order): Promise<ExitCode> {
  const { terminal, interrupt } = context;
  const told = new Set<string>();
  let view = await asked(context, again, (client) => client.post(path, { ...body, key }, { timeoutMs: ANSWER_MS }));
  for (;;) {
    if (!terminal.json) tell(context, view, told);
    if (view.over) break;
    if (interrupt.aborted) {
      terminal.err(`the order goes on without this command; "${again}" follows it further\n`);
      break;
    }
    await wait(systemClock, POLL_MS);
    view = await asked(context, again, (client) => client.get(`/api/orders/${key}`));
  }
  const isDone = view.state === 'confirmed' && view.left === null;
  terminal.result(view, () => (isDone ? `  done: ${printable(view.text ?? '')}\n`
    : view.over ? `  not done: ${reasonOf(view)}\n` : ''));
  if (!view.over) return EXIT.interrupted;
  return isDone ? EXIT.done : view.code === 'TRADING_HALTED' ? EXIT.halted : EXIT.failed;
}

type Client = ReturnType<typeof daemonClient>;

/** Asks until the daemon answers; it may start again meanwhile, with another address. */
async function asked(
  context: CommandContext, again: string, ask: (client: Client) => Promise<unknown>,
): Promise<OrderView> {
  const giveUpAt = systemClock.now() + AWAY_MAX_MS;
  for (let isFirst = true; ; isFirst = false) {
    try {
      const answer = await ask(daemonClient(context));
      if (answer !== undefined) return answer as OrderView;
      throw new GannetError('CONTROL_REFUSED', 'the daemon knows no such order, so nothing was swapped for it: '
        + `"${again}" orders it`);
    } catch (error) {
      const code = isGannetError(error) ? error.details['code'] ?? error.code : undefined;
      const isAway = code === 'CONTROL_UNREACHABLE' || code === 'STARTING' || (code === 'NOT_TRADING' && !isFirst);
      if (!isAway) throw error;
      if (systemClock.now() < giveUpAt && !context.interrupt.aborted) {
        if (isFirst && !context.terminal.json)
          context.terminal.err('the daemon does not answer; asking again, which makes no second swap …\n');
        await wait(systemClock, POLL_MS);
        continue;
      }
      throw new GannetError('CONTROL_UNREACHABLE', 'the daemon does not answer, so what became of the order is not '
        + `known here. Start the daemon, then run "${again}": it makes no second swap`, { cause: error });
    }
  }
}

/** Prints what is new of the order's swaps. */
function tell({ terminal }: CommandContext, { intents, state, reason }: OrderView, told: Set<string>): void {
  for (const { intent_id: id, created_at: createdAt, reason: why, transitions } of intents) {
    const lines = [
      { at: createdAt, text: `approved  ${printable(why, 200)}` },
      ...transitions.map(({
        at, attempt, state: reached, signature, code, reason: cause, gateway_request_id: request,
      }) => ({
        at, text: [
          `${reached}${attempt === 1 ? '' : ` (attempt ${attempt})`}`, shown(signature), code, cause,
          request === null ? null : `(request ${request})`,
        ]
          .filter((part) => part !== null).map((part) => printable(part, 200)).join('  '),
      })),
    ];
    for (const [number, { at, text }] of lines.entries())
      once(`${id} ${number}`, `  ${clockTime(at).slice(-TIME_LENGTH)}  ${id}  ${text}\n`);
  }
  if (state === 'waiting' && reason !== null) once(reason, `  waiting: ${printable(reason, 300)}\n`);

  function once(name: string, line: string): void {
    if (told.has(name)) return;
    told.add(name);
    terminal.out(line);
  }
}

/** The whole signature is in the journal: `gannet journal show`. */
function shown(signature: string | null): string | null {
  return signature === null ? null : `${signature.slice(0, SIGNATURE_SHOWN)}…`;
}

function reasonOf({ state, code, reason }: OrderView): string {
  const why = [code, reason].filter((part) => part !== null).map((part) => printable(part, 400)).join(', ');
  return state === 'denied' ? printable(reason ?? code ?? 'it was refused', 600)
    : `the swap is ${state}${why === '' ? '' : `, ${why}`}`;
}
