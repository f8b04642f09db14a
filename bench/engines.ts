/**
 * What docs/operate.md asks for of a machine whose sites run in containers ("Sites in containers"):
 * an engine, the images in it, and the sites on btrfs with quotas. Two engines that share a kernel
 * share nothing else: each has folders, a socket and a tree of cgroups of its own, and starts in
 * its machine's namespaces. They end with the machine, and so do their disks.
 */
import { existsSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { ensureImages, imagesFile, withoutEngine } from '../test/docker-wordpress.ts'
import { saidBy, type Machine } from './namespaces.ts'

const diskGb = 24
const engineMs = 60_000
const lookMs = 100

/** Why sites in containers cannot be had here; undefined where they can. Makes the images. */
export const enginesAway = async (): Promise<string | undefined> =>
  withoutEngine() ?? (await ensureImages())

/** A disk with quotas for the sites of a machine. */
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

/** Resolves with what the machine has in `.env` because of it. */
export async function startEngineOn(machine: Machine): Promise<Record<string, string>> {
  const folder = path.join(machine.folder, 'engine')
  const socket = path.join(folder, 'docker.sock')
  await machine.must(`mkdir -p ${folder} && echo '{}' > ${folder}/daemon.json`)
  await mountSites(machine)
  const child = machine.start(
    [
      'exec dockerd',
      // Neither the settings of this machine nor its containerd.
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
