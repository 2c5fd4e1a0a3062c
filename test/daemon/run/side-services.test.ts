import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import type { ControlPort } from '../../../src/daemon/control/control-port.ts';
import { openSideServices } from '../../../src/daemon/run/side-services.ts';
import { VirtualClock } from '../../../src/engine/virtual-clock.ts';
import { configOf } from '../../config/load-text.ts';
import { temporaryFolder } from '../../store/fixtures.ts';

const NOON = Date.UTC(2026, 5, 1, 12);

it('end within 6 s where every channel, the heartbeat and an answer to a command hang', async () => {
  const asked: string[] = [];
  const answers = (request: IncomingMessage, response: ServerResponse): void => {
    const path = request.url!.split('/').at(-1)!;
    asked.push(path);
    const message = { date: NOON / 1_000 + 1, text: '/help', chat: { id: 4_001 }, from: { id: 4_001 } };
    const result = path === 'getMe' ? { username: 'a_bot' }
      : path === 'getUpdates' && asked.filter((one) => one === path).length === 1 ? [{ update_id: 1, message }]
        : undefined;
    // Everything else is never answered.
    if (result !== undefined) response.end(JSON.stringify({ ok: true, result }));
  };
  const server = createServer(answers);
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const config = await configOf(`strategies: [{ use: dca, params: { buy: SOL, spend: "1 USDC", every: 10s } }]
alerts: { heartbeat: { url: "${url}/beat", every: 10s } }
notifications:
  - { kind: webhook, url: "${url}/hook", level: info }
  - { kind: telegram, token: "\${BOT}", chat: "4001", commands: true, level: info, api_url: "${url}" }
`, { environment: { BOT: `123456:${'t'.repeat(35)}` } });
  const clock = new VirtualClock(NOON);
  const logs: string[] = [];
  const services = openSideServices({
    config, clock, stateDir: temporaryFolder(), runId: 'run-1', controlTokens: {},
    log: (level: string, message: string) => { logs.push(`${level} ${message}`); },
    connections: { service: { stats: () => ({}) } },
  } as never);
  services.attach({ alert: () => undefined } as unknown as ControlPort);
  clock.advanceTo(NOON + 1_000);
  // The answer to the command. The last message of the run follows at the end.
  await expect.poll(() => asked, { timeout: 20_000 }).toContain('sendMessage');
  const startedAt = clock.now();
  const closing = services.close().then(() => clock.now() - startedAt);
  for (const end = startedAt + 15_000; clock.now() < end; await wait(10)) clock.advanceTo(clock.now() + 500);
  expect(await closing).toBeLessThanOrEqual(6_000);
  expect(asked).toContain('hook');
  expect(logs.filter((line) => line.includes('did not close'))).toEqual([]);
});
