/**
 * What a hostile plugin tries after breaking out of PHP, as a program in its site's container: it
 * has the container's user, rights and filter, and calls the kernel itself. What PHP alone may try
 * is tested in docker.test.ts. docs/hosting.md lists both.
 */
import fs from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { withEngine } from '../../../../test/docker-tests.ts'
import { dockerFixture } from '../../../../test/docker-wordpress.ts'
import type { SiteAddress, SiteRuntime } from '../../driver.ts'
import { ask, eventually, specOf } from '../conformance.ts'

const run = promisify(execFile)
const admin = { user: 'boss', password: 'Another#1pass', email: 'boss@example.com' }
/** EPERM, ESRCH, EACCES, ENOSYS: the errors with which the kernel refuses. */
const refused = [1, 3, 13, 38]

/**
 * System calls by number (x86_64): prints name and errno; 0: it was permitted. Arguments are chosen
 * so that only a right decides.
 */
const systemCalls = `use strict; use Socket;
my ($pid, $gateway) = @ARGV;
my $none = "none\\0"; my $tmpfs = "tmpfs\\0"; my $at = "/tmp\\0"; my $null = "\\0" x 128;
my %calls = (
  'chmod of its own' => [90, "/wordpress/index.php\\0", 0644],
  'mount'      => [165, $none, $at, $tmpfs, 0, $null],
  'umount'     => [166, "/wordpress\\0", 0],
  'pivot_root' => [155, $at, $at],
  'chroot'     => [161, $at],
  'unshare'    => [272, 0x10000000 | 0x20000],
  'setns'      => [308, 0, 0],
  'ptrace'     => [101, 16, int($pid), 0, 0],
  'kill'       => [62, int($pid), 9],
  'read of memory' => [310, int($pid), $null, 1, $null, 1, 0],
  'keyctl'     => [250, 0, -3, 1],
  'add_key'    => [248, "user\\0", "x\\0", "y\\0", 1, -3],
  'bpf'        => [321, 0, $null, 72],
  'perf_event' => [298, $null, 0, -1, -1, 0],
  'userfaultfd' => [323, 0],
  'init_module' => [175, $null, 1, "\\0"],
  'kexec'      => [246, 0, 0, $null, 0],
  'reboot'     => [169, 0xfee1dead, 672274793, 0, $null],
  'swapon'     => [167, $at, 0],
  'syslog'     => [103, 3, $null, 100],
  'open by handle' => [304, -100, $null, 0],
  'mknod'      => [133, "/tmp/device\\0", 0060600, 0xfe00],
  'setuid'     => [105, 0],
  'setgid'     => [106, 0],
  'chown'      => [92, "/wordpress/index.php\\0", 0, 0],
  'sethostname' => [170, "mine\\0", 4],
  'clock'      => [227, 0, $null],
  'iopl'       => [172, 3],
);
for my $name (sort keys %calls) {
  my ($number, @given) = @{ $calls{$name} };
  $! = 0;
  my $answer = syscall($number, @given);
  print "$name ", ($answer < 0 ? $!+0 : 0), "\\n";
}
for my $kind ([AF_INET, SOCK_RAW, 1, 'raw socket'], [17, SOCK_RAW, 768, 'packet socket']) {
  my ($family, $type, $protocol, $name) = @$kind;
  $! = 0;
  print "$name ", (socket(my $socket, $family, $type, $protocol) ? 0 : $!+0), "\\n";
}
`

/** Connects to each given address; prints who answers or refuses: who does either is there. */
const reach = `use strict; use Socket; use Errno;
for my $to (@ARGV) {
  my ($host, $port) = $to =~ /^(.*):(\\d+)$/;
  my $six = $host =~ /:/;
  socket(my $socket, $six ? AF_INET6 : AF_INET, SOCK_STREAM, 0) or next;
  my $address = $six ? pack_sockaddr_in6($port, Socket::inet_pton(AF_INET6, $host))
    : pack_sockaddr_in($port, inet_aton($host));
  alarm 3; local $SIG{ALRM} = sub { die };
  my $is = eval { connect($socket, $address) };
  print "$to answers\\n" if $is;
  print "$to refuses\\n" if !$is && $!{ECONNREFUSED};
}
`

