import { syncBuiltinESMExports } from 'node:module';
import type { World } from '../../backtest/lookahead/pass.ts';
import { fixChance, prepareChance } from './fixed-chance.ts';
import { enterOtherLocale } from './other-locale.ts';
import { enterOtherMachine, prepareMachine } from './other-machine.ts';
import { stopClock } from './stopped-clock.ts';

/** In the order in which they are entered: each goes by what it finds. Those that are traps are no part of it. */
const ENTER: ReadonlyMap<World, () => () => void> = new Map([['clock', stopClock], ['locale', enterOtherLocale], ['chance', fixChance], ['environment', enterOtherMachine]]);

/** Lets this thread's machine be made another one, for good: what is imported by name cannot be replaced later. */
export function prepareWorlds(): void {
  prepareMachine();
  prepareChance();
  syncBuiltinESMExports();
}

/** Makes the machine another one as far as `worlds` say, and returns what makes it as it was. */
export function enterWorld(worlds: readonly World[]): () => void {
  const leave = [...ENTER].filter(([world]) => worlds.includes(world)).map(([, enter]) => enter());
  return () => { for (const back of leave.reverse()) back(); };
}
