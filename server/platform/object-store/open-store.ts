import { folderStore } from './folder-store.ts'
import { s3Store } from './s3-store.ts'
import { StoreFault, type ObjectStore } from './store.ts'

/** The configuration of S3. */
export interface S3Config {
  readonly S3_ENDPOINT?: string | undefined
  readonly S3_REGION: string
  readonly S3_ACCESS_KEY_ID?: string | undefined
  readonly S3_SECRET_ACCESS_KEY?: string | undefined
}

/**
 * A folder, or `s3://bucket/prefix` with the keys of the configuration.
 * @throws StoreFault where the keys are missing or no bucket is named
 */
export function openStore(where: string, config: S3Config): ObjectStore {
  if (!where.startsWith('s3:')) return folderStore(where)
  const { S3_ENDPOINT, S3_REGION, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY } = config
  if (S3_ACCESS_KEY_ID === undefined || S3_SECRET_ACCESS_KEY === undefined)
    throw new StoreFault(
      `${where} needs S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY (and S3_ENDPOINT, unless it is ` +
        'AWS).',
    )
  return s3Store(where, {
    endpoint: S3_ENDPOINT ?? `https://s3.${S3_REGION}.amazonaws.com`,
    region: S3_REGION,
    accessKeyId: S3_ACCESS_KEY_ID,
    secretAccessKey: S3_SECRET_ACCESS_KEY,
  })
}
