/**
 * The answers of the registry's name server. It is the authority of the root and of every ending,
 * and refers to the name servers of registered names. It never answers for a name itself.
 */
import type { Answer, Question } from 'dns-packet'
import type { NameServerAnswer } from '../name-server.ts'
import { endingOf, registrableOf, type RegisteredName } from './names.ts'

/** The registry's own name servers, which are all this one. */
const own = ['a.registry.sandbox', 'b.registry.sandbox'] as const
const ttlSeconds = 60

const dot = (name: string): string => (name === '' ? '.' : name)
const nsOf = (owner: string, names: readonly string[]): Answer[] =>
  names.map((data) => ({ type: 'NS', name: dot(owner), ttl: ttlSeconds, data }))
const soaOf = (zone: string): Answer => ({
  type: 'SOA',
  name: dot(zone),
  ttl: ttlSeconds,
  data: {
    mname: own[0],
    rname: 'hostmaster.registry.sandbox',
    serial: 1,
    refresh: 7200,
    retry: 900,
    expire: 1_209_600,
    minimum: ttlSeconds,
  },
})
const dsOf = ({ name, ds }: RegisteredName): Answer[] =>
  ds.map((text) => {
    const [keyTag, algorithm, digestType, digest = ''] = text.split(' ')
    return {
      type: 'DS',
      name,
      ttl: ttlSeconds,
      data: {
        keyTag: Number(keyTag),
        algorithm: Number(algorithm),
        digestType: Number(digestType),
        digest: Buffer.from(digest, 'hex'),
      },
    }
  })

/**
 * The addresses of the registry's own name servers and of those of registered names: in the sandbox
 * all of them are on this machine.
 */
export interface RegistryAddresses {
  readonly own: string
  readonly registered: string
}

export async function registryAnswer(
  question: Question,
  find: (name: string) => Promise<RegisteredName | undefined>,
  addresses: RegistryAddresses,
): Promise<NameServerAnswer> {
  const { name, type } = question
  if (question.class !== undefined && question.class !== 'IN') return { rcode: 'REFUSED' }
  if (type === 'AXFR' || type === 'IXFR') return { rcode: 'REFUSED' }
  const isOurs = (host: string): boolean => (own as readonly string[]).includes(host)
  const glue = (names: readonly string[]): Answer[] =>
    names.map((owner) => ({
      type: 'A',
      name: owner,
      ttl: ttlSeconds,
      data: isOurs(owner) ? addresses.own : addresses.registered,
    }))
  const isOwn = isOurs(name)
  if (isOwn)
    return {
      rcode: 'NOERROR',
      isAuthoritative: true,
      ...(type === 'A' ? { answers: glue([name]) } : { authorities: [soaOf('')] }),
    }

  const ending = name === '' ? '' : endingOf(name)
  if (ending === undefined)
    return { rcode: 'NXDOMAIN', isAuthoritative: true, authorities: [soaOf('')] }
  if (name === ending) {
    if (type === 'NS')
      return {
        rcode: 'NOERROR',
        isAuthoritative: true,
        answers: nsOf(name, own),
        additionals: glue(own),
      }
    if (type === 'SOA') return { rcode: 'NOERROR', isAuthoritative: true, answers: [soaOf(name)] }
    return { rcode: 'NOERROR', isAuthoritative: true, authorities: [soaOf(name)] }
  }
  const registrable = registrableOf(name)
  const registered = registrable === undefined ? undefined : await find(registrable)
  const negative = { isAuthoritative: true, authorities: [soaOf(ending)] }
  // Between an ending and the one above it (com.vn and vn) there is a name without records.
  if (registrable === undefined) return { rcode: 'NOERROR', ...negative }
  if (!registered) return { rcode: 'NXDOMAIN', ...negative }
  if (type === 'DS' && name === registrable) {
    return registered.ds.length > 0
      ? { rcode: 'NOERROR', isAuthoritative: true, answers: dsOf(registered) }
      : { rcode: 'NOERROR', ...negative }
  }
  if (registered.nameservers.length === 0)
    return name === registrable
      ? { rcode: 'NOERROR', ...negative }
      : { rcode: 'NXDOMAIN', ...negative }
  return {
    rcode: 'NOERROR',
    authorities: [...nsOf(registrable, registered.nameservers), ...dsOf(registered)],
    additionals: glue(registered.nameservers),
  }
}
