/**
 * The requirements of docs/operate.md for a machine with sites in containers ("Sites in
 * containers"): an engine, its images, and the sites on btrfs with quotas. Two engines share the
 * kernel only: each has folders, a socket and a cgroup tree of its own, and starts in its machine's
 * namespaces. Engines and disks end with the machine.
 */
import { existsSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { withoutEngine } from '../test/docker-engine.ts'
import { ensureImages, imagesFile } from '../test/docker-wordpress.ts'
import { saidBy, type Machine } from './namespaces.ts'

const diskGb = 24
const engineMs = 60_000
const lookMs = 100

/** Why sites cannot run in containers here; undefined where they can. Builds the images. */
export const enginesAway = async (): Promise<string | undefined> =>
  withoutEngine() ?? (await ensureImages())

/** Mounts a disk with quotas for the sites of a machine. */
async function mountSites(machine: Machine): Promise<void> {
  const disk = path.join(machine.folder, 'sites.disk')
  const sites = path.join(machine.dataDir, 'sites')
  await machine.must(
    [
      `truncate -s ${diskGb}G ${disk}`,
      `mkfs.btrfs -q ${disk}`,
      `mkdir -p ${sites}`,
      `mount -o loop,noatime ${disk} ${sites}`,
      `btrfs quota enable ${sites}`,
    ].join(' && '),
  )
}

/** Resolves with the settings that the machine needs in its `.env` for the engine. */
export async function startEngineOn(machine: Machine): Promise<Record<string, string>> {
  const folder = path.join(machine.folder, 'engine')
  const socket = path.join(folder, 'docker.sock')
  await machine.must(`mkdir -p ${folder} && echo '{}' > ${folder}/daemon.json`)
  await mountSites(machine)
  const child = machine.start(
    [
      'exec dockerd',
      // The engine uses neither this machine's settings nor its containerd.
      `--config-file=${folder}/daemon.json`,
      `--data-root=${folder}/data`,
      `--exec-root=${folder}/exec`,
      `--pidfile=${folder}/pid`,
      `--host=unix://${socket}`,
      `--cgroup-parent=${machine.group}`,
      '--storage-driver=overlay2 --bridge=none --iptables=false --log-level=warn',
    ].join(' '),
  )
  const said = saidBy(child)
  const docker = `docker -H unix://${socket}`
  const until = performance.now() + engineMs
  while (!existsSync(socket) || (await machine.run(`${docker} version`)).code !== 0) {
    if (child.exitCode !== null || performance.now() > until)
      throw new Error(`the engine of ${machine.name} does not start: ${said()}`)
    await pause(lookMs)
  }
  await machine.must(`${docker} load -q -i ${imagesFile}`)
  return { WORDPRESS_RUNTIME: 'docker', DOCKER_SOCKET: socket }
}
