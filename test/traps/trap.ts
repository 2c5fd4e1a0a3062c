import type { Profile } from '../../src/sandbox/sandbox.ts';
import type { TrapWorld } from './world.ts';

/** One way into a trap, and what keeps Gannet out of it. */
export interface Play {
  /** A sentence that is true when it passes. */
  readonly says: string;
  /** The forms of the service it is played against; the described one unless the trap is about the live one. */
  readonly profiles?: readonly Profile[];
  play(world: TrapWorld): Promise<void>;
}

/** Something that the service does and that costs money, or nerves, where nobody reckons with it. */
export interface Trap {
  /** As it is numbered in the list of what is known of the service. */
  readonly number: number;
  readonly title: string;
  readonly plays: readonly Play[];
}
