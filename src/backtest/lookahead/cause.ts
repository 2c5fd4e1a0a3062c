import type { Bench } from './bench.ts';
import { runOn } from './bench.ts';
import type { Leak } from './leak.ts';
import { leakOf } from './leak.ts';
import type { Moved } from './moved.ts';
import { compared } from './moved.ts';
import type { PassAnswer, World } from './pass.ts';
import { WORLDS } from './pass.ts';
import type { Poison } from './poison.ts';

/** What a cause is looked for with. */
interface Ground {
  readonly reference: PassAnswer;
  readonly bench: Bench;
  /** For people: what the strategy reached for. */
  readonly reach: string;
}

const OF_THE_MACHINE: Readonly<Record<World, string>> = {
  disk: 'files or other processes',
  network: 'the network',
  chance: 'unseeded chance',
  clock: 'the machine’s clock',
  locale: 'the machine’s time zone or language',
  environment: 'the process’s environment, or the machine that it runs on',
};

/** Returns for people what a strategy reached for, mostly nothing. */
export function reachText({ reaches }: PassAnswer): string {
  return reaches.length === 0 ? '' : `; it reaches for ${reaches.slice(0, 3).join(', ')}`;
}

/**
 * Returns why the same rows are decided upon otherwise in two processes, each of which ran the strategy for the first time.
 * That they are is known. Why is a guess: what, once it is held fast, lets two runs agree that else do not.
 */
export async function causeOfChaos({ difference, fault }: Moved, { bench, reference, reach }: Ground): Promise<Leak> {
  // One run more in each process: were something kept there as well, both would keep the same.
  const agree = async (worlds: readonly World[]): Promise<PassAnswer | undefined> => {
    const [one, other] = [await runOn(bench.used, bench, { worlds }), await runOn(bench.fresh, bench, { worlds })];
    return compared(one, other) === undefined ? one : undefined;
  };
  const found = (poison: World | 'elsewhere', detail: string): Leak => leakOf(difference, { poison, from: null, process: 'fresh', detail: `${detail}${fault}${reach}` });
  const known = 'two runs over the same rows, each in a process of its own, decide otherwise';
  const later = await agree([]);
  if (later !== undefined && compared(reference, later) === undefined) return found('elsewhere', `${known}, though not often; why is not known`);
  if (later !== undefined) {
    const isKept = reference.reaches.length > 0;
    return found(isKept ? 'disk' : 'elsewhere', `its first run decides otherwise than later ones, in whatever process: ${isKept ? `presumably it keeps something in ${OF_THE_MACHINE.disk}` : 'why is not known'}`);
  }
  for (const world of worldsFor(reference)) {
    if (await agree([world]) !== undefined) return found(world, `${known}; with ${OF_THE_MACHINE[world]} ${HELD[world]} they agree, so presumably it follows from that, which no recording holds`);
  }
  return found('elsewhere', `${known}; why is not known: none of ${worldsFor(reference).map((world) => OF_THE_MACHINE[world]).join(', ')} is the cause alone`);
}

const HELD: Readonly<Record<World, string>> = {
  disk: 'taken away', network: 'taken away', chance: 'held fast', clock: 'stopped', locale: 'held fast', environment: 'held fast',
};

/** Returns what moved a decision in a process that never saw the future as it was recorded: the spoiled one, unless the truth moves it as well. */
export async function causeOfPoison({ moved, poison }: { readonly moved: Moved; readonly poison: Poison }, ground: Ground): Promise<Leak> {
  const { bench, reference, reach } = ground;
  const { kind, from } = poison;
  const truth = compared(reference, await runOn(bench.fresh, bench));
  if (truth === undefined) {
    const again = compared(reference, await runOn(bench.fresh, bench, { poison, onDisk: reference.reaches.length > 0 }), from);
    if (again === undefined) return causeOfChaos(moved, ground);
    return leakOf(moved.difference, { poison: kind, from, process: 'fresh', detail: `a decision changes with what comes after it (${kind})${moved.fault}${reach}` });
  }
  const elsewhere = await bench.withAnother((thread) => runOn(thread, bench));
  if (compared(reference, elsewhere) !== undefined) return causeOfChaos(truth, ground);
  return leakOf(truth.difference, { poison: 'repetition', from: null, process: 'same', detail: `its first run in a process is always the same, a later one is not, even with its modules loaded anew: it keeps something outside of them${truth.fault}${reach}` });
}

/**
 * Returns what moved a decision in the process that saw the truth, given that in another one the truth was decided upon as at
 * first: what the first run left there, where it shows again.
 */
export async function causeOfRepetition({ moved: { difference, fault }, poison, generation }: { readonly moved: Moved; readonly poison: Poison | undefined; readonly generation: number }, { bench, reference, reach }: Ground): Promise<Leak> {
  const again = compared(reference, await runOn(bench.used, bench, { generation, poison }), poison?.from);
  const why = again === undefined ? 'it did so once and not again, so something is kept, or it is chance' : 'something of that run is kept';
  return leakOf(difference, { poison: poison?.kind ?? 'repetition', from: poison?.from ?? null, process: 'same', detail: `after a run over the true future in the same process it decides otherwise: ${why}${fault}${reach}` });
}

/** Returns what of the machine moved a decision, given that all of it together did. */
export async function worldLeak(together: Moved, { bench, reference, reach }: Ground): Promise<Leak> {
  for (const world of WORLDS) {
    const moved = compared(reference, await runOn(bench.fresh, bench, { worlds: [world] }));
    if (moved !== undefined) return leakOf(moved.difference, { poison: world, from: null, process: 'fresh', detail: `a decision follows from ${OF_THE_MACHINE[world]}, which no recording holds${moved.fault}${reach}` });
  }
  return leakOf(together.difference, { poison: 'elsewhere', from: null, process: 'fresh', detail: `a decision follows from several things of the machine at once, which no recording holds${together.fault}${reach}` });
}

/** Nobody follows from files or the network who never reached for them. */
function worldsFor({ reaches }: PassAnswer): readonly World[] {
  return reaches.length > 0 ? WORLDS : WORLDS.filter((world) => world !== 'disk' && world !== 'network');
}
