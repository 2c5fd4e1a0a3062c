import { GannetError } from '../../core/errors.ts';
import { MAX_V1_TRANSACTION_BYTES } from '../../solana/constants.ts';

/** The length of the longest transaction in base64; longer text is not decoded. */
const MAX_BASE64_CHARACTERS = 4 * Math.ceil(MAX_V1_TRANSACTION_BYTES / 3);
const MAX_INPUT_CHARACTERS = 65_536;

/** Returns a transaction given in base64, or read from standard input where there is none. Throws USAGE. */
export async function readTransactionInput(text: string | undefined): Promise<Uint8Array> {
  return decodeBase64(text ?? await readStandardInput());
}

function decodeBase64(text: string): Uint8Array {
  const trimmed = text.trim();
  if (trimmed === '') throw new GannetError(
    'USAGE', 'expected a transaction in base64, as an argument or on standard input, got nothing',
  );
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(trimmed))
    throw new GannetError('USAGE', 'expected a transaction in base64, got other characters');
  // The policy refuses a text that is too long by its length, so it need not be decoded.
  return trimmed.length > MAX_BASE64_CHARACTERS ? new Uint8Array(MAX_V1_TRANSACTION_BYTES + 1)
    : Buffer.from(trimmed, 'base64');
}

async function readStandardInput(): Promise<string> {
  let text = '';
  for await (const chunk of process.stdin) {
    text += String(chunk);
    if (text.length > MAX_INPUT_CHARACTERS) break;
  }
  return text;
}
