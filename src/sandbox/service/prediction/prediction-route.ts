import type { FastifyInstance, FastifyReply } from 'fastify';
import type { PredictionExchange } from '../../prediction/exchange.ts';
import type { Profile, ServiceContext } from '../context.ts';
import type { Parameters } from '../http/parameters.ts';
import { createParameters } from '../http/parameters.ts';
import { RequestError } from '../http/request-error.ts';

/** The input of the answers: the exchange at the slot of the request, and the profile. */
export interface PredictionView {
  readonly exchange: PredictionExchange;
  readonly profile: Profile;
  readonly slot: number;
}

/** A request to the prediction API. */
export interface PredictionRequest extends PredictionView {
  readonly query: Parameters;
  /** The variable segment of the path. */
  readonly id: string;
  /** Throws the error of a request that breaks a rule. */
  refuse(reason: { readonly message: string; readonly param: string }): never;
  /** Throws the error of something that does not exist. */
  missing(what: string): never;
  /** Throws the error of a venue that does not answer. */
  unreachable(what: string): never;
}

const LONGEST_ID = 128;

/**
 * Serves `GET /prediction/v1<path>`, errors in the API's own envelope; `param` is the name of the path's variable
 * segment, if it has one.
 */
export function predictionRoute(
  app: FastifyInstance, context: ServiceContext, { path, param }: { path: string; param?: string },
  answer: (request: PredictionRequest) => object | null,
): void {
  app.get<{ Params: Readonly<Record<string, string>> }>(`/prediction/v1${path}`, (request, reply): FastifyReply => {
    const requestId = context.nextId();
    const id = param === undefined ? '' : (request.params[param] ?? '');
    if (param !== undefined && (id === '' || id.length > LONGEST_ID)) {
      throw predictionError(400, {
        message: `${param}: expected 1 to ${LONGEST_ID} characters`, code: 'custom', param, requestId,
      });
    }
    const { prediction: exchange, profile } = context;
    try {
      const found = answer({
        exchange, profile, id, slot: exchange.timeline.now(), query: createParameters(request.query),
        refuse(reason) {
          throw predictionError(400, { ...reason, code: 'custom', requestId });
        },
        missing(what) {
          throw predictionError(404, {
            message: `${what} not found`, code: `${what.toLowerCase()}_not_found`, param, requestId,
          });
        },
        unreachable(what) {
          throw predictionError(502, {
            message: `${what}: the venue did not answer`, code: `${what.toLowerCase()}_unavailable`, param, requestId,
          });
        },
      });
      // `send(null)` would send an empty body instead of the JSON null of the reference.
      return found === null ? reply.type('application/json; charset=utf-8').send('null') : reply.send(found);
    } catch (error) {
      throw inEnvelope(error, requestId);
    }
  });
}

/** A refusal of the prediction API: its message and code, and the invalid parameter. */
interface Refusal {
  readonly message: string;
  readonly code: string;
  readonly param?: string | undefined;
  readonly requestId: string;
}

/**
 * Returns the error of a request that the prediction API refuses (400, 404, 405), or of a venue behind it that failed
 * (502), in its own envelope.
 */
export function predictionError(
  statusCode: 400 | 404 | 405 | 502, { message, code, param, requestId }: Refusal,
): RequestError {
  const type = statusCode === 502 ? 'api_error' : 'invalid_request_error';
  return new RequestError(statusCode, {
    type, message, code, ...(param === undefined ? {} : { param }), request_id: requestId,
  });
}

/** Returns an error about one parameter in the prediction API's envelope; others unchanged. */
function inEnvelope(error: unknown, requestId: string): unknown {
  if (!(error instanceof RequestError) || typeof error.body['error'] !== 'string' || error.statusCode !== 400)
    return error;
  const message = error.body['error'];
  const param = /^(\w+): /.exec(message)?.[1];
  return predictionError(400, { message, code: 'custom', param, requestId });
}
