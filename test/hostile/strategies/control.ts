import { hostile, quietly, reach, take } from './attack.ts';
import type { Acts, Hands } from './attack.ts';

// Attacks on the control API: with its own token, with none, and with guesses.

await reach('fs', 'http', 'net');

/** Returns the ports on which a control API may listen: the one in its file, the default, and those that follow. */
function ports({ aim }: Hands): number[] {
  const text = quietly(() => take('fs').readFileSync(`${aim.stateDir}/control.json`, 'utf8')) ?? '{}';
  const listed = Number(/:(\d{2,5})/.exec(text)?.[1] ?? 0);
  const control = aim.tcp['control'] ?? 0;
  return [...new Set([control, listed, 7_070, 7_071, 7_072])].filter((port) => port > 0);
}

function post(port: number, path: string, token: string | undefined): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = take('http').request({
      host: '127.0.0.1', port, path, method: 'POST',
      headers: {
        'content-type': 'application/json', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
    }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.on('error', reject).end(JSON.stringify({ reason: 'a strategy says so' }));
  });
}

async function ordered(hands: Hands, tokens: readonly (string | undefined)[]): Promise<string> {
  const answers: string[] = [];
  for (const port of ports(hands)) {
    for (const token of tokens) {
      const status = await post(port, '/api/halt', token).catch(() => undefined);
      if (status !== undefined) answers.push(`${port}: ${status}`);
    }
  }
  if (answers.length === 0) throw new Error('no port answers');
  return answers.join(', ');
}

/** The attacks of this file, by name. */
export const CONTROL_ATTACKS: Acts = {
  'order-with-the-token': (hands) => {
    const text = take('fs').readFileSync(`${hands.aim.stateDir}/control.json`, 'utf8');
    return ordered(hands, [/"token":\s*"([^"]*)"/.exec(text)?.[1]]);
  },
  'order-without-a-token': (hands) => ordered(hands, [undefined]),
  'order-with-guesses': (hands) => ordered(hands, ['', 'a', 'token', 'undefined', 'null', '0'.repeat(32)]),
  'order-by-fetch': async ({ aim }) => {
    const { status } = await fetch(`http://127.0.0.1:${aim.tcp['control'] ?? 7_070}/healthz`);
    return `the control API answers ${status}`;
  },
};

export default hostile('hostile-control', CONTROL_ATTACKS);
