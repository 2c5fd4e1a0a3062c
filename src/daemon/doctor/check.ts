import type { GannetError } from '../../core/errors.ts';
import { isGannetError } from '../../core/errors.ts';
import type { Clock } from '../../core/time.ts';
import type { EnvironmentRecord } from '../../config/interpolate.ts';
import type { StrategyReader } from '../../config/strategies/strategy-reader.ts';
import type { SignerClient } from '../../signer/channel/client.ts';
import type { Machine } from './machine.ts';

/** How bad a finding is: a warning does not keep Gannet from working. */
type CheckLevel = 'ok' | 'warning' | 'fault';

/** What a check is about; the groups of the text. */
export const CHECK_GROUPS =
  ['machine', 'configuration', 'key', 'state', 'daemon', 'service', 'chain', 'money'] as const;

/** The result of a check. One check may have several results, under the same name. */
export interface Check {
  readonly group: typeof CHECK_GROUPS[number];
  readonly name: string;
  readonly level: CheckLevel;
  /** False for a fault. */
  readonly ok: boolean;
  readonly message: string;
  /** What to do, with the command to type; absent where nothing is wrong. */
  readonly fix?: string;
}

/** Makes the results of one group. */
interface CheckMaker {
  readonly ok: (name: string, message: string) => Check;
  readonly warning: (name: string, message: string, fix: string) => Check;
  readonly fault: (name: string, message: string, fix: string) => Check;
}

/** Returns the maker of a group's results. */
export function checksOf(group: Check['group']): CheckMaker {
  return {
    ok: (name, message) => ({ group, name, level: 'ok', ok: true, message }),
    warning: (name, message, fix) => ({ group, name, level: 'warning', ok: true, message, fix }),
    fault: (name, message, fix) => ({ group, name, level: 'fault', ok: false, message, fix }),
  };
}

/** What `gannet doctor` examines. It writes nothing of it. */
export interface DoctorScope {
  /** As the user named it; undefined for the default. */
  readonly config: string | undefined;
  readonly stateDir: string;
  readonly overrides: {
    readonly baseUrl: string | undefined; readonly rpcUrl: string | undefined; readonly apiKeyEnv: string | undefined;
  };
  readonly workingDir: string;
  /** Without wallet keys. */
  readonly environment: EnvironmentRecord;
  /** The names of the variables that only the signer has. */
  readonly withheld: readonly string[];
  /** Connects to the signer process beside this one; undefined without one. */
  readonly connectSigner: (() => Pick<SignerClient, 'address' | 'close'>) | undefined;
  readonly strategyReader: StrategyReader;
  readonly machine: Machine;
  /** Whether nothing may be asked over the network. */
  readonly offline: boolean;
  readonly clock: Clock;
}

/** Returns the result of work, or `late` where it takes longer than a span. Work that fails later is ignored. */
export async function within<T>(work: Promise<T>, ms: number, late: () => T): Promise<T> {
  const { promise, resolve } = Promise.withResolvers<T>();
  const timer = setTimeout(() => { resolve(late()); }, ms);
  work.catch(() => undefined);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the answer of a call, or the fault that it failed with. Throws what is no GannetError. */
export async function answerOrFault<Answer>(asked: Promise<Answer>): Promise<Answer | GannetError> {
  try {
    return await asked;
  } catch (error) {
    if (isGannetError(error)) return error;
    throw error;
  }
}
