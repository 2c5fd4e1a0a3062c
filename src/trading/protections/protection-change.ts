import type { Millis } from '../../core/time.ts';
import type { DenialCode } from '../denials.ts';
import type { Protection } from '../protection.ts';

/** A protection that came on or let go: an event that people must see, and that must outlive the process. */
export interface ProtectionChange {
  readonly change: 'fired' | 'released';
  readonly protection: Protection;
  /** The strategy's name or the token's mint; empty where the scope is global. */
  readonly subject: string;
  readonly code: DenialCode;
  /** For people: what was found, or why it let go. */
  readonly reason: string;
  readonly at: Millis;
}
