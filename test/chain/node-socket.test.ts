import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createNodeSocket, wsUrlOf, type NodeSocket, type SubscriptionNews } from '../../src/chain/node-socket.ts';
import { VirtualClock } from '../../src/engine/virtual-clock.ts';
import { say, startSocketNode, type SocketNode } from './socket-node.ts';

// Real sockets on loopback; all waiting is in virtual time.

const SIGNATURE = '5'.repeat(88);
const START = 1_800_000_000_000;

let clock: VirtualClock;
let node: SocketNode;
let socket: NodeSocket;

beforeEach(async () => {
  clock = new VirtualClock(START);
  node = await startSocketNode();
  socket = createNodeSocket({ wsUrl: node.url, clock });
});
afterEach(async () => {
  socket.close();
  await node.close();
});

function listen(
  of = socket, kind: 'signature' | 'account' = 'signature',
): { readonly news: SubscriptionNews[]; readonly stop: () => void } {
  const news: SubscriptionNews[] = [];
  const subscription = of.subscription$({ kind, params: [SIGNATURE] })
    .subscribe((each) => { news.push(each); });
  return { news, stop: () => { subscription.unsubscribe(); } };
}

/** A node as it should be; `number` is what it calls the subscription. */
function obedient(number = 7): void {
  node.on({ requested: ({ id }, connection) => { say(connection, { id, result: number }); } });
}

function notify(subscription: number, connection = node.connections.at(-1)!): void {
  say(connection, { method: 'signatureNotification', params: { subscription, result: { value: { err: null } } } });
}

const until = (what: () => unknown, expected: unknown): Promise<void> => expect.poll(what).toStrictEqual(expected);

describe('a subscription at a node', () => {
  it('opens a connection for the first one only, is told when it is taken, and when there is news', async () => {
    obedient();
    expect(node.connections).toHaveLength(0);
    const { news } = listen();
    await until(() => news, ['open']);
    notify(7);
    await until(() => news, ['open', 'notified']);
    expect(node.requests).toMatchObject([{ method: 'signatureSubscribe', params: [SIGNATURE] }]);
    expect(node.connections).toHaveLength(1);
  });

  it('is ended at the node, unless its notification has ended it there', async () => {
    obedient();
    const first = listen();
    await until(() => first.news, ['open']);
    first.stop();
    await until(() => node.requests.map(({ method }) => method), ['signatureSubscribe', 'signatureUnsubscribe']);
    const second = listen();
    await until(() => second.news, ['open']);
    notify(7);
    await until(() => second.news, ['open', 'notified']);
    second.stop();
    const third = listen();
    await until(() => third.news, ['open']);
    expect(node.requests.filter(({ method }) => method === 'signatureUnsubscribe')).toHaveLength(1);
  });

  it('is made again after a lost connection, later each time', async () => {
    obedient();
    const { news } = listen(socket, 'account');
    await until(() => news, ['open']);
    for (const [index, waitMs] of [1_000, 2_000, 4_000].entries()) {
      node.connections.at(-1)!.terminate();
      await until(() => news.at(-1), 'closed');
      clock.advanceTo(clock.now() + waitMs - 1);
      expect(node.connections).toHaveLength(index + 1);
      clock.advanceTo(clock.now() + 1);
      await until(() => news.at(-1), 'open');
    }
    // A connection that lasted makes the next wait short again.
    for (let count = 1; count <= 4; count++) {
      notify(7);
      await until(() => news.filter((each) => each === 'notified').length, count);
      clock.advanceTo(clock.now() + 19_000);
    }
    node.connections.at(-1)!.terminate();
    await until(() => news.at(-1), 'closed');
    clock.advanceTo(clock.now() + 1_000);
    await until(() => news.at(-1), 'open');
  });

  it('is not requested again on a connection where the node refused it', async () => {
    node.on({ requested: ({ id }, connection) => {
      say(connection, { id, error: { code: -32601, message: 'Method not found' } });
    } });
    const { news } = listen();
    await until(() => node.requests.length, 1);
    clock.advanceTo(START + 15_000);
    // A second subscription shows that the connection goes on, and that the answers so far have been read.
    obedient();
    const other = listen();
    await until(() => other.news, ['open']);
    expect(news).toStrictEqual([]);
    expect(node.requests).toHaveLength(2);
    expect(node.connections).toHaveLength(1);
  });

  it('makes no connection after it was closed, and none without a subscription', async () => {
    obedient();
    const { news, stop } = listen();
    await until(() => news, ['open']);
    stop();
    node.connections[0]!.terminate();
    await until(() => clock.nextAt() - clock.now(), 1_000);
    clock.advanceTo(START + 600_000);
    socket.close();
    listen();
    expect(clock.nextAt()).toBe(Infinity);
    expect(node.connections).toHaveLength(1);
  });
});