function everything(): void {
  describe('a program in the container of a site', { timeout: 120_000 }, () => {
    let parts: Awaited<ReturnType<typeof dockerFixture>>
    let driver: SiteRuntime
    const spec = specOf()
    const neighbour = specOf({ url: 'http://neighbour.localhost:8082' })
    let container = ''
    const inside = async (...command: string[]): Promise<string> =>
      (await parts.engine.docker('exec', container, ...command)).trim()
    const shell = (script: string): Promise<string> => inside('sh', '-c', `${script} 2>&1; true`)
    const pageOf = async ({ id, url }: typeof spec, target = '/') =>
      ask((await driver.addresses(id))[0] as SiteAddress, url + target)
    const files = (id: string) => path.join(parts.dataDir, 'sites', id, 'wordpress', 'files')
    const find = async (): Promise<void> => {
      const filters = [`portal.site=${spec.id}`, 'portal.role=web-1']
      const labels = filters.map((one) => `--filter=label=${one}`)
      container = (await parts.engine.docker('ps', '-q', ...labels)).trim()
      expect(container).not.toBe('')
    }

    beforeAll(async () => {
      parts = await dockerFixture()
      driver = parts.driver
      for (const one of [spec, neighbour]) {
        await driver.install(one, admin)
        await driver.start(one)
      }
      await find()
    }, 120_000)
    afterAll(() => parts?.dispose(), 60_000)

    test('the kernel refuses every system call that would lead out', async () => {
      const said = await inside('perl', '-e', systemCalls, String(process.pid))
      const results = said.split('\n').map((line) => {
        const at = line.lastIndexOf(' ')
        return [line.slice(0, at), Number(line.slice(at + 1))] as const
      })
      expect(results.length).toBeGreaterThan(25)
      expect(results.filter(([, errno]) => !refused.includes(errno))).toEqual([
        ['chmod of its own', 0],
      ])
      expect((await pageOf(spec, '/?after')).status).toBe(200)
    })

    test('no address answers: metadata, gateway, engine, neighbour, this machine', async () => {
      const [near] = await driver.addresses(neighbour.id)
      const own = Object.values(os.networkInterfaces()).flatMap((all) => all ?? [])
      const ports = [near!.port, 22, 80, 2375, 2376, 3306, 5432]
      const hosts = ['127.0.0.1', '172.17.0.1', ...own.map(({ address }) => address)]
      const addresses = [
        '169.254.169.254:80',
        'fd00:ec2::254:80',
        ...hosts.flatMap((host) => ports.map((port) => `${host}:${port}`)),
      ]
      const said = await inside('perl', '-MSocket', '-e', reach, ...addresses)
      // Its own loopback interface is all that it has: nothing answers there, and it refuses.
      const isOwn = (line: string): boolean => /^(?:127\.|::1:).* refuses$/.test(line)
      const lines = said.split('\n').filter((line) => line !== '')
      expect(lines.some(isOwn)).toBe(true)
      expect(lines.filter((line) => !isOwn(line))).toEqual([])
      expect(await shell('getent hosts example.com; getent hosts metadata.google.internal')).toBe(
        '',
      )
      // An abstract socket is visible only within its own network namespace.
      expect(await shell('grep -c @ /proc/net/unix')).toBe('0')
    })

    test('of the machine it sees no process, secret, disk, name or socket', async () => {
      expect(await shell('tr "\\\\0" " " < /proc/1/cmdline')).toContain('php-fpm')
      expect(Number(await shell('ls -d /proc/[0-9]* | wc -l'))).toBeLessThan(20)
      const closed = [
        '/proc/kcore',
        '/proc/1/root/proc/kcore',
        '/proc/kmsg',
        '/dev/mem',
        '/dev/kmsg',
      ]
      for (const file of closed) expect(await shell(`head -c 1 ${file} | wc -c`)).toMatch(/\b0$/)
      const knobs = ['core_pattern', 'modprobe', 'sysrq', 'hostname'].map(
        (one) => `sys/kernel/${one}`,
      )
      for (const knob of [...knobs, 'sysrq-trigger', 'sys/vm/drop_caches'])
        expect(await shell(`echo 1 > /proc/${knob} && echo written`), knob).not.toContain('written')
      expect(await shell('find / -xdev -type b; find /dev -type b')).not.toContain('/')
      expect(await shell('find / -name docker.sock -o -name containerd.sock')).not.toMatch(/sock$/m)
      const names = await shell('hostname; cat /etc/hostname /etc/hosts /etc/resolv.conf')
      expect(names.split('\n')[0]).toBe('site')
      expect(names).not.toContain(os.hostname())
    })

    test('no folder of a neighbour, of the database or of the portal can be reached', async () => {
      expect(await shell('cat /proc/self/mountinfo')).not.toContain(neighbour.id)
      const places = [files(neighbour.id), path.join(parts.dataDir, 'sites'), parts.engine.folder]
      for (const place of [...places, '/wordpress/../database', '/var/lib/mysql'])
        expect(await shell(`ls ${place}`), place).toContain('No such file')
      expect(await shell('ls /internal/database-disk')).toMatch(/^$|Permission denied/)
    })

    test('its environment has no secret', async () => {
      const site = path.join(parts.dataDir, 'sites', spec.id)
      const password = await fs.readFile(path.join(site, 'secrets', 'database-password'), 'utf8')
      const seen = await shell('env; cat /proc/1/environ | tr "\\\\0" "\\\\n"')
      expect(seen).toContain('WORDPRESS_DB_PASSWORD_FILE')
      expect(seen).not.toContain(password.trim())
      expect(seen).not.toMatch(/PORTAL_SECRET|DATABASE_URL|NODE_KEY/)
      // Its own password is readable.
      expect(await shell('cat /run/secrets/database-password')).toBe(password.trim())
    })

    test('code that is not its own cannot be written, replaced or opened for writing', async () => {
      for (const file of [
        '/usr/bin/perl',
        '/usr/local/bin/php-fpm',
        '/internal/shared/prepend.php',
        '/internal/ini/fpm.conf',
        '/internal/ini/99-portal.ini',
        '/etc/passwd',
      ]) {
        const tries = [
          `echo x >> ${file}`,
          `rm -f ${file}`,
          `mv ${file} ${file}.x`,
          `chmod 777 ${file}`,
        ]
        for (const one of tries)
          expect(await shell(`${one} && echo done`), one).not.toMatch(/^done$/m)
      }
      expect(await shell('mount -o remount,rw / && echo done')).not.toMatch(/^done$/m)
    })

    test('programs that become root do not', async () => {
      const programs = await shell('find / -xdev -perm /6000 -type f')
      expect(programs).toContain('/su')
      expect(await shell('grep NoNewPrivs /proc/self/status')).toMatch(/1$/)
      // su(1) reads shadow, and mount(8) mounts, only as root.
      expect(await shell('su -s /bin/sh -c id root < /dev/null')).not.toContain('uid=0')
      expect(await shell('mount -t tmpfs none /tmp && echo done')).not.toMatch(/^done$/m)
      // Programs of its own get no rights, and cannot run in any of its scratch folders.
      const copied = 'cp /bin/sh /tmp/sh && chmod 6755 /tmp/sh && /tmp/sh -p -c id'
      expect(await shell(copied)).not.toMatch(/euid=0|egid=0|uid=0/)
    })

    test('a link to a file of the machine is not served, copied or read by us', async () => {
      const secret = path.join(parts.engine.folder, 'secret-of-the-machine.txt')
      await fs.writeFile(secret, 'the secret of the machine')
      await fs.chmod(secret, 0o644)
      const uploads = '/wordpress/wp-content/uploads'
      expect(
        await shell(
          `mkdir -p ${uploads} && ln -s ${secret} ${uploads}/secret.txt && ` +
            `ln -s ${parts.engine.folder} ${uploads}/machine && ` +
            `ln -s ${files(neighbour.id)} ${uploads}/neighbour && echo made`,
        ),
      ).toBe('made')
      const targets = ['secret.txt', 'machine/secret-of-the-machine.txt', 'neighbour/wp-config.php']
      for (const name of targets) {
        const { status, text } = await pageOf(spec, `/wp-content/uploads/${name}`)
        expect([status, text.includes('secret of the machine')], name).toEqual([404, false])
        const order = { op: 'read', path: `wp-content/uploads/${name}`, offset: 0 } as const
        expect(await driver.files(spec.id, order), name).toEqual({ fault: 'link' })
      }
      const archive = path.join(parts.engine.folder, 'hostile.tar.gz')
      await driver.backup(spec.id, archive)
      const { stdout: list } = await run('tar', ['-tzvf', archive], { maxBuffer: 2 ** 26 })
      expect(list).toContain('wp-config.php')
      expect(list).not.toMatch(/secret\.txt|secret-of-the-machine|uploads\/neighbour/)
      await shell(`rm ${uploads}/secret.txt ${uploads}/machine ${uploads}/neighbour`)
    })

    test('shared memory ends at its size, and the site goes on', async () => {
      const said = await shell('head -c 900M /dev/zero > /dev/shm/full; wc -c < /dev/shm/full')
      expect(Number(said.split('\n').at(-1))).toBeLessThanOrEqual(64 * 2 ** 20)
      expect((await pageOf(spec, '/?shared')).status).toBe(200)
      await shell('rm /dev/shm/full')
    })

    test('processes without end stop at the limit; the neighbour and the site go on', async () => {
      const bomb = 'b() { b | b & }; b'
      const pid = await parts.engine.docker('inspect', '-f', '{{.State.Pid}}', container)
      const groups = await fs.readFile(`/proc/${pid.trim()}/cgroup`, 'utf8')
      const [, v1] = /^\d+:pids:(.*)$/m.exec(groups) ?? []
      const [, v2] = /^0::(.*)$/m.exec(groups) ?? []
      const group = v1 === undefined ? path.join('/sys/fs/cgroup', v2!) : `/sys/fs/cgroup/pids${v1}`
      await parts.engine.docker('exec', '-d', container, 'sh', '-c', bomb)
      await eventually(async () => {
        const events = await fs.readFile(path.join(group, 'pids.events'), 'utf8')
        expect(Number(/^max (\d+)$/m.exec(events)?.[1])).toBeGreaterThan(0)
      })
      for (let visit = 0; visit < 5; visit++)
        expect((await pageOf(neighbour, `/?visit=${visit}`)).status).toBe(200)
      const { stdout } = await run('ps', ['-eo', 'uid='])
      const { uid } = await fs.stat(files(spec.id))
      const its = stdout.split('\n').filter((line) => Number(line) === uid)
      // Processes of both its containers, and of the process that speaks HTTP.
      expect(its.length).toBeLessThan(300)
      await parts.kill(spec.id, 'web-1')
      await eventually(async () => expect((await pageOf(spec, '/?later')).status).toBe(200))
    })
  })
}

await withEngine('a program in the container of a site', everything)
