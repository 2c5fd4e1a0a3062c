import type { LoggedDecision } from '../engine/decision-log.ts';
import type { RunManifest } from './manifest.ts';
import type { RunFiles } from './run-files.ts';

/** The files of a run on a disk that may be full. */
export interface PatientRunFiles extends RunFiles {
  /** Tries again to write what waits. */
  retry(): void;
}

/** A gap would make the chain of hashes worthless, so the file ends where memory does. */
const WAITING_MAX = 20_000;

/**
 * Returns a run's files that keep what the disk does not take now, and write it as soon as it does. The manifest is the
 * newest; the files are made with the first write; of the decisions none is left out, until too many wait: then the file ends where it is.
 */
export function patientRunFiles({ dir, open }: { readonly dir: string; readonly open: () => RunFiles }, { onFault, onWritten }: {
  /** Told of each write that failed; returns whether room was made, so that it may be tried again at once. */
  readonly onFault: (error: Error) => boolean;
  /** Told when all that waited is written. */
  readonly onWritten: () => void;
}): PatientRunFiles {
  const decisions: LoggedDecision[] = [];
  let manifest: RunManifest | undefined;
  let hasEnded = false;
  let isBehind = false;
  let files: RunFiles | undefined;

  function write(): void {
    files ??= open();
    while (decisions.length > 0) {
      files.decision(decisions[0]!);
      decisions.shift();
    }
    if (manifest !== undefined) files.manifest(manifest);
    manifest = undefined;
  }

  function retry(): void {
    for (let tries = 1; tries <= 2; tries++) {
      try {
        write();
        if (isBehind) onWritten();
        isBehind = false;
        return;
      } catch (error) {
        if (!isDiskFault(error)) throw error;
        isBehind = true;
        if (!onFault(error)) return;
      }
    }
  }

  return {
    dir,
    retry,
    decision(logged) {
      if (hasEnded) return;
      decisions.push(logged);
      retry();
      if (decisions.length <= WAITING_MAX) return;
      hasEnded = true;
      decisions.length = 0;
    },
    manifest(newest) {
      manifest = newest;
      retry();
    },
    close() {
      retry();
      files?.close();
    },
  };
}

/** What the system says has a code and its own name for the call; a bug has neither. */
function isDiskFault(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && 'syscall' in error;
}
