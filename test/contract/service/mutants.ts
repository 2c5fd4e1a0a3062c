import type { Case } from './case.ts';
import { CASES } from './cases/index.ts';
import type { ServiceFixture } from './service-fixture.ts';

/** Where the fields of a table stand: the answer they are in, and the JSON pointer of each. */
interface Place {
  readonly path: string;
  pointer(field: string): string;
}

const within = (path: string, prefix: string): Place =>
  ({ path, pointer: (field) => `${prefix}/${field.replaceAll('.', '/')}` });

const PLACES: Readonly<Record<string, Place>> = {
  'order-answer': within('/swap/v2/order', ''),
  route: within('/swap/v2/order', '/routePlan/*'),
  'platform-fee': within('/swap/v2/order', '/platformFee'),
  'build-answer': within('/swap/v2/build', ''),
  'build-answer.instruction': {
    path: '/swap/v2/build', pointer: (field) => `/swapInstruction/${field.replace('accounts.', 'accounts/*/')}`,
  },
  'open.execute.answer': within('/swap/v2/execute', ''),
  'v1-quote-answer': within('/swap/v1/quote', ''),
  'v1-swap-answer': within('/swap/v1/swap', ''),
  'v1.swap-instructions': within('/swap/v1/swap-instructions', ''),
  token: within('/ultra/v1/search', '/*'),
  stats: within('/ultra/v1/search', '/*/stats24h'),
  'open.content': {
    path: '/tokens/v2/content', pointer: (field) => `/data/*/${field.replace('contents.', 'contents/*/')}`,
  },
  pagination: within('/prediction/v1/events/*/markets', '/pagination'),
  event: within('/prediction/v1/events/search', '/data/*'),
  'event-metadata': within('/prediction/v1/events/search', '/data/*/metadata'),
  market: within('/prediction/v1/events/search', '/data/*/markets/*'),
  'market-metadata': within('/prediction/v1/events/search', '/data/*/markets/*/metadata'),
  position: within('/prediction/v1/positions', '/data/*'),
  history: within('/prediction/v1/history', '/data/*'),
  book: within('/prediction/v1/orderbook/*', ''),
};

/** Fields of these tables that stand in another answer. */
const ELSEWHERE: Readonly<Record<string, Place>> = {
  'route.swapInfo.feeAmount': within('/swap/v1/quote', '/routePlan/*'),
  'route.swapInfo.feeMint': within('/swap/v1/quote', '/routePlan/*'),
  'market-metadata.eventId': within('/prediction/v1/positions', '/data/*/marketMetadata'),
  'open.content.pagination': within('/tokens/v2/content/feed', '/data'),
};

/** A change of one field that its case has to notice. */
export interface Mutant {
  readonly name: string;
  readonly each: Case;
  readonly path: string;
  readonly fault: object;
}

/**
 * Returns what can be done to the fields that have a case of their own: each is taken away, and each is made something
 * odd.
 */
export function fieldMutants(): readonly Mutant[] {
  return CASES.flatMap((each) => {
    const [id = ''] = each.covers;
    const table = Object.keys(PLACES).filter((prefix) => id.startsWith(`${prefix}.`))
      .toSorted((a, b) => b.length - a.length)[0];
    // Rules of such a table have names with dashes; a case of another sentence is not the field's own.
    if (each.profile === 'live' || table === undefined || !each.says.startsWith(`${id}:`)
        || id.slice(table.length).includes('-')) return [];
    const place = ELSEWHERE[id] ?? PLACES[table]!;
    const pointer = place.pointer(id.slice(table.length + 1));
    return [
      { name: `${id} taken away`, each, path: place.path, fault: { kind: 'patch', set: {}, remove: [pointer] } },
      {
        name: `${id} made odd`, each, path: place.path,
        fault: { kind: 'patch', set: { [pointer]: { odd: 1 } }, remove: [] },
      },
    ];
  });
}

/** Returns the names of the mutants that their cases did not notice. */
export async function survivorsOf(fixture: ServiceFixture, mutants: readonly Mutant[]): Promise<readonly string[]> {
  const survivors: string[] = [];
  for (const { name, each, path, fault } of mutants) {
    await fixture.fault({ match: { path }, fault });
    // The mutant is another service: an observation of a case in the original one does not count.
    const thrown = await each.play({ ...fixture }).then(() => undefined, (error: unknown) => error);
    await fixture.raw('DELETE', '/sandbox/faults');
    if (thrown === undefined) survivors.push(name);
  }
  return survivors;
}
