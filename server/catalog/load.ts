/** Parses catalog.yaml. Faults stop the start with one sentence each, which names the line. */
import { readFileSync } from 'node:fs'
import { isMap, isNode, isScalar, LineCounter, parseDocument, visit, type Document } from 'yaml'
import { CatalogFile, type Catalog } from './schema.ts'

export class CatalogFault extends Error {}

/**
 * The line of a path in the document; for a missing key, the line of the object that should contain
 * it.
 */
function lineOf(document: Document, lines: LineCounter, path: readonly PropertyKey[]): number {
  for (let depth = path.length; depth >= 0; depth--) {
    const node = document.getIn(path.slice(0, depth), true)
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line
  }
  return 1
}

/** The line of a key of the map at `path`. */
function lineOfKey(
  document: Document,
  lines: LineCounter,
  path: readonly PropertyKey[],
  key: string,
): number {
  const map = path.length === 0 ? document.contents : document.getIn(path, true)
  const pair = isMap(map)
    ? map.items.find((one) => isScalar(one.key) && String(one.key.value) === key)
    : undefined
  const at = isScalar(pair?.key) ? pair.key.range : undefined
  return at ? lines.linePos(at[0]).line : lineOf(document, lines, path)
}

/**
 * YAML reads `99.000` as 99, but in đồng it means ninety-nine thousand: in this currency, which has
 * no decimals, a number is kept as text and validated as such.
 */
function keepAsWritten(document: Document): void {
  visit(document, {
    Pair(_key, { key, value }) {
      if (isScalar(key) && key.value === 'VND' && isNode(value))
        visit(value, {
          Scalar(_at, scalar) {
            const { source, value: read } = scalar
            if (typeof read === 'number' && source !== undefined && source !== String(read))
              scalar.value = source
          },
        })
    },
  })
}

/** Throws CatalogFault. */
export function parseCatalog(text: string, name: string): Catalog {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  if (document.errors.length > 0) {
    throw new CatalogFault(
      document.errors
        .map((error) => `${name}, line ${lines.linePos(error.pos[0]).line}: ${error.message}`)
        .join('\n'),
    )
  }
  keepAsWritten(document)
  let content: unknown
  try {
    content = document.toJS()
  } catch (error) {
    throw new CatalogFault(`${name}, line 1: the file: ${(error as Error).message}`)
  }
  const parsed = CatalogFile.safeParse(content)
  if (parsed.success) return parsed.data
  throw new CatalogFault(
    parsed.error.issues
      .flatMap((issue) => {
        if (issue.code === 'unrecognized_keys')
          return issue.keys.map(
            (key) =>
              `${name}, line ${lineOfKey(document, lines, issue.path, key)}: ` +
              `${[...issue.path, key].join('.')}: the catalogue has no such key`,
          )
        return (
          `${name}, line ${lineOf(document, lines, issue.path)}: ` +
          `${issue.path.join('.') || 'the file'}: ${issue.message}`
        )
      })
      .join('\n'),
  )
}

/** Throws CatalogFault. */
export function loadCatalog(file: string): Catalog {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    throw new CatalogFault(`The catalogue ${file} cannot be read.`)
  }
  return parseCatalog(text, file)
}

const versionLine = /^# Version (\d{1,9})\r?\n/
/** The text as a file to edit: its first line names its version. */
export const withVersion = (text: string, version: number): string =>
  `# Version ${version}\n${text.replace(versionLine, '')}`
/** The version that a file was made from; undefined: its first line does not name one. */
export function versionIn(text: string): number | undefined {
  const found = versionLine.exec(text)?.[1]
  return found === undefined ? undefined : Number(found)
}
