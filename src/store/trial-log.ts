import type { Millis } from '../core/time.ts';
import type { DatabaseKind } from './database.ts';
import { FORMAT_TABLE, createTransactor, openDatabase } from './database.ts';

/** The data that a backtest traded on. */
interface TrialData {
  /** Identifies the recording, independent of its name and place. */
  readonly recording: string;
  /** The rows received from `from` to before `to`, without the warm-up. */
  readonly from: Millis;
  readonly to: Millis;
}

/** A backtest to be counted. */
export interface LoggedTrial {
  /** The same for the same parameters, code, model, budgets and limits, on any data. */
  readonly id: string;
  /** Its parameters, for a reader of the file. */
  readonly params: string;
  readonly data: TrialData;
  /** Its annual Sharpe ratio; null where it has none. */
  readonly sharpe: number | null;
  /** Whether a walk-forward made it to choose parameters, on data before the rows that judge them. */
  readonly isFold: boolean;
}

/** The number of variants tried on the same data. */
export interface TrialCount {
  readonly count: number;
  /**
   * The sample variance of their annual Sharpe ratios, of trials on similar spans where there are at least two, because
   * short spans have extreme ratios. Undefined for fewer than two ratios.
   */
  readonly sharpeVariance: number | undefined;
}

/** Durable record of all backtests, written by several processes at once. */
export interface TrialLog {
  /** Records all trials or none. A trial repeated on the same rows replaces the earlier one. */
  record(trials: readonly LoggedTrial[]): void;
  /**
   * Returns the number of trials that share rows with these data, each once, with the ratio of its most similar span.
   * `withFolds: false` leaves out trials that were only folds of a walk-forward.
   */
  of(data: TrialData, options?: { readonly withFolds?: boolean | undefined }): TrialCount;
  close(): void;
}

const FIRST_FORMAT = `${FORMAT_TABLE}
CREATE TABLE trials (
  recording TEXT NOT NULL,
  trial TEXT NOT NULL,
  from_at INTEGER NOT NULL,
  to_at INTEGER NOT NULL,
  params TEXT NOT NULL,
  -- A year; null where none is defined.
  sharpe REAL,
  is_fold INTEGER NOT NULL CHECK (is_fold IN (0, 1)),
  PRIMARY KEY (recording, trial, from_at, to_at)
) STRICT, WITHOUT ROWID;
`;

/** The kind of file of the trial log ("GNTR"). */
export const TRIAL_LOG: DatabaseKind = {
  name: 'trial log',
  applicationId: 0x47_4e_54_52,
  migrations: [FIRST_FORMAT],
  since: '0.2.0',
  codes: { invalid: 'TRIALS_INVALID', failed: 'TRIALS_FAILED' },
  remedy: 'restore it from a copy, or move the file away: what was tried until then is then not counted any more, and '
    + 'deflated Sharpe ratios come out too high',
};

/**
 * Opens the log at a path, and creates it where it is missing. Throws TRIALS_INVALID on a foreign, broken or newer
 * file, and TRIALS_FAILED, like its methods, where the disk does not take it.
 */
export function openTrialLog(path: string): TrialLog {
  const { prepare, commit, read, close } = createTransactor(openDatabase(path, TRIAL_LOG), path, TRIAL_LOG);
  return {
    record: (trials) => {
      commit(() => {
        for (const { id, params, data: { recording, from, to }, sharpe, isFold } of trials) {
          prepare(RECORD)
            .run({ recording, trial: id, from_at: from, to_at: to, params, sharpe, is_fold: isFold ? 1 : 0 });
        }
      });
    },
    of: ({ recording, from, to }, { withFolds = true } = {}) => read(() => {
      const rows = prepare(COUNTED).all({ recording, from_at: from, to_at: to, folds: withFolds ? 1 : 0 });
      const ratios = rows.flatMap(({ sharpe, likeness }) =>
        (typeof sharpe === 'number' ? [{ sharpe, isAlike: Number(likeness) >= LEAST_LIKENESS }] : []));
      const alike = ratios.filter(({ isAlike }) => isAlike);
      return {
        count: rows.length, sharpeVariance: varianceOf((alike.length < 2 ? ratios : alike).map(({ sharpe }) => sharpe)),
      };
    }),
    close,
  };
}

/** A trial that was once run for its own sake never counts as a fold again. */
const RECORD = `
INSERT INTO trials (recording, trial, from_at, to_at, params, sharpe, is_fold)
VALUES (:recording, :trial, :from_at, :to_at, :params, :sharpe, :is_fold)
ON CONFLICT DO UPDATE SET params = excluded.params, sharpe = excluded.sharpe, is_fold = min(is_fold, excluded.is_fold)`;

/** The least share that two spans must have in common, of all that they cover together. */
const LEAST_LIKENESS = 0.5;

const COUNTED = `
WITH overlapping AS (
  SELECT trial, sharpe, from_at, to_at,
    (min(to_at, :to_at) - max(from_at, :from_at)) * 1.0 / (max(to_at, :to_at) - min(from_at, :from_at)) AS likeness
  FROM trials
  WHERE recording = :recording AND from_at < :to_at AND to_at > :from_at AND is_fold <= :folds
)
SELECT sharpe, likeness FROM (
  SELECT sharpe, likeness, row_number() OVER (PARTITION BY trial ORDER BY likeness DESC, from_at, to_at) AS place
  FROM overlapping
)
WHERE place = 1`;

function varianceOf(values: readonly number[]): number | undefined {
  if (values.length < 2) return undefined;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
}
