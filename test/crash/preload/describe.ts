/** What a statement of SQL is to a crash. */
export interface DescribedSql {
  readonly kind: 'commit' | 'write' | 'other';
  readonly what: string;
}

/** Returns what a statement is, without its values. */
export function describeSql(sql: string): DescribedSql {
  const text = sql.trim().replace(/\s+/g, ' ');
  if (/^commit\b/i.test(text)) return { kind: 'commit', what: 'COMMIT' };
  const [, verb, table] = /^(insert|update|delete|replace)(?: or \w+)?(?: into| from)? (\w+)/i.exec(text) ?? [];
  if (verb !== undefined) return { kind: 'write', what: `${verb.toUpperCase()} ${table}` };
  return { kind: /^(?:create|alter|drop)\b/i.test(text) ? 'write' : 'other', what: text.slice(0, 40) };
}

/** Bytes on their way out: what they ask for, and the signed transaction in them, in base64. */
export interface DescribedBytes {
  readonly what: string;
  readonly bytes: string | undefined;
}

const INSPECTED_BYTES = 8_192;

/** Returns what is written to a socket, without what differs from run to run. */
export function describeBytes(data: unknown): DescribedBytes {
  const text = textOf(data);
  const [, verb, path = ''] = /^(GET|POST) (\S+) HTTP/.exec(text) ?? [];
  const [, method] = /"method":"(\w+)"/.exec(text) ?? [];
  const [, signed] = /"signedTransaction":"([A-Za-z0-9+/=]+)"/.exec(text) ?? [];
  const [, sent] = method === 'sendTransaction' ? /"params":\["([A-Za-z0-9+/=]+)"/.exec(text) ?? [] : [];
  return { what: name({ verb, path, method, text }), bytes: signed ?? sent };
}

function name({ verb, path, method, text }: {
  readonly verb: string | undefined; readonly path: string; readonly method: string | undefined; readonly text: string;
}): string {
  if (method !== undefined) return `rpc ${method}`;
  if (verb === undefined) return text.startsWith('{') ? 'body' : 'frame';
  const [place = '', query = ''] = path.split('?');
  const purpose = query.includes('taker=') ? ' to be signed' : ' to look at';
  return `${verb} ${place}${place.endsWith('/order') ? purpose : ''}`;
}

function textOf(data: unknown): string {
  if (typeof data === 'string') return data.slice(0, INSPECTED_BYTES);
  if (data instanceof Uint8Array)
    return Buffer.from(data.buffer, data.byteOffset, Math.min(data.length, INSPECTED_BYTES)).toString('latin1');
  if (Array.isArray(data))
    return data.map((part: { readonly chunk?: unknown }) => textOf(part.chunk ?? part)).join('')
      .slice(0, INSPECTED_BYTES);
  return '';
}
