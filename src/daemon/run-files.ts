import { createHash } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { GannetError, messageOf } from '../core/errors.ts';
import { parseJson, stringifyJson } from '../core/json.ts';
import type { Millis } from '../core/time.ts';
import type { LoggedDecision } from '../engine/decision-log.ts';
import { DecisionLog } from '../engine/decision-log.ts';
import { appendWhole } from '../recording/files/append-whole.ts';
import type { RunManifest } from './manifest.ts';
import { RUN_FORMAT } from './manifest.ts';

/** The files of one run, being written. */
export interface RunFiles {
  readonly dir: string;
  decision(logged: LoggedDecision): void;
  /** Replaces the manifest; whole or not at all. */
  manifest(manifest: RunManifest): void;
  close(): void;
}

/** Opens `state/runs/<run_id>/` for writing. */
export function createRunFiles(stateDir: string, runId: string): RunFiles {
  const dir = join(stateDir, 'runs', runId);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const decisions = openSync(join(dir, 'decisions.ndjson'), 'a', 0o600);
  return {
    dir,
    decision: (logged) => { appendWhole(decisions, `${stringifyJson(logged)}\n`); },
    manifest: (manifest) => {
      const path = join(dir, 'manifest.json');
      try {
        writeFileSync(`${path}.new`, sealed(stringifyJson(manifest, 2)), { mode: 0o600 });
      } catch (error) {
        // What was begun takes room that something else needs now.
        rmSync(`${path}.new`, { force: true });
        throw error;
      }
      renameSync(`${path}.new`, path);
    },
    close: () => { closeSync(decisions); },
  };
}

/** Returns the directory of a run given by its id or by a path. Throws RUN_NOT_FOUND. */
export function findRun(stateDir: string, run: string): string {
  for (const dir of [resolve(run), join(stateDir, 'runs', run)]) {
    if (existsSync(join(dir, 'manifest.json'))) return dir;
  }
  throw new GannetError('RUN_NOT_FOUND', `expected a run's id or directory, found no manifest in ${run} or ${join(stateDir, 'runs', run)}`);
}

/** Reads a run's manifest. Throws RUN_NOT_FOUND on one that is damaged or of another format. */
export function readManifest(runDir: string): RunManifest {
  const path = join(runDir, 'manifest.json');
  const { json } = readJsonFile(path);
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new GannetError('RUN_NOT_FOUND', `${path}: expected the members of a run's manifest, found other JSON; restore the file from a copy`);
  }
  const { sha256: _, ...manifest } = json as RunManifest & { readonly sha256?: unknown };
  if (manifest.format_version !== RUN_FORMAT) {
    throw new GannetError('RUN_NOT_FOUND', `${path} has format ${manifest.format_version}; this version reads format ${RUN_FORMAT}`);
  }
  return manifest;
}

/** Returns what is to be said of a manifest that is not what the run wrote; undefined where it is, or where the run was of a version that did not say. */
export function manifestChange(runDir: string): string | undefined {
  const path = join(runDir, 'manifest.json');
  const { text, json } = readJsonFile(path);
  if (typeof json !== 'object' || json === null || !('sha256' in json) || text === sealed(unsealed(text))) return undefined;
  return `${path} is not what the run wrote: the SHA-256 at its end is of another text`;
}

const CLOSING = '\n}';

/** Returns the text of a JSON object with its own SHA-256 as the last member: no byte of it can change unseen. */
function sealed(text: string): string {
  const body = text.slice(0, -CLOSING.length);
  return `${body},\n  "sha256": "${createHash('sha256').update(body).digest('hex')}"${CLOSING}\n`;
}

function unsealed(text: string): string {
  return text.slice(0, text.lastIndexOf(',\n')) + CLOSING;
}

function readJsonFile(path: string): { readonly text: string; readonly json: unknown } {
  try {
    const text = readFileSync(path, 'utf8');
    return { text, json: parseJson(text) };
  } catch (cause) {
    throw new GannetError('RUN_NOT_FOUND', `${path} cannot be read: ${messageOf(cause)}`, { cause });
  }
}

/** A decision as its line says it: what was hashed, still as text. */
export interface RecordedDecision {
  readonly seq: number;
  readonly at: Millis;
  readonly strategy: string;
  readonly h: string;
  readonly line: string;
}

/** Reads a run's decisions; a last line that was cut off by a crash is left out. Throws RUN_NOT_FOUND, and RECORDING_CORRUPT where a line is not what its hash says. */
export function readDecisions(runDir: string): RecordedDecision[] {
  const path = join(runDir, 'decisions.ndjson');
  if (!existsSync(path)) throw new GannetError('RUN_NOT_FOUND', `${path} is missing: the run cannot be compared`);
  const lines = readFileSync(path, 'utf8').split('\n');
  lines.pop();
  const chain = new DecisionLog();
  return lines.map((line, index) => {
    const place = `${path}:${index + 1}`;
    const { h, ...decision } = readDecision(line, place);
    if (chain.append(decision).h !== h) {
      throw new GannetError('RECORDING_CORRUPT', `${place}: the decision is not the one that its hash was made of; restore the file from a copy`);
    }
    return { seq: decision.seq, at: decision.at, strategy: decision.strategy, h, line };
  });
}

function readDecision(line: string, place: string): LoggedDecision {
  try {
    return parseJson(line) as unknown as LoggedDecision;
  } catch (cause) {
    throw new GannetError('RUN_NOT_FOUND', `${place} cannot be read: ${messageOf(cause)}`, { cause });
  }
}
