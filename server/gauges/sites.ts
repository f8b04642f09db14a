/** Customers' servers, their backups, and their domains. */
import { countDomains, domainStates } from '../dns/index.ts'
import {
  countBackups,
  countMail,
  countSites,
  countUpdates,
  stuckWork,
  updateEnds,
  works,
} from '../wordpress/index.ts'
import type { GaugeParts } from './parts.ts'

export function defineSiteGauges(
  parts: Pick<
    GaugeParts,
    | 'db'
    | 'clock'
    | 'metrics'
    | 'orphans'
    | 'unremovedSites'
    | 'missingArchives'
    | 'room'
    | 'mirrors'
    | 'nodes'
  >,
): void {
  const { db, clock, metrics } = parts
  metrics.source(
    {
      sites_running: { type: 'gauge', help: 'WordPress servers that should run' },
      portal_sites: {
        type: 'gauge',
        help: 'WordPress servers by state: running, provisioning, suspended',
        labels: ['state'],
      },
      portal_sites_answering: {
        type: 'gauge',
        help: 'WordPress servers that should answer and were not found down',
      },
      portal_sites_down: {
        type: 'gauge',
        help: 'WordPress servers that should answer and do not (`npm run portal -- sites`)',
      },
    },
    async () => {
      const { running, provisioning, suspended, down } = await countSites(db)
      return {
        sites_running: running,
        portal_sites: [
          { of: { state: 'running' }, value: running },
          { of: { state: 'provisioning' }, value: provisioning },
          { of: { state: 'suspended' }, value: suspended },
        ],
        portal_sites_answering: running - down,
        portal_sites_down: down,
      }
    },
  )
  metrics.source(
    {
      portal_site_updates_under_way: { type: 'gauge', help: 'Updates of sites that are under way' },
      portal_site_updates_ended: {
        type: 'gauge',
        help: 'Updates of sites in the last 24 hours by how they ended',
        labels: ['state'],
      },
      portal_update_waves_stopped: {
        type: 'gauge',
        help: 'Waves of updates that stopped by themselves (`npm run portal -- updates`)',
      },
      portal_update_directory_timestamp_seconds: {
        type: 'gauge',
        help: 'When the directory of WordPress last named a release; 0 for never',
      },
    },
    async () => {
      const counts = await countUpdates(db, clock.now())
      return {
        portal_site_updates_under_way: counts.underWay,
        portal_site_updates_ended: updateEnds.map((state) => ({
          of: { state },
          value: counts.ended[state] ?? 0,
        })),
        portal_update_waves_stopped: counts.stoppedWaves,
        portal_update_directory_timestamp_seconds: counts.directoryAt,
      }
    },
  )
  metrics.gauge(
    'sites_orphaned',
    'Sites of the runtime that the database does not know',
    parts.orphans,
  )
  metrics.gauge(
    'sites_unremoved',
    "Folders of removed sites or of their copies that could not be removed: customers' data",
    parts.unremovedSites,
  )
  metrics.gauge(
    'portal_site_archives_missing',
    'Archives of proven backups that this machine does not find where SITE_BACKUPS_TO leads',
    async () => parts.missingArchives(),
  )
  metrics.gauge(
    'portal_containers_room',
    'Containers that there is memory for, beside those that run',
    parts.room,
  )
  metrics.source(
    {
      portal_mirrors: {
        type: 'gauge',
        help:
          'Running servers whose plan has a mirror: following; behind, it lacks more than five ' +
          'minutes; missing, no node has room for it',
        labels: ['state'],
      },
    },
    async () => {
      const { mirrored, behind, missing } = await parts.mirrors()
      return {
        portal_mirrors: [
          { of: { state: 'following' }, value: mirrored - behind },
          { of: { state: 'behind' }, value: behind },
          { of: { state: 'missing' }, value: missing },
        ],
      }
    },
  )
  metrics.source(
    {
      portal_sites_stuck: {
        type: 'gauge',
        help: 'Work on servers that does not come to an end (`npm run portal -- sites`)',
        labels: ['work'],
      },
    },
    async () => {
      const stuck = await stuckWork(db)
      return {
        portal_sites_stuck: works.map((work) => ({
          of: { work },
          value: stuck.filter((one) => one.work === work).length,
        })),
      }
    },
    'costly',
  )
  metrics.source(
    {
      portal_node_seen_seconds: {
        type: 'gauge',
        help: 'Time since a machine that runs sites answered last; absent before its first answer',
        labels: ['node'],
      },
      portal_node_room: {
        type: 'gauge',
        help: 'Containers that may still be placed on a machine',
        labels: ['node'],
      },
      portal_node_sites: {
        type: 'gauge',
        help: 'WordPress servers that a machine runs, or keeps stopped',
        labels: ['node'],
      },
    },
    async () => {
      const nodes = await parts.nodes()
      return {
        portal_node_seen_seconds: nodes.flatMap(({ id, seenSecondsAgo: seen }) =>
          seen === null ? [] : [{ of: { node: id }, value: seen }],
        ),
        portal_node_room: nodes.map(({ id, free }) => ({ of: { node: id }, value: free })),
        portal_node_sites: nodes.map(({ id, sites }) => ({ of: { node: id }, value: sites })),
      }
    },
    'costly',
  )
  metrics.source(
    {
      portal_backups_failed: {
        type: 'gauge',
        help: 'Running servers whose newest finished backup failed',
      },
      portal_backups_proven_age_seconds: {
        type: 'gauge',
        help:
          'Age of the newest proven backup, of the running server where it is oldest; one ' +
          'without a backup counts from its start, one that was suspended since from its return, ' +
          'and 0 means that no server runs',
      },
    },
    async () => {
      const { failed, oldestProvenAt } = await countBackups(db)
      const ageMs = oldestProvenAt === null ? 0 : clock.now().getTime() - oldestProvenAt.getTime()
      return {
        portal_backups_failed: failed,
        portal_backups_proven_age_seconds: Math.max(0, ageMs) / 1000,
      }
    },
    'costly',
  )
  metrics.source(
    {
      portal_site_mail_waiting: {
        type: 'gauge',
        help: 'Recipients of sites’ e-mail that it is not sent to yet',
      },
      portal_site_mail_oldest_seconds: {
        type: 'gauge',
        help: 'Age of the oldest of them that does not wait for its site’s hourly limit',
      },
      portal_site_mail_suspended: {
        type: 'gauge',
        help: 'Sites whose e-mail is suspended (`npm run portal -- mail`)',
      },
    },
    async () => {
      const { waiting, oldestSeconds, suspendedSites } = await countMail(db, clock.now())
      return {
        portal_site_mail_waiting: waiting,
        portal_site_mail_oldest_seconds: oldestSeconds,
        portal_site_mail_suspended: suspendedSites,
      }
    },
    'costly',
  )
  metrics.source(
    {
      portal_domains: {
        type: 'gauge',
        help:
          'Domains by state: active; moved (delegated elsewhere since); foreign (delegated to ' +
          "another account's name servers); waiting for their delegation",
        labels: ['state'],
      },
    },
    async () => {
      const counts = await countDomains(db)
      return {
        portal_domains: domainStates.map((state) => ({
          of: { state },
          value: counts.get(state) ?? 0,
        })),
      }
    },
    'costly',
  )
}
