import type { DatabaseKind } from './database.ts';
import { FORMAT_TABLE } from './database.ts';

/** Marks a SQLite file as a Gannet journal ("GNET"). */
export const JOURNAL_APPLICATION_ID = 0x47_4e_45_54;

const FIRST_FORMAT = `${FORMAT_TABLE}
CREATE TABLE runs (
  run_id TEXT PRIMARY KEY,
  started_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT;

-- Amounts are decimal strings: SQLite's integers end at 2^63 - 1.
CREATE TABLE intents (
  number INTEGER PRIMARY KEY,
  intent_id TEXT NOT NULL UNIQUE,
  strategy TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  purpose TEXT NOT NULL,
  input_mint TEXT NOT NULL,
  output_mint TEXT NOT NULL,
  amount_in TEXT NOT NULL,
  max_slippage_bps INTEGER NOT NULL,
  max_price_impact_bps INTEGER NOT NULL,
  max_fee_bps INTEGER NOT NULL,
  minimum_out TEXT,
  route TEXT NOT NULL,
  reason TEXT NOT NULL,
  key TEXT,
  state TEXT NOT NULL,
  -- Whether the saved snapshot holds the terminal outcome.
  settled INTEGER NOT NULL DEFAULT 0 CHECK (settled IN (0, 1))
) STRICT;
CREATE INDEX intents_open ON intents (state) WHERE state IN ('approved', 'building', 'signed', 'submitted', 'unknown');
CREATE INDEX intents_unsettled ON intents (number) WHERE settled = 0;

CREATE TABLE attempts (
  intent_id TEXT NOT NULL REFERENCES intents (intent_id),
  number INTEGER NOT NULL,
  signed_at INTEGER NOT NULL,
  route TEXT NOT NULL,
  router TEXT NOT NULL,
  quoted_out TEXT NOT NULL,
  threshold TEXT NOT NULL,
  request_id TEXT,
  signature TEXT NOT NULL,
  transaction_id TEXT,
  message_hash TEXT NOT NULL,
  blockhash TEXT NOT NULL,
  last_valid_block_height TEXT NOT NULL,
  fee_payer TEXT NOT NULL,
  signed_transaction BLOB NOT NULL,
  PRIMARY KEY (intent_id, number)
) STRICT;

CREATE TABLE transitions (
  number INTEGER PRIMARY KEY,
  intent_id TEXT NOT NULL REFERENCES intents (intent_id),
  attempt INTEGER NOT NULL,
  at INTEGER NOT NULL,
  state TEXT NOT NULL,
  outcome TEXT NOT NULL
) STRICT;
CREATE INDEX transitions_of_intent ON transitions (intent_id, number);

CREATE TABLE snapshot (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  saved_at INTEGER NOT NULL,
  -- The last intent that the state knows of.
  last_intent INTEGER NOT NULL,
  state TEXT NOT NULL
) STRICT;
`;

const SECOND_FORMAT = `
ALTER TABLE attempts ADD COLUMN maker TEXT;
ALTER TABLE attempts ADD COLUMN input_balance TEXT;
CREATE INDEX attempts_signature ON attempts (signature);

-- What strategies keep beyond a restart: written with the intent or the decision it led to.
CREATE TABLE strategy_state (
  strategy TEXT PRIMARY KEY,
  saved_at INTEGER NOT NULL,
  state TEXT NOT NULL
) STRICT;

-- Whether what its strategy keeps holds the intent's terminal outcome.
ALTER TABLE intents ADD COLUMN seen INTEGER NOT NULL DEFAULT 0 CHECK (seen IN (0, 1));
CREATE INDEX intents_unseen ON intents (strategy) WHERE seen = 0;

-- Where the chain's balances and the ledger differed, and by what.
CREATE TABLE adjustments (
  number INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  mint TEXT NOT NULL,
  change TEXT NOT NULL,
  cause TEXT NOT NULL,
  reason TEXT NOT NULL
) STRICT;
`;

const THIRD_FORMAT = `
-- Of the balance of its signing. Outcomes have a slot since this format, too.
ALTER TABLE attempts ADD COLUMN input_slot_from TEXT;
ALTER TABLE attempts ADD COLUMN input_slot_to TEXT;
`;

const FOURTH_FORMAT = `
-- How far the proof has come that an attempt never landed and never can: watched by all processes together.
CREATE TABLE proofs (
  intent_id TEXT NOT NULL REFERENCES intents (intent_id),
  attempt INTEGER NOT NULL,
  watched_ms INTEGER NOT NULL,
  first_height TEXT,
  first_watched_ms INTEGER,
  PRIMARY KEY (intent_id, attempt)
) STRICT;
`;

const FIFTH_FORMAT = `
-- The node that gave the first proof, as a hash of its address.
ALTER TABLE proofs ADD COLUMN first_node TEXT;
`;

const SIXTH_FORMAT = `
-- Who gets the output in the wallet's place.
ALTER TABLE attempts ADD COLUMN receiver TEXT;
-- The free text with which a strategy recognises its own swap.
ALTER TABLE intents ADD COLUMN tag TEXT;
`;

const SEVENTH_FORMAT = `
-- What each landed swap was worth when it landed, as the run knew it: null where it did not. US dollars are 10^-6.
CREATE TABLE fill_values (
  intent_id TEXT PRIMARY KEY REFERENCES intents (intent_id),
  -- Whether it was a manual swap, outside all strategies.
  is_manual INTEGER NOT NULL CHECK (is_manual IN (0, 1)),
  -- The token of its strategy's budget, and the network's costs in it.
  currency TEXT,
  fee_value TEXT,
  input_usd TEXT,
  input_source TEXT,
  output_usd TEXT,
  output_source TEXT,
  fee_usd TEXT
) STRICT;

-- Where the books began again, because the chain of those before is gone.
CREATE TABLE ledger_starts (
  number INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  -- The last transition of the books before.
  after_transition INTEGER NOT NULL
) STRICT;
`;

const EIGHTH_FORMAT = `
-- Finished intents with their ends and values, many in a row: a compressed list of JSON objects. No swap is deleted.
CREATE TABLE packed_swaps (
  number INTEGER PRIMARY KEY,
  -- The numbers of the transitions that ended the first and the last of them.
  first_number INTEGER NOT NULL,
  last_number INTEGER NOT NULL,
  swaps INTEGER NOT NULL,
  -- The counts of the first and the last id of each strategy.
  strategies TEXT NOT NULL,
  records BLOB NOT NULL
) STRICT;
CREATE INDEX packed_swaps_last ON packed_swaps (last_number);
`;

/** The migrations; number n leads to format n + 1. */
const MIGRATIONS: readonly string[] = [
  FIRST_FORMAT, SECOND_FORMAT, THIRD_FORMAT, FOURTH_FORMAT, FIFTH_FORMAT, SIXTH_FORMAT, SEVENTH_FORMAT,
  EIGHTH_FORMAT,
];

/** The format that this code writes, and the release that introduced it. */
export const JOURNAL_FORMAT = { version: MIGRATIONS.length, since: '0.2.0' } as const;

/** The kind of file of the journal. */
export const JOURNAL: DatabaseKind = {
  name: 'journal',
  applicationId: JOURNAL_APPLICATION_ID,
  migrations: MIGRATIONS,
  since: JOURNAL_FORMAT.since,
  codes: { invalid: 'JOURNAL_INVALID', failed: 'JOURNAL_FAILED' },
  // Swaps may be open in it. Without it their fate is unknown.
  remedy: 'restore it from a copy. Without one, see with "gannet journal list" what can still be read, look up on the '
    + 'chain what was open, and only then move the file away',
};
