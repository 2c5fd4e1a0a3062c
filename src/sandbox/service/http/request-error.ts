/** A request that the service refuses: the HTTP status and the JSON body to answer with. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly statusCode: number;
  readonly body: Readonly<Record<string, unknown>>;

  constructor(statusCode: number, body: Readonly<Record<string, unknown>> & {
    readonly error?: string; readonly message?: string;
  }) {
    super(body.error ?? body.message ?? `HTTP ${statusCode}`);
    this.statusCode = statusCode;
    this.body = body;
  }
}

/** Returns the error of a request that breaks a rule of the reference. */
export function badRequest(message: string): RequestError {
  return new RequestError(400, { error: message });
}
