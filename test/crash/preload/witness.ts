import { appendFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/** Sees signed bytes leave, and checks whether they are in the journal. */
export interface Witness {
  /** Signed bytes (base64) are about to be written to a socket. */
  sent(what: string, base64: string, journal: string): void;
}

/** What a witness writes down, one line of JSON for each time signed bytes left. */
export interface Testimony {
  readonly what: string;
  /** Whether another connection, which sees what is committed and nothing else, found the very bytes at that moment. */
  readonly journalled: boolean;
}

/** Returns a witness that writes what it saw into a file; one without a file sees nothing. */
export function createWitness(file: string | undefined): Witness {
  return {
    sent(what, base64, journal) {
      if (file === undefined) return;
      appendFileSync(
        file, `${JSON.stringify({ what, journalled: isCommitted(base64, journal) } satisfies Testimony)}\n`,
      );
    },
  };
}

function isCommitted(base64: string, journal: string): boolean {
  const database = new DatabaseSync(journal, { readOnly: true });
  try {
    return database.prepare('SELECT 1 FROM attempts WHERE signed_transaction = ?').get(Buffer.from(base64, 'base64'))
      !== undefined;
  } finally {
    database.close();
  }
}
