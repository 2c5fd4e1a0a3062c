import { describeBytes } from './preload/describe.ts';
import { intentOf, type Place } from './place.ts';
import type { Scenario } from './scenarios.ts';
import type { CrashFixture } from './crash-fixture.ts';

const HURRIED_SLOTS = 20;
const HURRY_MS = 100;

/**
 * Has the fixture do to each intent of a place what its scenario says: each is met by it once, however often the daemon
 * dies on the way. Returns what ends it.
 */
export async function setStage(
  fixture: CrashFixture, place: Place, { route, fault, sandboxFault, priceAfterSigning, expires }: Scenario,
): Promise<() => Promise<void>> {
  await fixture.priceSol(1);
  const request = route === 'order' ? '/swap/v2/execute' : 'sendTransaction';
  let price = 1;
  const met = new Set<string>();
  const intents = new Map<string, string>();
  const keyOf = (body: Buffer): string => {
    const { bytes } = describeBytes(body);
    if (bytes === undefined) return '';
    const known = intents.get(bytes) ?? intentOf(place, bytes) ?? bytes;
    intents.set(bytes, known);
    return known;
  };
  const onRequest = async (name: string, body: Buffer): Promise<void> => {
    if (name !== request || (priceAfterSigning === undefined && sandboxFault === undefined)) return;
    const intent = keyOf(body);
    if (met.has(intent)) return;
    met.add(intent);
    if (priceAfterSigning !== undefined) await fixture.priceSol(price *= priceAfterSigning);
    if (sandboxFault !== undefined)
      await fixture.lever('POST', 'faults', { match: { path: '/swap/v2/execute' }, ...sandboxFault });
  };
  const rules = fault === undefined ? [] : [{ request, ...fault }];
  fixture.service.rule(route === 'order' ? rules : [], { onRequest, keyOf });
  fixture.rpc.rule(route === 'build' ? rules : [], { onRequest, keyOf });
  // Slots that pass besides those that pass by themselves.
  const hurry = expires === true ? setInterval(
    () => { void fixture.lever('POST', 'time', { advance_slots: HURRIED_SLOTS }).catch(() => undefined); }, HURRY_MS,
  ) : undefined;
  return async () => {
    clearInterval(hurry);
    fixture.service.rule([]);
    fixture.rpc.rule([]);
    if (sandboxFault !== undefined) await fixture.lever('DELETE', 'faults');
  };
}
