import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { PageAsset } from '../../dashboard/page-assets.ts';

const BROTLI_QUALITY = 9;
const YEAR_S = 31_536_000;
/** Shorter files do not become smaller. */
const COMPRESSED_MIN_BYTES = 500;

const ENCODINGS = ['br', 'gzip'] as const;
type Encoding = (typeof ENCODINGS)[number];

const COMPRESS: Readonly<Record<Encoding, (body: Buffer) => Promise<Buffer>>> = {
  br: (body) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: (body) => promisify(gzip)(body),
};

/** A file of the page in all its forms. */
interface ServedFile {
  readonly type: string;
  readonly hash: string;
  readonly body: Buffer;
  readonly compressed: Partial<Record<Encoding, Buffer>>;
}

/**
 * Adds the files of the page, which hold no secret. They are compressed once, in threads beside the process's own work;
 * until that is done they are served as they are.
 */
export function addAssets(app: FastifyInstance, assets: ReadonlyMap<string, PageAsset>): void {
  for (const [path, { body: content, type, hash }] of assets) {
    const body = Buffer.from(content);
    const file: ServedFile = { type, hash, body, compressed: {} };
    if (body.length >= COMPRESSED_MIN_BYTES) for (const encoding of ENCODINGS) void compress(file, encoding);
    app.get(path, async (request, reply) => serve(file, path, request, reply));
  }
}

async function compress({ body, compressed }: ServedFile, encoding: Encoding): Promise<void> {
  const smaller = await COMPRESS[encoding](body);
  if (smaller.length < body.length) compressed[encoding] = smaller;
}

function serve(
  { type, hash, body, compressed }: ServedFile, path: string, request: FastifyRequest, reply: FastifyReply,
): FastifyReply {
  const accepted = (request.headers['accept-encoding'] ?? '').split(',').map((word) => word.split(';')[0]!.trim());
  const encoding = ENCODINGS.find((one) => accepted.includes(one) && compressed[one] !== undefined);
  const tag = `"${hash}${encoding === undefined ? '' : `-${encoding}`}"`;
  // Only an address that changes with the content may be kept without asking again.
  const isFixed = path.includes(hash) || request.url.includes(`?v=${hash}`);
  reply.headers({
    'etag': tag, 'vary': 'accept-encoding',
    'cache-control': isFixed ? `public, max-age=${YEAR_S}, immutable` : 'no-cache',
  });
  const known = (request.headers['if-none-match'] ?? '').split(',').map((one) => one.trim());
  if (known.includes(tag)) return reply.code(304).send();
  if (encoding !== undefined) reply.header('content-encoding', encoding);
  return reply.type(type).send(encoding === undefined ? body : compressed[encoding]);
}
