import { expect } from 'vitest';
import type { Answer, ServiceFixture } from '../../service-fixture.ts';

type Body = Answer['body'];

export const PREDICTION = '/prediction/v1';

/** Returns whether a value is Unix seconds between 2001 and 2286. */
export function isUnix(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 1e9 && (value as number) < 1e10;
}

/** Asks the prediction API and expects an answer. */
export async function predictionOf(fixture: ServiceFixture, path: string, query = {}): Promise<Body> {
  const answer = await fixture.get(`${PREDICTION}${path}`, query);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

/** Expects each of a parameter's bad values to be refused by the service. */
export async function badParameter(
  fixture: ServiceFixture, path: string, name: string, values: readonly (string | number)[], more = {},
): Promise<void> {
  for (const value of values) {
    const answer = await fixture.get(`${PREDICTION}${path}`, { ...more, [name]: value });
    expect(answer.status, `${name}=${value}: ${answer.text}`).toBe(400);
    expect(answer.body).toMatchObject({
      type: 'invalid_request_error', param: name, message: expect.stringMatching(/\w/), request_id: expect.any(String),
    });
  }
}

/** Reads the whole of an owner's list with plain requests, page by page. */
export async function wholeList(fixture: ServiceFixture, path: string, owner: string): Promise<Body[]> {
  const list: Body[] = [];
  for (let start = 0; ;) {
    const { data, pagination } = await predictionOf(fixture, path, { ownerPubkey: owner, start, end: start + 20 });
    list.push(...data);
    if (!pagination.hasNext || list.length > 400) return list;
    start = pagination.end;
  }
}
