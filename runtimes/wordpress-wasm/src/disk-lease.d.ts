export type SharedKind = 'ssd' | 'database'
/** What was known before the folders were measured. */
export interface BeforeMeasure {
  readonly own: Readonly<Record<SharedKind, number>>
}
export class DiskLease {
  constructor(dir: string | null)
  keepAlive(): void
  beginMeasuring(): BeforeMeasure
  measured(before: BeforeMeasure): void
  listen(): void
  grown(kind: SharedKind): number
  take(kind: SharedKind, bytes: number, most: number): boolean
  freeing(kind: SharedKind, bytes: number): void
  freed(kind: SharedKind, bytes: number): void
  settle(): void
}
export const sharedKinds: readonly SharedKind[]
