/** The certificates of one server's names. */
import { queryOptions } from '@tanstack/react-query'
import { getHttps } from '../../contract/certificates.ts'
import { call } from '../api.ts'

/** A certificate that is being asked for is there within seconds; nothing is pushed about it. */
const certificateEveryMs = 3_000
/** `names`: proven ones, of which a new one is listed a moment later. */
export const httpsQuery = (id: string, names: readonly string[] = []) =>
  queryOptions({
    queryKey: ['https', id],
    queryFn: ({ signal }) => call(getHttps, { params: { id } }, { signal }),
    refetchInterval: ({ state: { data } }) => {
      if (data?.enabled !== true) return false
      const there = new Set(data.certificates.map(({ name }) => name))
      const isWaiting =
        data.certificates.some((one) => one.state === 'pending') ||
        names.some((name) => !there.has(name))
      return isWaiting && certificateEveryMs
    },
  })
