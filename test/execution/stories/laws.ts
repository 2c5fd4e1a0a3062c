import type { Played } from './play.ts';

/** Returns what a played story broke of the laws that hold whatever happens, nothing where it broke none. */
export function breachesOf(played: Played): string[] {
  return [
    ...played.breaches, ...(played.breaches.length > 0 ? [] : [...intentBreaches(played), ...ledgerBreaches(played)]),
  ];
}

function intentBreaches({ chain, signed, intents, story }: Played): string[] {
  const breaches: string[] = [];
  for (const { intent_id: id, state } of intents) {
    const own = chain.landings.filter(({ message, goneAt }) => goneAt === Infinity && signed.get(message.id) === id);
    const swaps = own.filter(({ error }) => error === undefined);
    const shown = story(id)!;
    const { code } = shown.transitions.at(-1) ?? { code: null };
    if (swaps.length > 1) breaches.push(`${id} swapped ${swaps.length} times`);
    if (state === 'confirmed' && swaps.length === 0) breaches.push(`${id} is confirmed and never swapped`);
    if (state !== 'confirmed' && swaps.length > 0) breaches.push(`${id} swapped and is ${state} (${code})`);
    if (state === 'failed' && own.length === 0 && code !== 'OPERATOR_RESOLVED')
      breaches.push(`${id} is failed and never landed`);
    if ((state === 'expired' || state === 'abandoned') && own.some(({ error }) => error !== undefined)
        && !isToldOfFailure(shown)) {
      breaches.push(`${id} failed on the chain and is ${state}`);
    }
    if (state === 'confirmed' && shown.amount_out !== swaps[0]?.message.amountOut.toString())
      breaches.push(`${id} got ${swaps[0]?.message.amountOut}, booked ${shown.amount_out}`);
  }
  return breaches;
}

/** An earlier attempt that failed is told of with the beginning of the next. */
function isToldOfFailure({ attempts }: NonNullable<ReturnType<Played['story']>>): boolean {
  return attempts.some(({ state }) => state === 'failed');
}

function ledgerBreaches({ chain, ledger, restarted, deposits }: Played): string[] {
  const breaches: string[] = [];
  for (const [mint, amount] of chain.balances) {
    const booked = (ledger.get(mint) ?? 0n) + (deposits.get(mint) ?? 0n);
    const again = (restarted.get(mint) ?? 0n) + (deposits.get(mint) ?? 0n);
    if (booked !== amount) breaches.push(`the ledger has ${booked} of ${mint}, the chain ${amount}`);
    if (again !== amount) breaches.push(`after a restart the ledger has ${again} of ${mint}, the chain ${amount}`);
  }
  return breaches;
}
