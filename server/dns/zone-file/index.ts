/** Zone files: reading, with the position of every fault, and writing. */
export { readZoneFile, zoneFileLimits } from './read.ts'
export type { ZoneFileRecord, ZoneRecord } from './record.ts'
export { writeZoneFile } from './write.ts'
