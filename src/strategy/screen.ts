import type { OperatorFunction, Subscription } from 'rxjs';
import { Observable } from 'rxjs';
import { GannetError } from '../core/errors.ts';
import type { TokenListEvent, TokenRecord } from '../market/token-record.ts';
import { TOKEN_LIST_MAX } from '../market/token-record.ts';
import type { Mint, Token } from '../market/token.ts';
import type { StrategyContext } from './context.ts';
import type { Input } from './input.ts';
import { tokenOf } from './token-inputs.ts';

/** What a screen takes from a list, and what it watches of each token. */
export interface ScreenOptions<T> {
  /** The most tokens at once, 1 to 100. `risk.max_watches` bounds their feeds as well. */
  readonly max: number;
  /** Which tokens of the list are taken; all where absent. */
  readonly where?: ((record: TokenRecord) => boolean) | undefined;
  /** What is watched of a token from its join to its leave. */
  readonly watch: (token: Token, record: TokenRecord) => Input<T>;
  /** Which members stay although they are no longer taken, those with a position for example. */
  readonly keep?: ((token: Token) => boolean) | undefined;
}

/** What happens in a screen. `record` is that of the list at the join. */
export type ScreenEvent<T> = { readonly token: Token; readonly record: TokenRecord } & (
  | { readonly kind: 'join' }
  | { readonly kind: 'event'; readonly event: T }
  | { readonly kind: 'leave' }
);

interface Member {
  readonly token: Token;
  readonly record: TokenRecord;
  watch?: Subscription;
}

/**
 * Returns an operator that watches the tokens of a list while they are in it: each token joins, has events, and leaves.
 * Members stay while the list holds them and `where` takes them; free places go to the first others in the list's
 * order. Throws STRATEGY_INVALID without a bound.
 */
export function screen<T>(
  ctx: Pick<StrategyContext, 'watch'>, options: ScreenOptions<T>,
): OperatorFunction<TokenListEvent, ScreenEvent<T>> {
  const { max } = options;
  if (!Number.isInteger(max) || max < 1 || max > TOKEN_LIST_MAX) {
    throw new GannetError('STRATEGY_INVALID',
      `expected "max" of a screen to be a whole number of 1 to ${TOKEN_LIST_MAX}, got ${String(max).slice(0, 40)}`);
  }
  return (lists) => new Observable((subscriber) => {
    const members = new Map<Mint, Member>();
    subscriber.add(() => { for (const { watch } of members.values()) watch?.unsubscribe(); });
    const update = (list: TokenListEvent): void => {
      for (const [kind, member] of changesOf(members, list, options)) {
        const { token, record } = member;
        if (subscriber.closed) return;
        if (kind === 'leave') {
          members.delete(token.mint);
          member.watch?.unsubscribe();
          subscriber.next({ kind, token, record });
        } else {
          members.set(token.mint, member);
          subscriber.next({ kind, token, record });
          member.watch = ctx.watch(options.watch(token, record)).subscribe({
            next: (event) => { subscriber.next({ kind: 'event', token, record, event }); },
            error: (error: unknown) => { subscriber.error(error); },
          });
        }
      }
    };
    subscriber.add(lists.subscribe({
      next: (list) => {
        try {
          update(list);
        } catch (error) {
          subscriber.error(error);
        }
      },
      error: (error: unknown) => { subscriber.error(error); },
      complete: () => { subscriber.complete(); },
    }));
  });
}

/** Returns who leaves, and then who joins: so that there are never more watches than members. */
function changesOf(
  members: ReadonlyMap<Mint, Member>, { tokens }: TokenListEvent,
  { max, where, keep }: Pick<ScreenOptions<unknown>, 'max' | 'where' | 'keep'>,
): readonly (readonly ['leave' | 'join', Member])[] {
  const taken = new Map(tokens.filter((record) => where?.(record) !== false).map((record) => [record.id, record]));
  const leaving = [...members.values()].filter(({ token }) => !taken.has(token.mint) && keep?.(token) !== true);
  const places = max - members.size + leaving.length;
  const joining = [...taken.values()].filter(({ id }) => !members.has(id)).slice(0, Math.max(0, places));
  return [
    ...leaving.map((member) => ['leave', member] as const),
    ...joining.map((record) => ['join', { token: tokenOf(record), record }] as const),
  ];
}
