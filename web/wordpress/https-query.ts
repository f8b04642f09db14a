/** The certificates of one server's names. */
import { queryOptions } from '@tanstack/react-query'
import { getHttps } from '../../contract/certificates.ts'
import { call } from '../api.ts'

/** A requested certificate arrives within seconds; no event announces it, so it is polled. */
const certificateEveryMs = 3_000
/** `names`: proven names; a new one appears in the answer a moment later. */
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
