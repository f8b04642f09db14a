/** Stripe's form bodies: a[b][0]=c, as its SDKs write them. */
export type Value = string | Value[] | { [name: string]: Value }
export type Fields = { [name: string]: Value }

const depthAtMost = 10

/** Lists come with indexes or with []; both are read as lists. */
function settled(value: Value): Value {
  if (typeof value === 'string' || Array.isArray(value)) return value
  const entries = Object.entries(value)
  const isList = entries.length > 0 && entries.every(([name], index) => name === String(index))
  return isList
    ? entries.map(([, inner]) => settled(inner))
    : Object.fromEntries(entries.map(([name, inner]) => [name, settled(inner)]))
}

export function readForm(pairs: URLSearchParams): Fields {
  const root = Object.create(null) as Fields
  for (const [key, text] of pairs) {
    const [name = '', ...inner] = key.replaceAll(']', '').split('[').slice(0, depthAtMost)
    let at = root
    let last = name
    for (const part of inner) {
      const next = Object.hasOwn(at, last) ? at[last] : undefined
      const child: Fields =
        typeof next === 'object' && !Array.isArray(next) ? next : (Object.create(null) as Fields)
      at[last] = child
      at = child
      last = part === '' ? String(Object.keys(child).length) : part
    }
    at[last] = text
  }
  return Object.fromEntries(Object.entries(root).map(([name, value]) => [name, settled(value)]))
}
