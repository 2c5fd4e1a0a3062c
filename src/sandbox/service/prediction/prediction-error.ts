import { RequestError } from '../request-error.ts';

/** Why the prediction API refuses: its own words and code, and the parameter that is to blame. */
export interface Refusal {
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

/**
 * Returns the same error in the prediction API's envelope, where it says in one sentence which parameter is wrong;
 * others as they are.
 */
export function inEnvelope(error: unknown, requestId: string): unknown {
  if (!(error instanceof RequestError) || typeof error.body['error'] !== 'string' || error.statusCode !== 400)
    return error;
  const message = error.body['error'];
  const param = /^(\w+): /.exec(message)?.[1];
  return predictionError(400, { message, code: 'custom', param, requestId });
}
