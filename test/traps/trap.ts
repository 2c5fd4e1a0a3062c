import type { Profile } from '../../src/sandbox/sandbox.ts';
import type { TrapFixture } from './trap-fixture.ts';

/** One case of a trap, with Gannet's defence. */
export interface Play {
  /** A sentence that is true when the case passes. */
  readonly says: string;
  /** The profiles of the service to run it with; the reference unless the trap is about the live service. */
  readonly profiles?: readonly Profile[];
  play(fixture: TrapFixture): Promise<void>;
}

/** A behaviour of the service that costs money where a client does not expect it. */
export interface Trap {
  /** The number in the list of known behaviours of the service. */
  readonly number: number;
  readonly title: string;
  readonly plays: readonly Play[];
}
