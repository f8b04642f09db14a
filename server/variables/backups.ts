/** Variables of the backups of servers and of the portal. */
import * as z from 'zod'
import { blankMeansFault, address } from './rules.ts'

export const backupVariables = {
  BACKUP_RETENTION: {
    about:
      'How many backups of a WordPress server are kept: so many nightly ones and so many made ' +
      'by hand.',
    schema: z
      .string()
      .default('7')
      .refine(
        (text) => /^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= 365,
        'BACKUP_RETENTION must be a number from 1 to 365.',
      )
      .transform(Number),
    example: '7',
  },
  BACKUP_RETENTION_AFTER_DELETION_DAYS: {
    about:
      'How many days the proven backups of a deleted WordPress server can still be ' +
      'downloaded; 0: they go with it.',
    schema: z
      .string()
      .default('7')
      .refine(
        (text) => /^\d{1,3}$/.test(text) && Number(text) <= 365,
        'BACKUP_RETENTION_AFTER_DELETION_DAYS must be a number from 0 to 365.',
      )
      .transform(Number),
    example: '7',
  },
  SITE_BACKUPS_TO: {
    about:
      'Where the backups of customers’ sites lie: a folder, or s3://bucket/prefix. Several ' +
      'machines with portals need a place that all of them see. Without it: DATA_DIR/backups.',
    schema: blankMeansFault('SITE_BACKUPS_TO').optional(),
    example: '',
  },
  BACKUP_TO: {
    about:
      'Where the whole portal is backed up to every night, and verified: a folder on another ' +
      'disk or machine, or s3://bucket/prefix. Without it: no nightly backup of the portal.',
    schema: blankMeansFault('BACKUP_TO').optional(),
    example: '',
  },
  BACKUP_TO_KEEP: {
    about: 'How many backups of the portal are kept in BACKUP_TO.',
    schema: z
      .string()
      .default('7')
      .refine(
        (text) => /^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= 365,
        'BACKUP_TO_KEEP must be a number from 1 to 365.',
      )
      .transform(Number),
    example: '7',
  },
  BACKUP_PASSPHRASE: {
    about:
      "Seals the portal's secret in its backups. Keep it somewhere else too: without it no " +
      'backup can be restored.',
    schema: z.string().min(12, 'BACKUP_PASSPHRASE must have at least 12 characters.').optional(),
    example: '',
  },
  S3_ENDPOINT: {
    about: 'S3: address of the server that has the bucket, if not AWS. Without a path.',
    schema: address('S3_ENDPOINT')
      .refine(
        (text) => !URL.canParse(text) || new URL(text).pathname === '/',
        'S3_ENDPOINT must have no path.',
      )
      .optional(),
    example: '',
  },
  S3_REGION: {
    about: 'S3: region that requests are signed for.',
    schema: blankMeansFault('S3_REGION').default('us-east-1'),
    example: 'us-east-1',
  },
  S3_ACCESS_KEY_ID: {
    about: 'S3: access key, which may list, read, write and delete in the bucket.',
    schema: blankMeansFault('S3_ACCESS_KEY_ID').optional(),
    example: '',
  },
  S3_SECRET_ACCESS_KEY: {
    about: 'S3: its secret key.',
    schema: blankMeansFault('S3_SECRET_ACCESS_KEY').optional(),
    example: '',
  },
} as const