describe('a node that does not keep to the protocol', () => {
  it('is given up after 10 s where it never answers a subscription, and tried ever more rarely', async () => {
    const { news } = listen();
    let connections = 1;
    await until(() => node.requests.length, connections);
    for (const waitMs of [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
      clock.advanceTo(clock.now() + 9_999);
      expect(news).toHaveLength(connections - 1);
      clock.advanceTo(clock.now() + 1);
      expect(news.at(-1)).toBe('closed');
      clock.advanceTo(clock.now() + waitMs - 1);
      expect(clock.nextAt()).toBe(clock.now() + 1);
      clock.advanceTo(clock.now() + 1);
      connections += 1;
      await until(() => node.requests.length, connections);
    }
    expect(news).not.toContain('open');
  });

  it('is given up after 5 s where it takes connections and never becomes a websocket', async () => {
    const mute = createServer((connection) => { connection.on('error', () => undefined); });
    await new Promise<void>((resolve) => { mute.listen(0, '127.0.0.1', resolve); });
    const silent = createNodeSocket({ wsUrl: `ws://127.0.0.1:${(mute.address() as AddressInfo).port}`, clock });
    const { news } = listen(silent);
    clock.advanceTo(START + 4_999);
    expect(news).toStrictEqual([]);
    clock.advanceTo(START + 5_000);
    expect(news).toStrictEqual(['closed']);
    expect(clock.nextAt()).toBe(START + 6_000);
    silent.close();
    mute.close();
  });

  it('is given up where it does not answer tests of the line any more', async () => {
    const deaf = await startSocketNode({ autoPong: false });
    deaf.on({ requested: ({ id }, connection) => { say(connection, { id, result: 7 }); } });
    const stuck = createNodeSocket({ wsUrl: deaf.url, clock });
    const { news } = listen(stuck);
    await until(() => news, ['open']);
    clock.advanceTo(START + 20_000);
    expect(news).toStrictEqual(['open']);
    clock.advanceTo(START + 40_000);
    expect(news).toStrictEqual(['open', 'closed']);
    stuck.close();
    await deaf.close();
  });

  it.each<readonly [string, (connection: SocketNode['connections'][number]) => void]>([
    ['closes at once', (connection) => { connection.close(); }],
    ['sends something that is no JSON', (connection) => { connection.send('<html>502 Bad Gateway</html>'); }],
    ['sends binary frames', (connection) => { connection.send(Buffer.from('{}')); }],
    ['sends a frame beyond any notification', (connection) => { connection.send('x'.repeat(300_000)); }],
    ['sends 2,001 messages', (connection) => {
      for (let i = 0; i < 2_001; i++) connection.send('{"jsonrpc":"2.0","id":null}');
    }],
    ['sends 2,001 pings', (connection) => { for (let i = 0; i < 2_001; i++) connection.ping(); }],
    ['sends 2,001 pongs', (connection) => { for (let i = 0; i < 2_001; i++) connection.pong(); }],
    ['sends 9 MB in proper frames', (connection) => {
      for (let i = 0; i < 45; i++) connection.send(JSON.stringify({ text: 'x'.repeat(200_000) }));
    }],
  ])('loses its connection where it %s, and gets the next one after a while', async (_what, misbehave) => {
    node.on({ connected: misbehave });
    const { news } = listen();
    await until(() => news, ['closed']);
    expect(clock.nextAt()).toBe(clock.now() + 1_000);
    obedient();
    clock.advanceTo(clock.now() + 1_000);
    await until(() => news, ['closed', 'open']);
    expect(node.connections).toHaveLength(2);
  });

  it('tells nothing by wrong ids, by unknown subscriptions, or by messages of another form', async () => {
    node.on({ requested: ({ id }, connection) => {
      for (const message of [
        { id: id + 1, result: 5 }, { id: String(id), result: 5 }, { id: null, result: 5 }, { id: 1.5, result: 5 },
        { method: 'signatureNotification', params: { subscription: 5 } },
        { method: 'signatureNotification', params: { subscription: 'all' } },
        { method: 'signatureNotification', params: null }, { params: [] }, {},
      ]) say(connection, message);
      for (const text of ['null', '[]', '7', '"text"', '[[[[]]]]']) connection.send(text);
      say(connection, { id, result: 7 });
      notify(8, connection);
      notify(7, connection);
      // A notification that is repeated belongs to no subscription any more.
      for (let i = 0; i < 100; i++) notify(7, connection);
      say(connection, { id, result: 9 });
    } });
    const first = listen();
    await until(() => first.news, ['open', 'notified']);
    obedient(11);
    const second = listen();
    await until(() => second.news, ['open']);
    expect(first.news).toStrictEqual(['open', 'notified']);
  });
});

describe('the address for subscriptions', () => {
  it('of a node that is written with a fragment can be opened', () => {
    const nowhere = createNodeSocket({ wsUrl: wsUrlOf('http://127.0.0.1:9/#main'), clock });
    const faults: unknown[] = [];
    nowhere.subscription$({ kind: 'logs', params: [] })
      .subscribe({ error: (fault: unknown) => { faults.push(fault); } });
    nowhere.close();
    expect(faults).toEqual([]);
  });

  it.each([
    ['https://rpc.example/v1?api-key=abc', 'wss://rpc.example/v1?api-key=abc'],
    ['http://127.0.0.1:8899', 'ws://127.0.0.1:8900/'],
    ['https://rpc.example:8443/key', 'wss://rpc.example:8444/key'],
    ['http://rpc.example', 'ws://rpc.example/'],
    ['https://rpc.example/key?a=1#main', 'wss://rpc.example/key?a=1'],
    ['http://127.0.0.1:65535/#', 'ws://127.0.0.1:65535/'],
  ])('of %s is %s', (rpcUrl, wsUrl) => {
    expect(wsUrlOf(rpcUrl)).toBe(wsUrl);
  });
});
